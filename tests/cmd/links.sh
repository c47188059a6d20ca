# Every file that README, CONTRIBUTING and docs link to, or name in `code`, exists.
set -eu
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
