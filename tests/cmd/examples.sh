# The programs in examples/ work as documented.
set -eu
bin=$BUILD/examples
same() { diff <(printf '%s\n' "$2") <(printf '%s\n' "$1") || { echo "wrong output: $3"; exit 1; }; }

same "$(printf 'apple\npear\napple' | "$bin/first" first.seen)" "apple
pear" first
same "$(printf 'apple\nplum\n' | "$bin/first" first.seen)" "plum" "first, again"
# A long line is one key, and more lines than any default capacity are not an error.
{ head -c 100000 /dev/zero | tr '\0' x; echo; seq 200000; } > long
cat long long | "$bin/first" long.seen | cmp - long || { echo "first: lines are lost"; exit 1; }
if "$bin/first" no/such/folder < long 2> words; then echo "first: an error with status 0"; exit 1; fi
grep -q no/such/folder words || { echo "first: no message"; exit 1; }
same "$("$bin/threads")" '4 threads added the same 100000 keys; they were told "new" 100000 times in all' threads
same "$("$bin/processes" p.seen)" '4 processes added the same 2000 keys; they were told "new" 2000 times in all' processes
same "$("$bin/window" w.seen)" "ada@example.org: write
bob@example.org: write
ada@example.org: not again within 30 days" window
same "$("$bin/window" w.seen | sort -u)" "ada@example.org: not again within 30 days
bob@example.org: not again within 30 days" "window, again"

mkdir www && echo hello > www/page
python3 - <<'PY' &
import http.server, functools
h = functools.partial(http.server.SimpleHTTPRequestHandler, directory="www")
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), h)
open("port.tmp", "w").write(str(s.server_port))
import os; os.rename("port.tmp", "port")
s.serve_forever()
PY
server=$!
trap 'kill $server 2> /dev/null; [ -z "${redis:-}" ] || kill $redis 2> /dev/null' EXIT
for _ in $(seq 600); do [ -s port ] && break; sleep 0.1; done
url=http://127.0.0.1:$(cat port)
same "$("$bin/fetch" f.seen "$url/page" "$url/./page#top" 2> /dev/null)" "$url/page: 6 bytes
$url/page: fetched before" fetch

if [ -x "$bin/redis" ]; then
    socket=$TMP/redis.sock
    redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no --dir "$TMP" > redis.log &
    redis=$!
    for _ in $(seq 600); do [ -S "$socket" ] && break; sleep 0.1; done
    same "$("$bin/redis" "redis+unix://$socket/visited" a b a)" "a: new
b: new
a: seen before" redis
fi
