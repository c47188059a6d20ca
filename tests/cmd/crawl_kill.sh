# A crawl killed at random moments and resumed finds what an uninterrupted one finds, writes each
# page once, and repeats only what was under way or since the last checkpoint.
# SEEN_KILLS says how many kills; the seed is printed and can be given as SEEN_SEED.
set -eu
command -v nginx > /dev/null || exit 77
. "$ROOT/tests/sites/nginx.sh"
PG=/usr/share/doc/postgresql-doc-15/html
[ -d $PG ] || exit 77
start_nginx PG=$PG
URL=http://127.0.0.1:$PORT_PG/index.html
SEED=${SEEN_SEED:-$$}
RANDOM=$SEED
echo "seed $SEED"
python3 "$ROOT/tests/sites/reference.py" "$URL" | sort -k2 > reference
: > nginx/access.log

kills=0
crawls=0
while [ $kills -lt "${SEEN_KILLS:-20}" ]; do
    crawls=$((crawls + 1))
    rounds=0
    rm -rf state pages.jsonl shared.filter
    case $((crawls % 3)) in
    0) variant=--exact ;;
    1) variant= ;;
    2) variant="--filter $TMP/shared.filter" ;;
    esac
    while :; do
        "$SEEN" crawl -q "$URL" --allow-private --delay 0 --per-host 4 --checkpoint 40ms \
            --state state -o pages.jsonl --edges edges.tsv --warc pages.warc.gz $variant &
        crawler=$!
        # A moment of the whole life of the process, from its first steps to its last; longer ones
        # as the crawl grows old, so that it ends also on a busy machine.
        rounds=$((rounds + 1))
        moment=$((RANDOM % 100 * (9 + rounds) / 10))
        sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
        if kill -KILL $crawler 2> /dev/null; then
            wait $crawler 2> /dev/null || status=$?
            kills=$((kills + 1))
        fi
        status=0
        wait $crawler 2> /dev/null || status=$?
        [ $status != 0 ] || break
        [ $status = 137 ] || [ $status = 127 ] || fail "exit $status after $kills kills"
        [ $rounds -lt 300 ] || fail "it never comes to an end"
    done
    pages pages.jsonl > found
    diff reference found > difference ||
        fail "crawl $crawls after $kills kills: $(head -5 difference)"
    python3 "$ROOT/tests/sites/warc.py" pages.warc.gz | grep -c '^response' > count
    [ "$(cat count)" = 1169 ] || fail "the WARC has $(cat count) pages"
    [ "$(sort -u edges.tsv | wc -l)" = "$(wc -l < edges.tsv)" ] || fail "edges stand twice"
done
fetched=$(grep -c 'GET' nginx/access.log)
echo "$kills kills in $crawls crawls, $fetched requests for $((crawls * 1169)) pages"
