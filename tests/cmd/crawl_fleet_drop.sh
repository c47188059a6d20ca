# What a shared crawl creates and leaves: nothing if it cannot start; its filter, or another's; a drop under a live worker, a server that lost its data.
set -eu
. "$ROOT/tests/sites/nginx.sh"
command -v redis-server > /dev/null || exit 77
python3 -c 'import socket; socket.socket().bind(("127.1.0.1", 0))' 2> /dev/null || exit 77
"$SEEN" crawl --join redis://127.0.0.1:1/x 2> probe || true
if grep -q "no Redis" probe; then exit 77; fi
. "$ROOT/tests/redis/server.sh"
trap 'stop_redis; stop_servers' EXIT
start_redis
start_server web.py "$TMP/log" 40 2
site() { echo "http://127.1.0.$1:$PORT_SERVER/section-$2/page-$2.html"; }

# A command that cannot start leaves no crawl behind.
wrong() { # message, options
    local text=$1 status=0
    shift
    timeout 120 "$SEEN" crawl -q --allow-private --join "$URL/wrong" "$@" 2> error || status=$?
    [ $status = 2 ] && grep -q "$text" error || fail "$*: status $status: $(cat error)"
    [ "$(redis-cli -p "$PORT" dbsize)" = 0 ] || fail "$*: left $(redis-cli -p "$PORT" keys '*')"
}
: > empty
echo 'not a url' > bad
wrong 'cannot write .*/missing/out' "$(site 1 0)" -o missing/out
wrong 'did you mean http://localhost:8100/ ?' "$(site 1 0)" localhost:8100 -o out
wrong 'write http://127.0.0.1/' "$(site 1 0)" http://me:secret@127.0.0.1/ -o out
wrong 'cannot read the start URLs in missing' -i missing -o out
wrong 'empty has no URLs in it' -i empty -o out
wrong 'not a url is not a URL' -i bad -o out
wrong 'there is no crawl of this name' -o out
site 1 0 > list
timeout 120 "$SEEN" crawl -q --allow-private --join "$URL/wrong" -i list --delay 0 -o out 2> error || fail "-i: $(cat error)"
grep -q page-0.html out || fail "-i: $(cat out)"
"$SEEN" crawl drop "$URL/wrong"

# A drop deletes the filter that the crawl has created, and no other.
crawl() { # name, options
    local name=$1
    shift
    timeout 120 "$SEEN" crawl -q --allow-private --join "$URL/$name" "$(site 1 0)" --delay 0 -o out.jsonl "$@" 2> error
}
crawl own || fail "own: $(cat error)"
"$SEEN" crawl drop "$URL/own" 2> error && [ ! -s error ] || fail "drop: $(cat error)"
! "$SEEN" info "$URL/own" > /dev/null 2>&1 || fail "the filter of the crawl is still there"
"$SEEN" create "$URL/mine" -n 1000
! crawl mine || fail "a filter with an error rate of 1% was accepted"
grep -q 'there is a filter of this name, with error rate 0.01, not 1e-06' error || fail "$(cat error)"
[ "$(redis-cli -p "$PORT" exists seencrawl:mine)" = 0 ] || fail "a crawl was left behind"
"$SEEN" create "$URL/good" -n 1000 -p 1e-6
for way in "mine -p 0.01" "good" "named --filter $URL/mine"; do
    # shellcheck disable=SC2086 # words
    crawl $way || fail "$way: $(cat error)"
    "$SEEN" crawl drop "$URL/${way%% *}" 2> error || fail "drop $way: $(cat error)"
    grep -q 'kept the filter: this crawl has not created it' error || fail "drop $way: $(cat error)"
done
"$SEEN" info "$URL/mine" > /dev/null && "$SEEN" info "$URL/good" > /dev/null || fail "a drop deleted another's filter"

# A worker ends with an error when its crawl is dropped, or lost by its server, and does not create it again.
worker() { # name, options: in the background
    local name=$1
    shift
    timeout 120 "$SEEN" crawl --allow-private --join "$URL/$name" "$@" 2> worker.err &
    WORKER=$!
    for _ in $(seq 600); do
        [ ! -s "$name.jsonl" ] || return 0
        kill -0 "$WORKER" 2> /dev/null || break
        sleep 0.05
    done
    fail "no worker: $(cat worker.err)"
}
dropped() { # how
    local status=0
    wait "$WORKER" || status=$?
    [ $status = 2 ] && grep -q 'this crawl was dropped, or its server has lost it' worker.err || fail "$1: status $status: $(cat worker.err)"
    [ "$(redis-cli -p "$PORT" dbsize)" = 0 ] || fail "$1: left $(redis-cli -p "$PORT" keys '*')"
}
redis-cli -p "$PORT" flushall > /dev/null
worker drop "$(site 1 0)" --delay 200ms -o drop.jsonl
"$SEEN" crawl drop "$URL/drop" --force
redis-cli -p "$PORT" --scan --pattern 'seencrawl:*:r:*' | xargs -r redis-cli -p "$PORT" del > /dev/null
dropped "drop --force"
worker flush "$(site 1 0)" --delay 200ms -o flush.jsonl
redis-cli -p "$PORT" flushall > /dev/null
dropped flushall
worker again "$(site 1 0)" --delay 200ms -o again.jsonl
redis-cli -p "$PORT" flushall > /dev/null
redis-cli -p "$PORT" hset seencrawl:again format 1 id 0123456789abcdef buckets 4 state run sequence 1 > /dev/null
status=0
wait "$WORKER" || status=$?
[ $status = 2 ] && grep -q 'was dropped' worker.err || fail "another crawl: status $status: $(cat worker.err)"
redis-cli -p "$PORT" flushall > /dev/null
worker lost "$(site 1 0)" --delay 200ms -o lost.jsonl
kill "$REDIS_PID" && wait "$REDIS_PID" || true
for _ in $(seq 600); do
    grep -q 'joining again' worker.err && break
    sleep 0.05
done
redis-server --port "$PORT" --bind 127.0.0.1 --save '' --dir "$TMP/redis" > /dev/null 2>&1 &
REDIS_PID=$!
dropped "a server that lost its data"
