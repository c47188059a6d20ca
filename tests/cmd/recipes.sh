# What the recipes print is what the commands print; docs link only to files that exist. Needs: compression, crawl.
set -eu
python3 "$ROOT/tests/readme.py" "$SEEN" "$ROOT/docs/recipes.md"
[ "$(grep -cE '^[0-9]+\. ' "$ROOT/docs/recipes.md")" = 20 ] || { echo "not twenty recipes"; exit 1; }
