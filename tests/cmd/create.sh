# create: every kind and growth, --like, invalid options, no incomplete files.
set -eu
fail() { echo "create: $*" >&2; exit 1; }
value() { "$SEEN" info --json "$1" | sed -n "s/^  \"$2\": \"*\([^\",]*\)\"*,*$/\1/p"; }
refused() {
    local part=$1 status=0
    shift
    "$SEEN" "$@" > out 2> words || status=$?
    [ "$status" = 2 ] || fail "$*: status $status"
    grep -q -- "$part" words || fail "$*: $(cat words)"
}
for kind in bloom counting; do
    for growth in fixed growing window; do
        f=$kind-$growth.seen
        [ "$f" != counting-window.seen ] || continue # there are no counting windows
        "$SEEN" create "$f" -n 10k -p 1e-3 --kind $kind --growth $growth 2> words || fail "$f: $(cat words)"
        grep -q "^seen: $f: $kind, $growth" words || fail "$f: the summary is $(cat words)"
        [ "$(value "$f" kind)" = $kind ] && [ "$(value "$f" growth)" = $growth ] || fail "$f has other parameters"
        [ "$(value "$f" error_rate)" = 0.001 ] || fail "$f: rate $(value "$f" error_rate)"
        seq 1000 | "$SEEN" add -q "$f" || fail "$f: add"
        [ "$(seq 1000 | "$SEEN" check "$f" | wc -l)" = 1000 ] || fail "$f: a line was lost"
    done
done
"$SEEN" create -q w.seen --window 30d --generations 4 -n 1k
"$SEEN" info w.seen | grep -q '4 generations in 30 days' || fail "the window: $("$SEEN" info w.seen)"
"$SEEN" create -q grow.seen --growth growing || fail "growing needs a number"
"$SEEN" create -q mem.seen -m 64KiB -n 10k
[ "$(value mem.seen bytes)" -le 65536 ] || fail "-m 64KiB took $(value mem.seen bytes)"
"$SEEN" create -q classic.seen -m 64KiB --hashes 7
[ "$(value classic.seen hashes)" = 7 ] || fail "--hashes 7 gave $(value classic.seen hashes)"

# The longest possible file name, in this folder and in another.
longest=$(printf 'n%.0s' $(seq 250)).seen
mkdir in
for f in "$longest" "in/$longest" "$PWD/in/y${longest#?}"; do
    "$SEEN" create -q "$f" -n 1k || fail "a name of 255 letters"
    "$SEEN" create -q --replace "$f" -n 2k || fail "a name of 255 letters is not replaced"
    [ "$(value "$f" capacity)" = 2000 ] || fail "a name of 255 letters: $(value "$f" capacity)"
done
[ "$(find . -name '*.tmp')" = "" ] || fail "left behind: $(find . -name '*.tmp')"
refused 'File name too long' create "n$longest" -n 1k

# Seeds: given, random, and printed in the format of the option.
"$SEEN" create -q s1.seen -n 1k --seed 42
"$SEEN" create -q s2.seen -n 1k --seed 42
echo key | "$SEEN" add -q s1.seen
echo key | "$SEEN" add -q s2.seen
# The header pages contain the creation time.
cmp -i 16384 s1.seen s2.seen || fail "the same seed gives other bits"
"$SEEN" create -q s3.seen -n 1k
"$SEEN" create -q s4.seen -n 1k
[ "$(value s3.seen seed)" != "$(value s4.seen seed)" ] || fail "two random seeds are equal"
"$SEEN" create -q s5.seen -n 1k --seed "$(value s3.seen seed)"
[ "$(value s3.seen seed)" = "$(value s5.seen seed)" ] || fail "a printed seed is not accepted"
if "$SEEN" --version | grep -q siphash; then
    "$SEEN" create -q sip.seen -n 1k --hash sip
    "$SEEN" info sip.seen | grep -q 'hash *sip' || fail "--hash sip"
fi

# --like.
"$SEEN" create -q twin.seen --like s3.seen
[ "$(value twin.seen seed)" = "$(value s3.seen seed)" ] || fail "--like has another seed"
[ "$(value twin.seen bits)" = "$(value s3.seen bits)" ] || fail "--like has another size"
refused "remove --capacity" create x.seen --like s3.seen -n 5
"$SEEN" create -q twin.seen --like s3.seen --if-absent || fail "--like --if-absent: it exists with the same parameters"
refused 'a different seed' create twin.seen --like s4.seen --if-absent
refused nosuch.seen create x.seen --like nosuch.seen

# Existing files are left unchanged.
seq 10 | "$SEEN" add -q s3.seen
cp s3.seen before
refused s3.seen create s3.seen -n 1k
cmp -s s3.seen before || fail "a refused create changed the file"
"$SEEN" create -q s3.seen -n 1k --replace
[ "$(value s3.seen keys_estimated)" = 0 ] || fail "--replace kept the keys"
"$SEEN" create -q again.seen -n 1k -p 1%
seq 10 | "$SEEN" add -q again.seen
"$SEEN" create -q again.seen -n 1k -p 1% --if-absent || fail "--if-absent refuses the same parameters"
[ "$(value again.seen keys_estimated)" -ge 9 ] || fail "--if-absent emptied the filter"
refused again.seen create again.seen -n 500k -p 1% --if-absent
refused "cannot be used together" create again.seen -n 1k --if-absent --replace

# When full.
"$SEEN" create -q small.seen -n 100
if seq 5000 | "$SEEN" add -q small.seen 2> words; then fail "a full filter accepted 5000 keys"; fi
"$SEEN" create -q small2.seen -n 100 --when-full go-on
seq 5000 | "$SEEN" add -q small2.seen || fail "go-on refused"

# Without a size it grows, as in the library.
"$SEEN" create -q grows.seen -p 0.1%
"$SEEN" info grows.seen | grep -q growing || fail "a filter without a size does not grow"

# Errors, after which no file exists.
refused "window" create x.seen -n 1k --kind counting --growth window
for growth in '--growth growing' '--window 1d'; do
    refused "when-full needs a fixed filter" create x.seen -n 1k $growth --when-full refuse
done
refused 'use 1e-12 or more' create x.seen --growth growing -p 1e-18
refused "no size:" create x.seen --growth fixed
refused "no size:" create x.seen --hashes 3
refused "no size:" create x.seen --when-full refuse
refused "window" create x.seen -n 1k --generations 4
refused "window" create x.seen -n 1k --window 1d --growth growing
refused "no/such" create no/such/x.seen -n 1k
refused "create needs" create -n 1k
refused "does not take" create x.seen y.seen -n 1k
[ ! -e x.seen ] || fail "a refused create left a file"
[ "$(ls -A | grep -c '^\.')" = 0 ] || fail "temporary files are left: $(ls -A)"

# rotate: drops the oldest generation.
"$SEEN" create -q turn.seen --growth window --generations 2 -n 1k
echo old | "$SEEN" add -q turn.seen
"$SEEN" rotate turn.seen
echo old | "$SEEN" check -q turn.seen > /dev/null || fail "dropped too early"
"$SEEN" rotate turn.seen
if echo old | "$SEEN" check -q turn.seen > /dev/null; then fail "not dropped"; fi
refused s1.seen rotate s1.seen

# drop: asks for confirmation, and does not remove files that are not filters.
refused "stdin is not a terminal" drop s1.seen < /dev/null
[ -e s1.seen ] || fail "removed without confirmation"
if command -v script > /dev/null; then
    echo n | script -qec "$SEEN drop s1.seen" /dev/null > said || true
    [ -e s1.seen ] && grep -q 'delete s1.seen permanently' said || fail "removed in spite of 'no': $(cat said)"
    echo y | script -qec "$SEEN drop s5.seen" /dev/null > said || fail "yes is no: $(cat said)"
    [ ! -e s5.seen ] || fail "not removed in spite of 'yes'"
fi
"$SEEN" drop --force s1.seen s2.seen
[ ! -e s1.seen ] && [ ! -e s2.seen ] || fail "not removed"
refused s1.seen drop -f s1.seen
echo precious > notes.txt
refused notes.txt drop -f notes.txt
[ "$(cat notes.txt)" = precious ] || fail "removed a file that is not a filter"

# Without enough disk space it is refused before trying, which would fill the disk temporarily. (Trying would fail
# because of the file size limit.)
if [ "$(df --output=avail -k . | tail -n 1)" -lt 4000000000 ]; then
    status=0
    (ulimit -f 1000 && exec "$SEEN" create vast.seen -n 1e12 -p 1e-9) 2> words || status=$?
    [ $status = 2 ] && grep -q 'vast.seen: not enough disk space for' words || fail "vast: status $status: $(cat words)"
    [ ! -e vast.seen ] || fail "vast: a file is left"
fi
