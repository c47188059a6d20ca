# The planner page: its results are those of `seen plan`, over a grid; it needs no network; it works by its URL, by
# keyboard, at three widths, light and dark.
set -eu
fail() { echo "plan_html: $*" >&2; exit 1; }
"$SEEN" plan -n 5e9 -m 4GiB --html page.html -q > /dev/null
grep -q '{"n": "5e9", "m": "4GiB"}' page.html || fail "the page does not start with the given parameters"
if grep -nE '(src|href) *= *"?(https?:)?//|@import|url\(|fetch\(|XMLHttp' page.html; then fail "the page needs a network"; fi
"$SEEN" plan --html - > default.html
grep -q '"n": "100M"' default.html || fail "without parameters the page does not start with 100M"

browser=
for name in chromium chromium-browser google-chrome; do
    if command -v $name > /dev/null; then browser=$name; break; fi
done
[ "$browser" ] || { echo "no chromium: the page was not run"; exit 77; }
browse() { # URL: the page after its scripts
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$TMP/profile" \
        --virtual-time-budget=60000 --dump-dom "$@" 2> browser.err
}

# The grid, planned by the command.
: > want
for kind in bloom counting; do
    for n in 1 100 12345 1M 100M 5e9 1e12; do
        for p in 50% 0.1 0.03 0.01 1e-3 1e-4 1e-6 1e-9 1e-15; do echo "$n $p - - $kind" >> want; done
        for m in 1K 1MB 120MB 4GiB 1TiB; do echo "$n - $m - $kind" >> want; done
        for k in 1 7; do echo "$n - - $k $kind" >> want; done
        echo "$n 1e-3 - 5 $kind" >> want
    done
    for m in 1K 120MB 4GiB; do
        for p in 0.1 0.01 1e-6; do echo "- $p $m - $kind" >> want; done
        for k in 1 7 20; do echo "- - $m $k $kind" >> want; done
    done
done
while read -r n p m k kind; do
    set -- --kind "$kind"
    [ "$n" = - ] || set -- "$@" -n "$n"
    [ "$p" = - ] || set -- "$@" -p "$p"
    [ "$m" = - ] || set -- "$@" -m "$m"
    [ "$k" = - ] || set -- "$@" --hashes "$k"
    timeout 20 "$SEEN" plan "$@" --json 2> /dev/null > plan.json || [ $? = 2 ] || fail "plan $* does not end"
    tr -d '\n' < plan.json
    echo
done < want > plans
[ "$(wc -l < plans)" -ge 200 ] || fail "a small grid"

# The same by the page's own script.
{
    sed '/<\/body>/,$d' page.html
    echo '<pre id="grid"></pre><script>'
    echo 'document.getElementById("grid").textContent = `'
    cat want
    echo '`.trim().split("\n").map(line => {'
    echo '  const [n, p, m, k, kind] = line.trim().split(" "), at = x => x !== "-";'
    echo '  try {'
    echo '    const plan = makePlan({ kind, n: at(n) ? readCount(n) : 0, p: at(p) ? readRate(p) : 0,'
    echo '      bits: at(m) ? readSize(m) * 8 : 0, k: at(k) ? readHashes(k) : 0 });'
    echo '    plan.rates = shares.map(s => planRate(plan.geometry, s * plan.capacity));'
    echo '    return JSON.stringify(plan);'
    echo '  } catch (error) { return ""; }'
    echo '}).map(x => "=" + x).join("\n");</script></body></html>'
} > grid.html
browse "file://$PWD/grid.html" > dom || fail "chromium: $(tail -3 browser.err)"
sed -n 's/^.*<pre id="grid">=/=/; /^=/p' dom | sed 's/<\/pre>.*//; s/^=//' > pages
python3 - << 'PY' || fail "page and command differ"
import json
want, plans, pages = (open(f).read().split("\n")[:-1] for f in ("want", "plans", "pages"))
assert len(want) == len(plans) == len(pages), (len(want), len(plans), len(pages))
bad = same = refused = 0
for line, a, b in zip(want, plans, pages):
    if not a or not b:
        refused += 1
        if bool(a) != bool(b):
            bad += 1
            print(line, "| only one of them refuses | command:", a[:80], "| page:", b[:80])
        continue
    a, b = json.loads(a), json.loads(b)
    for name in ("capacity", "bits", "bytes", "hashes", "spread", "probes", "lines", "shards"):
        if a[name] != b[name]:
            bad += 1
            print(line, name, a[name], b[name])
    near = [(a[x], b[x]) for x in ("error_rate", "predicted_rate", "bits_per_key", "classic_bits",
                                   "classic_hashes", "overhead")]
    # The last digits of a rate far below the planned one are lost to cancellation.
    near += [(r["error_rate"], s) for r, s in zip(a["rates"], b["rates"]) if r["error_rate"] > 1e-40]
    for x, y in near:
        if x is None or y is None: # with a rate of 1 there is nothing to compare
            bad += x is not y
        elif abs(x - y) > 1e-5 * abs(x):
            bad += 1
            print(line, x, y)
    same += 1
print(same, "plans agree,", refused, "are refused by both" if not bad else "refused")
assert not bad and same > 150
PY

# By its URL.
browse "file://$PWD/page.html#n=100M&p=1e-4" > dom
"$SEEN" plan -n 100M -p 1e-4 --json > json
bytes=$(sed -n 's/^  "bytes": \([0-9]*\),/\1/p' json)
grep -q "\"bytes\":$bytes," dom || fail "the address does not set the parameters"
grep -q 'seen create keys.seen -n 100M -p 1e-4<' dom || fail "no command line for the choice"
grep -q '.capacity = 100000000,' dom || fail "no C code for the choice"
grep -q '<polyline class="curve" points="[0-9]' dom || fail "no curve"
grep -q 'id="row-m"[^>]*class="[^"]*solved\|class="row solved" id="row-m"' dom || fail "memory does not follow"
browse "file://$PWD/page.html#n=100M&p=zzz" > dom
grep -q 'is not a rate' dom || fail "invalid input is not explained"

# Sliders, moved by keyboard: the two used last are given, the third follows.
{
    sed '/<\/body>/,$d' page.html
    cat << 'JS'
<pre id="steps"></pre><script>
const steps = [], slide = (id, x) => { $(id + "-slide").value = x;
  $(id + "-slide").dispatchEvent(new Event("input")); steps.push(touched.join("") + ":" + $(id).value); };
slide("n", 7); slide("p", -3); slide("m", 31); slide("n", 9);
steps.push(document.documentElement.scrollWidth <= innerWidth ? "fits" : "too wide");
steps.push([...document.querySelectorAll("input, select")].every(x => x.labels.length || x.ariaLabel) ? "labelled" : "no label");
$("steps").textContent = steps.join(" ");
</script></body></html>
JS
} > steps.html
browse --window-size=360,740 "file://$PWD/steps.html" > dom
grep -q '<pre id="steps">mn:10M np:0.001 pm:2GiB mn:1e9 fits labelled</pre>' dom ||
    fail "the sliders: $(sed -n 's/.*<pre id="steps">\(.*\)<\/pre>.*/\1/p' dom)"

# In a browser: widths, light and dark, keyboard only, bad input, windows and growing sets.
python3 "$ROOT/tests/cmd/plan_page.py" "$SEEN" page.html "$TMP" || fail "in a browser"
