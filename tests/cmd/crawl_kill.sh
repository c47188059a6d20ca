# A crawl that is killed at random moments and resumed finds what an uninterrupted one finds, writes each page once, and
# repeats only what was in progress or done in the last quarter of a second. SEEN_KILLS sets the number of kills; the seed
# is printed and can be given as SEEN_SEED.
set -eu
command -v nginx > /dev/null || exit 77
. "$ROOT/tests/sites/nginx.sh"
SEED=${SEEN_SEED:-$$}
RANDOM=$SEED
echo "seed $SEED"

# A tree: every page links to two pages that no other page links to, so that a lost link is detected.
PAGES=1500
chmod o+x "$TMP"
python3 - $PAGES << 'PY'
import os, sys
os.mkdir("site")
pages = int(sys.argv[1])
for n in range(1, pages + 1):
    links = "".join(f"<a href={m}.html>{m}</a>" for m in (2 * n, 2 * n + 1) if m <= pages)
    open(f"site/{n}.html", "w").write("<title>%d</title><a href=1.html>1</a>%s" % (n, links))
PY
start_nginx SITE="$TMP/site"
URL=http://127.0.0.1:$PORT_SITE/1.html
for n in $(seq $PAGES); do echo "200 http://127.0.0.1:$PORT_SITE/$n.html"; done | sort -k2 > reference
OPTIONS="--allow-private --delay 0 --per-host 4 --state state -o pages.jsonl"

check() {
    pages pages.jsonl > found
    diff reference found > difference || fail "$1: $(head -5 difference)"
}

kills=0
crawls=0
while [ $kills -lt "${SEEN_KILLS:-30}" ] || [ $crawls -lt 3 ]; do
    crawls=$((crawls + 1))
    rounds=0
    rm -rf state pages.jsonl shared.filter
    # Frequent checkpoints, or only progress records.
    checkpoint=$([ $((crawls / 3 % 2)) = 0 ] && echo 20ms || echo 1h)
    case $((crawls % 3)) in
    0) variant=--exact ;;
    1) variant= ;;
    2) variant="--filter $TMP/shared.filter" ;;
    esac
    while :; do
        "$SEEN" crawl -q "$URL" $OPTIONS --checkpoint $checkpoint --edges edges.tsv --warc pages.warc.gz \
            $variant &
        crawler=$!
        # A moment of the whole life of the process, from its start to its end; later ones as the crawl progresses, so that
        # it also ends on a busy machine.
        rounds=$((rounds + 1))
        moment=$((RANDOM % 100 * (9 + rounds) / 10))
        sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
        if kill -KILL $crawler 2> /dev/null; then
            kills=$((kills + 1))
        fi
        status=0
        wait $crawler 2> /dev/null || status=$?
        [ $status != 0 ] || break
        [ $status = 137 ] || fail "exit $status after $kills kills"
        [ $rounds -lt 300 ] || fail "it never ends"
    done
    check "crawl $crawls $variant after $kills kills"
    python3 "$ROOT/tests/sites/warc.py" pages.warc.gz | grep -c '^response' > count
    [ "$(cat count)" = $PAGES ] || fail "the WARC has $(cat count) pages"
    [ "$(sort -u edges.tsv | wc -l)" = "$(wc -l < edges.tsv)" ] || fail "duplicate edges"
done
fetched=$(grep -c 'GET' nginx/access.log)
echo "$kills kills in $crawls crawls, $fetched requests for $((crawls * PAGES)) pages"

# A power failure: what was added to the seen-set after its last sync is lost, the frontier is not.
rm -rf state pages.jsonl
"$SEEN" crawl -q "$URL" $OPTIONS --max-pages 50
cp state/seen.filter synced
"$SEEN" crawl -q $OPTIONS --max-pages 0 --delay 1ms --checkpoint 1h &
crawler=$!
for _ in $(seq 1200); do
    [ "$(wc -l < pages.jsonl)" -lt 150 ] || break
    sleep 0.05
done
kill -KILL $crawler
wait $crawler 2> /dev/null || true
cp synced state/seen.filter
rm -f state/progress
"$SEEN" crawl -q $OPTIONS
check "after a power cut"

# A crawl killed long after its last checkpoint repeats little: at 20 pages per second the pages of 250 ms and two
# transfers.
rm -rf state pages.jsonl
: > nginx/access.log
"$SEEN" crawl -q "$URL" --allow-private --delay 50ms --per-host 2 --state state -o pages.jsonl --checkpoint 1h --max-pages 100 &
crawler=$!
for _ in $(seq 1200); do
    [ ! -e pages.jsonl ] || [ "$(wc -l < pages.jsonl)" -lt 60 ] || break
    sleep 0.05
done
kill -KILL $crawler
wait $crawler 2> /dev/null || true
"$SEEN" crawl -q --state state --delay 0 --max-pages 0
twice=$(grep -o 'GET /[0-9]*.html' nginx/access.log | sort | uniq -d | wc -l)
[ "$twice" -le 15 ] || fail "$twice pages were fetched twice"
