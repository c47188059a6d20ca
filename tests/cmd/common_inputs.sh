# Pipes, compressed files, filters, keys, outputs and messages.
# Needs: compression.
set -eu
oracle() { python3 "$ROOT/tests/cmd/sets_oracle.py" "$@"; }
fail() { echo "FAIL: $*" >&2; exit 1; }
refused() { # a part of the message, then the command
    local text=$1; shift
    if "$@" > out 2> err; then fail "accepted: $*"; fi
    grep -q -- "$text" err || fail "no '$text' in: $(cat err)"
}

oracle make .
for what in common except; do
    oracle $what random.a random.b > want
    oracle $what -u random.a random.b > want-u
    for strategy in "" "table of B" "table of A" filter spill "filtered spill"; do
        export SEEN_JOIN_STRATEGY=$strategy
        cat random.a | "$SEEN" $what -q - random.b | cmp - want || fail "$what, A a pipe ($strategy)"
        cat random.b | "$SEEN" $what -q random.a - | cmp - want || fail "$what, B a pipe ($strategy)"
        "$SEEN" $what -q <(cat random.a) <(cat random.b) | cmp - want || fail "$what, both ($strategy)"
        case "$what/$strategy" in except/*filter*) continue ;; esac
        cat random.a | "$SEEN" $what -q -u - random.b | cmp - want-u || fail "$what -u, pipe ($strategy)"
    done
    unset SEEN_JOIN_STRATEGY
    gzip -kf random.a; xz -kf random.b
    "$SEEN" $what -q random.a.gz random.b.xz | cmp - want || fail "$what, compressed"
    "$SEEN" $what -q random.a random.b -o out.txt && cmp out.txt want || fail "$what -o"
    cp random.a copy
    "$SEEN" $what -q copy random.b -o copy && cmp copy want || fail "$what -o A"
done

# A filter instead of B: no line of B is missed, and the summary reports the error rate.
"$SEEN" create -q b.seen -n 30k -p 0.01
"$SEEN" add -q b.seen random.b
"$SEEN" common --summary random.a b.seen > got 2> err
grep -q "approximate: a line that is not in B" err || fail "the summary does not mention the filter: $(cat err)"
[ "$(oracle common random.a random.b | sort | comm -23 - <(sort got) | wc -l)" = 0 ] ||
    fail "a filter missed a line"
"$SEEN" except -q random.a b.seen > got
[ "$(oracle except random.a random.b | sort | comm -13 - <(sort got) | wc -l)" = 0 ] ||
    fail "except printed a line of B"
refused "the only B" "$SEEN" common random.a b.seen random.b
refused "cannot list" "$SEEN" common b.seen random.a

# Approximate: all expected lines are printed, and the error rate is reported.
"$SEEN" common --summary --approx -p 1% random.a random.b > got 2> err
grep -q "at a rate of" err || fail "no rate: $(cat err)"
[ "$(oracle common random.a random.b | sort | comm -23 - <(sort got) | wc -l)" = 0 ] ||
    fail "--approx missed a line"
# -u remembers the printed lines, however much longer a pipe is than B.
printf 'x\ny\n' > short
seq 300000 > longer
"$SEEN" create -q short.seen -n 1k
"$SEEN" add -q short.seen short
for b in short short.seen; do
    approx=; [ "$b" = short.seen ] || approx=--approx
    cat longer longer | "$SEEN" except $approx -u - "$b" > got 2> err
    [ "$(wc -l < got)" -gt 299950 ] || fail "except -u of a pipe, $b: $(cat err)"
    sort -u got | wc -l | grep -qx "$(wc -l < got)" || fail "except -u of a pipe, $b: twice"
done
# If the memory is not sufficient it reports the loss.
seq 6000000 | "$SEEN" except -u -m 16M --json - short.seen > got 2> err
python3 -c 'import json, sys
r = json.load(open("err"))
lost = r["lines_a"] - r["written"]
assert lost > 1000 and lost / 2 < r["expected_wrong"] < lost * 2, r' || fail "expected_wrong: $(cat err)"
# The same as text, if that does not take another minute.
if ! grep -q -e __asan_init -e __tsan_init "$SEEN"; then
    seq 6000000 | "$SEEN" except --summary -u -m 16M - short.seen 2>&1 > got |
        grep -q "; -u: about [0-9.,]* [a-z]*[ a-z]*unique lines expected to be lost" || fail "-u does not report what it lost"
fi

# Keys.
printf 'a 1\nb 2\nc 3\n' > k1; printf 'x 3\ny 1\n' > k2
[ "$("$SEEN" common -q -k 2 -t ' ' k1 k2 | tr '\n' ,)" = "a 1,c 3," ] || fail "-k"
printf 'Ab\ncd\n' > k1; printf 'aB\n' > k2
[ "$("$SEEN" common -q -i k1 k2)" = Ab ] || fail "-i"
printf 'HTTP://Example.org:80/\nhttp://x.org/\n' > k1; printf 'http://example.org/\n' > k2
[ "$("$SEEN" common -q --url k1 k2)" = "HTTP://Example.org:80/" ] || fail "--url"

# Messages.
"$SEEN" common --json random.a random.b 2> err > out
python3 - err "$(wc -l < out)" << 'END' || fail "--json: $(cat err)"
import json, sys
j = json.load(open(sys.argv[1]))
assert j["exact"] is True and j["written"] == int(sys.argv[2]) and j["lines_a"] == 20000
END
[ -z "$("$SEEN" common -q random.a random.b 2>&1 > out)" ] || fail "-q prints messages"
"$SEEN" common --explain random.a random.b > out || fail "--explain"
grep -q "^strategy " out || fail "--explain prints no strategy"
"$SEEN" except --explain --json --assume-lines 5e9 -m 4GB | python3 -m json.tool > out ||
    fail "--explain --json"
"$SEEN" common --progress=json random.a random.b 2>&1 > out | grep -q '"what": *"reading' ||
    fail "no passes in the progress"

refused "two files" "$SEEN" common random.a
refused "16 MiB" "$SEEN" common -m 8M random.a random.b
refused "nothere" "$SEEN" common random.a nothere
refused "only one" "$SEEN" common - -
refused "approx" "$SEEN" common -p 1% random.a random.b
refused "goes with" "$SEEN" common --assume-lines 5 random.a random.b
refused "longer than" "$SEEN" common -m 16M <(head -c 3000000 /dev/zero) random.b
# A line that fits does so with any number of threads.
{ head -c 3000000 /dev/zero; echo; } > wide
"$SEEN" common -q -m 64M -j 8 wide wide | cmp - wide || fail "a long line, and many threads"

# Different fields in B than in A.
printf 'u1\nu2\nu3\n' > urls; printf '1\tu3\n2\tu1\n' > visits
[ "$("$SEEN" common -q urls visits --key-b 2 | tr '\n' ,)" = "u1,u3," ] || fail "--key-b"
[ "$("$SEEN" except -q visits urls -k 2 --key-b 1 | wc -l)" = 0 ] || fail "-k and --key-b"
printf 'id,url\n1,x\n2,y\n' > a.csv; printf 'url,n\ny,5\nz,6\n' > b.csv
"$SEEN" common -q --csv -k url --key-b url a.csv b.csv | cmp - <(printf 'id,url\n2,y\n') || fail "--csv --key-b"
refused "no column is named nope" "$SEEN" common --csv -k url --key-b nope a.csv b.csv
refused "has no fields" "$SEEN" common --key-b 2 random.a b.seen
