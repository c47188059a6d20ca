# What the recipes print is what the commands print, and the command lines in the text of the documents work. Needs: compression, crawl.
set -eu
python3 "$ROOT/tests/readme.py" "$SEEN" "$ROOT/docs/recipes.md"
[ "$(grep -cE '^[0-9]+\. ' "$ROOT/docs/recipes.md")" = 20 ] || { echo "not twenty recipes"; exit 1; }
if command -v redis-server > /dev/null; then
    . "$ROOT/tests/redis/server.sh"
    start_redis
    export REDIS_URL=$URL
fi
cd "$ROOT"
python3 tests/readme.py "$SEEN" --lines README.md docs/architecture.md docs/crawl.md docs/index.md docs/promises.md \
    docs/recipes.md docs/records.md docs/redis.md docs/scale.md docs/url.md docs/why.md
