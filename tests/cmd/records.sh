# CSV, TSV and JSON lines: headers, keys, bad input; then random cases compared with Python's
# modules.
set -eu
fail() { echo "records: $*" >&2; exit 1; }
same() { cmp -s - "$1" || fail "$2: $(cat "$1")"; }
refused() { # PATTERN ARGUMENTS...
    pattern=$1; shift
    code=0
    "$SEEN" "$@" > out 2> words || code=$?
    [ $code = 2 ] || fail "$*: status $code"
    grep -q "$pattern" words || fail "$*: $(cat words)"
}
printf 'id,url,note\n1,http://a/,"x, ""y""\nz"\n2,http://b/,q\n3,http://a/,q\n' > t.csv
"$SEEN" uniq -q --csv -k url t.csv > out
printf 'id,url,note\n1,http://a/,"x, ""y""\nz"\n2,http://b/,q\n' | same out "by name"
"$SEEN" uniq -q --csv -k 3 < t.csv > out
printf 'id,url,note\n1,http://a/,"x, ""y""\nz"\n2,http://b/,q\n' | same out "by number, from a pipe"
"$SEEN" uniq -q --csv -k note,url t.csv t.csv -o out
printf 'id,url,note\n1,http://a/,"x, ""y""\nz"\n2,http://b/,q\n3,http://a/,q\n' | same out "two files, two keys"
"$SEEN" uniq -q --csv -k note -k url t.csv > out2; cmp -s out out2 || fail "-k twice"
"$SEEN" uniq -q --csv --no-header -k 2 t.csv | wc -l | grep -qx 4 || fail "--no-header"
# The header is written even if nothing else is.
printf 'a,b\n1,2\n' > one.csv
"$SEEN" except -q --csv one.csv one.csv > out; printf 'a,b\n' | same out "header alone"
printf 'a,b' > head.csv; "$SEEN" uniq -q --csv head.csv > out; printf 'a,b\n' | same out "a file that is a header"
: > empty; "$SEEN" uniq -q --csv empty > out; [ ! -s out ] || fail "an empty file"
# Counts, and the source of a record, are additional leading columns, with names in the header.
"$SEEN" uniq -q -c --csv -k url t.csv > out
printf 'count,id,url,note\n2,1,http://a/,"x, ""y""\nz"\n1,2,http://b/,q\n' | same out "uniq -c"
"$SEEN" count -q --csv -k url --top 1 t.csv > out
printf 'count,id,url,note\n2,1,http://a/,"x, ""y""\nz"\n' | same out "count --top"
"$SEEN" count -q --csv --no-header one.csv one.csv > out; printf '2,a,b\n2,1,2\n' | same out "count --no-header"
"$SEEN" count -q --tsv -t ';' < one.csv > out; printf 'count;a,b\n1;1,2\n' | same out "count -t"
"$SEEN" count -q --csv head.csv > out; printf 'count,a,b\n' | same out "count of a header"
"$SEEN" count -q --csv empty > out; [ ! -s out ] || fail "count of an empty file"
printf '\xef\xbb\xbfa\r\n1\r\n' | "$SEEN" count -q --csv > out; printf '\xef\xbb\xbfcount,a\r\n1,1\r\n' | same out "count: byte order mark"
cp one.csv 'o"n,e.csv'
"$SEEN" uniq -q --source --csv one.csv 'o"n,e.csv' > out; printf 'file,line,a,b\none.csv,1,1,2\n' | same out "--source"
"$SEEN" uniq -q --source --keep last --csv one.csv 'o"n,e.csv' > out
printf 'file,line,a,b\n"o""n,e.csv",1,1,2\n' | same out "--source: a name with quotes"
# A column of a CSV file, a member of JSON objects, a plain line: the same keys.
printf 'http://a/\n' > lines
"$SEEN" create -q f.seen -n 100 -p 1e-9; "$SEEN" add -q f.seen lines
[ "$("$SEEN" check --csv -k url f.seen t.csv | wc -l)" = 4 ] || fail "a filter of lines and CSV"
[ "$(printf '{"u":{"url":"http:\\/\\/a\\/"}}\n{"u":1}\n' | "$SEEN" check --jsonl -k u.url f.seen | wc -l)" = 1 ] || fail "a filter of lines and JSON"
# Byte order mark, CRLF.
printf '\xef\xbb\xbfid,x\r\n1,a\r\n2,a\r\n' | "$SEEN" uniq -q --csv -k id,x > out
[ "$(wc -l < out)" = 3 ] || fail "byte order mark"
printf '\xef\xbb\xbfid,x\r\n1,a\r\n2,a\n' | "$SEEN" uniq -q --csv -k x > out
[ "$(wc -l < out)" = 2 ] || fail "CRLF and LF are one"
# Missing keys.
printf '{"a":1}\n{"b":1}\n{"b":2}\n\n' > m.jsonl
[ "$("$SEEN" uniq -q --jsonl -k a m.jsonl | wc -l)" = 2 ] || fail "missing is a value"
[ "$("$SEEN" uniq -q --jsonl -k a --missing skip m.jsonl)" = '{"a":1}' ] || fail "--missing skip"
refused 'm.jsonl: the record at byte 8 has no a$' uniq --jsonl -k a --missing error m.jsonl
printf 'a,b\n1\n1,\n' > short.csv
[ "$("$SEEN" uniq -q --csv -k b short.csv | wc -l)" = 3 ] || fail "a missing column is not an empty one"
refused 'short.csv: the record at byte 4 has no b$' uniq --csv -k b --missing error short.csv
# CRLF: part of a plain line, with a warning if line ends are mixed; --crlf ignores it, also in fields, and a filter remembers that.
printf 'a,1\r\nb,2\r\n' > dos.txt; printf 'b,2\na,1\nc,\r3\n' > unix.txt
"$SEEN" common dos.txt unix.txt > out 2> words; [ ! -s out ] || fail "CRLF equals LF"
grep -q 'warning: some lines end with CRLF.*--crlf' words || fail "no warning of CRLF: $(cat words)"
"$SEEN" common --crlf dos.txt unix.txt > out 2> words; cmp -s dos.txt out || fail "--crlf: $(od -c out)"
[ ! -s words ] || fail "--crlf: $(cat words)"
"$SEEN" uniq dos.txt dos.txt > out 2> words; [ ! -s words ] || fail "a warning of CRLF alone: $(cat words)"
"$SEEN" uniq -q unix.txt dos.txt > out 2> words; [ ! -s words ] || fail "-q, CRLF: $(cat words)"
for options in "" -i "-k 2 -t ," "-k 1,2 -t ," "--approx"; do
    # shellcheck disable=SC2086
    [ "$("$SEEN" uniq --crlf $options unix.txt dos.txt | od -c)" = "$(od -c unix.txt)" ] || fail "uniq --crlf $options"
done
"$SEEN" add -q --crlf crlf.seen dos.txt
[ "$("$SEEN" check -q crlf.seen unix.txt | tr '\n' ' ')" = "b,2 a,1 " ] || fail "the filter does not remember --crlf"
refused 'leave -z out' uniq --crlf -z dos.txt
# Bad input and options.
refused 't.csv: no column is named nope; its columns are id, url, note (' uniq --csv -k nope t.csv
seq -s, 1000 > wide.csv; refused 'no column is named nope; its columns are 1, 2, .*[0-9], \.\.\. (' uniq --csv -k nope wide.csv
head -c 500 /dev/zero | tr '\0' x > long.csv; refused 'no column is named nope; its columns are \.\.\. (' uniq --csv -k nope long.csv
printf 'a,"b\nc' > open.csv; refused 'open.csv: the record at byte 0 has a quote that is never closed' uniq --csv open.csv
printf '{"a":1}\n{"a":}\n' > bad.jsonl; refused 'bad.jsonl: the line at byte 8 is not valid JSON: expected a value' uniq --jsonl -k a bad.jsonl
printf 'x,y\n1,2\n' > other.csv; refused 'other.csv: the header differs' uniq --csv one.csv other.csv
refused 'needs -k PATH' uniq --jsonl t.csv
refused 'choose one of' uniq --csv --jsonl -k a t.csv
refused 'no-header is for' uniq --no-header t.csv
refused 'names are for' uniq -k url t.csv
refused "leave -z out" uniq --csv -z t.csv
# Quotes with plain -t.
printf 'a,"b,c"\n' | "$SEEN" uniq -t , -k 2 > out 2> words
grep -q 'warning: some fields begin with a quote.*--csv' words || fail "no warning: $(cat words)"
printf 'a,b\n' | "$SEEN" uniq -t , -k 2 > out 2> words
grep -q warning words && fail "a warning without quotes"
# Quotes across block boundaries, in order, with any number of threads.
python3 -c '
import random
rng = random.Random(1)
print("k,v")
for i in range(60000):
    print("%d,\"%s\"" % (i % 50000, rng.choice(["\n", ",", "\"\"", "x"]) * rng.randint(0, 20)))
' > big.csv
for j in 1 2 5; do "$SEEN" uniq -q --csv -k k -j $j big.csv | md5sum; done | sort -u | wc -l | grep -qx 1 || fail "threads differ"
[ "$("$SEEN" uniq -q --csv -k k big.csv | python3 -c 'import csv, sys; print(len(list(csv.reader(sys.stdin))))')" = 50001 ] || fail "big.csv"
[ "$(cat big.csv | "$SEEN" uniq -q --exact -m 16M --csv -k k | md5sum)" = "$("$SEEN" uniq -q --csv -k k big.csv | md5sum)" ] || fail "a pipe"
python3 "$ROOT/tests/cmd/records_oracle.py" "${RECORDS_ROUNDS:-80}"
