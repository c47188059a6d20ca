# For command tests: start_redis [ARGUMENTS] starts a server on a free port of the loopback, sets PORT
# and URL, and stops it when the script ends.
command -v redis-server > /dev/null || exit 77

fail() {
    echo "$1" >&2
    exit 1
}

stop_redis() {
    [ -z "${REDIS_PID:-}" ] || kill "$REDIS_PID" 2> /dev/null || true
    [ -z "${REDIS_PID:-}" ] || wait "$REDIS_PID" 2> /dev/null || true
}
trap stop_redis EXIT

start_redis() {
    for _ in 1 2 3 4 5; do
        PORT=$((20000 + RANDOM % 25000))
        mkdir -p "$TMP/redis"
        redis-server --port "$PORT" --bind 127.0.0.1 --save '' --dir "$TMP/redis" \
            --logfile log --unixsocket socket "$@" > /dev/null 2>&1 &
        REDIS_PID=$!
        for _ in $(seq 600); do
            if [ "$(redis-cli -p "$PORT" ping 2> /dev/null)" = PONG ]; then
                URL=redis://127.0.0.1:$PORT
                return 0
            fi
            kill -0 "$REDIS_PID" 2> /dev/null || break
            sleep 0.05
        done
        stop_redis
    done
    echo "cannot start redis-server" >&2
    exit 1
}
