# Several workers share one crawl in Redis: nothing is lost when some of them are killed or stopped,
# depth levels and --max-pages hold for all of them together.
set -eu
fail() { echo "crawl_fleet: $*" >&2; exit 1; }
command -v redis-server > /dev/null || exit 77
"$SEEN" crawl --join redis://127.0.0.1:1/x 2> probe || true
grep -q 'no Redis' probe && exit 77
fleet() {
    python3 "$ROOT/tests/sites/fleet.py" "$SEEN" "$@" > fleet.out 2>&1 || fail "fleet.py $*: $(cat fleet.out)"
}
fleet --pages 1500 --kills 3 --stops 1
fleet --pages 1000 --depth 2 --most-twice 0
fleet --pages 1000 --max-pages 300 --workers 2
