# The examples of the manual pages run, each in its own folder.
# Needs: compression.
set -eu
fail() { echo "man_examples: $*" >&2; exit 1; }
mkdir bin
ln -s "$SEEN" bin/seen
PATH=$PWD/bin:$PATH
top=$PWD
ran=0 skipped=0
"$SEEN" help --examples > examples
# Three lines each: command name, setup (empty, or - for "needs a server"), command.
while IFS= read -r name && IFS= read -r setup && IFS= read -r line; do
    if [ "$setup" = - ]; then
        skipped=$((skipped + 1))
        continue
    fi
    folder=$top/run-$ran
    mkdir "$folder"
    cd "$folder"
    if [ "$setup" ]; then bash -euc "$setup" > setup.out 2>&1 < /dev/null || fail "$name: setup '$setup': $(cat setup.out)"; fi
    timeout 60 bash -euo pipefail -c "$line" > ../out 2> ../words < /dev/null ||
        fail "$name: '$line' ended with $?: $(cat ../words)"
    cd "$top"
    ran=$((ran + 1))
    # The commands are those shown on the page.
    "$SEEN" help --all "$name" | grep -qF -- "$line" || fail "$name: its help does not show '$line'"
done < examples
[ $ran -ge 20 ] || fail "only $ran examples were run"
echo "$ran examples run, $skipped need a server"

# The program of libseen(3).
if [ -f "$BUILD/libseen.a" ] && command -v cc > /dev/null; then
    sed -n '/^\.Bd -literal/,/^\.Ed/p' "$ROOT/man/libseen.3" | sed '/^\.[BE]d/d; s/\\e/\\/g' > first.c
    sanitize=$(sed -n "s/^SEEN_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p" "$BUILD/CMakeCache.txt")
    # shellcheck disable=SC2086
    cc $sanitize -std=c17 -Wall -Werror -I "$ROOT/include" first.c -o first -L "$BUILD" -lseen \
        -Wl,-rpath,"$BUILD" 2> words || fail "the example of libseen(3): $(cat words)"
    ./first > out
    printf 'new\nseen before\n' | cmp - out || fail "libseen(3) prints $(cat out)"
fi
