# The documents: tables of figures, links and the figures of the planner are up to date.
set -eu

# Tables and charts are the output of the benchmarks and of the planner.
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

# Every make target, benchmark and test that the documents name exists.
python3 - "$ROOT" << 'PY'
import glob, os, re, sys
root, bad, count = sys.argv[1], [], 0
def text_of(name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()
makefile = text_of("Makefile")
rules = set(word for line in re.findall(r"^([a-z][^:=#\n]*):(?!=)", makefile, re.MULTILINE) for word in line.split())
benches = {os.path.splitext(os.path.basename(path))[0] for path in glob.glob(root + "/bench/*.*")}
places = {"unit/test_": "tests/unit/**/test_%s.*", "cmd/": "tests/cmd/%s.sh", "fault/": "tests/fault/%s.*", "stats/": "tests/stats/%s.*",
          "fuzz_": "fuzz/fuzz_%s.c"}
pages = ["README.md", "CONTRIBUTING.md", "bench/README.md", "bindings/README.md", "packaging/README.md"]
for page in pages + [os.path.relpath(path, root) for path in glob.glob(root + "/docs/*.md")]:
    for code in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)):
        for target in re.findall(r"\bmake ([a-z][a-z-]*)", code):
            count += 1
            if target not in rules and not (target.startswith("bench-") and target[6:] in benches):
                bad.append("%s: make has no target %s" % (page, target))
        for prefix, place in places.items():
            found = re.fullmatch(re.escape(prefix) + r"(\w+)", code)
            if found:
                count += 1
                if not glob.glob(os.path.join(root, place % found.group(1)), recursive=True):
                    bad.append("%s: there is no test %s" % (page, code))
cmake, presets = text_of("CMakeLists.txt"), text_of("CMakePresets.json")
for name in set(re.findall(r"\bSEEN_[A-Z_]+\b", re.sub(r"SEEN_(ERR|URL)_\w+", "", text_of("docs/build.md")))):
    if not re.search(r"^(option|set)\(%s\b" % name, cmake, re.MULTILINE):
        bad.append("docs/build.md: CMake has no option %s" % name)
for name in re.search(r"the presets (.*?) have a folder", text_of("docs/build.md"), re.DOTALL).group(1).replace("`", "").replace(" and ", ", ").split(", "):
    if '"name": "%s"' % name.strip() not in presets:
        bad.append("docs/build.md: there is no preset %s" % name)
print("\n".join(bad) or "%d names" % count)
sys.exit(bool(bad) or count < 100)
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
