# The first Ctrl-C finishes pages in progress and saves; the second stops at once; if a host dies
# during the crawl its pages fail, and can be retried when it is back; one crawler per folder.
set -eu
command -v nginx > /dev/null || exit 77
. "$ROOT/tests/sites/nginx.sh"
PG=$(documentation 'postgresql-doc-[0-9]*')
[ -d "$PG" ] || exit 77
start_nginx "PG=$PG"
URL=http://127.0.0.1:$PORT_PG/index.html
OPTIONS="--allow-private --per-host 2"
python3 "$ROOT/tests/sites/reference.py" "$URL" | sort -k2 > reference

# Two pending signals are merged into one.
wait_for_signal() { # process
    for _ in $(seq 2400); do
        ! grep -q '^ShdPnd:.*[1-9a-f]' "/proc/$1/status" || { sleep 0.05; continue; }
        return 0
    done
    fail "the signal is not handled"
}

wait_for_lines() { # file, lines
    for _ in $(seq 2400); do
        [ ! -e "$1" ] || [ "$(wc -l < "$1")" -lt "$2" ] || return 0
        sleep 0.05
    done
    fail "$1 never got $2 lines"
}

# Ctrl-C: exit status 0, a message about resuming, and a state that can be resumed.
"$SEEN" crawl "$URL" $OPTIONS --delay 50ms --state state -o pages.jsonl 2> err & crawler=$!
wait_for_lines pages.jsonl 10
status=0
"$SEEN" crawl --state state > out 2> second || status=$?
[ $status = 2 ] || fail "two crawlers in one folder"
grep -q 'another crawler' second || fail "two crawlers: $(cat second)"
kill -INT $crawler
wait $crawler || fail "exit $? after Ctrl-C: $(cat err)"
grep -q 'stopped with' err || fail "the rest is not reported: $(cat err)"
[ "$(wc -l < pages.jsonl)" -lt "$(wc -l < reference)" ] || fail "the crawl ended too early for this test"
lines=$(wc -l < pages.jsonl)
"$SEEN" crawl --state state --delay 0 --max-pages $((lines + 20)) 2> err
grep -q "seen: $((lines + 20)) pages, .* in all; 20 in " err || fail "runs are not distinguished: $(cat err)"
[ "$(wc -l < pages.jsonl)" = $((lines + 20)) ] || fail "--max-pages of a resumed crawl"
"$SEEN" crawl -q --state state --delay 0 --max-pages 0
pages pages.jsonl | diff reference - > difference || fail "after Ctrl-C: $(head -5 difference)"

# Twice: stops at once, though a page never ends, and reports what is left.
start_server bad.py "$TMP/log"
stop_twice() { # arguments
    : > "$TMP/log"
    "$SEEN" crawl "http://127.0.0.1:$PORT_SERVER/slow" --allow-private --delay 0 --timeout 60s \
        -o slow.jsonl "$@" 2> err & crawler=$!
    wait_for_lines "$TMP/log" 2
    kill -INT $crawler
    wait_for_signal $crawler
    sleep 0.5
    kill -0 $crawler || fail "the first Ctrl-C did not wait for pages in progress"
    kill -INT $crawler
    status=0
    wait $crawler || status=$?
    [ $status = 130 ] || fail "exit $status after the second Ctrl-C"
}
stop_twice
grep -q '^seen: stopping when the 1 page in progress is done; press Ctrl-C again to stop at once$' err ||
    fail "no message after the first Ctrl-C: $(cat err)"
grep -q '^seen: stopped at once; without --state nothing was saved' err ||
    fail "no message after the second Ctrl-C: $(cat err)"
stop_twice --state slow
grep -q '^seen: stopped at once; slow is complete up to the last checkpoint; --state slow resumes it' \
    err || fail "no word on going on: $(cat err)"
stop_twice --state quiet -q
[ ! -s err ] || fail "a message in spite of -q: $(cat err)"

# A host that dies.
rm -rf state pages.jsonl
"$SEEN" crawl "$URL" $OPTIONS --delay 20ms --retries 1 --backoff 50ms --state state -o pages.jsonl \
    2> err & crawler=$!
wait_for_lines pages.jsonl 100
set -- $SERVERS
kill "$1"
wait $crawler || fail "exit $? with a dead host: $(cat err)"
grep -q 'no connection\|host down' state/failed || fail "no failures: $(head -3 state/failed)"
grep -q 'retry-failed' err || fail "no message about retrying: $(cat err)"
nginx -c nginx.conf -p "$TMP" -e "$TMP/nginx/error.log" &
SERVERS="$SERVERS $!"
wait_for_port $PORT_PG
"$SEEN" crawl -q --state state --retry-failed --delay 0 --retries 3
[ ! -s state/failed ] || fail "still failed: $(head -3 state/failed)"
pages pages.jsonl | grep -v '^0 ' | diff reference - > difference ||
    fail "after the host was back: $(head -5 difference)"

# A reader that closes the pipe is not an error.
"$SEEN" crawl -q "$URL" $OPTIONS --delay 0 -o - | head -1 > out || fail "a closed pipe"
[ -s out ] || fail "nothing on stdout"
