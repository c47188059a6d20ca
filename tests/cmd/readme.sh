# The README shows the actual output of the commands, and its C program compiles and works.
set -eu
python3 "$ROOT/tests/readme.py" "$SEEN" "$ROOT/README.md"
sed -n '/^```c$/,/^```$/p' "$ROOT/README.md" | grep -v '^```' > first.c
sanitize=$(sed -n 's/^SEEN_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p' "$BUILD/CMakeCache.txt")
# shellcheck disable=SC2086
cc $sanitize -Wall -Wextra -Werror -I"$ROOT/include" -o first first.c -L"$BUILD" -lseen
[ "$(printf 'a\nb\na\n' | LD_LIBRARY_PATH=$BUILD ./first)" = "$(printf 'a\nb')" ] || { echo "the program of the README is wrong"; exit 1; }
cmp first.c "$ROOT/examples/first.c" || { echo "the program of the README is not examples/first.c"; exit 1; }
