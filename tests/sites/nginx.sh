# Sourced by the crawl tests: start_nginx NAME=FOLDER... serves each folder on a free loopback port and sets
# PORT_NAME. Needs TMP; stop_servers ends everything that was started here. NGINX_LOG=off, NGINX_WORKERS and
# NGINX_MORE (further directives) are for benchmarks.
SERVERS=

# documentation PATTERN: the pages of the newest installed package that matches.
documentation() {
    find /usr/share/doc -maxdepth 1 -name "$1" -exec test -d '{}/html' ';' -print | sort -V |
        sed -n '$s,$,/html,p'
}

# Below the ephemeral ports, which could be in use again before a server has bound them.
free_port() {
    python3 -c '
import random, socket
while True:
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port = random.randrange(10000, 32000)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
        print(port)
        break'
}

start_nginx() {
    local conf=$TMP/nginx.conf name folder port
    mkdir -p "$TMP/nginx"
    {
        echo "worker_processes ${NGINX_WORKERS:-1}; daemon off; pid $TMP/nginx/pid; error_log $TMP/nginx/error.log;"
        echo "events { worker_connections 512; }"
        echo "http { access_log ${NGINX_LOG:-$TMP/nginx/access.log}; keepalive_requests 100000; sendfile on;"
        echo "${NGINX_MORE:-}"
        for temporary in client_body proxy fastcgi uwsgi scgi; do
            echo "${temporary}_temp_path $TMP/nginx/$temporary;"
        done
        echo "types { text/html html htm; text/css css; text/plain txt; image/png png; }"
        for pair in "$@"; do
            name=${pair%%=*} folder=${pair#*=} port=$(free_port)
            eval "PORT_$name=$port"
            echo "server { listen 127.0.0.1:$port; root $folder; }"
        done
        echo "}"
    } > "$conf"
    nginx -c "$conf" -e "$TMP/nginx/error.log" &
    SERVERS="$SERVERS $!"
    wait_for_port "$port"
}

# start_server FILE.py ARGUMENTS... runs a server of tests/sites and sets PORT_SERVER.
start_server() {
    local script=$1
    shift
    PORT_SERVER=$(free_port)
    python3 "$ROOT/tests/sites/$script" "$PORT_SERVER" "$@" 2> "$TMP/server.err" &
    SERVER=$!
    SERVERS="$SERVERS $SERVER"
    wait_for_port "$PORT_SERVER"
}

wait_for_port() {
    for _ in $(seq 600); do
        if python3 -c "import socket; socket.create_connection(('127.0.0.1', $1), 1)" 2> /dev/null; then
            return
        fi
        sleep 0.05
    done
    echo "the server on port $1 did not start" >&2
    exit 1
}

stop_servers() {
    for server in $SERVERS; do
        kill "$server" 2> /dev/null || true
    done
    wait 2> /dev/null || true
    SERVERS=
}
trap stop_servers EXIT

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# pages FILE: `STATUS URL` of a crawl's JSON lines, sorted like the output of reference.py.
pages() {
    python3 -c '
import json, sys
for line in sys.stdin:
    page = json.loads(line)
    print(page["status"], page["url"])' < "$1" | sort -k2
}
