#!/usr/bin/env bash
# bench/crawl.sh [ROUNDS]: pages per second of `seen crawl`, wget2 and wget on one site.
#
# The site is the largest documentation package that is installed, served by nginx on loopback.
# All three obey robots.txt and keep connections alive; ours also writes its JSON lines. Rounds are
# interleaved and the best of each counts. Requests are counted in nginx's log, because the three do
# not ask for quite the same (wget takes style sheets and pictures along).
# SEEN is the command; the result goes to stdout as lines: tool, seconds, requests, pages/s, peak KB,
# seconds of CPU. On a machine that does other things too, the last is what to look at.
set -eu
ROUNDS=${1:-3}
ROOT=$(cd "$(dirname "$0")/.." && pwd)
SEEN=${SEEN:-$ROOT/build/seen}
TMP=$(mktemp -d "${TMPDIR:-/tmp}/seen-bench.XXXXXX")
trap 'stop_servers; rm -rf "$TMP"' EXIT
. "$ROOT/tests/sites/nginx.sh"
trap 'stop_servers; rm -rf "$TMP"' EXIT
if [ -d /usr/share/doc/openjdk-17-doc/api ]; then
    start_nginx SITE=/usr/share/doc/openjdk-17-doc
    PAGE=api/index.html
else
    start_nginx SITE=/usr/share/doc/postgresql-doc-15/html
    PAGE=index.html
fi
URL=http://127.0.0.1:$PORT_SITE/$PAGE

measure() { # tool, command
    local tool=$1
    shift
    : > "$TMP/nginx/access.log"
    rm -rf "$TMP/out"
    mkdir "$TMP/out"
    /usr/bin/time -o "$TMP/time" -f '%e %M %U %S' "$@" > /dev/null 2>&1 || true
    sleep 0.2
    awk -v tool="$tool" -v requests="$(grep -c GET "$TMP/nginx/access.log")" '
        END { printf "%s %.2f %d %.0f %d %.2f\n", tool, $1, requests, requests / $1, $2, $3 + $4 }' "$TMP/time" |
        tee -a "$TMP/results"
}

for _ in $(seq "$ROUNDS"); do
    measure seen "$SEEN" crawl -q "$URL" --allow-private --delay 0 --per-host 16 -o "$TMP/out/pages.jsonl"
    if command -v wget2 > /dev/null; then
        measure wget2 wget2 -q -r -l inf -np -P "$TMP/out" "$URL"
    fi
    measure wget wget -q -r -l inf -np -P "$TMP/out" "$URL"
done
sort -k1,1 -k4,4nr "$TMP/results" | awk '
    !($1 in best) { best[$1] = $4; memory[$1] = $5 }
    !($1 in cpu) || $6 < cpu[$1] { cpu[$1] = $6 }
    END {
        printf "best: seen %d pages/s, peak %.1f MB\n", best["seen"], memory["seen"] / 1000
        if (best["wget2"]) printf "best: wget2 %d pages/s: seen is %.1f times as fast (bar: 5)\n", best["wget2"], best["seen"] / best["wget2"]
        printf "CPU seconds: seen %.2f, wget2 %.2f, wget %.2f\n", cpu["seen"], cpu["wget2"], cpu["wget"]
        printf "best: wget %d pages/s: seen is %.1f times as fast (bar: 10)\n", best["wget"], best["seen"] / best["wget"]
    }'
