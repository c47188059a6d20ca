# Packs of fuzz inputs: round trip, a damaged pack is refused, each target has seeds and a pack.
set -eu
pack=$ROOT/tools/fuzz-pack
mkdir in
printf 'one' > in/a
printf '\0\377two\n' > in/b
: > in/empty
printf 'one' > in/again
"$pack" pack x.pack in
"$pack" unpack x.pack out
[ "$(ls out | wc -l)" = 3 ]
for f in in/a in/b in/empty; do cmp "$f" "out/$(sha1sum < "$f" | cut -d' ' -f1)"; done
"$pack" pack y.pack out
cmp x.pack y.pack

target=$BUILD/fuzz/fuzz_plan
if [ -x "$target" ]; then
    "$target" x.pack > said
    grep -q '^3 inputs replayed' said
    "$target" x.pack in > said
    grep -q '^7 inputs replayed' said
    head -c 30 x.pack > cut.pack
    if "$target" cut.pack 2> said; then echo "this must fail: line $LINENO"; exit 1; fi
    grep -q 'cut.pack: cut off' said
    if "$target" in/a 2> said; then echo "this must fail: line $LINENO"; exit 1; fi
    grep -q 'not a pack' said
fi
head -c 30 x.pack > cut.pack
if "$pack" list cut.pack 2> said; then echo "this must fail: line $LINENO"; exit 1; fi
grep -q 'cut off' said

for source in "$ROOT"/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c) name=${name#fuzz_}
    "$pack" check "$ROOT/fuzz/corpus/$name.pack" "$ROOT/fuzz/seeds.txt"
done

if git -C "$ROOT" rev-parse --git-dir > /dev/null 2>&1; then
    # A corpus is a pack, never a folder of files.
    count=$(git -C "$ROOT" -c safe.directory='*' ls-files "$ROOT/fuzz" | wc -l)
    [ "$count" -lt 60 ] || { echo "$count tracked files in fuzz/; pack the inputs with tools/fuzz-pack"; exit 1; }
fi
