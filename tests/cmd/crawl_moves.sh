# The target of a redirected start URL belongs to the crawl, also after a stop; all forms of sitemaps; pages
# without a type; ten thousand links on one page.
set -eu
. "$ROOT/tests/sites/nginx.sh"
start_server moves.py "$TMP/log"
OPTIONS="--allow-private --delay 0 --retries 0"

# A start URL that redirects to another host: the crawl follows it, and back, but not to other hosts.
expect() { # what, lines of host and path
    sort log | diff expected - > difference || fail "$1: $(head -5 difference)"
}
printf '127.3.0.%s\n' '1 /' '1 /back' '1 /robots.txt' '2 /a' '2 /b' '2 /c' '2 /home' '2 /robots.txt' > expected
: > log
"$SEEN" crawl -q "http://127.3.0.1:$PORT_SERVER/" $OPTIONS -o pages.jsonl
expect "a start URL that moved"
# The same in steps of one page each: the new host stays in scope.
: > log
for pages in 1 2 3 4 5 6 7; do
    "$SEEN" crawl -q "http://127.3.0.1:$PORT_SERVER/" $OPTIONS --state state --max-pages $pages -o steps.jsonl
done
sort -u log -o log
expect "a start URL that moved, in steps"
printf 'http://127.3.0.%s\n' "1:$PORT_SERVER/" "2:$PORT_SERVER/home" | diff - state/seeds || fail "the seeds"
pages pages.jsonl > whole
pages steps.jsonl | diff whole - || fail "other pages in steps"

# A redirected start URL is followed regardless of --include, its sitemap is read, and URLs that were out of
# scope before are found again; but --exclude applies.
: > log
"$SEEN" crawl -q "http://127.3.0.6:$PORT_SERVER/" "http://127.3.0.6:$PORT_SERVER/slow" $OPTIONS --include /docs/ \
    --sitemaps --connections 2 -o pages.jsonl
printf '127.3.0.%s\n' '6 /' '6 /robots.txt' '6 /sitemap.xml' '6 /slow' '7 /docs/1' '7 /docs/2' '7 /home' \
    '7 /parts.xml.gz' '7 /robots.txt' > expected
expect "a start URL that moved to what is not included"
if grep -q truncated pages.jsonl; then fail "truncated: $(grep truncated pages.jsonl)"; fi
: > log
"$SEEN" crawl -q "http://127.3.0.1:$PORT_SERVER/" $OPTIONS --exclude /home -o pages.jsonl
printf '127.3.0.1 %s\n' / /robots.txt > expected
expect "a start URL that moved to what is excluded"

# A server that redirects to what an option drops gets that URL requested, once, also in steps.
printf '127.3.0.8 %s\n' / /docs /docs/ /docs/a.html /last /robots.txt /self /steps /steps/ '/steps/?sid=1' \
    /to-and-fro /to-and-fro/ > expected
: > log
"$SEEN" crawl -q "http://127.3.0.8:$PORT_SERVER/" $OPTIONS --drop-slash --drop-sessions -o pages.jsonl
expect "--drop-slash"
: > log
for pages in 1 2 3 4 5 6 7 8 9 10 11; do
    "$SEEN" crawl -q "http://127.3.0.8:$PORT_SERVER/" $OPTIONS --drop-slash --drop-sessions --state slash \
        --max-pages $pages -o slash.jsonl
done
sort -u log -o log
expect "--drop-slash, in steps"
[ "$(wc -l < slash.jsonl)" = 11 ] || fail "--drop-slash, in steps: $(cat slash.jsonl)"

# Sitemaps: none is declared, so the default location; an index with compressed and plain ones, itself, an
# endless chain, a truncated one, one of 60 MB, and a missing one.
: > log
"$SEEN" crawl -q "http://127.3.0.4:$PORT_SERVER/data" $OPTIONS --sitemaps --per-host 8 -o pages.jsonl
asked() { # pattern of a path, times
    local times
    times=$(awk -v path="^127.3.0.4 $1\$" '$0 ~ path { n++ } END { print n + 0 }' log)
    [ "$times" = "$2" ] || fail "$1 was asked for $times times, not $2"
}
asked '/gz/[0-9]*' 2000
asked /plain/1 1
asked /before 1
asked /behind 0
asked /missing.xml 1
asked /sitemap.xml 1
asked '/deep/.*' 10
if grep -q 127.3.0.3 log; then fail "a sitemap led out of scope"; fi
grep -q '/bomb.gz","status":200.*"truncated":true' pages.jsonl || fail "the bomb: $(grep bomb pages.jsonl)"
grep -q '/cut.gz","status":200.*"truncated":true' pages.jsonl || fail "truncated: $(grep cut.gz pages.jsonl)"
grep -q '/long.xml.gz","status":200.*"links":2000}' pages.jsonl || fail "long: $(grep long pages.jsonl)"

# A sitemap is not a page: it neither counts for the limit of its host nor is blocked by it.
: > log
"$SEEN" crawl -q "http://127.3.0.7:$PORT_SERVER/home" $OPTIONS --sitemaps --per-host 1 --max-pages-per-host 3 -o pages.jsonl
grep -q '/parts.xml.gz' log && [ "$(grep -c . pages.jsonl)" = 4 ] || fail "the limit of a host: $(cat log)"
: > log
"$SEEN" crawl -q "http://127.3.0.7:$PORT_SERVER/home" $OPTIONS --sitemaps --per-host 1 --max-pages-per-host 1 -o pages.jsonl
grep -q '/parts.xml.gz' log && [ "$(grep -c . pages.jsonl)" = 2 ] || fail "a limit of one: $(cat log)"

# A URL that was seen as a page is read as a sitemap, once, also in steps.
: > log
for pages in 1 2 0; do
    "$SEEN" crawl -q "http://127.3.0.7:$PORT_SERVER/parts.xml.gz" $OPTIONS --sitemaps --per-host 1 --state map \
        --max-pages $pages -o pages.jsonl
done
printf '127.3.0.7 %s\n' /docs/1 /parts.xml.gz /parts.xml.gz > expected
grep -v /robots.txt log | sort | diff expected - > difference || fail "a page that is a sitemap: $(cat difference)"

# A site without a sitemap that redirects to its home page: that is not fetched again. One that redirects to
# another page: its links are followed although it was not found as a page first.
for host in 9 10; do
    : > log
    "$SEEN" crawl -q "http://127.3.0.$host:$PORT_SERVER/" $OPTIONS --sitemaps --per-host 1 -o pages.jsonl
    sort log > asked.$host
done
printf '127.3.0.9 %s\n' / /a /robots.txt /sitemap.xml | diff - asked.9 || fail "a sitemap that is the home page"
printf '127.3.0.10 %s\n' / /a /b /listed /map.html /robots.txt /sitemap.xml | diff - asked.10 || fail "a sitemap that is a page"

# Without a type the first byte decides; a repeated type is used once.
: > log
"$SEEN" crawl -q "http://127.3.0.4:$PORT_SERVER/typeless" "http://127.3.0.4:$PORT_SERVER/twice" "http://127.3.0.4:$PORT_SERVER/data" $OPTIONS -o -  > out
asked /found 1
asked /not-found 0
asked /found-twice 1

# More links on a page than fit into one batch: all of them, each with its parent.
"$SEEN" crawl "http://127.3.0.4:$PORT_SERVER/many" $OPTIONS --state many --max-pages 1 -o many.jsonl 2> err
grep -q '10,001 URLs seen' err || fail "ten thousand links: $(cat err)"
grep -q '"links":10000' many.jsonl || fail "ten thousand links: $(cat many.jsonl)"
: > log
"$SEEN" crawl -q --state many --max-pages 0 --per-host 16 -o many.jsonl
asked '/n/[0-9]*' 10000
python3 - "http://127.3.0.4:$PORT_SERVER/many" << 'PY' || fail "parents"
import json, sys
pages = [json.loads(line) for line in open("many.jsonl")]
assert len(pages) == 10001, len(pages)
assert all(page["parent"] == sys.argv[1] and page["depth"] == 1 for page in pages[1:])
PY
