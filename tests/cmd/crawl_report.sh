# `crawl report`: a page with the figures of a crawl, from its state folder or its JSON lines, also in a browser.
set -eu
. "$ROOT/tests/sites/nginx.sh"
command -v nginx > /dev/null || exit 77
mkdir site
chmod o+x "$TMP"
echo '<a href=a.html>a</a><a href=b.html>b</a><a href="gone.html?x=<script>\">?</a>' > site/index.html
echo '<a href=gone.html>x</a><a href=c.html>c</a>' > site/a.html
echo '<a href=gone.html>x</a>' > site/b.html
echo c > site/c.html
start_nginx SITE="$TMP/site"
HOST=http://127.0.0.1:$PORT_SITE
"$SEEN" crawl -q "$HOST/" --allow-private --delay 0 --state state -o pages.jsonl --edges edges.tsv
"$SEEN" crawl report state --html report.html || fail "the report"
"$SEEN" crawl report pages.jsonl --html - > report2.html || fail "the report of a file"
# A crawl that is in Redis: from what its workers have stored there.
reports="report.html report2.html"
"$SEEN" crawl --join redis://127.0.0.1:1/x 2> probe || true
if command -v redis-server > /dev/null && ! grep -q 'no Redis' probe; then
    . "$ROOT/tests/redis/server.sh"
    start_redis
    trap 'stop_redis; stop_servers' EXIT
    ! "$SEEN" crawl report "$URL/web" --html report3.html 2> err || fail "a report of no crawl"
    "$SEEN" crawl -q "$HOST/" --allow-private --delay 0 --join "$URL/web" -o pages3.jsonl
    "$SEEN" crawl report "$URL/web" --html report3.html || fail "the report of a shared crawl"
    reports="$reports report3.html"
    # A page that fails and succeeds on a retry is not broken: in status, list, and both reports.
    start_server web.py "$TMP/log" 20 1 --busy /section-5/page-5.html=0
    WEB=http://127.1.0.1:$PORT_SERVER
    figures() { # pages, errors, failed, of both reports
        "$SEEN" crawl report "$URL/again" --html again.html && "$SEEN" crawl report again.jsonl --html again2.html
        for report in again.html again2.html; do
            grep -q "\"pages\":$1,\"errors\":$2,\"failed\":$3," $report || fail "not $1 $2 $3: $(grep 'const R' $report)"
            grep -q "\"hosts\":\[\[\"127.1.0.1:$PORT_SERVER\",$1,$2,$3," $report || fail "hosts: $(grep 'const R' $report)"
        done
        "$SEEN" crawl status "$URL/again" > status
        grep -q "^  pages     $1," status && grep -q " other, $3 failed$" status || fail "not $1 $3: $(cat status)"
        [ "$("$SEEN" crawl failed "$URL/again" | wc -l)" = "$3" ] || fail "not $3 in the list"
    }
    "$SEEN" crawl -q "$WEB/section-0/page-0.html" "$WEB/gone.html" --allow-private --scope all --delay 0 --retries 0 \
        --join "$URL/again" -o again.jsonl
    figures 20 1 1
    grep -q 'page-5.html","429",\["' again.html || fail "the failed page: $(grep 'const R' again.html)"
    "$SEEN" crawl failed "$URL/again" --retry-failed 2> err || fail "retry: $(cat err)"
    "$SEEN" crawl status "$URL/again" > status
    grep -q ' other, 0 failed$' status || fail "put back: $(cat status)"
    if grep -q ' 0 pages, left' status; then fail "the command counts as a worker: $(cat status)"; fi
    "$SEEN" crawl status "$URL/again" --json > status
    [ "$(grep -c '"session":' status)" = 1 ] || fail "workers: $(cat status)"
    "$SEEN" crawl -q --allow-private --join "$URL/again" -o again.jsonl
    figures 21 1 0
    if grep -q 'page-5.html","429"' again.html again2.html; then fail "broken: $(grep 'const R' again.html)"; fi
    stop_redis
fi
# shellcheck disable=SC2086 # words
python3 - "$HOST" $reports << 'PY' || fail "the figures: $(grep -o 'const R = .*' report.html)"
import json, re, sys
host = sys.argv[1]
for name in sys.argv[2:]:
    text = open(name).read()
    data = re.search(r"const R = (\{.*?\});\n", text, re.S)[1]
    assert "<script" not in data and "http://" not in re.sub(re.escape(data), "", text).replace("http://www.w3.org", "")
    r = json.loads(data)
    assert r["pages"] == 6 and sum(r["rates"]) == 6 and sum(n for _, n in r["depth"]) == 6, r
    assert dict(r["status"]) == {200: 4, 404: 2} and r["depth"] == [[0, 1], [1, 3], [2, 2]], r
    assert r["hosts"][0][:4] == [host[7:], 6, 2, 0] and (r["errors"], r["failed"]) == (2, 0) and len(r["slow"]) == 6, r
    broken = {url: (why, sorted(f.rsplit("/", 1)[1] for f in links)) for url, why, links, more in r["broken"]}
    links = ["a.html", "b.html"] if name == "report.html" else [broken[host + "/gone.html"][1][0]]
    assert broken[host + "/gone.html"] == ("404", links), broken
PY
for bad in "report" "report nowhere --html x.html" "report site --html x.html" "report site/c.html --html x.html"; do
    status=0
    "$SEEN" crawl $bad 2> err || status=$?
    [ $status = 2 ] && [ -s err ] && [ ! -e x.html ] || fail "$bad: exit $status, $(cat err)"
done
stop_servers

# In a browser, narrow and wide, light and dark: nothing is cut off, and each broken link has a page that links to it.
cat > browse.py << 'PY'
import json, subprocess, sys
root, seen, folder = sys.argv[1:]
sys.path.insert(0, root + "/tests")
import browser
if not browser.find():
    print("chromium is not installed: not looked at in a browser")
    sys.exit()
with open("wide.jsonl", "w") as out:
    for i in range(400):
        host = ["http://www.example.org", "https://a-host-with-a-long-name.shop.example.com:8443", "http://c.example"][i % 3]
        line = {"url": f"{host}/section/{i}/" + "long-name-" * (i % 40) + f"{i}.html", "status": 200, "depth": i % 40,
                "parent": f"http://{'abc'[i % 2]}.example/list/source-{i}.html", "time": "2026-01-01T00:%02d:00Z" % (i % 50),
                "bytes": i * 7654321, "ms": i * 997}
        if i % 4 == 0:
            line["status"] = [404, 410][i % 3 == 0]
        if i % 10 == 1:
            line.update(status=0, error="connection broke off")
        out.write(json.dumps(line, separators=(",", ":")) + "\n")
subprocess.run([seen, "crawl", "report", "wide.jsonl", "--html", "wide.html"], check=True)
with browser.Browser(folder) as b:
    for name, width, dark in [("report", 1280, 0), ("wide", 390, 0), ("wide", 390, 1), ("wide", 1280, 0), ("wide", 320, 0)]:
        b.open(f"file://{folder}/{name}.html", width=width, dark=dark)
        shown = b.eval("""(() => {
            const all = (css) => [...document.querySelectorAll(css)], page = document.documentElement;
            const inside = (e) => { const r = e.getBoundingClientRect(); return r.width > 0 && r.left >= 0 && r.right <= page.clientWidth; };
            return {
                fits: page.scrollWidth <= page.clientWidth,
                cut: all("th, td, .tile, p").filter((e) => e.scrollWidth > e.clientWidth + 1 || !inside(e)).map((e) => e.textContent),
                sources: all("#broken td:last-child a").filter(inside).map((e) => e.href),
                links: all("#broken td:first-child a").filter(inside).map((e) => e.href),
                groups: all("#broken h3").map((e) => e.textContent),
                headed: all("table").every((t) => t.ariaLabelledByElements ? t.ariaLabelledByElements.length == 1 : document.getElementById(t.getAttribute("aria-labelledby"))),
                scoped: all("thead th").every((e) => e.scope == "col" && e.textContent),
                chart: all("svg path").map((e) => e.getBBox().height > 0 && inside(e)),
                tiles: all(".tile").map((e) => e.innerText.replace("\\n", " ")),
            };
        })()""")
        where = f"{name} at {width}: {json.dumps(shown)[:3000]}"
        assert shown["fits"] and not shown["cut"], where
        assert shown["headed"] and shown["scoped"] and shown["chart"] == [True], where
        if name == "report":
            assert "6 pages" in shown["tiles"] and shown["groups"] == ["404 Not Found 2 links"], where
            assert any(link.endswith("gone.html?x=%3Cscript%3E\\") for link in shown["links"]), where
            continue
        assert shown["groups"] == ["404 Not Found 66 links", "connection broke off 40 links", "410 Gone 34 links"], where
        assert len(shown["links"]) == 140 and len(set(shown["sources"])) == 140, where
        if width == 390 and not dark:
            light = b.eval("getComputedStyle(document.body).backgroundColor")
        elif dark:
            assert light != b.eval("getComputedStyle(document.body).backgroundColor"), where
PY
timeout 200 python3 browse.py "$ROOT" "$SEEN" "$PWD" || fail "in a browser"
