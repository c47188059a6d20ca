# --depth means the least number of links on any way to a page, of which redirections are none, whatever comes
# first: the pages and their depths are those of an independent program, also in steps and without a filter.
set -eu
. "$ROOT/tests/sites/nginx.sh"
start_server depths.py
HOST=http://127.0.0.1:$PORT_SERVER
OPTIONS="--allow-private --delay 0 --per-host 8"

compare() { # what, seed, depth
    python3 "$ROOT/tests/sites/depths.py" expect "$2" "$3" | sort > expected
    python3 -c '
import json, sys
for line in sys.stdin:
    page = json.loads(line)
    print(page["depth"], "/" + page["url"].split("/", 3)[3])' < pages.jsonl | sort > found
    diff expected found > difference || fail "$1, site $2, --depth $3: $(head -5 difference)"
}
for seed in 1 2 3; do
    for depth in 2 3 5 9; do
        "$SEEN" crawl -q "$HOST/$seed/0" $OPTIONS --depth $depth -o pages.jsonl
        compare "at once" $seed $depth
    done
done
[ "$(grep -c . expected)" -gt 150 ] || fail "the site is too small: $(grep -c . expected)"
rm -f pages.jsonl
for pages in 7 20 33 50 71 90 120 0; do
    "$SEEN" crawl -q "$HOST/5/0" $OPTIONS --depth 6 --state steps --max-pages $pages -o pages.jsonl
done
compare "in steps" 5 6
"$SEEN" crawl -q "$HOST/6/0" $OPTIONS --depth 6 --exact -o pages.jsonl
compare "--exact" 6 6

# Of a chain of redirections longer than ten the links decide, however they were met.
"$SEEN" crawl -q "$HOST/0/0" $OPTIONS --depth 9 -o pages.jsonl
python3 - << 'PY' || fail "a long chain: $(cat pages.jsonl)"
import json
depths = {int(page["url"].split("/")[4]): page["depth"] for page in map(json.loads, open("pages.jsonl"))}
assert sorted(depths) == list(range(61)), sorted(depths)
by_chain = [n for n in depths if n > 2 and depths[n] == 1]
assert sorted(by_chain) == list(range(3, 13)), by_chain
assert all(depths[n] == 2 for n in depths if n > 12), depths
PY
