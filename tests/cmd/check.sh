# check: the lines that were seen, with the statuses of grep.
set -eu
fail() { echo "check: $*" >&2; exit 1; }
"$SEEN" create -q f -n 1k -p 1e-6
printf 'a\nb\nc\n' | "$SEEN" add -q f
status() { # WANTED WORDS...
    code=0
    "$SEEN" check "${@:2}" > out 2> words || code=$?
    [ $code = "$1" ] || fail "${*:2}: status $code, not $1"
}
printf 'b\nx\na\nb\n' > in; printf 'x\ny\n' > none
status 0 f in; [ "$(tr '\n' ' ' < out)" = "b a b " ] || fail "seen"
status 0 -v f in; [ "$(cat out)" = x ] || fail "not seen"
status 1 f none; [ ! -s out ] || fail "none"
status 0 -v f none
printf 'a\n' > some; status 1 -v f some
status 0 -c f in; [ "$(cat out)" = 3 ] || fail "-c"
status 0 -c -v f in; [ "$(cat out)" = 1 ] || fail "-c -v"
status 1 -c f none; [ "$(cat out)" = 0 ] || fail "-c none"
status 1 f /dev/null
status 2 nosuch in; grep -q nosuch words || fail "does not name it"
status 2 f nosuch; status 2; status 2 in in; status 2 -c -o x f in
status 0 f in -o out.txt; [ "$(tr '\n' ' ' < out.txt)" = "b a b " ] || fail "-o"
status 0 --json -c f in; grep -q '"seen"' out || fail "--json: $(cat out)"
printf 'x\0a\0' | "$SEEN" check -z f | cmp - <(printf 'a\0') || fail "-z"
printf '1 a\n2 x\n' | "$SEEN" check -k 2 -t ' ' f | cmp - <(echo '1 a') || fail "-k"
# It changes nothing, and a filter that may only be read is enough.
cp f before; chmod 444 f
status 0 f in; cmp f before || fail "the filter was changed"
# Threads keep the order.
seq 100000 > many
"$SEEN" create -q g -n 100k -p 1e-9; awk '$1 % 3 == 0' many | "$SEEN" add -q g
for j in 1 2 5; do
    "$SEEN" check -j $j g many | cmp - <(awk '$1 % 3 == 0' many) || fail "-j $j"
    "$SEEN" check -v -j $j g many | cmp - <(awk '$1 % 3' many) || fail "-v -j $j"
done
# Keys on the command line.
printf 'a\n' | "$SEEN" add -q -p 1e-9 e.seen
status 0 e.seen -e a -e x; [ "$(cat out)" = a ] || fail "-e: $(cat out)"
status 0 -v e.seen -e a -e x; [ "$(cat out)" = x ] || fail "-v -e: $(cat out)"
status 1 e.seen -e x; status 0 -c e.seen -e a -e a; [ "$(cat out)" = 2 ] || fail "-c -e"
status 0 -i --other-keys e.seen -e A
status 2 e.seen -e a many; status 2 e.seen -e $'a\nb'
status 1 -z e.seen -e $'a\nb'
