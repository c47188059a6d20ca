# uniq -f on a filter in Redis: lines are remembered first, two clients share them, a server that goes
# away is an error, and one that comes back is not.
set -eu
. "$ROOT/tests/redis/server.sh"
start_redis --appendonly yes --appendfsync everysec

cli() { redis-cli -p "$PORT" "$@"; }

# Two clients: each line is printed by one of them, at its first occurrence there.
seq 30000 | awk '{ print "http://example.org/" ($1 * 7919) % 20011 }' > in
LC_ALL=C sort -u in > want
$SEEN create -q "$URL/shared" -n 1e6 -p 1e-9
$SEEN uniq -q -f "$URL/shared" in > a &
one=$!
tac in | $SEEN uniq -q -f "$URL/shared" > b
wait $one || fail "the first client failed"
LC_ALL=C sort a b | cmp - want || fail "a line was not printed exactly once"
awk 'NR == FNR { place[$0] = FNR; next } place[$0] < last { exit 1 } { last = place[$0] }' \
    <(awk '!had[$0]++' in) a || fail "the order is not that of the input"

# What a window drops depends on the order of the lines, not on the number of threads. Lines are
# repeated exactly when a window of that size drops them.
seq 14000 | awk '{ print "http://example.org/" ($1 % 3 ? $1 * 7919 % 2503 : 3000 + $1 * 31 % 20011) }' > in
for threads in 1 5; do
    $SEEN create -q "$URL/window.$threads" --growth window -n 2400 -p 1e-9
    $SEEN uniq -q -j $threads -f "$URL/window.$threads" in > out.$threads
done
lines=$(wc -l < out.1)
[ "$lines" -gt "$(LC_ALL=C sort -u in | wc -l)" ] || fail "the window dropped nothing"
[ "$lines" -lt 13000 ] || fail "the window remembered nothing"
cmp out.1 out.5 || fail "a window drops other lines with five threads"

# Remembered first: lines not accepted by a closed pipe are not printed again.
$SEEN create -q "$URL/first" -n 1e6 -p 1e-9
seq 60000 | $SEEN uniq -q -f "$URL/first" | head -n 1 > out || :
[ "$(cat out)" = 1 ] || fail "the first line is missing"
[ "$(echo 1 | $SEEN uniq -q -f "$URL/first" | wc -l)" = 0 ] || fail "a line was printed before it was remembered"

# -o, -D, -c as with a file
printf 'a\nb\na\n' | $SEEN uniq -q -f "$URL/small" -o out
printf 'a\nb\n' | cmp - out || fail "-o"
[ "$(printf 'a\nc\n' | $SEEN uniq -q --duplicates -f "$URL/small")" = a ] || fail "--duplicates"
[ "$(printf 'a\nc\nd\n' | $SEEN uniq -q --count-only -f "$URL/small")" = 1 ] || fail "-c"

# The server is killed in the middle: an error that names it, within the time limit. Lines printed
# before are remembered when it is back, and the rest is printed then: nothing is lost. (A server that
# syncs every second may answer before it has written, if the disk is slow.)
cli config set appendfsync always > /dev/null
$SEEN create -q "$URL/killed" -n 1e6 -p 1e-9
start_again() {
    redis-server --port "$PORT" --bind 127.0.0.1 --save '' --dir "$TMP/redis" --logfile log \
        --appendonly yes --appendfsync always > /dev/null 2>&1 &
    REDIS_PID=$!
    for _ in $(seq 600); do
        [ "$(cli ping 2> /dev/null)" != PONG ] || return 0
        sleep 0.05
    done
    fail "the server does not restart"
}
killed=
for _ in 1 2 3; do
    mkfifo lines
    status=0
    $SEEN uniq -q --retry 500ms -f "$URL/killed" lines >> printed 2> error & client=$!
    exec 3> lines
    seq 20000 >&3
    for _ in $(seq 1200); do
        [ "$(wc -l < printed)" = 0 ] || break
        sleep 0.05
    done
    kill -KILL "$REDIS_PID"
    wait "$REDIS_PID" 2> /dev/null || :
    (trap '' PIPE; seq 20001 60000 >&3) 2> /dev/null || :
    exec 3>&-
    wait $client || status=$?
    rm lines
    start_again
    if [ $status = 2 ]; then
        killed=yes
        break
    fi
done
[ "$killed" ] || fail "uniq did not detect that the server was killed: status $status"
grep -q "127.0.0.1:$PORT" error || fail "the message does not name the server: $(cat error)"
grep -q '[0-9]' printed || fail "nothing was printed before the kill"
# A line of a batch in flight may have been remembered and not printed; printed lines are remembered.
$SEEN check -q "$URL/killed" printed > again || :
sort -u printed | cmp - <(sort -u again) || fail "a line was printed and is not remembered"
seq 60000 | $SEEN uniq -q -f "$URL/killed" > rest
[ -z "$(cat printed rest | sort | uniq -d)" ] || fail "a line was printed twice"
[ -z "$(seq 60000 | $SEEN uniq -q -f "$URL/killed")" ] || fail "a line is not remembered"

# -o, and the server is lost, or the run is ended by a signal: the filter contains lines that would
# never be printed. They are kept, no existing file is replaced, and the next run prints the others.
$SEEN create -q "$URL/half" -n 1e6 -p 1e-9
echo old > half.txt
chmod 600 half.txt
for how in lost stopped; do
    mkfifo lines
    status=0
    $SEEN uniq -q --retry 300ms -f "$URL/half" lines -o half.txt 2> error & client=$!
    exec 3> lines
    [ $how = lost ] && from=1 want=2 || from=30001 want=143
    seq "$from" $((from + 19999)) >&3
    for _ in $(seq 1200); do
        [ "$(echo $((from + 9999)) | $SEEN check -q "$URL/half" | wc -l)" = 0 ] || break
        sleep 0.05
    done
    if [ $how = lost ]; then
        kill -KILL "$REDIS_PID"
        wait "$REDIS_PID" 2> /dev/null || :
        (trap '' PIPE; seq 20001 30000 >&3) 2> /dev/null || :
        exec 3>&-
    else
        kill -TERM $client
    fi
    wait $client || status=$?
    exec 3>&-
    rm lines
    [ $how = stopped ] || start_again
    [ $status = $want ] || fail "-o, $how: status $status"
    [ "$(cat half.txt)" = old ] || fail "-o, $how: an incomplete output appeared"
    [ $how = lost ] && kept=half.txt.partial || kept=half.txt.partial.2
    grep -q "are in .*/$kept, " error || fail "-o, $how: the message does not name the file: $(cat error)"
    [ "$(stat -c %a $kept)" = 600 ] || fail "-o, $how: the file is readable by others"
    $SEEN check -q "$URL/half" $kept | cmp - $kept || fail "-o, $how: a line was kept and is not remembered"
done
[ -s half.txt.partial ] && [ -s half.txt.partial.2 ] || fail "-o: nothing was kept"
seq 60000 | $SEEN uniq -q -f "$URL/half" -o half.txt
[ -z "$(cat half.txt half.txt.partial half.txt.partial.2 | sort | uniq -d)" ] || fail "-o: a line was printed twice"
missing=$((60000 - $(cat half.txt half.txt.partial half.txt.partial.2 | wc -l)))
[ $missing -lt 20000 ] || fail "-o: $missing lines were never printed"

# Without space for the output, the message is correct: the number of lines in the file, and how many
# lines in the filter were lost.
seq 1000000 1300000 > big
$SEEN create -q "$URL/room" -n 1e6 -p 1e-9
status=0
(ulimit -f 1024; $SEEN uniq -q -f "$URL/room" big -o roomy.txt) 2> error || status=$?
[ $status = 2 ] || fail "no space: status $status: $(cat error)"
kept=$(sed -n 's/.*the \([0-9]*\) new lines found so far are in .*/\1/p' error)
lost=$(sed -n 's/.*[^0-9]\([0-9]*\) new lines are in the filter but could not be written.*/\1/p' error)
[ "${lost:-0}" -gt 0 ] || fail "no room: lost lines are not reported: $(cat error)"
head -n "$kept" big | cmp - roomy.txt.partial || fail "no space: not $kept lines: $(wc -l < roomy.txt.partial)"
others=$($SEEN uniq -q -f "$URL/room" big --count-only)
[ $((kept + lost + others)) = 300001 ] || fail "no space: $kept + $lost + $others lines"
# With -D the new lines are the dropped ones.
status=0
(ulimit -f 1024; $SEEN uniq -q --duplicates -f "$URL/aside" big --dropped aside.txt > /dev/null) 2> error || status=$?
[ $status = 2 ] && [ -s aside.txt.partial ] || fail "-D, no space: status $status: $(cat error)"

# A server that is stopped for a while: the client waits, and nothing is lost or printed twice.
$SEEN create -q "$URL/waits" -n 1e6 -p 1e-9
kill -STOP "$REDIS_PID"
seq 20000 | $SEEN uniq -q --retry 60s -f "$URL/waits" > waited & client=$!
sleep 0.5
kill -CONT "$REDIS_PID"
wait $client || fail "a server that was stopped for a moment is an error"
seq 20000 | cmp - waited || fail "lines were lost while the server was stopped"
