# What nobody would do on purpose: special files, empty names, closed streams, tight limits, two
# commands at once. Trouble is told in a line, and nothing that was there is lost.
set -eu
fail() { echo "hostile: $*" >&2; exit 1; }
refused() {
    local part=$1 status=0
    shift
    timeout 60 "$SEEN" "$@" > out 2> words < /dev/null || status=$?
    [ "$status" = 2 ] || fail "$*: status $status"
    grep -q -- "$part" words || fail "$*: $(cat words)"
    [ "$(wc -l < words)" = 1 ] || fail "$*: not one line: $(cat words)"
}
seq 20000 > in
seq 10001 30000 > in2
"$SEEN" create -q f.seen -n 50k -p 1e-6
"$SEEN" add -q f.seen in
"$SEEN" create -q w.seen -n 50k --window 1h
whole() { [ "$("$SEEN" check -c f.seen in)" = 20000 ] || fail "$*: the filter lost lines"; }

# --replace is for files, not for what only has a name.
mkfifo pipe
refused 'pipe: not a regular file, and not replaced' create --replace pipe -n 1k
refused 'pipe: not a regular file, and not replaced' copy --replace f.seen pipe
refused 'pipe: not a regular file, and not replaced' merge --replace pipe f.seen
[ -p pipe ] || fail "the pipe is gone"
for command in info 'add' 'check' 'drop --force' 'rotate' 'create -n 1k --if-absent'; do
    refused 'pipe: not a regular file' $command pipe
done
# A link is replaced, and what it names is not; a result goes through it.
ln -s f.seen link.seen
"$SEEN" create -q --replace link.seen -n 10
[ ! -L link.seen ] || fail "the link is still there"
whole "a link was replaced"
ln -s in link
"$SEEN" uniq -q --exact link -o link
[ -L link ] || fail "the link of a result is gone"
seq 20000 > want
cmp want in || fail "a result did not go through its link: $(diff want in | head -3)"

# Names.
refused 'an operand of info is an empty name' info ''
refused 'an operand of add is an empty name' add f.seen ''
refused 'an operand of copy is an empty name' copy f.seen ''
refused '-o: the name is empty' uniq in -o ''
refused '--dropped: the name is empty' uniq in --dropped ''
refused '-f: the name is empty' uniq in -f ''
# A union's messages have the names that were given, not the one it is made under.
refused '^seen: f.seen and w.seen cannot be united' merge y.seen f.seen w.seen
refused '^seen: no/y.seen: cannot create' merge no/y.seen f.seen
# Nothing and no memory are not the same.
for command in common except; do
    for option in --memory --assume-lines --assume-bytes; do
        refused "^seen: $option: '0' must be more than 0" $command in in2 $option 0
    done
done

# A stream that is closed is no empty input, and no place for lines that are then remembered.
closed() {
    local part=$1 status=0
    shift
    "$@" 2> words || status=$?
    [ "$status" = 2 ] || fail "$*: status $status"
    grep -q -- "$part" words || fail "$*: $(cat words)"
}
no_input() { timeout 60 "$SEEN" "$@" <&-; }
no_output() { timeout 60 "$SEEN" "$@" >&-; }
for command in uniq 'uniq --exact' 'common - in' 'common in -' 'add f.seen' 'check f.seen'; do
    closed 'cannot read standard input: Bad file descriptor' no_input $command
done
for command in 'uniq -q in' 'common -q in in2' 'check f.seen in' 'uniq -q -p 1e-12 -f new.seen in'; do
    closed 'cannot write standard output: Bad file descriptor' no_output $command
done
for command in 'uniq -q -c in' 'info f.seen' 'plan -n 1k -p 1%' help; do
    closed 'standard output could not be written: Bad file descriptor' no_output $command
done
[ "$("$SEEN" uniq -q -p 1e-12 -f new.seen in | wc -l)" = 20000 ] || fail "lines that went nowhere are remembered"
# What needs neither does not miss them, and no file takes their place.
timeout 60 "$SEEN" uniq -q --exact in in2 -o both <&- >&- 2>&- || fail "closed streams that are not needed"
seq 30000 | cmp -s - both || fail "a result went into another file"
timeout 60 "$SEEN" add f.seen in2 <&- >&- 2>&- || fail "add with closed streams"
[ "$("$SEEN" check -c f.seen in2)" = 20000 ] || fail "add with closed streams lost lines"

# A limit on the sizes of files is told like a full disk; nothing is left behind.
rm -f y.seen out words both new.seen
ls -A > before
limited() {
    local status=0
    (ulimit -f 8 && exec timeout 60 "$SEEN" "$@") > /dev/null 2> ../words || status=$?
    [ "$status" = 2 ] || fail "a file size limit: $*: status $status"
    grep -q 'File too large' ../words || fail "a file size limit: $*: $(cat ../words)"
    ls -A | cmp -s - before || fail "a file size limit: $* left $(ls -A | comm -13 before -)"
}
mkdir inside
mv in in2 f.seen before inside
cd inside
ls -A > before
limited uniq in -o both
limited uniq --exact -m 1M in -o both
limited common in in2 -o both
limited create y.seen -n 1M
limited copy f.seen y.seen
limited merge y.seen f.seen
limited plan -n 1k -p 1% --html y.html
seq 20000 | cmp -s - in || fail "an input changed"
whole "a file size limit"

# Two commands on one filter: each line is new for one of them, and every one is kept.
"$SEEN" create -q both.seen -n 100k -p 1e-9
"$SEEN" add --json both.seen in > one 2>&1 & first=$!
"$SEEN" add --json both.seen in in2 > two 2>&1
wait $first
new=$(($(cat one two | sed -n 's/.*"new": *\([0-9]*\).*/\1/p' | paste -sd+)))
[ "$new" = 30000 ] || fail "two at once: $new of 30000 lines were new: $(cat one two)"
[ "$(seq 30000 | "$SEEN" check -c both.seen)" = 30000 ] || fail "two at once: lines are missing"
# One that goes on after its filter was replaced under its name changes only the old one.
mkfifo slow
"$SEEN" add -q both.seen slow & first=$!
exec 3> slow
echo first >&3
"$SEEN" create -q --replace both.seen -n 1k
echo second >&3
exec 3>&-
wait $first || fail "adding to a filter that was replaced"
printf 'first\nsecond\n' | "$SEEN" check -q both.seen > /dev/null && fail "the old filter's lines are in the new one"
"$SEEN" info -q both.seen > /dev/null || fail "the new filter is damaged"
