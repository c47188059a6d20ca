# Start URLs from a file, headers, cookies, passwords, a proxy, --no-parent; titles and digests; revisit records.
set -eu
. "$ROOT/tests/sites/nginx.sh"
PORT=$(free_port)
python3 "$ROOT/tests/sites/account.py" "$PORT" >> requests &
SERVERS="$SERVERS $!"
wait_for_port "$PORT"
HOST=http://127.0.0.1:$PORT
OPTIONS="--allow-private --delay 0"
unset http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy || true

requests() { # pattern, number
    [ "$(grep -c -- "$1" requests)" = "$2" ] || fail "$1: $(cat requests)"
}

# URLs from a file and from standard input; comments and empty lines are ignored.
printf '# start\n\n%s/d/one\r\n  %s/d/x\n' "$HOST" "$HOST" > list
"$SEEN" crawl -q -i list $OPTIONS -o a.jsonl
[ "$(wc -l < a.jsonl)" = 2 ] || fail "-i FILE: $(cat a.jsonl)"
"$SEEN" crawl -q -i - $OPTIONS -o a.jsonl < list
[ "$(wc -l < a.jsonl)" = 2 ] || fail "-i -"
: > empty
status=0
"$SEEN" crawl -q -i empty $OPTIONS 2> err || status=$?
[ $status = 2 ] && grep -q 'empty has no URLs' err || fail "an empty list: $(cat err)"
requests 'seen/0.1$' "$(wc -l < requests)"

# Headers, cookies for this host only, a password by host.
: > requests
printf '127.0.0.1\tFALSE\t/\tFALSE\t0\tid\t42\nexample.org\tFALSE\t/\tFALSE\t0\tno\t1\n' > cookies
printf 'machine 127.0.0.1 login me password secret\n' > netrc
"$SEEN" crawl -q "$HOST/" $OPTIONS -H 'X-Test: yes' --cookies cookies --netrc netrc -o b.jsonl
requests ' id=42 yes ' "$(wc -l < requests)"
requests 'Basic bWU6c2VjcmV0' "$(wc -l < requests)"
status=0
"$SEEN" crawl -q "$HOST/" $OPTIONS -H nonsense 2> err || status=$?
[ $status = 2 ] && grep -q "'Name: value'" err || fail "a bad header: $(cat err)"
status=0
"$SEEN" crawl -q "$HOST/" $OPTIONS --cookies nowhere 2> err || status=$?
[ $status = 2 ] && grep -q nowhere err || fail "no cookies: $(cat err)"

# The page itself: title, time, digest (xxhsum -H2).
python3 - << 'PY' || fail "the JSON lines: $(cat b.jsonl)"
import json, re
pages = {page["url"].split("/", 3)[3]: page for page in map(json.loads, open("b.jsonl"))}
assert pages[""]["title"] == "A & B é", pages[""]
assert "title" not in pages["d/one"]
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", pages[""]["time"])
assert pages["d/one"]["digest"] == pages["d/sub/two"]["digest"] != pages[""]["digest"]
assert re.fullmatch("xxh128:[0-9a-f]{32}", pages[""]["digest"])
PY

# Only below the folder of the start URL.
: > requests
"$SEEN" crawl -q "$HOST/d/" "$HOST/index" $OPTIONS -o c.jsonl
requests '^/other ' 1
: > requests
"$SEEN" crawl -q "$HOST/d/sub/" $OPTIONS --no-parent -o c.jsonl
requests '^/d/' 1
printf '%s/d/ \n%s/d/sub/\n' "$HOST" "$HOST" > list
: > requests
"$SEEN" crawl -q -i list $OPTIONS --no-parent -o c.jsonl
requests '^/other ' 0

# A proxy, by option, by the environment, and none; its own address may be private.
: > requests
"$SEEN" crawl -q http://example.org/ --delay 0 --max-pages 1 --proxy "$HOST" -o d.jsonl
requests '^http://example.org/ ' 1
http_proxy=$HOST "$SEEN" crawl -q http://example.org/ --delay 0 --max-pages 1 -o d.jsonl
requests '^http://example.org/ ' 2
: > requests
http_proxy=http://127.0.0.1:1 "$SEEN" crawl -q "$HOST/d/one" $OPTIONS --proxy '' -o d.jsonl
requests '^/d/one' 1

# WARC: digests, the same body once, an encoding that was not decoded keeps its header.
"$SEEN" crawl -q "$HOST/" $OPTIONS --connections 1 --warc w.gz
python3 - << 'PY' || fail "the WARC"
import base64, gzip, hashlib, re
records = [r for r in re.split(rb"(?=WARC/1\.1\r\n)", gzip.open("w.gz").read()) if r]
kinds, bodies = {}, {}
for record in records:
    head, _, rest = record.partition(b"\r\n\r\n")
    url = re.search(rb"WARC-Target-URI: \S+?//[^/]+(\S*)", head)
    if not url:
        continue
    kinds[url[1]] = re.search(rb"WARC-Type: (\w+)", head)[1]
    http, _, body = rest.partition(b"\r\n\r\n")
    bodies[url[1]] = (head, http, body[:-4])
    if kinds[url[1]] == b"response":
        digest = base64.b32encode(hashlib.sha1(body[:-4]).digest())
        assert b"WARC-Payload-Digest: sha1:" + digest in head, head
assert kinds[b"/"] == b"response" and sorted(kinds[x] for x in (b"/d/one", b"/d/sub/two")) == [b"response", b"revisit"], kinds
again = next(x for x in kinds if kinds[x] == b"revisit")
head, http, body = bodies[again]
assert body == b"" and b"identical-payload-digest" in head and b"WARC-Refers-To-Target-URI: http" in head, head
assert b"\r\nContent-Encoding: utf-8" in bodies[b"/d/sub/two"][1], bodies[b"/d/sub/two"][1]
PY

# The password of Redis from the environment or a file.
if command -v redis-server > /dev/null && "$SEEN" --version | grep -q redis; then
    port=$(free_port)
    redis-server --port "$port" --requirepass 'se cret' --save '' --logfile "$TMP/redis.log" &
    SERVERS="$SERVERS $!"
    wait_for_port "$port"
    unset REDISCLI_AUTH || true
    status=0
    "$SEEN" info "redis://127.0.0.1:$port/shared" 2> err || status=$?
    [ $status = 2 ] && grep -qi 'auth' err || fail "without a password: $(cat err)"
    echo 'se cret' > password
    "$SEEN" crawl -q "$HOST/d/one" $OPTIONS --filter "redis://127.0.0.1:$port/shared" --redis-password-file password -o e.jsonl
    REDISCLI_AUTH='se cret' "$SEEN" info "redis://127.0.0.1:$port/shared" > info || fail "REDISCLI_AUTH"
    "$SEEN" info "redis://127.0.0.1:$port/shared" --redis-password-file password > info || fail "--redis-password-file"
    status=0
    "$SEEN" info "redis://127.0.0.1:$port/shared" --redis-password-file empty 2> err || status=$?
    [ $status = 2 ] && grep -q 'no password' err || fail "an empty file: $(cat err)"
fi
stop_servers
