# Workers that leave a shared crawl while it is full.
set -eu
. "$ROOT/tests/sites/nginx.sh"
command -v redis-server > /dev/null || exit 77
python3 -c 'import socket; socket.socket().bind(("127.1.0.1", 0))' 2> /dev/null || exit 77
"$SEEN" crawl --join redis://127.0.0.1:1/x 2> probe || true
if grep -q "no Redis" probe; then exit 77; fi
. "$ROOT/tests/redis/server.sh"
trap 'stop_redis; stop_servers' EXIT
start_redis
start_server web.py "$TMP/log" 300 2
site() { echo "http://127.1.0.$1:$PORT_SERVER/section-$2/page-$2.html"; }

# Ctrl-C or stop: the hosts go back at once.
for how in signal stop; do
    "$SEEN" crawl --allow-private --join "$URL/$how" "$(site 1 0)" --scope all --delay 10ms --frontier-memory 1k -o "$how.jsonl" 2> "$how.err" &
    worker=$!
    for _ in $(seq 120); do
        ! "$SEEN" crawl status "$URL/$how" 2> /dev/null | grep -q '^  full: ' || break
        sleep 0.1
    done
    if [ $how = stop ]; then "$SEEN" crawl stop "$URL/$how"; else kill -INT $worker; fi
    wait "$worker" || fail "$how: status $?: $(cat "$how.err")"
    grep -q 'stopped; the crawl has' "$how.err" || fail "$how: $(cat "$how.err")"
    ! grep -q 'joining again' "$how.err" || fail "$how: $(cat "$how.err")"
    "$SEEN" crawl status "$URL/$how" > status
    grep -q ' 0 owned' status && grep -q ' 0 live' status || fail "$how: $(cat status)"
    # The others get these hosts, and no page is lost.
    "$SEEN" crawl resume "$URL/$how" --frontier-memory 0
    "$SEEN" crawl -q --allow-private --join "$URL/$how" -o "$how.jsonl"
    [ "$(grep -o '"url":"[^"]*"' "$how.jsonl" | sort -u | wc -l)" = 300 ] || fail "$how: pages are missing"
    "$SEEN" crawl drop "$URL/$how"
    rm "$how.jsonl"
done
