# The delay of a host, in the times at which the kernel received the requests: slow connections, kept
# connections that the server closes without an answer, a crawl that is killed and resumed.
set -eu
. "$ROOT/tests/sites/nginx.sh"
python3 -c 'import socket; socket.socket().bind(("127.2.0.1", 0))' 2> /dev/null || exit 77

check() { # pages, delay
    python3 - "$@" << 'PY' || fail "$(cat "$TMP/gaps")"
import os, sys
sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests", "sites"))
from fleet import Log
pages, delay = map(int, sys.argv[1:])
log = Log("log")
gaps = log.gaps()
fetched = len({line.split('"url":"')[1].split('"')[0] for line in open("pages.jsonl")
               if '"url"' in line and '"error"' not in line})
open(os.path.join(os.environ["TMP"], "gaps"), "w").write(
    f"{len(log.requests)} requests, shortest gap {min(gaps):.2f} ms of {delay}, {fetched} pages of {pages}")
sys.exit(min(gaps) < delay - 1 or fetched != pages)
PY
}

# Connecting takes longer than the delay, and every third kept connection is closed: no page is given up,
# although none may be tried again, and no request comes early.
start_server web.py "$TMP/log" 120 6 --connect 100 --close 3
"$SEEN" crawl -q "http://127.1.0.1:$PORT_SERVER/section-0/page-0.html" --scope all --allow-private \
    --proxy "socks5h://127.0.0.1:$PORT_SERVER" --delay 50ms --retries 0 -o pages.jsonl
check 120 50
! grep -q '"retries"' pages.jsonl || fail "a closed connection counted as a retry"
stop_servers

# Killed twice and resumed at once: the delay holds, whether it is that of the crawl or of robots.txt.
resume() { # options of the server, delay of the crawl
    rm -rf state log pages.jsonl
    : > log
    # shellcheck disable=SC2086 # words
    start_server web.py "$TMP/log" 30 5 $1
    "$SEEN" crawl -q "http://127.1.0.1:$PORT_SERVER/section-0/page-0.html" --scope all --allow-private \
        --delay "$2" --state state -o pages.jsonl &
    for requests in 6 16; do
        crawl=$!
        for _ in $(seq 600); do
            [ "$(wc -l < log)" -lt $requests ] || break
            sleep 0.02
        done
        kill -9 $crawl || true # it has ended on a machine that is slow enough
        wait $crawl 2> /dev/null || true
        "$SEEN" crawl -q --state state &
    done
    wait $!
    check 30 250
    stop_servers
}
resume "" 250ms
resume "--crawl-delay 0.25" 20ms

# Retry-After is kept when the worker that got it is killed: another one waits the rest of it.
command -v redis-server > /dev/null || exit 0
"$SEEN" crawl --join redis://127.0.0.1:1/x 2> probe || true
if grep -q "no Redis" probe; then exit 0; fi
. "$ROOT/tests/redis/server.sh"
trap 'stop_redis; stop_servers' EXIT
start_redis
: > log
start_server web.py "$TMP/log" 12 1 --busy /section-3/page-3.html=3
"$SEEN" crawl -q --allow-private --join "redis://127.0.0.1:$PORT/web" \
    "http://127.1.0.1:$PORT_SERVER/section-0/page-0.html" --scope all --delay 50ms --per-host 1 \
    --lease 600ms -o first.jsonl &
worker=$!
while kill -0 $worker 2> /dev/null; do # until it is stored, or over
    for key in $(redis-cli -p "$PORT" --scan --pattern 'seencrawl:*:tired'); do
        redis-cli -p "$PORT" hvals "$key" | grep -q : && kill -9 $worker && break 2
    done
done
wait $worker 2> /dev/null || true
rm pages.jsonl
"$SEEN" crawl -q --allow-private --join "redis://127.0.0.1:$PORT/web" -o pages.jsonl
cat first.jsonl >> pages.jsonl
check 12 50
awk '/page-3.html/ { if (!at) { at = $1; next } } at && !next_at { next_at = $1 }
    END { exit !(next_at - at >= 3e9) }' log || fail "Retry-After: $(cat log)"

# So it is if its queue has no URL left when another worker takes it: that one is given a URL later. It gets there by
# --retry-failed, which asks no host itself.
redis-cli -p "$PORT" flushall > /dev/null
rm -f first.jsonl
start_server web.py "$TMP/log2" 30 1 --busy /busy=2
"$SEEN" crawl -q --allow-private --join "redis://127.0.0.1:$PORT/web" "http://127.3.0.1:$PORT_SERVER/busy" \
    "http://127.1.0.1:$PORT_SERVER/section-0/page-0.html" --scope all --delay 100ms --retries 0 --lease 600ms \
    -o first.jsonl &
worker=$!
keys() { redis-cli -p "$PORT" --scan --pattern "seencrawl:*:$1" < /dev/null; }
marks() { # of hosts that must be left alone for a time
    keys tired | while read -r key; do redis-cli -p "$PORT" hvals "$key" < /dev/null; done | grep -c : > /dev/null
}
while kill -0 $worker 2> /dev/null; do # until the page is given up, and only the other host has a queue
    if marks && [ -n "$(keys failed)" ] && [ "$(keys 'q:*' | wc -l)" -lt 2 ]; then
        kill -9 $worker
        break
    fi
done
wait $worker 2> /dev/null || true
"$SEEN" crawl -q --allow-private --join "redis://127.0.0.1:$PORT/web" -o second.jsonl &
worker=$!
for _ in $(seq 15); do # of a worker that has forgotten it, they are gone now
    marks || break
    sleep 0.1
done
"$SEEN" crawl failed --retry-failed "redis://127.0.0.1:$PORT/web" > /dev/null
wait $worker
"$SEEN" crawl -q --allow-private --join "redis://127.0.0.1:$PORT/web" -o third.jsonl
awk '$3 == "/busy" { if (++n == 2) gap = $1 - at; at = $1 } END { exit !(n == 2 && gap >= 2e9) }' log2 ||
    fail "Retry-After of a host without URLs: $(grep busy log2)"
