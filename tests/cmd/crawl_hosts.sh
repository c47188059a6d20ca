# Many hosts at once: more than can have queues, all cases of robots.txt, delays per host.
set -eu
. "$ROOT/tests/sites/nginx.sh"
python3 -c 'import socket; socket.socket().bind(("127.2.0.1", 0))' 2> /dev/null || exit 77
start_server hosts.py "$TMP/log" 700

# 700 hosts, of which 256 can have work at a time: all pages of all of them, each once.
"$SEEN" crawl -q "http://127.1.0.1:$PORT_SERVER/" --scope all --allow-private --delay 20ms \
    --connections 16 -o pages.jsonl --state state --checkpoint 200ms
awk '$3 != "/robots.txt" { print $2 $3 }' log | sort > fetched
python3 - << 'PY' | sort > expected
for n in range(1, 701):
    for path in ("/", "/1", "/2", "/3"):
        print(f"127.1.{n >> 8}.{n & 255}{path}")
PY
diff expected fetched > difference || fail "700 hosts: $(head -5 difference)"

# The pace of each of several hosts: four delays from its first request to its last. Half of that will do, because a busy
# machine may look at a request late.
: > log
urls=$(for n in $(seq 512 523); do echo "http://127.1.$((n / 256)).$((n % 256)):$PORT_SERVER/"; done)
"$SEEN" crawl -q $urls --allow-private --delay 500ms -o pace.jsonl
python3 - << 'PY' || fail "the pace of a host: $(cat log)"
import collections
times = collections.defaultdict(list)
for line in open("log"):
    when, host, path = line.split()
    times[host].append(float(when))
assert len(times) == 12 and all(len(t) == 5 and max(t) - min(t) >= 1 for t in times.values())
PY

# The same, stopped in the middle and resumed.
rm -rf state
: > log
"$SEEN" crawl -q "http://127.1.0.1:$PORT_SERVER/" --scope all --allow-private --delay 0 \
    --max-pages 900 -o pages.jsonl --state state
"$SEEN" crawl -q --state state --max-pages 0
awk '$3 != "/robots.txt" { print $2 $3 }' log | sort | diff expected - > difference ||
    fail "700 hosts, resumed: $(head -5 difference)"

# robots.txt.
: > log
urls=$(for n in $(seq 12); do echo "http://127.2.0.$n:$PORT_SERVER/"; done)
"$SEEN" crawl -q $urls --allow-private --delay 0 --retries 1 --backoff 100ms --state robots \
    -o robots.jsonl
asked() { # host, path, times
    local times
    times=$(awk -v host="$1" -v path="$2" '$2 == host && $3 == path' log | wc -l)
    [ "$times" = "$3" ] || fail "http://$1$2 was asked for $times times, not $3"
}
for n in 1 2 6 10; do # no rules: 404, 403, too many redirects, not a robots.txt
    asked 127.2.0.$n / 1
    asked 127.2.0.$n /no 1
done
asked 127.2.0.6 '/robots.txt?' 5
for n in 3 12; do # no response: nothing is requested
    asked 127.2.0.$n /robots.txt 2
    asked 127.2.0.$n / 0
    grep -q "http://127.2.0.$n:.*\"error\"" robots.jsonl || fail "no line about 127.2.0.$n"
    grep -q "http://127.2.0.$n:" robots/failed || fail "127.2.0.$n is not among the failures"
done
asked 127.2.0.4 /robots.txt 2
asked 127.2.0.4 /no 1
for n in 5 7 8 9; do # rules: after redirects, of our own group, after 490 KB of comments
    asked 127.2.0.$n /yes 1
    asked 127.2.0.$n /no 0
done
asked 127.2.0.5 /r5 1
asked 127.2.0.11 / 1
asked 127.2.0.11 /yes 1
asked 127.2.0.11 /no 0
python3 - << 'PY' || fail "Crawl-delay"
times = [float(l.split()[0]) for l in open("log") if " 127.2.0.8 " in l]
# Measured with the server's clock: a request that waited for a processor appears closer to the next one.
assert len(times) > 2 and times[-1] - times[0] >= 0.5 * (len(times) - 1), times
PY
