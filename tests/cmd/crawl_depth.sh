# --depth is the minimum number of links on any path to a page: pages and depths are those of an independent program,
# also in several runs and without a filter. A redirect does not increase the depth; a page that is found both by a link
# and by a redirect has the depth of whichever found it first.
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
for seed in 101 102 103; do
    for depth in 2 3 5 9; do
        "$SEEN" crawl -q "$HOST/$seed/0" $OPTIONS --depth $depth -o pages.jsonl
        compare "at once" $seed $depth
    done
done
[ "$(grep -c . expected)" -gt 100 ] || fail "the site is too small: $(grep -c . expected)"
rm -f pages.jsonl
for pages in 7 20 33 50 71 90 120 0; do
    "$SEEN" crawl -q "$HOST/105/0" $OPTIONS --depth 6 --state steps --max-pages $pages -o pages.jsonl
done
compare "in steps" 105 6
"$SEEN" crawl -q "$HOST/106/0" $OPTIONS --depth 6 --exact -o pages.jsonl
compare "--exact" 106 6

for seed in 1 2 3; do
    "$SEEN" crawl -q "$HOST/$seed/0" $OPTIONS --depth 5 -o pages.jsonl
    python3 "$ROOT/tests/sites/depths.py" sound $seed 5 < pages.jsonl > said || fail "redirections, site $seed"
    [ "$(cut -d " " -f 1 said)" -gt 50 ] || fail "site $seed: $(cat said) pages"
done

# A chain of more than ten redirects: every page of it is linked, so all are fetched.
"$SEEN" crawl -q "$HOST/0/0" $OPTIONS --depth 9 -o pages.jsonl
python3 - << 'PY' || fail "a long chain: $(cat pages.jsonl)"
import json
depths = {int(page["url"].split("/")[4]): page["depth"] for page in map(json.loads, open("pages.jsonl"))}
assert sorted(depths) == list(range(61)), sorted(depths)
assert all(depths[n] in (1, 2) for n in depths if n > 0), depths
PY
