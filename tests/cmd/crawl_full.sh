# A disk that fills up: an error that names the reason, a state that can be resumed, and in the end every page
# once. The disk is simulated by a limit on file size, raised from round to round.
set -eu
. "$ROOT/tests/sites/nginx.sh"
start_server moves.py "$TMP/log"
URL=http://127.3.0.4:$PORT_SERVER/many

# limited KILOBYTES COMMAND...: writing more than this to a file fails, as on a full disk.
limited() (
    trap '' XFSZ
    ulimit -f "$1"
    shift
    exec "$@"
)
troubles=0
for kilobytes in 0 1 4 16 40 64 100 150 200 300 400 500 600 800 1000 1300 1600 2000; do
    # Through a pipe, because the limit applies to all files. At the default error rate the filter itself would
    # lose a page in one run of 200.
    limited $kilobytes "$SEEN" crawl -q "$URL" --allow-private --delay 0 --per-host 16 --retries 0 -n 100 \
        --error-rate 1e-9 --state state --urls urls.txt -o pages.jsonl 2>&1 | cat > err && status=${PIPESTATUS[0]}
    case $status in
    0) [ ! -s err ] || fail "a message without an error: $(cat err)" ;;
    2)
        troubles=$((troubles + 1))
        grep -q '^seen: .*cannot .*File too large' err || fail "the full disk is not reported: $(cat err)"
        ;;
    *) fail "exit $status with $kilobytes KB: $(cat err)" ;;
    esac
done
[ $troubles -ge 8 ] || fail "the disk was full only $troubles times"
"$SEEN" crawl -q --state state
{
    echo "$URL"
    seq -f "http://127.3.0.4:$PORT_SERVER/n/%.0f" 0 9999
} | sort > expected
sort urls.txt | diff expected - > difference || fail "after a full disk: $(head -5 difference)"
[ "$(wc -l < pages.jsonl)" = 10001 ] || fail "$(wc -l < pages.jsonl) lines about 10001 pages"
[ ! -s state/failed ] || fail "failed: $(head -3 state/failed)"
