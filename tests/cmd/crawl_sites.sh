# A crawl of a real site finds what a short independent program finds: compared as sets, not as counts.
set -eu
command -v nginx > /dev/null || exit 77
. "$ROOT/tests/sites/nginx.sh"
PG=$(documentation 'postgresql-doc-[0-9]*')
PY=$(documentation 'python3.[0-9]*-doc')
[ -d "$PG" ] && [ -d "$PY" ] || exit 77
start_nginx "PG=$PG" "PY=$PY"

check_site() { # name, URL, further options
    local name=$1 url=$2
    shift 2
    "$SEEN" crawl -q "$url" --allow-private --delay 0 --per-host 8 -o "$name.jsonl" "$@"
    pages "$name.jsonl" > "$name.found"
    diff "$name.reference" "$name.found" > "$name.diff" ||
        fail "$name: the crawl differs from the reference: $(head -5 "$name.diff")"
}

for site in "pg $PORT_PG" "py $PORT_PY"; do
    set -- $site
    python3 "$ROOT/tests/sites/reference.py" "http://127.0.0.1:$2/index.html" | sort -k2 > "$1.reference"
done
# The number of pages depends on the version of the package: 1,169 with PostgreSQL 15.20, all 200; 528
# of Python 3.11, of which one is a 404.
[ "$(grep -c '^200 ' pg.reference)" -gt 1100 ] || fail "pg: a reference of $(wc -l < pg.reference) URLs"
[ "$(grep -c '^200 ' py.reference)" -gt 500 ] || fail "py: a reference of $(wc -l < py.reference) URLs"
grep -q '^404 ' py.reference || fail "py: there is no 404"
check_site pg "http://127.0.0.1:$PORT_PG/index.html"
check_site py "http://127.0.0.1:$PORT_PY/index.html"
check_site pg "http://127.0.0.1:$PORT_PG/index.html" --exact
check_site py "http://127.0.0.1:$PORT_PY/index.html" --state py.state --checkpoint 100ms
[ "$(stat -c %a py.state/checkpoint)" = 600 ] || fail "the state can be read by others"
for file in py.state/*; do
    [ "$(stat -c %a "$file")" = 600 ] || fail "$file can be read by others"
done

# Resuming a finished crawl finds nothing more, and leaves the output unchanged.
cp py.jsonl py.before
"$SEEN" crawl -q --state py.state
cmp py.jsonl py.before || fail "a finished crawl continued"

# With a depth limit the result is the set of pages within that distance, in any order of arrival.
for depth in 0 1 2; do
    python3 "$ROOT/tests/sites/reference.py" "http://127.0.0.1:$PORT_PY/index.html" $depth |
        sort -k2 > py.reference
    [ -s py.reference ] || fail "py: nothing at depth $depth"
    check_site py "http://127.0.0.1:$PORT_PY/index.html" --depth $depth
done
