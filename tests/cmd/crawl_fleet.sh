# Several workers share one crawl in Redis: nothing is lost when some of them are killed or stopped; depth levels and
# --max-pages apply to all of them together.
set -eu
fail() { echo "crawl_fleet: $*" >&2; exit 1; }
command -v redis-server > /dev/null || exit 77
"$SEEN" crawl --join redis://127.0.0.1:1/x 2> probe || true
grep -q 'no Redis' probe && exit 77
fleet() {
    python3 "$ROOT/tests/sites/fleet.py" "$SEEN" "$@" > fleet.out 2>&1 || fail "fleet.py $*: $(cat fleet.out)"
}
fleet --pages 1500 --kills 3 --stops 1 --timeout 300
# Delays are kept over all workers, with slow connections and times of day that jump by two hours, and
# when workers are cut off from Redis.
clock=$BUILD/tests/libfault_clock.so
[ -f "$clock" ] || clock=
fleet --pages 400 --delay 60 --timeout 300 --kills 2 --stops 1 --lease 1500 --pace 600 --connect 60 --clocks "$clock"
fleet --pages 400 --delay 60 --timeout 300 --cuts 2 --lease 1500 --pace 600
fleet --pages 1000 --depth 2 --most-twice 0 --lease 60000 --timeout 300
fleet --pages 1000 --max-pages 300 --workers 2 --kills 2 --timeout 300
fleet --pages 40 --max-pages 30 --workers 1 --hosts 10 --delay 30 --timeout 300
# The master is killed and its replica promoted, twice.
python3 "$ROOT/tests/sites/fleet_servers.py" "$SEEN" failover --times 2 --pages 1500 --delay 20 --timeout 300 > fleet.out 2>&1 ||
    fail "failover: $(cat fleet.out)"

# A server without memory: nothing is admitted and nothing is lost, until it has some again. One that evicts is refused.
. "$ROOT/tests/redis/server.sh"
start_redis
fleet --redis "$PORT" --pages 300 --full
redis-cli -p "$PORT" config set maxmemory-policy allkeys-lru > /dev/null
! "$SEEN" crawl --join "redis://127.0.0.1:$PORT/web" --allow-private 2> error || fail "a server that evicts was accepted"
grep -q 'maxmemory-policy is allkeys-lru; set it to noeviction' error || fail "$(cat error)"
! "$SEEN" crawl --join "redis://127.0.0.1:$PORT/other" http://127.0.0.1:1/ --allow-private 2> error || fail "created where keys are evicted"
[ "$(redis-cli -p "$PORT" keys '*other*')" = "" ] || fail "something was created: $(redis-cli -p "$PORT" keys '*other*')"
stop_redis

# A user with exactly the permissions of docs/fleet.md and docs/redis.md can crawl and use the commands.
start_redis
words=$(sed -n '/^    ACL SETUSER crawl/,/^$/p' "$ROOT/docs/fleet.md" | tr -s ' \n' ' ')
set=$(sed -n '/^    ACL SETUSER seen/,/^$/p' "$ROOT/docs/redis.md" | tr -s ' \n' ' ' | grep -o '+[^ ]*' | tr '\n' ' ')
# shellcheck disable=SC2086 # words
[ "$(redis-cli -p "$PORT" $words $set)" = OK ] || fail "rejected: $words"
address=redis://crawl:PASSWORD@127.0.0.1:$PORT/web
fleet --pages 300 --kills 1 --lease 400 --address "$address"
"$SEEN" crawl status "$address" > status || fail "status: $(cat status)"
grep -q 'done: nothing is left to fetch' status || fail "$(cat status)"
"$SEEN" crawl failed "$address" > list && "$SEEN" crawl export "$address" >> list || fail "lists"
[ ! -s list ] || fail "something is left: $(head -3 list)"
# Pages that were given up can be put back; with --depth too, where their level is over.
for depth in "" "--depth 3"; do
    broken=redis://crawl:PASSWORD@127.0.0.1:$PORT/broken
    # shellcheck disable=SC2086 # words
    "$SEEN" crawl -q --join "$broken" http://127.0.0.1:1/ --allow-private --retries 0 $depth -o broken.jsonl || [ $? = 2 ]
    "$SEEN" crawl --summary --join "$broken" --allow-private -o broken.jsonl 2> error || [ $? = 2 ]
    grep -q 'the whole crawl is done: 0 pages' error && grep -q '1 page failed: seen crawl failed redis://' error || fail "$(cat error)"
    for i in 1 2; do
        "$SEEN" crawl failed "$broken" > list && [ "$(wc -l < list)" = 1 ] || fail "given up: $(cat list)"
        "$SEEN" crawl failed "$broken" --retry-failed 2> error || fail "retry: $(cat error)"
        grep -q '1 page put back' error || fail "$(cat error)"
        [ -z "$("$SEEN" crawl failed "$broken")" ] || fail "still in the list"
        [ "$("$SEEN" crawl export "$broken")" = http://127.0.0.1:1/ ] || fail "not in the queue"
        "$SEEN" crawl -q --join "$broken" --allow-private -o broken.jsonl || [ $? = 2 ]
    done
    [ "$(wc -l < broken.jsonl)" = 3 ] || fail "fetched: $(cat broken.jsonl)"
    "$SEEN" crawl report "$broken" --html report.html && ! grep -q PASSWORD report.html || fail "report with a password"
    "$SEEN" crawl drop "$broken" --force && rm broken.jsonl
done
# The delay of a crawl changes while no worker is live.
slow=redis://crawl:PASSWORD@127.0.0.1:$PORT/slow
"$SEEN" crawl -q --join "$slow" http://127.0.0.1:1/ --allow-private --backoff 600s --max-wait 600s -o slow.jsonl &
for i in $(seq 600); do
    ! "$SEEN" crawl status "$slow" 2> error | grep -q '1 live' || break
    sleep 0.1
done
! "$SEEN" crawl resume "$slow" --delay 7s 2> error || fail "the delay changed under a worker"
grep -q '1 of its workers is live: stop it first$' error || fail "$(cat error)"
"$SEEN" crawl stop "$slow" && wait $! && "$SEEN" crawl resume "$slow" --delay 7s || fail "resume with a delay"
! "$SEEN" crawl --join "$slow" --delay 8s 2> error || fail "a worker with another delay joined"
grep -q 'slow: --delay: the crawl has 7 s, this worker 8 s' error || fail "$(cat error)"
"$SEEN" crawl drop "$slow"
! "$SEEN" crawl failed redis://127.0.0.1:$PORT/none --retry-failed 2> error || fail "retry of no crawl"
! "$SEEN" crawl pause "$address" 2> error || fail "a crawl that has ended was paused"
! "$SEEN" crawl --join "$address" --delay 7s 2> error || fail "a worker with another delay joined"
grep -q 'web: --delay: the crawl has 0 s, this worker 7 s' error || fail "$(cat error)"
! grep -q PASSWORD error || fail "the password was shown: $(cat error)"
for i in $(seq 600); do # the killed worker counts as live for a lease
    "$SEEN" crawl drop "$address" 2> error && break
    sleep 0.1
done
[ "$(redis-cli -p "$PORT" --scan --pattern 'seencrawl:*' | grep -vc ':r:')" = 0 ] || fail "drop left keys"
