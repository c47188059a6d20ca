# A hostile site: each URL is fetched once, limits hold, robots.txt is obeyed, no harm is done.
set -eu
. "$ROOT/tests/sites/nginx.sh"
start_server bad.py "$TMP/log"
HOST=http://127.0.0.1:$PORT_SERVER

status=0
"$SEEN" crawl "$HOST/" --allow-private --delay 0 --per-host 16 --max-body 1MB --timeout 10s \
    --retries 2 --backoff 100ms --max-repeats 3 -o pages.jsonl --urls urls.txt --edges edges.tsv \
    --warc pages.warc.gz --state state > out 2> err || status=$?
[ $status = 0 ] || fail "exit $status: $(cat err)"
[ ! -s out ] || fail "messages on stdout"
cut -d' ' -f2 log | sort | uniq -c | awk '{ print $1, $2 }' > asked

asked() { # path, times
    local times
    times=$(awk -v path="$1" '$2 == path { print $1 }' asked)
    [ "${times:-0}" = "$2" ] || fail "$1 was asked for ${times:-0} times, not $2"
}
page() { # path, python condition on `p`
    python3 - "$HOST$1" "$2" << 'PY' || fail "$1: not $2"
import json, sys
found = [p for p in map(json.loads, open("pages.jsonl")) if p["url"] == sys.argv[1]]
p = found[0] if found else None
sys.exit(len(found) > 1 or not eval(sys.argv[2]))
PY
}

asked /robots.txt 1
for n in 1 2 3 4 5; do asked /chain/$n 1; done
asked /after-chain 1
asked /loop/a 1
asked /loop/b 1
[ "$(grep -c '/forever' asked)" = 11 ] || fail "an endless redirect: $(grep -c '/forever' asked)"
page /chain/1 'p["status"] == 302 and p["location"] == "2"'
page /chain/5 'p["status"] == 200 and p["links"] == 1 and p["depth"] == 1'
page /slow 'p["error"] == "timeout" and p["links"] == 1'
asked /h/slow 1
page /endless 'p["truncated"] and p["bytes"] == 1000000'
asked /h/early 1
asked /h/late 0
page /bomb 'p["truncated"] and p["bytes"] == 1000000'
asked /h/bomb 1
page /badzip 'p["error"] == "bad content encoding" and p["links"] == 0'
asked /h/badzip 0
page /linked/refresh 'p["links"] == 1'
page /linked/next 'p["links"] == 1'
page /linked/no 'p["links"] == 1'
asked /h/refresh 1
asked /h/next 1
asked /h/1 0
page /moved 'p["status"] == 302 and p["truncated"]'
asked /moved 1
asked /h/moved 1
for case in cut junk parts none; do asked /h/zip/$case 1; done
page /zip/cut 'p["truncated"] and p["status"] == 200'
page /zip/junk '"truncated" not in p and p["bytes"] == 25 + 9 * 256'
page /zip/parts '"truncated" not in p and p["bytes"] == 3 + 26 + 9 * 256'
asked /busy 2
page /busy 'p["status"] == 200 and p["retries"] == 1'
python3 - << 'PY' || fail "Retry-After was not obeyed"
times = [float(l.split()[0]) for l in open("log") if " /busy " in l]
assert times[1] - times[0] >= 0.99, times
PY
asked /flaky 3
asked /h/flaky 1
asked /error 3
page /error 'p["status"] == 500 and p["error"] == "server error"'
page /cut 'p["error"] == "connection broke off" and p["links"] == 1'
asked /h/cut 1
asked /h/cu 0
page /empty 'p["error"] == "connection broke off"'
page /headers 'p["error"] == "too many headers"'
asked /secret/x 0
asked /x.cgi 0
asked '/x.cgi?a' 1
asked /secret/open 1
asked /nofollow 0
asked /hidden 0
asked /comment 0
asked /script 0
asked /area 1
asked /as/me 1
if grep -q LOGIN log; then fail "a link with credentials was used to log in: $(grep LOGIN log)"; fi
page /as/me 'p["status"] == 200'
asked /from-404 0
page /404 'p["status"] == 404'
asked /elsewhere/leaf 1
asked /based/lost 0
for page in long longer; do
    asked /h/$page 1
    page /based/$page 'p["links"] == 1'
done
asked /from-utf16 1
asked /h/declared 1
asked '/caf%E9?q=%E9' 1
asked '/~user/a%2Fb' 1
asked '/?b=1&a=2' 1
asked /map.xml 0
asked /302none 1
[ "$(grep -c ' /m/' asked)" = 300 ] || fail "not all of many links"
[ "$(grep -c ' /trap/' asked)" = 4 ] || fail "the trap: $(grep -c ' /trap/' asked)"
for n in 1 3 4 7 8 10; do
    grep -q " /b$n\$" asked || fail "broken HTML: /b$n was missed"
done
for path in /b5 /b9 /b13 /b14 /from-404; do asked $path 0; done
# Large bodies may take longer than --timeout on a busy machine, and are retried.
awk '$2 !~ "^/(busy|flaky|error|cut|empty|slow|bomb|endless)$" && $1 != 1' asked > twice
[ ! -s twice ] || fail "asked for more than once: $(cat twice)"
grep -q 'seen/0.1' log || fail "the user agent"

# Control characters appear neither on the terminal nor in the JSON.
page /type '"\u001b" in p["type"] and p["links"] == 0'
for file in err pages.jsonl urls.txt edges.tsv state/failed; do
    if LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" $file; then
        fail "control characters in $file"
    fi
done
grep -q 'expected to be lost' err || fail "lost pages are not reported: $(cat err)"
grep -q 'failed' err || fail "failures are not reported: $(cat err)"

# Lists.
grep -qx "$HOST/chain/5" urls.txt || fail "urls.txt"
if grep -q /404 urls.txt; then fail "404 among the pages"; fi
grep -q "^$HOST/	$HOST/chain/1\$" edges.tsv || fail "edges.tsv"
grep -q "^$HOST/chain/1	$HOST/chain/2\$" edges.tsv || fail "edges.tsv: redirections"
cut -f5 state/failed | sort > failed
printf '%s\n' /badzip /cut /empty /error /headers /slow | sed "s|^|$HOST|" | sort | diff - failed ||
    fail "the list of failures"

# WARC: one gzip member per record, with correct lengths, checked by an independent reader.
python3 "$ROOT/tests/sites/warc.py" pages.warc.gz > warc.txt || fail "WARC: $(tail -3 warc.txt)"
grep -q "^response $HOST/chain/5 200 26\$" warc.txt || fail "WARC: chain/5"
grep -q "^response $HOST/bomb 200 1000000 length\$" warc.txt || fail "WARC: bomb"
grep -q "^response $HOST/zip/cut 200 [0-9]* unspecified\$" warc.txt || fail "WARC: zip/cut"
grep -q "^response $HOST/slow 200 [0-9]* time\$" warc.txt || fail "WARC: slow"
grep -q "^response $HOST/moved 302 0 unspecified\$" warc.txt || fail "WARC: moved"
grep -q "^response $HOST/cut 200 28 disconnect\$" warc.txt || fail "WARC: cut"

# Failed pages are fetched again on request, and only they. A server that closes a kept-alive connection without a
# response gets the request again on a new one: /empty may appear twice.
: > log
"$SEEN" crawl -q --state state --retry-failed --retries 0
cut -d' ' -f2 log | sort -u > again
printf '%s\n' /badzip /cut /empty /error /headers /robots.txt /slow | diff - again ||
    fail "--retry-failed"

# Sitemaps on request; start URLs below a page.
: > log
"$SEEN" crawl -q "$HOST/area" --allow-private --delay 0 --sitemaps --urls - | sort > out
printf '%s\n' "$HOST/area" "$HOST/from-map" "$HOST/map.xml" | diff - out || fail "sitemaps"

# The delay is between requests; a limit on pages; a limit on links.
: > log
started=$(date +%s%N)
"$SEEN" crawl -q "$HOST/many" --allow-private --delay 200ms --max-pages 4 -o - > out
took=$((($(date +%s%N) - started) / 1000000))
[ "$(wc -l < out)" = 4 ] || fail "--max-pages: $(wc -l < out)"
# By our own clock: on a machine at work the server notices some requests late.
[ "$(wc -l < log)" = 5 ] && [ $took -ge 800 ] || fail "--delay: five requests in $took ms: $(cat log)"
"$SEEN" crawl -q "$HOST/many" --allow-private --delay 0 --max-links 7 -o - > out
[ "$(wc -l < out)" = 8 ] || fail "--max-links: $(wc -l < out)"
"$SEEN" crawl -q "$HOST/many" --allow-private --delay 0 --max-pages-per-host 9 -o - > out
[ "$(wc -l < out)" = 9 ] || fail "--max-pages-per-host: $(wc -l < out)"
: > log
"$SEEN" crawl -q "$HOST/tired" --allow-private --delay 0 --max-pages-per-host 9 --backoff 300ms -o - > out
[ "$(wc -l < out)" = 9 ] || fail "--max-pages-per-host, pages tried again: $(wc -l < out)"
[ "$(cut -d' ' -f2 log | grep /tired | sort -u | wc -l)" = 9 ] || fail "--max-pages-per-host: $(cat log)"
"$SEEN" crawl -q "$HOST/many" --allow-private --delay 0 --include '/many|/m/1.$' --exclude '15$' \
    -o - > out
[ "$(wc -l < out)" = 10 ] || fail "--include, --exclude: $(wc -l < out)"


# Invalid arguments: message and exit status.
trouble() { # pattern, arguments
    local pattern=$1
    shift
    status=0
    "$SEEN" crawl "$@" > out 2> err || status=$?
    [ $status = 2 ] || fail "exit $status of: $*"
    grep -q "$pattern" err || fail "$*: $(cat err)"
}
trouble 'nothing to crawl'
trouble 'no crawl in nowhere .*check the name' --state nowhere
[ ! -e nowhere ] || fail "a mistyped folder was created"
trouble 'Not a directory; check the name' --state pages.jsonl
trouble 'cannot create the state folder no/where: No such file or directory; check the name' \
    "$HOST/" --state no/where
trouble 'did you mean https://example.org/ ?' example.org
trouble 'did you mean https://example.org:8080/a ?' example.org:8080/a
echo "$HOST/area" > list.txt
trouble '^seen: list.txt is a file, not a URL; to crawl the URLs in it, use -i list.txt' list.txt
trouble '^seen: localhost:8000: no scheme; did you mean http://localhost:8000/ ?' localhost:8000
trouble '^seen: localhost: no scheme; did you mean http://localhost/ ?' localhost
trouble '^seen: localhosts is not a URL; a URL begins with http:// or https://' localhosts
trouble '^seen: http//example.org is not a URL; a URL begins' http//example.org
trouble '^seen: cannot write /dev/full: No space left on device; free some space' "$HOST/many" \
    --allow-private --delay 0 -o /dev/full
status=0
"$SEEN" crawl -q "$HOST/area" --allow-private --delay 0 > /dev/full 2> err || status=$?
[ $status = 2 ] && grep -q '^seen: cannot write standard output: No space left on device' err || fail "$status: $(cat err)"
trouble "^seen: http://127.0.0.1:1/ could not be fetched: no connection" http://127.0.0.1:1/ \
    --allow-private --retries 0 -q

trouble "^seen: robots.txt disallows $HOST/secret/x, and there was nothing else to fetch" "$HOST/secret/x" \
    --allow-private --delay 0 -q
[ ! -s out ] || fail "a line about a page that was denied: $(cat out)"

# Private addresses are refused by default, before connecting, and the advice is printed once. If only some of many
# hosts are refused, the exit status is 0.
: > log
trouble "^seen: $HOST is at 127.0.0.1, .*--allow-private" "$HOST/many" "$HOST/more" --retries 0 -q
[ ! -s log ] || fail "a private address got a request"
[ "$(grep -c . err)" = 1 ] || fail "not printed once: $(cat err)"
[ "$(grep -c '"error":"private address"' out)" = 2 ] || fail "no reason: $(cat out)"
trouble "http://localhost:$PORT_SERVER is at .*--allow-private" "http://localhost:$PORT_SERVER/many" \
    --retries 0 --state refused
[ ! -s log ] || fail "a private address got a request by name"
grep -q 'private address' refused/failed || fail "the private address is not reported"
trouble "without a name or password: write $HOST/area" "http://me:word@127.0.0.1:$PORT_SERVER/area" --allow-private
if grep -q me:word err; then fail "a password was printed: $(cat err)"; fi
trouble 'http://' ftp://example.org/
trouble 'http://' 'http://a b/'
trouble 'not with a filter' "$HOST/" --exact --filter f
trouble 'expression' "$HOST/" --include '('
trouble 'state folder' "$HOST/" --retry-failed
trouble 'cannot change' --state state --exact
trouble 'No such file' "$HOST/" -o /nonexistent/x
cp -r state older
printf 9 | dd of=older/checkpoint bs=1 seek=7 conv=notrunc 2> /dev/null
trouble "the crawl in $TMP/older is of another version" --state older
echo 'colour blue' >> older/settings
trouble 'settings in older .*another version.*colour' --state older
printf 'not a checkpoint' > state/checkpoint
trouble "the checkpoint in $TMP/state is damaged: restore" --state state
