# Temporary files are removed however the process ends; a full disk is reported.
set -eu
fail() { echo "FAIL: $*" >&2; exit 1; }
mkdir t
seq 1 300000 > a
seq 200000 500000 > b
# Once the pipe has taken more than its capacity, the command is running and has its signal handlers.
feed() {
    (cat b; touch fed; exec sleep 300) > pipe &
    feeder=$!
}
wait_until_fed() {
    for _ in $(seq 600); do
        [ ! -e fed ] || { rm fed; return; }
        sleep 0.1
    done
    fail "the pipe is not read"
}
stop_feeder() {
    local status=0
    kill $feeder
    wait $feeder || status=$?
    [ $status = 143 ] || fail "the writer ended by itself: $status"
}
for signal in INT TERM KILL; do
    mkfifo pipe
    feed
    SEEN_JOIN_STRATEGY=spill "$SEEN" common -q -T t -m 32M a pipe > out 2> err &
    seen=$!
    wait_until_fed
    kill -$signal $seen
    status=0
    wait $seen || status=$?
    stop_feeder
    rm pipe
    [ $status -gt 1 ] || fail "SIG$signal: exit status $status"
    [ -z "$(ls -A t)" ] || fail "SIG$signal left $(ls -A t)"
done
# No file appears under the name of -o when a run is stopped.
mkfifo pipe
feed
"$SEEN" common -q -o result a pipe 2> err &
seen=$!
wait_until_fed
kill -INT $seen
wait $seen && fail "a stopped run succeeded"
stop_feeder
[ ! -e result ] || fail "a stopped run left a result"

if mkdir disk && mount -t tmpfs -o size=1m seen-test disk 2> /dev/null; then
    trap 'umount disk' EXIT
    if SEEN_JOIN_STRATEGY=spill "$SEEN" common -q -T disk -m 32M a b > out 2> err; then
        fail "a full disk was not reported"
    fi
    grep -q "needed" err || fail "the message does not contain the size needed: $(cat err)"
    # By default it uses another strategy.
    "$SEEN" common -q -T disk -m 16M a b | cmp - <(seq 200000 300000) || fail "no space on the disk"
    # Lines are not saved if there is no space; A is then read again.
    "$SEEN" common --explain -m 16M a b | grep -q 'writes .* to temporary' || fail "no lines are saved"
    (seq 250000 250009; seq 400000 700000) > strangers
    for fill in 1024 984; do
        head -c ${fill}K /dev/zero > disk/fill
        "$SEEN" common -q -T disk -m 16M a b 2> err | cmp - <(seq 200000 300000) || fail "$fill KiB are taken: $(cat err)"
        "$SEEN" common -q -T disk -m 16M a strangers 2> err | cmp - <(seq 250000 250009) || fail "few lines, $fill KiB are taken: $(cat err)"
    done
fi
