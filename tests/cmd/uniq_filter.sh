# uniq -f: remembers across runs; killed at any moment and run again, nothing is lost.
set -eu
fail() { echo "uniq_filter: $*" >&2; exit 1; }
printf 'a\nb\na\n' > monday; printf 'b\nc\nb\n' > tuesday
[ "$("$SEEN" uniq -q -f f monday | tr '\n' ' ')" = "a b " ] || fail "the first run"
[ "$("$SEEN" uniq -q -f f tuesday | tr '\n' ' ')" = "c " ] || fail "the second run"
[ -z "$("$SEEN" uniq -q -f f monday tuesday)" ] || fail "the third run"
[ "$("$SEEN" uniq -q --duplicates -f f monday | tr '\n' ' ')" = "a b a " ] || fail "--duplicates"
rm f
"$SEEN" uniq -q -f f monday -o out && [ "$(tr '\n' ' ' < out)" = "a b " ] || fail "-o"
"$SEEN" uniq -q -f f monday tuesday -o out && [ "$(tr '\n' ' ' < out)" = "c " ] || fail "-o again"
[ "$("$SEEN" uniq -q --count-only -f f <(printf 'a\nz\n'))" = 1 ] || fail "-c"
[ "$("$SEEN" check -c f <(printf 'a\nb\nc\nz\nnew\n'))" = 4 ] || fail "what is remembered"
# Lines not accepted by a closed pipe are not remembered.
rm f
seq 1000000 | "$SEEN" uniq -q -f f | head -n 1 > /dev/null
[ "$(seq 1000000 | "$SEEN" uniq -q -f f | wc -l)" -gt 500000 ] || fail "a closed pipe swallowed lines"
seq 1000000 | "$SEEN" uniq --dropped aside 2> words | head -n 1 > /dev/null
grep -q 'aside is not written' words && [ ! -e aside ] || fail "a closed pipe: $(cat words)"
# Repeats are printed and new lines go to --dropped: those are remembered when that file has
# appeared.
rm f
"$SEEN" uniq -q --duplicates -f f --dropped new monday > out && [ "$(tr '\n' ' ' < new)" = "a b " ] || fail "--duplicates --dropped"
[ "$("$SEEN" check -c f monday)" = 3 ] || fail "-D --dropped: not remembered"
seq 1000 > numbers; seq 1000 | gzip | head -c 1000 > cut.gz
"$SEEN" uniq -q --duplicates -f f --dropped other numbers cut.gz > out 2> words && fail "a file that is cut off"
[ ! -e other ] && [ "$("$SEEN" check -c f numbers)" = 0 ] || fail "-D --dropped: remembered and not written"
# The set that stands in for a filter until the output appears has at most its error rate.
seq 100000 > numbers; seq 100 >> numbers
for rate in 1e-3 1e-12; do
    rm -f wide; "$SEEN" create -q wide -n 10M -p $rate # nearly empty, so it has no false positives itself
    "$SEEN" uniq --json -f wide numbers -o out 2> words
    python3 -c 'import json, sys
wrong = json.load(open("words"))["expected_wrong"]
assert 1e-6 < wrong < 1 if sys.argv[1] == "1e-3" else wrong < 1e-8' $rate || fail "$rate: $(cat words)"
done
# Also at the lowest error rate.
rm -f wide; "$SEEN" create -q wide -n 200k -p 1e-18
"$SEEN" uniq -q -f wide numbers -o out || fail "the filter with the lowest rate"
seq 100000 | cmp - out || fail "the filter with the lowest rate: the output"
seq 100000 | "$SEEN" uniq -q -p 1e-18 -n 10 | cmp - out || fail "the lowest rate"
# A file that is not a filter is refused and left unchanged.
cp monday other
if "$SEEN" uniq -q -f other monday 2> words > out; then fail "a file that is not a filter was accepted"; fi
cmp monday other || fail "a file that is not a filter was changed"
grep -q other words || fail "the message does not name it"

# The false positives of a growing set: its rate is near the last one for most of the lines.
"$SEEN" create -q grown -p 0.1 --growth growing
seq 8000000 > many
"$SEEN" uniq --json -f grown many many > /dev/null 2> err
python3 -c '
import json
r = json.load(open("err"))
lost = 8000000 - r["written"]
assert lost > 5000 and 0.85 * lost < r["expected_wrong"] < 1.25 * lost, r' || fail "expected_wrong: $(cat err)"
rm many grown

# Kills: 40 of them, to a pipe and to a file, at random moments.
seq 400000 | awk '{ print "http://example.org/" ($1 * 7919) % 300007 }' > in
LC_ALL=C sort -u in > want
for how in append replace; do
    rm -f f all
    : > all
    for i in $(seq 20); do
        if [ $how = append ]; then
            "$SEEN" uniq -q -f f in >> all &
        else
            "$SEEN" uniq -q -f f in -o out &
        fi
        pid=$!
        python3 -c "import time, random; time.sleep(random.random() * 0.12)"
        kill -9 $pid 2> /dev/null || true
        wait $pid 2> /dev/null || true
        [ $how = append ] || [ ! -f out ] || { cat out >> all; rm -f out; }
        # A killed writer leaves an incomplete line; the next one starts a new line.
        [ -z "$(tail -c 1 all)" ] || echo >> all
    done
    if [ $how = append ]; then
        "$SEEN" uniq -q -f f in >> all || fail "$how: the filter does not open after kills"
    else
        "$SEEN" uniq -q -f f in -o out || fail "$how: the filter does not open after kills"
        cat out >> all
    fi
    LC_ALL=C sort -u all > got
    [ -z "$(LC_ALL=C comm -23 want got)" ] || fail "$how: lines were lost: $(LC_ALL=C comm -23 want got | wc -l)"
    [ "$(find . -name '*.tmp' | wc -l)" = 0 ] || fail "$how: a temporary file is left behind"
done
