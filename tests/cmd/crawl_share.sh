# Two crawlers that share one filter never fetch the same URL, and together they fetch all; first
# with a file, then with Redis if available.
set -eu
command -v nginx > /dev/null || exit 77
. "$ROOT/tests/sites/nginx.sh"
PG=$(documentation 'postgresql-doc-[0-9]*')
[ -d "$PG" ] || exit 77
start_nginx "PG=$PG"
HOST=http://127.0.0.1:$PORT_PG
# The second one starts from a URL that the first never finds, and only after the first has requested
# its own, so that both have work.
{
    python3 "$ROOT/tests/sites/reference.py" "$HOST/index.html"
    echo "200 $HOST/index.html?two"
} | sort -k2 > reference

crawl() { # name, start, filter, options
    local name=$1 start=$2 filter=$3
    shift 3
    "$SEEN" crawl -q "$HOST/$start" --allow-private --delay 0 --filter "$filter" \
        --state "$name.state" -o "$name.jsonl" "$@"
}

share() { # filter
    rm -rf one.* two.*
    : > nginx/access.log
    crawl one index.html "$1" & one=$!
    for _ in $(seq 6000); do
        grep -q 'GET /index.html ' nginx/access.log && break
        sleep 0.01
    done
    crawl two "index.html?two" "$1" & two=$!
    wait $one || fail "$1: the first crawler failed"
    wait $two || fail "$1: the second crawler failed"
    cat one.jsonl two.jsonl > both.jsonl
    pages both.jsonl > found
    diff reference found > difference || fail "$1: $(head -5 difference)"
    grep -o 'GET [^ ]*' nginx/access.log | grep -v robots.txt | sort | uniq -d > twice
    [ ! -s twice ] || fail "$1: fetched twice: $(head -3 twice)"
    [ -s one.jsonl ] && [ -s two.jsonl ] || fail "$1: one of them did all"
    # A third one finds nothing left.
    crawl three index.html "$1"
    [ ! -s three.jsonl ] || fail "$1: the third crawler fetched something"
    rm -rf three.*
}

share "$TMP/shared.filter"

command -v redis-server > /dev/null || exit 0
port=$(free_port)
redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$TMP" > redis.log 2>&1 &
SERVERS="$SERVERS $!"
wait_for_port "$port"
if ! "$SEEN" create -q "redis://127.0.0.1:$port/probe" -n 1000 2> probe; then
    grep -q 'no Redis' probe && exit 0
    fail "Redis: $(cat probe)"
fi
share "redis://127.0.0.1:$port/pages"
