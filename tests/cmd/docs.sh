# The documents: tables of figures, links and the figures of the planner are up to date.
set -eu

# The tables of figures are the output of the benchmarks.
python3 "$ROOT/tools/figures" --check

# Every file that README, CONTRIBUTING and docs link to, or name in `code`, exists.
python3 - "$ROOT" << 'PY'
import glob, os, re, sys
root, bad = sys.argv[1], []
pages = ["README.md", "CONTRIBUTING.md"] + [os.path.relpath(p, root) for p in glob.glob(root + "/docs/*.md")]
for page in pages:
    with open(os.path.join(root, page), encoding="utf-8") as file:
        text = re.sub(r"```.*?```", "", file.read(), flags=re.DOTALL)
    here = os.path.dirname(page)
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        if not os.path.exists(os.path.join(root, here, link)):
            bad.append(f"{page}: link to {link}")
    if page in ("docs/architecture.md", "CONTRIBUTING.md"):
        for name in re.findall(r"`((?:src|stream|crawl|cli|tests|tools|bench|fuzz|include|docs|cmake|packaging|examples)/[\w./-]+)`", text):
            if not glob.glob(os.path.join(root, name.rstrip("/"))) and "NAME" not in name:
                bad.append(f"{page}: no file {name}")
print("\n".join(bad))
sys.exit(bool(bad))
PY

# docs/scale.md shows the output of the planner.
doc=$ROOT/docs/scale.md
count=0
while IFS= read -r line; do
    # shellcheck disable=SC2086
    set -- ${line#"    $ seen "}
    awk -v head="$line" '
        $0 == head { on = 1; next }
        on && !/^    / { exit }
        on { print substr($0, 5) }' "$doc" > want
    "$SEEN" "$@" > got
    diff want got || { echo "FAIL: docs/scale.md is not what '$*' says" >&2; exit 1; }
    count=$((count + 1))
done < <(grep '^    \$ seen ' "$doc")
[ $count -ge 3 ] || { echo "FAIL: no commands in docs/scale.md" >&2; exit 1; }
# The other strategy, in the table.
for strategy in spill; do
    SEEN_JOIN_STRATEGY=$strategy "$SEEN" common --explain --assume-lines 5e9 --assume-bytes 64 -m 4GB -j 8 > got
    read=$(sed -n 's/^in all *reads \(.*\), writes .*/\1/p' got)
    time=$(sed -n 's/^time *about \(.*\) with .*/\1/p' got)
    grep -q "| $read | .* | $time |" "$doc" || {
        echo "FAIL: docs/scale.md does not have $read and $time for $strategy" >&2
        exit 1
    }
done
