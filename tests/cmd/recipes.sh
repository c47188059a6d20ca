# README and recipes show what the commands print, the command lines in the text of the documents work, and the C program
# of the README compiles and works. Needs: compression, crawl.
set -eu
python3 "$ROOT/tests/readme.py" "$SEEN" "$ROOT/README.md"
python3 "$ROOT/tests/readme.py" "$SEEN" "$ROOT/docs/recipes.md"
[ "$(grep -cE '^[0-9]+\. ' "$ROOT/docs/recipes.md")" = 20 ] || { echo "not twenty recipes"; exit 1; }
sed -n '/^```c$/,/^```$/p' "$ROOT/README.md" | grep -v '^```' > first.c
sanitize=$(sed -n 's/^SEEN_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p' "$BUILD/CMakeCache.txt")
# shellcheck disable=SC2086
cc $sanitize -Wall -Wextra -Werror -I"$ROOT/include" -o first first.c -L"$BUILD" -lseen
[ "$(printf 'a\nb\na\n' | LD_LIBRARY_PATH=$BUILD ./first)" = "$(printf 'a\nb')" ] || { echo "the program of the README is wrong"; exit 1; }
cmp first.c "$ROOT/examples/first.c" || { echo "the program of the README is not examples/first.c"; exit 1; }
if command -v redis-server > /dev/null; then
    . "$ROOT/tests/redis/server.sh"
    start_redis
    export REDIS_URL=$URL
fi
cd "$ROOT"
python3 tests/readme.py "$SEEN" --lines README.md docs/architecture.md docs/crawl.md docs/index.md docs/promises.md \
    docs/recipes.md docs/records.md docs/redis.md docs/scale.md docs/url.md docs/why.md
