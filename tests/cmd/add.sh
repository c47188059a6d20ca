# add and remove: lines into a filter, and out of a counting one.
# Needs: compression.
set -eu
fail() { echo "add: $*" >&2; exit 1; }
"$SEEN" create -q f -n 10k -p 1e-6
printf 'a\nb\na\n' | "$SEEN" add --summary f 2> words
grep -q "3 lines read, 2 new, 1 already present" words || fail "$(cat words)"
[ "$(printf 'b\nc\n' | "$SEEN" add --json f 2> /dev/null)" = '{"lines": 2, "new": 1, "before": 1, "stopped": false}' ] ||
    [ "$(printf 'c\nd\n' | "$SEEN" add --json f | python3 -c 'import json, sys; print(json.load(sys.stdin)["new"])')" = 1 ] ||
    fail "--json"
# A command that fails leaves no empty filter behind; an existing one is unchanged.
printf 'a,b\n1,2\n' > t.csv
for words in "add new.seen --csv -k nope t.csv" "uniq -f new.seen --csv -k nope t.csv" "uniq -f new.seen --jsonl -k a t.csv" \
    "uniq -f new.seen t.csv -o no/such/folder" "uniq -f new.seen --explain t.csv"; do
    # shellcheck disable=SC2086
    "$SEEN" $words > out 2>&1 && [ "${words#*--explain}" = "$words" ] && fail "$words: not refused"
    [ ! -e new.seen ] || fail "$words: left a filter"
done
"$SEEN" create -q empty.seen --csv -k a
"$SEEN" add empty.seen --other-keys --csv -k nope t.csv 2> words && fail "a column that does not exist"
[ -e empty.seen ] || fail "a filter that existed was deleted"
# A new filter that has a key stays.
seq -f '{"a":%g}' 300000 > half.jsonl; echo '{' >> half.jsonl
"$SEEN" add half.seen --jsonl -k a half.jsonl 2> words && fail "bad JSON"
[ ! -e half.seen ] || [ "$(echo 1 | "$SEEN" check -c --other-keys half.seen)" = 1 ] || fail "half.seen is empty"
seq 5000 > in
"$SEEN" add -q f in
[ "$("$SEEN" check -c f in)" = 5000 ] || fail "lines are missing"
printf '1\tx\n2\tx\n' > fields
"$SEEN" create -q g -n 100
"$SEEN" add --summary -k 2 g fields 2> words
grep -q "1 new" words || fail "-k: $(cat words)"
# The number of threads does not change the bits.
for growth in "fixed --when-full go-on" growing; do
    "$SEEN" create -q a1 -n 1k --growth $growth --seed 1 --replace
    "$SEEN" create -q a2 -n 1k --growth $growth --seed 1 --replace
    "$SEEN" add -q -j 1 a1 in; "$SEEN" add -q -j 4 a2 in
    "$SEEN" info --json a1 > one 2> /dev/null; "$SEEN" info --json a2 > two 2> /dev/null
    grep -q keys_estimated one || fail "$growth: info has no keys_estimated"
    cmp one two || fail "$growth: -j changes the filter"
done
# A filter that may exceed its capacity warns when it does.
"$SEEN" create -q over -n 1k --when-full go-on
head -n 900 in | "$SEEN" add over 2> words
grep -q warning words && fail "a warning before the capacity: $(cat words)"
"$SEEN" add over in 2> words
grep -q "^seen: warning: over is past its capacity: about .* keys, planned for 1,000;" words || fail "past the capacity: $(cat words)"
"$SEEN" add -q over in 2> words
[ ! -s words ] || fail "-q says: $(cat words)"
"$SEEN" create -q grown -n 1k --growth growing
"$SEEN" add grown in 2> words
grep -q warning words && fail "a growing filter is never over its capacity: $(cat words)"
# A filter that refuses when full reports it, and keeps the keys it accepted.
"$SEEN" create -q full -n 100
code=0; "$SEEN" add full in 2> words || code=$?
[ $code = 2 ] || fail "full: status $code"
grep -q full words || fail "full: $(cat words)"
# Compressed input and several files.
gzip -k in
"$SEEN" create -q h -n 10k
"$SEEN" add --summary h in.gz in 2> words
grep -q "10,000 lines read" words || fail "gzip: $(cat words)"
# remove
"$SEEN" create -q c -n 1k -p 1e-6 --kind counting
printf 'a\nb\nb\n' | "$SEEN" add -q c
printf 'a\nb\nx\n' | "$SEEN" remove --summary c 2> words
grep -q "3 lines read, 2 removed, 1 not found" words || fail "remove: $(cat words)"
[ "$(printf 'a\nb\n' | "$SEEN" check c)" = b ] || fail "remove: what is left"
refused() {
    code=0
    "$SEEN" "$@" > out 2> words < /dev/null || code=$?
    [ $code = 2 ] && [ -s words ] || fail "$*: status $code"
}
refused remove f in; refused remove nosuch in; refused add f nosuch; refused add new nosuch; refused add; refused add in in
cmp in <(seq 5000) || fail "a file that is not a filter was changed"
[ ! -e new ] || fail "a filter was created for a missing input"
# A missing filter is created, with the defaults of uniq -f.
"$SEEN" add -q new.seen in; "$SEEN" uniq -q -f made.seen in > /dev/null
"$SEEN" info --json new.seen | grep -v 'seed\|fill\|now\|estimated' > one; "$SEEN" info --json made.seen | grep -v 'seed\|fill\|now\|estimated' > two
cmp one two || fail "add and uniq -f create different filters: $(diff one two)"
grep -q '"error_rate": 1e-06\|"error_rate": 0.000001' one || fail "the rate: $(cat one)"
"$SEEN" add -q -n 5k -p 1% sized.seen in; "$SEEN" info --json sized.seen | grep -q '"error_rate": 0.01' || fail "-p"
# --print-new: each line once, also if several processes share a filter; a line is added before it is printed.
"$SEEN" create -q shared -p 1e-9
for i in 1 2 3 4; do
    seq 20000 | shuf | "$SEEN" add -q --print-new shared > "print.$i" &
done
wait
sort -n print.? | cmp - <(seq 20000) || fail "--print-new: a line was not printed exactly once"
[ -z "$(seq 100 | "$SEEN" add --print-new shared)" ] || fail "--print-new prints present lines"
"$SEEN" add --json --print-new shared <(echo x) > out 2> words
[ "$(cat out)" = x ] && grep -q '"new": *1' words || fail "--print-new --json: $(cat out words)"

# check: prints the lines that are present, with the exit statuses of grep.
mkdir check
cd check
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
# It changes nothing, and works with a read-only filter.
cp f before; chmod 444 f
status 0 f in; cmp f before || fail "the filter was changed"
# Output order does not depend on the number of threads.
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
