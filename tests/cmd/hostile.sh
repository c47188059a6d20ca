# Unusual use: special files, empty names, closed streams, tight limits, two commands at once. Errors
# are reported in one line, and nothing that existed is lost.
# Needs: compression, crawl, redis.
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

# --replace only replaces regular files.
mkfifo pipe
refused 'pipe: not a regular file, and not replaced' create --replace pipe -n 1k
refused 'pipe: not a regular file, and not replaced' copy --replace f.seen pipe
refused 'pipe: not a regular file, and not replaced' merge --replace pipe f.seen
[ -p pipe ] || fail "the pipe is gone"
for command in info 'add' 'check' 'drop --force' 'rotate' 'create -n 1k --if-absent'; do
    refused 'pipe: not a regular file' $command pipe
done
# A link is replaced, its target is not; a result is written through it.
ln -s f.seen link.seen
"$SEEN" create -q --replace link.seen -n 10
[ ! -L link.seen ] || fail "the link was not replaced"
whole "a link was replaced"
ln -s in link
"$SEEN" uniq -q --exact link -o link
[ -L link ] || fail "the link of a result is gone"
seq 20000 > want
cmp want in || fail "a result did not go through its link: $(diff want in | head -3)"

# Also a dangling link: the file is created where it points.
mkdir far
ln -s ../far/result far/first
ln -s far/first second
"$SEEN" uniq -q --exact in -o second
[ -L second ] && [ -L far/first ] || fail "a dangling link is gone"
cmp want far/result || fail "a result did not go through its links"
ln -s loop loop
refused 'cannot write loop' uniq in -o loop
[ -L loop ] || fail "a link loop was replaced"

# The output must not be an input or the filter.
before=$(cksum < f.seen)
for command in 'check f.seen in' 'uniq in -f f.seen' 'common in f.seen' 'except in f.seen'; do
    for name in f.seen ./f.seen "$PWD/f.seen"; do
        refused "f.seen .*another file" $command -o "$name"
    done
done
refused 'f.seen .*another file' uniq in -f f.seen --dropped f.seen
[ "$(cksum < f.seen)" = "$before" ] || fail "lines were written over a filter"
refused 'none .*another file' uniq in -f none -o ./none
refused 'both go to ./none' uniq in -o none --dropped ./none
refused 'both go to the standard output' uniq in --dropped -
[ ! -e none ] || fail "a refused run left a file"
"$SEEN" uniq -q in -o /dev/null --dropped /dev/null || fail "/dev/null is refused"
cp in copy
refused '^seen: in is an input' uniq in --dropped in
refused '^seen: ./in is an input' uniq in2 in -o kept --dropped ./in
ln in hard; refused '^seen: hard is an input' uniq in --dropped hard; rm hard
ln -s in soft; refused '^seen: soft is an input' uniq in --duplicates --dropped soft; rm soft
"$SEEN" uniq --dropped in < in > out 2> words && fail "--dropped accepts the file on stdin"
refused '^seen: in is an input' uniq in -f in
cmp in copy || fail "a refused command changed its input"
rm copy
seq 20000 > in
# Lines appended to the file that they are read from would be read again forever.
grows() {
    local status=0
    seq 200000 > self
    (ulimit -f 20000; exec timeout 20 "$SEEN" "$@") >> self 2> words < self || status=$?
    [ "$status" = 2 ] || fail "$* >> self: status $status"
    grep -q 'both the input and the standard output' words || fail "$* >> self: $(cat words)"
    seq 200000 | cmp -s - self || fail "$* >> self: it changed"
}
grows check -v f.seen self
grows check -v f.seen
grows except self in
grows except in self
grows uniq in in2 self
grows uniq --duplicates self self
grows uniq --exact
"$SEEN" uniq --count-only self >> self 2> words || fail "a count appended to the input is refused: $(cat words)"

# Compressed as the name says, or not at all.
for kind in xz bz2 lz4; do
    refused "cannot write in.$kind: only .gz and .zst" uniq in -o in.$kind
    [ ! -e in.$kind ] || fail "plain lines in in.$kind"
done

# Options without effect are refused.
refused '^seen: --hashes is for a filter' uniq --hashes 5 in
for command in 'uniq in' 'common in in2' 'add f.seen' 'check f.seen in'; do
    refused '^seen: -t separates fields' $command -t ,
done

for command in 'create ttl.seen -n 1k' 'copy f.seen ttl.seen' 'merge ttl.seen f.seen'; do
    refused '^seen: --ttl is for filters in Redis; ttl.seen is a file' $command --ttl 30d
    [ ! -e ttl.seen ] || fail "$command --ttl: a file was created"
done

# A FIFO without a writer: waits until there is one, or for a signal.
for command in 'uniq pipe' 'common pipe in' 'common in pipe' 'check f.seen pipe' 'add f.seen pipe'; do
    status=0
    "$SEEN" $command > out 2> words & waits=$!
    for _ in $(seq 1200); do # until it catches SIGTERM, 4000 in the mask, and then for a moment
        ! grep -q '^SigCgt:.*[4-7c-f]...$' /proc/$waits/status || break
        sleep 0.05
    done
    sleep 0.2
    kill -TERM $waits
    wait $waits || status=$?
    [ "$status" = 143 ] || fail "$command, no writer: status $status"
    grep -q stopped words || fail "$command, no writer: $(cat words)"
done
"$SEEN" uniq -q --exact pipe > out & waits=$!
sleep 0.5
seq 3 > pipe
wait $waits || fail "a pipe with a late writer"
seq 3 | cmp -s - out || fail "a pipe with a late writer: $(cat out)"

# Names.
refused 'an operand of info is an empty name' info ''
refused 'an operand of add is an empty name' add f.seen ''
refused 'an operand of copy is an empty name' copy f.seen ''
refused '-o: the name is empty' uniq in -o ''
refused '--dropped: the name is empty' uniq in --dropped ''
refused '-f: the name is empty' uniq in -f ''
# Messages of a merge contain the given names, not the temporary one.
refused '^seen: f.seen and w.seen cannot be merged' merge y.seen f.seen w.seen
refused '^seen: no/y.seen: cannot create' merge no/y.seen f.seen
# Empty input is not the same as no memory.
for command in common except; do
    for option in --memory --assume-lines --assume-bytes; do
        refused "^seen: $option: '0' must be more than 0" $command in in2 $option 0
    done
done

# A closed stream is not an empty input, and not an output for lines that are then remembered.
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
for command in 'uniq -q --count-only in' 'info f.seen' 'plan -n 1k -p 1%' help; do
    closed 'cannot write to standard output: Bad file descriptor' no_output $command
done
[ "$("$SEEN" uniq -q -p 1e-12 -f new.seen in | wc -l)" = 20000 ] || fail "lines that went nowhere are remembered"
# Commands that do not need them ignore closed streams, and no file takes their descriptors.
timeout 60 "$SEEN" uniq -q --exact in in2 -o both <&- >&- 2>&- || fail "closed streams that are not needed"
seq 30000 | cmp -s - both || fail "a result went into another file"
timeout 60 "$SEEN" add f.seen in2 <&- >&- 2>&- || fail "add with closed streams"
[ "$("$SEEN" check -c f.seen in2)" = 20000 ] || fail "add with closed streams lost lines"

# A limit on file size is reported like a full disk; nothing is left behind.
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

# Two commands on one filter: each line is new for one of them, and all are kept.
"$SEEN" create -q both.seen -n 100k -p 1e-9
"$SEEN" add --json both.seen in > one 2>&1 & first=$!
"$SEEN" add --json both.seen in in2 > two 2>&1
wait $first
new=$(($(cat one two | sed -n 's/.*"new": *\([0-9]*\).*/\1/p' | paste -sd+)))
[ "$new" = 30000 ] || fail "two at once: $new of 30000 lines were new: $(cat one two)"
[ "$(seq 30000 | "$SEEN" check -c both.seen)" = 30000 ] || fail "two at once: lines are missing"
# A command whose filter was replaced modifies only the old one, and reports that.
mkfifo slow
"$SEEN" add -q both.seen slow 2> error & first=$!
exec 3> slow
echo first >&3
"$SEEN" create -q --replace both.seen -n 1k
echo second >&3
exec 3>&-
status=0
wait $first || status=$?
[ $status = 2 ] || fail "adding to a filter that was replaced: status $status"
grep -q 'both.seen: was removed or replaced while it was open' error || fail "replaced: $(cat error)"
printf 'first\nsecond\n' | "$SEEN" check -q both.seen > /dev/null && fail "the old filter's lines are in the new one"
"$SEEN" info -q both.seen > /dev/null || fail "the new filter is damaged"
