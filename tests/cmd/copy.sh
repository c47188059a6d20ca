# copy: bit for bit, whole or not at all.
set -eu
fail() { echo "copy: $*" >&2; exit 1; }
for kind in bloom counting; do
    for growth in fixed growing window; do
        f=$kind-$growth
        [ $f != counting-window ] || continue # a window forgets by itself
        full=; [ $growth != fixed ] || full="--when-full go-on"
        "$SEEN" create -q $f.seen -n 1k --kind $kind --growth $growth $full
        seq 3000 | "$SEEN" add -q $f.seen
        "$SEEN" copy $f.seen $f.copy || fail "$f"
        "$SEEN" copy $f.copy $f.back || fail "$f back"
        cmp $f.copy $f.back || fail "$f: there and back is not the same"
        "$SEEN" info --json $f.seen > a 2> /dev/null
        "$SEEN" info --json $f.copy > b 2> /dev/null
        cmp a b || fail "$f: the copy is something else"
        [ "$(seq 3000 | "$SEEN" check -c $f.copy)" = "$(seq 3000 | "$SEEN" check -c $f.seen)" ] ||
            fail "$f: other answers"
    done
done
f=bloom-fixed
cp $f.copy before
if "$SEEN" copy counting-fixed.seen $f.copy 2> words; then fail "an existing file was replaced"; fi
grep -q $f.copy words || fail "the message does not name it: $(cat words)"
cmp $f.copy before || fail "an existing file was changed"
"$SEEN" copy --replace counting-fixed.seen $f.copy
"$SEEN" info $f.copy | grep -q counting || fail "--replace did not"
for words in "nosuch x" "bloom-fixed.seen no/such/x" "bloom-fixed.seen" "a b c"; do
    # shellcheck disable=SC2086
    if "$SEEN" copy $words 2> said; then fail "'$words' was accepted"; fi
    [ -s said ] || fail "'$words': refused without a word"
done
[ ! -e x ] || fail "a failed copy left a file"
