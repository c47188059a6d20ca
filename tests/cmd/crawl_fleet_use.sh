# What a shared crawl refuses: two workers with one output file, options that do not apply or that differ from those of
# the crawl; with messages that name options and what to do.
set -eu
command -v redis-server > /dev/null || exit 77
"$SEEN" crawl --join redis://127.0.0.1:1/x 2> probe || true
if grep -q 'no Redis' probe; then exit 77; fi
. "$ROOT/tests/redis/server.sh"
worker=
trap '[ -z "$worker" ] || kill -9 $worker 2> /dev/null || true; stop_redis' EXIT
start_redis
refused() { # text, arguments
    local text=$1 status=0
    shift
    timeout 60 "$SEEN" crawl "$@" > out 2> error || status=$?
    [ $status = 2 ] || fail "crawl $*: status $status, $(cat error)"
    grep -q -e "$text" error || fail "crawl $*: $(cat error)"
}
# A worker whose only host does not answer, and waits.
wait_for_worker() {
    for _ in $(seq 600); do
        if "$SEEN" crawl status "$1" 2> error | grep -q '1 live'; then return 0; fi
        sleep 0.1
    done
    fail "no worker joined: $(cat error)"
}
waits="--backoff 600s --max-wait 600s"
one=$URL/one

# An output has one writer. It is free again as soon as that one is dead, and continued.
# shellcheck disable=SC2086 # words
"$SEEN" crawl -q --join "$one" http://127.0.0.1:1/ $waits --allow-private -o p.jsonl --urls p.urls --edges p.edges \
    --warc p.warc.gz &
worker=$!
wait_for_worker "$one"
refused 'p.jsonl: another worker writes this file; give each worker its own -o$' --join "$one" --allow-private -o p.jsonl
refused 'p.urls: another worker .* its own --urls$' --join "$one" --allow-private -o q.jsonl --urls p.urls
refused 'p.edges: another worker .* its own --edges$' --join "$one" --allow-private --edges p.edges
refused 'p.warc.gz: another worker .* its own --warc$' --join "$one" --allow-private --warc ./p.warc.gz
refused 'p.jsonl: another crawl writes this file; give each crawl its own -o$' http://127.0.0.1:1/ --allow-private -o p.jsonl
"$SEEN" crawl status "$one" --json > status
[ "$(grep -o '"session"' status | wc -l)" = 1 ] || fail "a refused worker joined: $(cat status)"
kill -9 $worker
wait $worker 2> /dev/null || true
printf '{"url":"http://x/"}\n{"url":"torn' >> p.jsonl
"$SEEN" crawl -q --join "$one" --allow-private -o p.jsonl &
worker=$!
for _ in $(seq 600); do
    if [ "$(wc -c < p.jsonl)" = 20 ]; then break; fi
    sleep 0.1
done
kill -0 $worker || fail "the restarted worker ended"
"$SEEN" crawl stop "$one" && wait $worker || fail "the restarted worker failed"
[ "$(cat p.jsonl)" = '{"url":"http://x/"}' ] || fail "not continued: $(cat p.jsonl)"
