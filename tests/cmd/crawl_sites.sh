# What a crawl of a real site finds is what a short independent program finds: sets, not counts.
set -eu
command -v nginx > /dev/null || exit 77
. "$ROOT/tests/sites/nginx.sh"
PG=/usr/share/doc/postgresql-doc-15/html
PY=/usr/share/doc/python3.11-doc/html
[ -d $PG ] && [ -d $PY ] || exit 77
start_nginx PG=$PG PY=$PY

check_site() { # name, URL, expected URLs, expected 200s, further options
    local name=$1 url=$2 urls=$3 good=$4
    shift 4
    "$SEEN" crawl -q "$url" --allow-private --delay 0 --per-host 8 -o "$name.jsonl" "$@"
    pages "$name.jsonl" > "$name.found"
    diff "$name.reference" "$name.found" > "$name.diff" ||
        fail "$name: the crawl differs from the reference: $(head -5 "$name.diff")"
    [ "$(wc -l < "$name.found")" = "$urls" ] || fail "$name: $(wc -l < "$name.found") URLs, not $urls"
    [ "$(grep -c '^200 ' "$name.found")" = "$good" ] || fail "$name: not $good pages with 200"
}

for site in "pg $PORT_PG" "py $PORT_PY"; do
    set -- $site
    python3 "$ROOT/tests/sites/reference.py" "http://127.0.0.1:$2/index.html" | sort -k2 > "$1.reference"
done
check_site pg "http://127.0.0.1:$PORT_PG/index.html" 1169 1169
check_site py "http://127.0.0.1:$PORT_PY/index.html" 528 527
check_site pg "http://127.0.0.1:$PORT_PG/index.html" 1169 1169 --exact
check_site py "http://127.0.0.1:$PORT_PY/index.html" 528 527 --state py.state --checkpoint 100ms
[ "$(stat -c %a py.state/checkpoint)" = 600 ] || fail "the state can be read by others"
for file in py.state/*; do
    [ "$(stat -c %a "$file")" = 600 ] || fail "$file can be read by others"
done

# Going on with a crawl that is over finds nothing more, and leaves the output as it was.
cp py.jsonl py.before
"$SEEN" crawl -q --state py.state
cmp py.jsonl py.before || fail "a finished crawl went on"

# A depth limit gives what is that many links away, whatever the order of arrival.
for depth in 0 1 2; do
    python3 "$ROOT/tests/sites/reference.py" "http://127.0.0.1:$PORT_PY/index.html" $depth |
        sort -k2 > py.reference
    check_site py "http://127.0.0.1:$PORT_PY/index.html" "$(wc -l < py.reference)" \
        "$(grep -c '^200 ' py.reference)" --depth $depth
done
