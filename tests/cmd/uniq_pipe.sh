# uniq in pipes: lines are output as they arrive, a closed pipe ends it silently, memory stays small,
# and Ctrl-C ends it in order.
set -eu
fail() { echo "uniq_pipe: $*" >&2; exit 1; }

# A line is output before the next one is written.
python3 - "$SEEN" <<'P' || fail "a line was delayed"
import subprocess, sys, select
for threads in "1", "2", "4":
    p = subprocess.Popen([sys.argv[1], "uniq", "-q", "-j", threads], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, bufsize=0)
    for line in b"one\n", b"two\n", b"three\n":
        p.stdin.write(line)
        ready, _, _ = select.select([p.stdout], [], [], 10)
        assert ready, "nothing came"
        assert p.stdout.read(100) == line
        p.stdin.write(line)  # a repeat: no output
    assert not select.select([p.stdout], [], [], 0.1)[0]
    p.stdin.close()
    assert p.stdout.read() == b"" and p.wait(10) == 0
P

# The reader closes the pipe: status 0, no message, and it ends although the writer would continue
# forever.
yes "$(seq -s ' ' 20)" | awk '{ print NR, $0 }' 2> /dev/null | { "$SEEN" uniq 2> words; echo $? > code; } | head -n 3 > out
[ "$(cat code)" = 0 ] || fail "a closed pipe: status $(cat code)"
if grep -q "cannot" words; then fail "a closed pipe: $(cat words)"; fi

# The reader of the dropped lines closes its pipe: the output is complete.
seq 200000 | sed p > twice
"$SEEN" uniq -q --exact twice -o once --dropped - | head -n 1 > out
seq 200000 | cmp - once || fail "the reader of --dropped closed the pipe, with -o"
"$SEEN" uniq -q --exact twice --dropped >(head -n 1 > out) > once
seq 200000 | cmp - once || fail "the reader of --dropped closed the pipe"
# But a filter does not remember lines that were not written, and a missing -o is an error.
code=0
"$SEEN" uniq -q --duplicates -f new twice -o none --dropped >(head -n 1 > out) 2> words || code=$?
[ $code = 2 ] || fail "-D, and the reader of --dropped closed the pipe: status $code"
grep -q 'closed by its reader; none is not written' words || fail "-D, and the reader of --dropped closed the pipe: $(cat words)"
[ ! -e none ] || fail "an incomplete -o appeared"
[ "$(tail -n 1 twice | "$SEEN" check -c new)" = 0 ] || fail "lines are remembered that were not written"

# Memory, and CPU time while waiting.
python3 - "$SEEN" <<'P' || fail "memory, or a busy wait"
import os, resource, subprocess, sys
def usage(command, shell_input):
    p = subprocess.run(shell_input + " | " + command, shell=True, stdout=subprocess.DEVNULL)
    assert p.returncode == 0
    return resource.getrusage(resource.RUSAGE_CHILDREN)
seen = sys.argv[1]
def seconds(shell_input):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    after = usage(seen + " uniq -q", shell_input)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
# A busy wait takes two seconds more than no wait, on a slow machine too.
assert seconds("sleep 2") < 1 + 2 * seconds("true"), "it does not sleep"
after = usage(seen + " uniq -q", "yes the same line over and over | head -c 1000000000")
assert after.ru_maxrss < 64 * 1024, after.ru_maxrss
P

# Ctrl-C: the output has only complete lines, the filter is intact, the status is that of the signal.
rm -f f
mkfifo fifo
seq 200000 > lines
( cat lines; exec sleep 300 ) > fifo &
writer=$!
"$SEEN" uniq -f f < fifo > out 2> words &
pid=$!
for i in $(seq 1200); do
    [ "$(wc -l < out)" -lt 200000 ] || break
    sleep 0.1
done
kill -INT $pid
code=0; wait $pid || code=$?
kill $writer 2> /dev/null || true
[ $code = 130 ] || fail "Ctrl-C: status $code: $(cat words)"
grep -q "stopped after 200,000 lines" words || fail "Ctrl-C: $(cat words)"
cmp out lines || fail "Ctrl-C: output"
[ "$("$SEEN" check -c f lines)" = 200000 ] || fail "Ctrl-C: the filter"
printf 'old' > kept
( cat lines; exec sleep 300 ) > fifo &
writer=$!
"$SEEN" uniq -q -o kept < fifo 2> words &
pid=$!
sleep 0.3
kill -TERM $pid
code=0; wait $pid || code=$?
kill $writer 2> /dev/null || true
[ $code = 143 ] || fail "TERM: status $code"
[ "$(cat kept)" = old ] || fail "TERM: the output was replaced"

# The message about the filter is correct: with lines printed, with a file that does not appear, and
# with no line printed at all.
stopped() {
    local part=$1 known=$2 code=0
    shift 2
    rm -f f words
    ( cat lines; exec sleep 300 ) > fifo &
    writer=$!
    "$SEEN" uniq -f f --progress=json "$@" < fifo > out 2> words &
    pid=$!
    for _ in $(seq 1200); do
        ! grep -qs '"lines": 200000' words || break
        sleep 0.1
    done
    kill -INT $pid
    wait $pid || code=$?
    kill $writer # it still had data to write
    [ $code = 130 ] || fail "Ctrl-C: $*: status $code: $(cat words)"
    grep -q "stopped after 200,000 lines; $part\$" words || fail "Ctrl-C: $*: $(cat words)"
    if [ "$known" = none ]; then # there was none before
        [ ! -e f ] || fail "Ctrl-C: $*: a filter was left"
        return
    fi
    [ "$("$SEEN" check -c f lines)" = "$known" ] || fail "Ctrl-C: $*: not $known lines in the filter"
}
stopped 'what was printed is complete up to that line, and the filter has what was printed' 200000 --dropped drop
cmp out lines || fail "Ctrl-C: --dropped: output"
[ ! -e drop ] || fail "Ctrl-C: an incomplete --dropped appeared"
stopped 'what was printed is complete up to that line, and the filter has what was printed' 200000 -o /dev/null
stopped 'the output file is unchanged, and so is the filter' none -o kept
[ "$(cat kept)" = old ] || fail "Ctrl-C: the output was replaced"
stopped 'no number is printed, and the filter has these lines' 200000 --count-only
[ ! -s out ] || fail "Ctrl-C: -c printed $(cat out)"
stopped 'what was printed is complete up to that line, and the filter has these lines' 200000 --duplicates
# The new lines are what is dropped then: none is remembered that does not appear.
stopped 'what was printed is complete up to that line, and the filter is unchanged' none --duplicates --dropped drop
[ ! -e drop ] || fail "Ctrl-C: -D: half of --dropped appeared"
