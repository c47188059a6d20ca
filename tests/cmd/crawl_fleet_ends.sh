# How shared crawls end: start URLs that come after the end, or were seen before, or whose worker was killed.
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

join() { # name, options
    local name=$1
    shift
    timeout 120 "$SEEN" crawl --summary --allow-private --join "$URL/$name" "$@" 2> error || fail "join $name: status $?: $(cat error)"
}
state() { # name, state, URLs that wait
    local is
    is="$(redis-cli -p "$PORT" hget "seencrawl:$1" state) $("$SEEN" crawl export "$URL/$1" | wc -l)"
    [ "$is" = "$2 $3" ] || fail "$1 is $is, not $2 $3"
}

# Start URLs after the end are fetched, whether the worker knows their host or not.
for i in 1 2 3; do
    join more "$(site 1 0)" --delay 10ms -o more.jsonl
    state more done 0
    join more "http://127.0.0.1:$PORT_SERVER/new-$i" -o more.jsonl
    state more done 0
    join more "$(site 1 0)?$i" "$(site 1 0)" -o more.jsonl
    grep -q '^seen: 1 of the start URLs had been seen already$' error || fail "$(cat error)"
    state more done 0
done
sort more.jsonl | uniq -d > twice
[ ! -s twice ] || fail "twice: $(cat twice)"
for url in new-1 new-3 page-0.html?1 page-0.html?3; do
    grep -q "$url\"" more.jsonl || fail "$url was not fetched"
done
# What gives nothing new leaves a crawl as it is.
join more -o more.jsonl
state more done 0
# A crawl that is done although a URL waits, as after the death of a worker that gave one: the next worker fetches it.
redis-cli -p "$PORT" hset seencrawl:more state stop > /dev/null
join more "http://127.0.0.1:$PORT_SERVER/left" -o more.jsonl
redis-cli -p "$PORT" hset seencrawl:more state done > /dev/null
state more done 1
join more -o more.jsonl
state more done 0
grep -q '/left"' more.jsonl || fail "/left was not fetched"
# The first worker is killed while it stores the start URL, or after the end: its command is repeated.
if [ -x "$BUILD/tests/seen_unsafe" ]; then
    for point in add push settle; do
        for give in "$(site 1 0)" "http://127.0.0.1:$PORT_SERVER/more"; do
            ! SEEN_FLEET_DIE=$point:1 "$BUILD/tests/seen_unsafe" crawl -q --allow-private --join "$URL/$point" "$give" --delay 0 --lease 500ms \
                -o "$point.jsonl" 2> error || fail "$point: the worker was not killed"
            join "$point" "$give" -o "$point.jsonl"
            state "$point" done 0
            grep -q "\"$give\"" "$point.jsonl" || fail "$point: $give was not fetched"
        done
    done
fi
# At its limit a crawl fetches nothing more, also what is given later.
join limit "$(site 1 0)" --delay 0 --max-pages 5 -o limit.jsonl
for i in 1 2; do
    join limit "$(site 2 0)?" -o limit.jsonl
    [ "$(redis-cli -p "$PORT" hget seencrawl:limit state)" = limit ] || fail "a crawl at its limit runs again"
done
[ "$(wc -l < limit.jsonl)" = 5 ] || fail "limit: $(wc -l < limit.jsonl) pages"
# Each start URL was seen: the crawl is done.
join day1 "$(site 1 0)" --delay 0 --filter "$URL/all" -o day.jsonl
join day2 "$(site 1 0)" --delay 0 --filter "$URL/all" -o day2.jsonl
grep -q '1 of the start URLs had been seen already' error && [ ! -s day2.jsonl ] || fail "$(cat error day2.jsonl)"
state day2 done 0
# A worker that has fetched nothing did not fail if the crawl has pages.
join dead "$(site 1 0)" --delay 0 --retries 0 -o dead.jsonl
join dead http://127.0.0.1:1/ -o dead2.jsonl
grep -q '1 failed' error && state dead done 0 || fail "$(cat error)"
status=0
timeout 120 "$SEEN" crawl --allow-private --join "$URL/dead3" http://127.0.0.1:1/ --retries 0 -o dead3.jsonl 2> error || status=$?
[ $status = 2 ] && grep -q 'could not be fetched' error || fail "no page at all: status $status: $(cat error)"
