# uniq: each line once, in order, for any kind of lines.
# Needs: compression.
set -eu
fail() { echo "uniq: $*" >&2; exit 1; }
same() { # WHAT WANTED-FILE: compares stdin
    cmp - "$2" || fail "$1"
}
"$SEEN" uniq -q < /dev/null | same "empty input" /dev/null

# Lines are bytes: NULs, CRs, empty ones, bytes above 0x7f, a last one without newline.
printf 'a\nb\r\nb\n\n\na\0b\na\0b\n\377\376\n\377\376\nA\nb' > in
printf 'a\nb\r\nb\n\na\0b\n\377\376\nA\n' > want
"$SEEN" uniq -q in | same "bytes" want
"$SEEN" uniq -q --exact in | same "bytes, exact" want
printf 'x\ny' | "$SEEN" uniq -q > out
printf 'x\ny\n' | same "a missing newline is added" out

# Repeats, singles, drops, counts.
printf 'a\nb\na\nc\nb\na\n' > in
printf 'a\nb\nc\n' > first; printf 'a\nb\na\n' > repeats; printf 'c\n' > singles
for how in "" --exact "-p 1e-9" "-n 10" "-m 1M" "--approx -m 1M"; do
    # shellcheck disable=SC2086
    {
        "$SEEN" uniq -q $how in | same "$how" first
        "$SEEN" uniq -q $how < in | same "$how <" first
        cat in | "$SEEN" uniq -q $how - | same "$how pipe" first
        "$SEEN" uniq -q $how --duplicates in | same "--duplicates $how" repeats
        cat in | "$SEEN" uniq -q $how --duplicates | same "--duplicates $how pipe" repeats
        "$SEEN" uniq -q $how --dropped drop in | same "--dropped $how" first
        same "--dropped $how: what was dropped" repeats < drop
        [ "$("$SEEN" uniq -q $how --count-only in)" = 3 ] || fail "--count-only $how"
        [ "$("$SEEN" uniq -q $how --count-only --duplicates in)" = 3 ] || fail "--count-only --duplicates $how"
    }
done
printf '      3 a\n      2 b\n      1 c\n' > counts; printf 'a\nb\n' > repeated
printf 'a\nb\na\nb\na\n' > all; printf 'c\nb\na\n' > last
for how in "" "-m 1M" "-j 1"; do
    # shellcheck disable=SC2086
    for mode in "-c counts" "-d repeated" "-D all" "-u singles" "--keep=last last" "--keep=first first"; do
        set -- $mode
        "$SEEN" uniq -q $how $1 in | same "$1 $how" $2
        cat in | "$SEEN" uniq -q $how $1 | same "$1 $how pipe" $2
        [ "$("$SEEN" uniq -q $how --count-only $1 in)" = "$(wc -l < $2)" ] || fail "--count-only $1 $how"
    done
done
# -D is the complement of -u, etc.
"$SEEN" uniq -q -u --dropped drop in | same "-u --dropped" singles; same "-u --dropped: the others" all < drop
"$SEEN" uniq -q -D --dropped drop in | same "-D --dropped" all; same "-D --dropped: the others" singles < drop
# As GNU uniq on sorted input.
sort in > sorted
for mode in -c -d -D -u; do
    "$SEEN" uniq -q $mode sorted | cmp - <(uniq $mode sorted) || fail "$mode differs from GNU uniq"
done
"$SEEN" uniq -q -c -i -z <(printf 'A\0a\0b') | cmp - <(printf 'A\0a\0b' | uniq -c -i -z) || fail "-c -i -z differs from GNU uniq"

# -u too adds a missing last newline, for a file and for a pipe.
printf 'a\nb' > open
printf 'a\nb\n' > closed
"$SEEN" uniq -q -u open | same "-u, a file without a last newline" closed
cat open | "$SEEN" uniq -q -u | same "-u, a pipe without a last newline" closed
# Several files; the last line of one is a line, newline or not.
printf 'a\nb' > one; printf 'b\nc' > two; printf 'c\nd\n' > three
printf 'a\nb\nc\nd\n' > want
"$SEEN" uniq -q one two three | same "several files" want
"$SEEN" uniq -q one - three < two | same "several files and stdin" want

# Which part is compared.
printf 'x,1,p\ny,1,q\nx,2\nz\nw\n' > in
printf 'x,1,p\nx,2\nz\n' > want
"$SEEN" uniq -q -k 2 -t , in | same "-k" want
printf '1\ta\n2\ta\n' | "$SEEN" uniq -q -k 2 > out
printf '1\ta\n' | same "-k with tabs" out
printf 'Ab\naB\n\304\n\344\n' | "$SEEN" uniq -q -i > out
printf 'Ab\n\304\n\344\n' | same "-i is for ASCII" out
printf 'http://a.example/\nHTTP://A.example:80/#x\nno url\nno url\n' | "$SEEN" uniq -q --url > out
printf 'http://a.example/\nno url\n' | same "--url" out
printf 'a\nb\0a\nb\0c' | "$SEEN" uniq -q -z > out
printf 'a\nb\0c\0' | same "-z" out

# Output to a file: in place, new, compressed, special.
printf 'b\na\nb\n' > in
chmod 640 in
"$SEEN" uniq -q in -o in
printf 'b\na\n' | same "in place" in
[ "$(stat -c %a in)" = 640 ] || fail "the mode was not kept"
"$SEEN" uniq -q in -o new.gz && gzip -dc new.gz | same "-o x.gz" in
"$SEEN" uniq -q in -o new.zst
"$SEEN" uniq -q new.zst new.gz | same "-o x.zst and back" in
"$SEEN" uniq -q in -o /dev/null
[ "$(find . -name '.*seen*' | wc -l)" = 0 ] || fail "a temporary file is left behind"

# Compressed input, detected by content and not by name, also from a pipe.
for tool in gzip zstd xz bzip2 lz4; do
    command -v $tool > /dev/null || continue
    seq 20000 | $tool -c > packed.txt
    seq 20000 | cmp - <("$SEEN" uniq -q packed.txt) || fail "$tool"
    seq 20000 | cmp - <(cat packed.txt packed.txt | "$SEEN" uniq -q) || fail "$tool, twice, pipe"
    head -c $(($(stat -c %s packed.txt) / 2)) packed.txt > cut.txt
    if "$SEEN" uniq -q cut.txt > out 2> words; then fail "$tool truncated input was accepted"; fi
    grep -q "cut.txt" words || fail "$tool truncated: $(cat words)"
    [ "$(head -c 0 packed.txt | "$SEEN" uniq -q --count-only)" = 0 ] || fail "nothing"
done

# Messages: the summary goes to stderr and has the counts; -q is silent.
seq 10 | cat - <(seq 5) | "$SEEN" uniq --summary > out 2> words
grep -q "^seen: 15 lines, 10 unique, 5 duplicates removed ([0-9.]* [KM]iB)$" words || fail "summary: $(cat words)"
printf 'a\na\n' | "$SEEN" uniq --summary --approx 2>&1 > out |
    grep -q "^seen: 2 lines, 1 unique, 1 duplicate removed (error rate 1e-6: fewer than 0.01 unique lines expected to be lost)$" ||
    fail "summary of a filter"
printf 'a\na\n' | "$SEEN" uniq -d --summary 2>&1 > out | grep -q "^seen: 2 lines, 1 distinct, 1 printed (" || fail "summary of -d"
seq 10 | "$SEEN" uniq > out 2> words
[ ! -s words ] || fail "a summary without a terminal: $(cat words)"
seq 10 | "$SEEN" uniq -q > out 2> words
[ ! -s words ] || fail "-q prints: $(cat words)"
seq 10 | "$SEEN" uniq --json > out 2> words
python3 -c 'import json, sys
r = json.load(open("words"))
assert r["lines"] == 10 and r["written"] == 10 and r["dropped"] == 0 and not r["stopped"], r
assert 0 <= r["expected_wrong"] < 1, r' || fail "--json: $(cat words)"
seq 10 | "$SEEN" uniq --count-only --json -q | python3 -c 'import json, sys; assert json.load(sys.stdin)["written"] == 10'
seq 100000 | "$SEEN" uniq --progress=json 2>&1 > /dev/null | head -n 1 | grep -q '"lines"' || fail "progress"

# Too little memory: the loss is reported, with the current error rate, not the requested one.
seq 300000 > many
honest() {
    "$SEEN" uniq --approx --count-only --json "$@" > out 2> words || fail "uniq $*: $(cat words)"
    python3 - "$@" << 'END' || fail "uniq $*: $(cat out)"
import json, sys
r = json.load(open("out"))
lost = r["written"] if "--duplicates" in sys.argv else 300000 - r["written"]
assert lost > 1000 and 0.8 * lost < r["expected_wrong"] < 1.25 * lost, (lost, r)
assert 0.01 < r["error_rate"] <= 1, r
END
}
honest -m 512K many; honest -m 100K many; honest -m 512K --duplicates many; honest -m 300K < <(cat many)
"$SEEN" create -q full.seen -m 200K -p 1e-6 --when-full go-on
honest -f full.seen many
grep -q "^seen: warning: full.seen is too full: [0-9.]*% of new lines" words || fail "a full filter: $(cat words)"
"$SEEN" create -q loose.seen -n 1e6 -p 0.02
"$SEEN" uniq -f loose.seen many 2>&1 > out | grep warning && fail "a warning for a filter with room"
"$SEEN" uniq -q --approx -m 100K many > out 2> words
grep -q "^seen: warning: -m is too small for these lines: [0-9.]*% of" words || fail "-m: $(cat words)"
# Too little memory for the expected lines may be sufficient for the actual ones.
seq 1000 | "$SEEN" uniq --approx --summary -m 1M -n 100M > /dev/null 2> words
grep -Eq 'error rate [0-9.e-]*%*: (fewer|about 0\.[0-9] )' words && ! grep -q warning words || fail "-m, few lines: $(cat words)"
"$SEEN" uniq -p 10% many 2>&1 > out | grep -q warning && fail "a rate that was asked for is no trouble"
# What was said or guessed of the number of lines is no bound where the memory has room: a long line
# before many short ones, and too few named.
{ head -c 3000000 /dev/urandom | base64 -w 0; echo; cat many; } | gzip -1 > guess.gz
[ "$("$SEEN" uniq -q -p 1e-12 -m 256M --count-only guess.gz)" = 300001 ] || fail "-m: a wrong estimate lost lines"
[ "$("$SEEN" uniq -q -p 1e-12 -m 256M -n 1000 --count-only many)" = 300000 ] || fail "-m -n: lines were lost"
rm many full.seen loose.seen guess.gz

# Errors: status 2 and a message.
refused() {
    code=0
    "$SEEN" uniq "$@" > out 2> words < /dev/null || code=$?
    [ $code = 2 ] || fail "uniq $*: status $code"
    [ -s words ] || fail "uniq $*: no message"
}
refused nosuchfile; grep -q nosuchfile words || fail "does not name it"
refused .; refused -D -u in; refused -c --keep last in; refused -d --duplicates in; refused --count-only -o x in
refused --exact -f x in; refused -u -f x in; refused -c -p 1e-3 in; refused -c --dropped x in; refused --exact --approx in
refused -d , in; grep -q -- "-t" words || fail "-d CHAR does not name -t: $(cat words)"
refused -U in; grep -q -- "-u" words || fail "-U does not name -u: $(cat words)"
refused --exact -p 1e-3 in; refused in -o no/such/folder/x; refused in -o .
refused -T /no/such/folder -u
printf 'old' > kept
refused packed.txt cut.txt -o kept
[ "$(cat kept)" = old ] || fail "a failed run changed the output"
code=0; "$SEEN" uniq -q in > /dev/full 2> words || code=$?
[ $code = 2 ] && grep -qi "space" words || fail "a full disk: $code $(cat words)"

# A line longer than the memory limit is reported with its offset; with enough memory it works.
{ echo short; head -c 3000000 /dev/zero | tr '\0' x; echo; } > long
refused -m 1M long; grep -q "offset 6 " words || fail "long line: $(cat words)"
"$SEEN" uniq -q long | cmp - long || fail "a long line"
