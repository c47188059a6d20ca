# except: what is not there, in A's order, as often as A has it.
set -eu
fail() { echo "FAIL: $*" >&2; exit 1; }
expect() { # the lines joined by commas, then the command
    local want=$1 got; shift
    got=$("$@" | tr '\n' ,)
    [ "$got" = "$want" ] || fail "$*: '$got' instead of '$want'"
}
printf 'd\na\nb\na\n\nc\nd' > a
printf 'b\nc\n' > b
printf 'c\na\n' > c
: > empty
expect "d,a,a,,d," "$SEEN" except -q a b
expect "d,a,," "$SEEN" except -q -u a b
expect "d,,d," "$SEEN" except -q a b c
expect "d,a,b,a,,d," "$SEEN" except -q --all a b c
expect "d,a,b,," "$SEEN" except -q -u --all a b c
expect "d,a,b,a,,c,d," "$SEEN" except -q a empty
expect "" "$SEEN" except -q empty a
expect "" "$SEEN" except -q a a
expect "b,c," "$SEEN" except -q b empty
"$SEEN" except --summary a b 2> err > out
grep -q "^seen: 7 lines, 5 not in B (table of [AB]; " err || fail "summary: $(cat err)"
"$SEEN" except -q a b | head -n 1 | grep -qx d || fail "a closed pipe is trouble"
"$SEEN" except -q --approx -p 1e-6 a b > out || fail "--approx"
[ "$(tr '\n' , < out)" = "d,a,a,,d," ] || fail "--approx: $(cat out)"
if "$SEEN" except a 2> err; then fail "one file was accepted"; fi
grep -q "two files" err || fail "message: $(cat err)"
