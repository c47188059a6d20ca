# merge: the union, written atomically.
set -eu
fail() { echo "merge: $*" >&2; exit 1; }
refused() {
    local part=$1 status=0
    shift
    "$SEEN" "$@" > out 2> words || status=$?
    [ "$status" = 2 ] || fail "$*: status $status"
    grep -q -- "$part" words || fail "$*: $(cat words)"
}
for kind in bloom counting; do
    rm -f ./*.seen
    "$SEEN" create -q all.seen -n 10k -p 1e-6 --kind $kind
    for day in mon tue wed; do "$SEEN" create -q $day.seen --like all.seen; done
    seq 1 2000 > mon; seq 1501 3500 > tue; seq 3001 5000 > wed
    for day in mon tue wed; do "$SEEN" add -q $day.seen $day; cat $day | "$SEEN" add -q all.seen; done
    "$SEEN" merge week.seen mon.seen tue.seen wed.seen || fail "$kind: merge"
    seq 5000 | "$SEEN" check -c week.seen | grep -qx 5000 || fail "$kind: a key was lost"
    [ "$(seq 6001 20000 | "$SEEN" check -c week.seen)" -le 5 ] || fail "$kind: too many false positives"
    "$SEEN" info --json week.seen | sed -n '/keys_est/p; /fill/p' > a
    "$SEEN" info --json all.seen | sed -n '/keys_est/p; /fill/p' > b
    cmp a b || fail "$kind: the union differs from adding all keys"
    # In place, and in another order.
    "$SEEN" merge --into mon.seen wed.seen tue.seen
    seq 5000 | "$SEEN" check -c mon.seen | grep -qx 5000 || fail "$kind: --into lost a key"
done

cp week.seen before
refused "week.seen already exists" merge week.seen mon.seen
cmp -s week.seen before || fail "an existing OUT was changed"
"$SEEN" merge --replace week.seen tue.seen
seq 1501 3500 | "$SEEN" check -c week.seen | grep -qx 2000 || fail "--replace"
# OUT is one of the filters.
cp tue.seen both.seen
"$SEEN" merge --replace both.seen both.seen wed.seen
seq 1501 5000 | "$SEEN" check -c both.seen | grep -qx 3500 || fail "OUT as one of the filters"

# Different parameters, different seeds, missing filters: refused, and no file is created.
"$SEEN" create -q other.seen -n 50k -p 1e-6 --kind counting
"$SEEN" create -q seed.seen -n 10k -p 1e-6 --kind counting
refused . merge x.seen mon.seen other.seen
refused . merge x.seen mon.seen seed.seen
refused nosuch merge x.seen mon.seen nosuch.seen
refused nosuch merge --into nosuch.seen mon.seen
refused needs merge x.seen
refused "cannot be used together" merge --into --replace x.seen mon.seen
refused no/such merge no/such/x.seen mon.seen
[ ! -e x.seen ] || fail "a refused merge left OUT"
[ "$(ls -A | grep -c '^\.')" = 0 ] || fail "temporary files are left: $(ls -A)"

# copy: bit for bit, atomic.
mkdir copies
cd copies
fail() { echo "copy: $*" >&2; exit 1; }
for kind in bloom counting; do
    for growth in fixed growing window; do
        f=$kind-$growth
        [ $f != counting-window ] || continue # there are no counting windows
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
