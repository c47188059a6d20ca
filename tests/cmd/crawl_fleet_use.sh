# What a shared crawl refuses: two workers with one output file, options that do not apply or that differ from those of
# the crawl; with messages that name options and what to do.
set -eu
command -v redis-server > /dev/null || exit 77
"$SEEN" crawl --join redis://127.0.0.1:1/x 2> probe || true
if grep -q 'no Redis' probe; then exit 77; fi
. "$ROOT/tests/redis/server.sh"
worker= silent=
trap '[ -z "$worker" ] || kill -9 $worker 2> /dev/null || true; [ -z "$silent" ] || kill -9 $silent 2> /dev/null || true; stop_redis' EXIT
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
"$SEEN" crawl -q --join "$one" http://127.0.0.1:1/ $waits --lease 2s --allow-private -o p.jsonl --urls p.urls --edges p.edges \
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

# A setting that differs is named by its option, with both values. Each machine gives --allow-private itself, if the crawl
# was created with it.
refused 'one: --delay: the crawl has 1 s, this worker 7 s; .*leave the option out' --join "$one" --allow-private --delay 7s
refused 'one: --depth: the crawl has no limit, this worker 0; ' --join "$one" --allow-private --depth 0
refused 'one: --drop-www: the crawl has off, this worker on; ' --join "$one" --allow-private --drop-www
refused 'one: this crawl was created with --allow-private, .*: add --allow-private$' --join "$one"
two=$URL/two
"$SEEN" crawl -q --join "$two" http://192.0.2.1/ --retries 0 -o two.jsonl || [ $? = 2 ]
refused 'two: this crawl was created without --allow-private: leave it out$' --join "$two" --allow-private
# A crawl of an earlier version has not stored it.
settings=$(redis-cli -p "$PORT" hget seencrawl:two settings)
redis-cli -p "$PORT" hset seencrawl:two settings "$(echo "$settings" | grep -v '^allow-private')
" > /dev/null
"$SEEN" crawl -q --join "$two" --allow-private -o two.jsonl || fail "a crawl of an earlier version was refused"

# What was seen is kept in Redis, and so are the pages that failed.
refused '--filter /.*/seen.filter is a file of this machine, .*: leave it out, or give a redis:// address' \
    --join "$URL/three" http://127.0.0.1:1/ --filter seen.filter
[ ! -e seen.filter ] && [ "$(redis-cli -p "$PORT" exists seencrawl:three)" = 0 ] || fail "refused, but created"
refused "in Redis: seen crawl failed redis://127.0.0.1:$PORT/one --retry-failed" --join "$one" --allow-private --retry-failed

# Options that do not apply, or differ from what the crawl was created with, are refused.
refused 'crawl pause has no option --delay' pause "$one" --delay 5s
refused 'crawl resume has no option --max-pages' resume "$one" --max-pages 5
refused 'crawl resume has no option --watch' resume "$one" --watch
refused 'crawl stop has no option --force' stop "$one" --force -o x
refused 'crawl has no option --watch' --join "$one" --watch
refused '--lease is for a shared crawl' http://127.0.0.1:1/ --lease 1s
refused "write seen crawl status ADDRESS" -q status "$one"
refused "unknown command 'crawl stauts'; did you mean 'crawl status'?" stauts "$one"
refused 'one: --lease: the crawl has 2 s, this worker 3 s; ' --join "$one" --allow-private --lease 3s
refused "one: --frontier-memory: the crawl has no limit, this worker 10.0 MiB; .*seen crawl resume redis://.*/one --frontier-memory" \
    --join "$one" --allow-private --frontier-memory 10M
"$SEEN" crawl resume "$one" --frontier-memory 10M || fail "resume --frontier-memory"
"$SEEN" crawl -q --join "$one" --allow-private --lease 2s --frontier-memory 10M -o p.jsonl &
worker=$!
wait_for_worker "$one"
"$SEEN" crawl stop "$one" && wait $worker || fail "a worker with the options of the crawl was refused"

# Pages that failed, as JSON.
"$SEEN" crawl -q --join "$URL/four" http://127.0.0.1:1/ --allow-private --retries 0 -o four.jsonl || [ $? = 2 ]
"$SEEN" crawl failed "$URL/four" --json > list || fail "failed --json"
python3 - << 'PY' || fail "failed --json: $(cat list)"
import json, sys
page, = map(json.loads, open("list"))
sys.exit(not (page["url"] == "http://127.0.0.1:1/" and page["depth"] == 0 and page["error"] and "parent" not in page))
PY
refused 'leave --json out' failed "$URL/four" --json --retry-failed

# Advice fits a shared crawl: a second signal loses nothing; an address without a name, and a key of that name.
python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(600)' > port &
silent=$!
until [ -s port ]; do sleep 0.05; done
"$SEEN" crawl --join "$URL/five" "http://127.0.0.1:$(cat port)/" --allow-private -o five.jsonl 2> error &
worker=$!
for _ in $(seq 600); do
    if "$SEEN" crawl status "$URL/five" 2> probe | grep -q ', 1 request,'; then break; fi
    sleep 0.1
done
kill -TERM $worker
for _ in $(seq 600); do
    if grep -q 'Ctrl-C again' error; then break; fi
    sleep 0.1
done
sleep 0.2
kill -TERM $worker
wait $worker 2> /dev/null || true
kill -9 $silent
wait $silent 2> /dev/null || true
grep -q 'stopped at once; the crawl is in Redis, and another worker fetches the pages in progress after a lease$' error ||
    fail "a second signal: $(cat error)"
refused 'bad Redis address: the NAME is missing' --join "$URL" http://127.0.0.1:1/
redis-cli -p "$PORT" hset seencrawl:six field value > /dev/null
refused 'six: the key seencrawl:six belongs to something else; choose another name$' --join "$URL/six" http://127.0.0.1:1/
refused 'six: there is no crawl of this name' --join "$URL/six"
refused 'six: there is no crawl of this name' status "$URL/six"

# The command of docs/fleet.md merges outputs of which some end in the middle of a line.
printf '{"url":"a"}\n{"url":"b"}\n{"url":"c","ti' > pages.1.jsonl
printf '{"url":"b"}\n{"url":"d"}\n' > pages.2.jsonl
printf '{"u' > pages.3.jsonl
sed -n 's/^    \(for f in pages.*\)/\1/p' "$ROOT/docs/fleet.md" > merge.sh
[ -s merge.sh ] || fail "docs/fleet.md merges nothing"
seen() { "$SEEN" "$@"; }
. ./merge.sh || fail "the merge fails"
printf '{"url":"a"}\n{"url":"b"}\n{"url":"d"}\n' | cmp - pages.jsonl || fail "merged: $(cat pages.jsonl)"
