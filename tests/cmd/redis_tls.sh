# rediss:// and rediss-cluster://: the same answers with TLS; nothing is sent to a server without a valid
# certificate.
set -eu
command -v openssl > /dev/null || exit 77
$SEEN --version | grep -q ' tls' || exit 77
. "$ROOT/tests/redis/server.sh"

# Two CAs; certificates of the first for this host, for another host and for a client.
authority() { # name
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
        -keyout "$1.key" -out "$1.pem" -addext basicConstraints=critical,CA:true 2> /dev/null
}
certificate() { # name, subjectAltName
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" \
        -keyout "$1.key" -out "$1.csr" 2> /dev/null
    echo "subjectAltName=$2" > "$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile "$1.ext" \
        -out "$1.pem" 2> /dev/null
}
authority ca
authority stranger
certificate server IP:127.0.0.1,DNS:localhost
certificate elsewhere DNS:elsewhere.example
certificate client DNS:client.example

tls_redis() { # certificate, more arguments
    local name=$1
    shift
    stop_redis
    TLS_PORT=$((10000 + RANDOM % 9000)) # below the ephemeral ports of the system
    start_redis --tls-port "$TLS_PORT" --tls-cert-file "$TMP/$name.pem" --tls-key-file "$TMP/$name.key" \
        --tls-ca-cert-file "$TMP/ca.pem" "$@"
    URL=rediss://127.0.0.1:$TLS_PORT
}
refused() { # expected message, command...
    local says=$1 status=0
    shift
    "$@" > out 2> error || status=$?
    [ $status = 2 ] || fail "status $status, not 2: $* ($(cat error))"
    grep -q "$says" error || fail "no '$says' in: $(cat error)"
    [ ! -s out ] || fail "it printed something: $*"
}

# ---- The same bits as in a file, many TLS records in a batch ----
seq -f 'https://example.org/%g' 1 60000 > some
seq -f "https://example.org/%g" 40001 80000 > more
tls_redis server --tls-auth-clients no
# So low an error rate that there are no false positives: these, and the counter, would depend on the order.
$SEEN create -q here.seen -n 100000 -p 1e-12
$SEEN copy -q here.seen "$URL/set" --tls-ca ca.pem
$SEEN add -q here.seen some more
$SEEN add -q "$URL/set" some more --tls-ca ca.pem
$SEEN copy -q "$URL/set" back.seen --tls-ca ca.pem
cmp here.seen back.seen || fail "different bits with TLS"
$SEEN create -q "$URL/like" --like here.seen --tls-ca ca.pem || fail "--like with TLS"
$SEEN check -q "$URL/set" some --tls-ca ca.pem | cmp - some || fail "a key is missing"
$SEEN uniq -q -f "$URL/lines" --tls-ca ca.pem some some more > new
[ "$(wc -l < new)" -gt 79970 ] || fail "uniq -f lost lines: $(wc -l < new)"
# By name, and with the CA in the environment.
SSL_CERT_FILE=$TMP/ca.pem $SEEN info "rediss://localhost:$TLS_PORT/set" > info
grep -q 'store  *redis' info || fail "info: $(cat info)"

# ---- Trust ----
refused 'certificate of 127.0.0.1 is not trusted' $SEEN info "$URL/set"
refused 'certificate of 127.0.0.1 is not trusted' $SEEN info "$URL/set" --tls-ca stranger.pem
refused 'no TLS with 127.0.0.1.*does the server speak TLS' \
    $SEEN info "rediss://127.0.0.1:$PORT/set" --tls-ca ca.pem
refused 'cannot use the certificates of nowhere.pem' $SEEN info "$URL/set" --tls-ca nowhere.pem
refused 'cannot use the certificate some' $SEEN info "$URL/set" --tls-cert some --tls-key client.key
refused 'cannot use the key ca.pem' $SEEN info "$URL/set" --tls-cert client.pem --tls-key ca.pem
refused 'a certificate needs its key' $SEEN info "$URL/set" --tls-cert client.pem
# The reverse: plain text to a TLS port.
refused "127.0.0.1:$TLS_PORT" $SEEN info "redis://127.0.0.1:$TLS_PORT/set" --retry 100ms
tls_redis elsewhere --tls-auth-clients no
refused 'not trusted: \(IP address\|hostname\) mismatch' $SEEN info "$URL/set" --tls-ca ca.pem
refused 'not trusted: \(IP address\|hostname\) mismatch' $SEEN info "rediss://localhost:$TLS_PORT/set" --tls-ca ca.pem

# ---- Client certificates ----
export REDISCLI_AUTH=word
tls_redis server --tls-auth-clients yes --requirepass word
unset REDISCLI_AUTH
URL=rediss://:word@127.0.0.1:$TLS_PORT
refused 'does the server want a certificate' $SEEN info "$URL/set" --tls-ca ca.pem
mine="--tls-ca ca.pem --tls-cert client.pem --tls-key client.key"
$SEEN create -q "$URL/set" -n 1000 $mine
seq 1 500 | $SEEN add -q "$URL/set" $mine
[ "$(seq 1 500 | $SEEN check -q "$URL/set" $mine | wc -l)" = 500 ] || fail "a key is missing"
refused 'check the user and the password' $SEEN info "rediss://:no@127.0.0.1:$TLS_PORT/set" $mine
# The server stops: a message that names it, in time.
stop_redis
refused "127.0.0.1:$TLS_PORT" $SEEN info "$URL/set" $mine --retry 200ms

# ---- A cluster ----
NODES= PLACES=
stop_nodes() {
    for node in $NODES; do kill "$node" 2> /dev/null || :; done
    wait
}
trap stop_nodes EXIT
# One of the ports may be in use: then a node ends, and others are tried.
start_nodes() {
    base=$((10000 + RANDOM % 9000)) # and 10,000 above, for the cluster bus
    NODES='' PLACES=''
    for i in 0 1 2; do
        rm -rf "node$i"
        mkdir "node$i"
        redis-server --port 0 --tls-port $((base + i)) --bind 127.0.0.1 --cluster-enabled yes --save '' \
            --dir "$TMP/node$i" --logfile log --tls-cluster yes --tls-replication yes --tls-auth-clients no \
            --tls-cert-file "$TMP/server.pem" --tls-key-file "$TMP/server.key" \
            --tls-ca-cert-file "$TMP/ca.pem" > /dev/null 2>&1 &
        NODES="$NODES $!"
        PLACES="$PLACES 127.0.0.1:$((base + i))"
    done
    for _ in $(seq 600); do
        # shellcheck disable=SC2086 # three places
        redis-cli --tls --cacert ca.pem --cluster create $PLACES --cluster-yes > create.log 2>&1 && return 0
        for node in $NODES; do kill -0 "$node" 2> /dev/null || return 1; done
        sleep 0.1
    done
    return 1
}
made=
for _ in 1 2 3 4 5; do
    if start_nodes; then made=yes; break; fi
    stop_nodes
done
[ -n "$made" ] || fail "no cluster: $(tail -3 create.log) $(tail -2 node0/log)"
for _ in $(seq 1200); do
    [ "$(for i in 0 1 2; do redis-cli --tls --cacert ca.pem -p $((base + i)) cluster info; done |
        grep -c cluster_state:ok)" = 3 ] && break
    sleep 0.05
done
CLUSTER=rediss-cluster://127.0.0.1:$base,127.0.0.1:$((base + 1))/set
$SEEN create -q "$CLUSTER" -n 2M -p 0.001 --tls-ca ca.pem
$SEEN uniq -q -f "$CLUSTER" --tls-ca ca.pem some more some > new
[ "$(wc -l < new)" -gt 79970 ] || fail "a cluster lost lines: $(wc -l < new)"
$SEEN check -q "$CLUSTER" some --tls-ca ca.pem | cmp - some || fail "a key is missing in the cluster"
refused 'is not trusted' $SEEN info "$CLUSTER" --tls-ca stranger.pem
