# HTTPS and HTTP/2; an untrusted certificate is refused.
set -eu
command -v nginx > /dev/null && command -v openssl > /dev/null || exit 77
. "$ROOT/tests/sites/nginx.sh"
mkdir site nginx
chmod o+x "$TMP" # nginx drops its privileges if it has any
echo '<a href=b>b</a><a href=c>c</a>' > site/index.html
for page in b c; do echo "<a href=/>$page</a>" > site/$page; done
certificate() { # key, certificate
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -keyout "$1" -out "$2" \
        -addext 'subjectAltName=IP:127.0.0.1' 2> /dev/null
}
certificate key.pem cert.pem || exit 77
certificate other-key.pem other.pem
port=$(free_port)
cat > nginx.conf << CONF
worker_processes 1; daemon off; pid $TMP/nginx/pid; error_log $TMP/nginx/error.log;
events {}
http {
    log_format short '\$server_protocol \$http_accept_encoding \$uri';
    access_log $TMP/nginx/access.log short;
    client_body_temp_path $TMP/nginx/1; proxy_temp_path $TMP/nginx/2; fastcgi_temp_path $TMP/nginx/3;
    uwsgi_temp_path $TMP/nginx/4; scgi_temp_path $TMP/nginx/5;
    default_type text/html; gzip on; gzip_min_length 1; gzip_types *;
    server { listen 127.0.0.1:$port ssl http2; root $TMP/site;
             ssl_certificate $TMP/cert.pem; ssl_certificate_key $TMP/key.pem; }
}
CONF
nginx -c "$TMP/nginx.conf" -e "$TMP/nginx/error.log" &
SERVERS="$SERVERS $!"
wait_for_port "$port"
URL=https://127.0.0.1:$port/

"$SEEN" crawl -q $URL --allow-private --delay 0 --ca-file cert.pem -o pages.jsonl --warc pages.warc.gz
[ "$(pages pages.jsonl | grep -c '^200 ')" = 3 ] || fail "not three pages: $(cat pages.jsonl)"
[ "$(grep -c '^HTTP/2.0 .*gzip' nginx/access.log)" = 4 ] || fail "not by HTTP/2: $(cat nginx/access.log)"
python3 "$ROOT/tests/sites/warc.py" pages.warc.gz > records
grep -q "^response $URL 200 " records || fail "WARC of HTTP/2"

: > nginx/access.log
status=0
"$SEEN" crawl -q $URL --allow-private --delay 0 --ca-file other.pem --state state -o pages.jsonl 2> err || status=$?
[ $status = 2 ] || fail "exit $status without trust"
grep -q 'could not be fetched: TLS failed' err || fail "the TLS error is not reported: $(cat err)"
grep -q 'TLS failed' state/failed || fail "a certificate without trust: $(cat state/failed)"
[ ! -s nginx/access.log ] || fail "requested without trust"

# Without CA certificates: an error with advice.
echo junk > junk.pem
status=0
"$SEEN" crawl -q $URL --allow-private --delay 0 --ca-file junk.pem 2> err || status=$?
[ $status = 2 ] || fail "exit $status with a CA file of junk"
grep -q 'could not be fetched: no CA certificates .*ca-certificates' err || fail "junk: $(cat err)"
status=0
"$SEEN" crawl -q $URL --allow-private --delay 0 --ca-file nowhere.pem 2> err || status=$?
[ $status = 2 ] && grep -q 'cannot read the certificates in .*nowhere.pem: No such file' err || fail "no CA file: $(cat err)"

# A connection that breaks during the handshake is retried: it says nothing about trust.
start_server shakes.py "$TMP/cert.pem" "$TMP/key.pem"
"$SEEN" crawl -q "https://127.0.0.1:$PORT_SERVER/" --allow-private --delay 0 --ca-file cert.pem --retries 2 \
    --backoff 50ms -o pages.jsonl || fail "a handshake that broke off was not retried: $(cat pages.jsonl)"
grep -q '"status":200' pages.jsonl || fail "a handshake that broke off: $(cat pages.jsonl)"

# A server without TLS is not retried.
start_server shakes.py
status=0
"$SEEN" crawl "https://127.0.0.1:$PORT_SERVER/" --allow-private --delay 0 --ca-file cert.pem --retries 1 \
    --backoff 50ms 2> err > pages.jsonl || status=$?
[ $status = 2 ] && grep -q 'could not be fetched: TLS handshake failed' err || fail "without TLS: exit $status: $(cat err)"
