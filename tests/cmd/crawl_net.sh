# Workers of a shared crawl in network namespaces, cut off from Redis or from the web for longer than a lease: no page is
# lost, none is given up, and no request arrives within the delay of its host, however late the network delivers it.
set -eu
fail() { echo "crawl_net: $*" >&2; exit 1; }
command -v redis-server > /dev/null && command -v ip > /dev/null && [ "$(id -u)" = 0 ] || exit 77
"$SEEN" crawl --join redis://127.0.0.1:1/x 2> probe || true
grep -q 'no Redis' probe && exit 77
for what in redis web; do
    status=0
    python3 "$ROOT/tests/sites/fleet_net.py" "$SEEN" $what --pages 3000 --hosts 60 --delay 60 --times 1 --timeout 300 \
        > net.out 2>&1 || status=$?
    [ $status != 77 ] || exit 77
    [ $status = 0 ] || fail "$what: $(cat net.out)"
done
