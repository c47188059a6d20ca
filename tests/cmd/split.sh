# split: parts by the hash of the key, into files and commands; the examples of docs/records.md.
set -eu
fail() { echo "split: $*" >&2; exit 1; }
refused() { # PATTERN ARGUMENTS...
    pattern=$1; shift
    code=0
    "$SEEN" split "$@" > out 2> words < /dev/null || code=$?
    [ $code = 2 ] || fail "$*: status $code"
    grep -q -- "$pattern" words || fail "$*: $(cat words)"
}
seq 20000 | awk '{ print $1 % 7000 "\t" $1 }' > in
"$SEEN" split -n 7 -k 1 -o 'p.%d' in
[ "$(ls p.* | wc -l)" = 7 ] || fail "names: $(ls)"
sort p.* | cmp - <(sort in) || fail "lines are missing or changed"
for p in p.*; do cut -f1 "$p" | sort -u; done | sort | uniq -d | grep -q . && fail "a key in two parts"
for p in p.*; do sort -s -n -k2 "$p" | cmp - "$p" || fail "$p: the order changed"; done
# The same parts with any number of threads, from a pipe, and for other lines with these keys.
mkdir again; cat in | "$SEEN" split -n 7 -k 1 -j 3 -o 'again/p.%d'
for p in p.*; do cmp "$p" "again/$p" || fail "$p differs from a pipe"; done
cut -f1 in | sort -u | "$SEEN" split -n 7 -o 'keys.%03d'
for i in 0 1 2 3 4 5 6; do cut -f1 p.$i | sort -u | cmp - <(sort keys.00$i) || fail "part $i of the keys alone"; done
# Stable: other machines and later versions put a key into the same part.
printf 'a\nb\nc\nhttp://example.org/\n' | "$SEEN" split -n 1000 --exec 'sed "s/$/ $SEEN_PART/"' | sort > out
cmp out - << 'END' || fail "parts changed: $(cat out)"
a 661
b 293
c 73
http://example.org/ 77
END
# A last line without a newline; compressed parts; a header in each.
printf 'a\nb' | "$SEEN" split -n 1 -o 'one.%d'; printf 'a\nb\n' | cmp - one.0 || fail "last newline"
printf 'id,x\n1,"a\nb"\n2,c\n3,"a\nb"\n' > t.csv
"$SEEN" split -n 3 --csv -k x -o 'c.%d' t.csv
for p in c.*; do [ "$(head -1 "$p")" = id,x ] || fail "$p has no header"; done
cat c.* | grep -c '^[13],"a$' | grep -qx 2 || fail "quoted newlines"
[ "$("$SEEN" split -n 3 --csv -k x --json -o 'c.%d' t.csv 2>&1 | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["lines"], sum(r["parts"]), len(r["parts"]))')" = "3 3 3" ] || fail "--json"
# Commands: a failure is reported, a command that stops reading is not an error, and all of them get
# SIGPIPE as usual.
seq 100000 | "$SEEN" split -n 3 --exec 'head -n 1 > first.$SEEN_PART' || fail "a command that stops reading"
cat first.? | wc -l | grep -qx 3 || fail "first lines"
refused 'the command of part 1 failed with status 4' -n 2 --exec 'cat > /dev/null; [ $SEEN_PART = 0 ] || exit 4'
[ "$("$SEEN" split -n 1 --exec 'yes | head -n 1' < /dev/null)" = y ] || fail "SIGPIPE"
# Bad arguments: nothing is written, nor if the input cannot be read.
refused 'how many parts' -o 'x.%d' in; refused "as in -o" -n 2 in; refused "as in -o" -n 2 -o 'x.%d' --exec cat in
for bad in x 'x.%s' 'x.%d.%d' '%' 'x%-5d'; do refused 'needs one %d' -n 2 -o "$bad" in; done
refused nosuch -n 2 -o 'x.%d' nosuch; refused 'no/such' -n 2 -o 'no/such/x.%d' in
[ "$(ls | grep -c '^x')" = 0 ] || fail "files were left: $(ls)"
# The examples of the documentation.
if command -v parallel > /dev/null; then
    mkdir docs; cd docs
    printf 'a\nb\na\nc\nd\n' > ours.txt; printf 'b\nd\ne\n' > theirs.txt
    mkdir bin; ln -s "$SEEN" bin/seen
    awk '/<!-- run -->/ { on = 1 } /^```$/ { on = 0 } on && !/^(```|<!--)/' "$ROOT/docs/records.md" > commands
    [ "$(grep -c parallel commands)" = 2 ] || fail "the examples: $(cat commands)"
    PATH=$PWD/bin:$PATH bash -eu commands
    sort both.txt | cmp - <(printf 'b\nd\n') || fail "parallel common: $(cat both.txt)"
    [ "$(head -1 top.txt)" = "$(printf '2\ta')" ] || fail "parallel count: $(cat top.txt)"
    sort unique.txt | cmp - <(printf 'a\nb\nc\nd\n') || fail "--exec uniq: $(cat unique.txt)"
fi
