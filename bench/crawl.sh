#!/usr/bin/env bash
# bench/crawl.sh [ROUNDS]: pages per second of `seen crawl`, wget2 and wget on one site.
#
# The site is the largest documentation package that is installed, served by one nginx on loopback
# (two workers, sendfile, no log). All three obey robots.txt, keep connections alive, stay below the
# same folder and write what they write: wget and wget2 the pages, ours its JSON lines. The threads of
# wget2 (five, its default: with 16 it is slower) get in each other's way on a disk; TMPDIR=/dev/shm
# is the best case for it. A page is an HTML page that was fetched, so that the pictures and style
# sheets that the other two take along count for nobody, and pages that a tool missed are noticed.
# Rounds are interleaved and the best of each tool counts.
#
# SEEN is the command. One line a run: tool, seconds, pages, pages/s, peak KB, seconds of CPU of the
# tool, seconds of CPU of nginx. On a machine that does other things too, `setsid nice -n -20` in
# front of it helps a little, and seconds of CPU are what to look at.
set -eu
ROUNDS=${1:-3}
ROOT=$(cd "$(dirname "$0")/.." && pwd)
SEEN=${SEEN:-$ROOT/build/seen}
TMP=$(mktemp -d "${TMPDIR:-/tmp}/seen-bench.XXXXXX")
. "$ROOT/tests/sites/nginx.sh"
trap 'stop_servers; rm -rf "$TMP"' EXIT
export NGINX_LOG=off NGINX_WORKERS=2
if [ -d /usr/share/doc/openjdk-17-doc/api ]; then
    start_nginx SITE=/usr/share/doc/openjdk-17-doc
    FOLDER=/api/
else
    start_nginx SITE=/usr/share/doc/postgresql-doc-15/html
    FOLDER=/
fi
URL=http://127.0.0.1:$PORT_SITE${FOLDER}index.html

nginx_cpu() { # in seconds, of all workers
    local worker
    for worker in $(pgrep -P "$(cat "$TMP/nginx/pid")"); do
        sed 's/.*) //' "/proc/$worker/stat"
    done | awk -v ticks="$(getconf CLK_TCK)" '{ cpu += $12 + $13 } END { print cpu / ticks }'
}

pages_fetched() {
    if [ -f "$TMP/out/pages.jsonl" ]; then
        grep -c '"status":200,.*"type":"text/html' "$TMP/out/pages.jsonl" || true
    else
        find "$TMP/out" -name '*.html' | wc -l
    fi
}

measure() { # tool, command
    local tool=$1 before
    shift
    rm -rf "$TMP/out"
    mkdir "$TMP/out"
    before=$(nginx_cpu)
    /usr/bin/time -o "$TMP/time" -f '%e %M %U %S' "$@" > /dev/null 2>&1 || true
    awk -v tool="$tool" -v pages="$(pages_fetched)" -v nginx="$(nginx_cpu)" -v before="$before" '
        END { printf "%s %.2f %d %.0f %d %.2f %.2f\n", tool, $1, pages, pages / $1, $2, $3 + $4, nginx - before }' \
        "$TMP/time" | tee -a "$TMP/results"
}

for _ in $(seq "$ROUNDS"); do
    measure seen "$SEEN" crawl -q "$URL" --allow-private --delay 0 --per-host 16 \
        --include "^http://[^/]*$FOLDER" -o "$TMP/out/pages.jsonl"
    if command -v wget2 > /dev/null; then
        measure wget2 wget2 -q -r -l inf -np -P "$TMP/out" "$URL"
    fi
    measure wget wget -q -r -l inf -np -P "$TMP/out" "$URL"
done
sort -k1,1 -k4,4nr "$TMP/results" | awk '
    !($1 in best) { best[$1] = $4; memory[$1] = $5; tools[++n] = $1 }
    !($1 in cpu) || $6 < cpu[$1] { cpu[$1] = $6 }
    !($1 in nginx) || $7 < nginx[$1] { nginx[$1] = $7 }
    $3 != pages && pages { different = 1 }
    { pages = $3 }
    END {
        bar["wget2"] = 5; bar["wget"] = 10
        if (different) print "the tools did not fetch the same number of pages"
        for (i = 1; i <= n; i++) {
            tool = tools[i]
            printf "best: %s %d pages/s, %.2f s of CPU (nginx %.2f), peak %.1f MB", tool, best[tool], cpu[tool], nginx[tool], memory[tool] / 1000
            if (tool in bar) printf ": seen is %.1f times as fast (bar: %d), with %.1f times less CPU", best["seen"] / best[tool], bar[tool], cpu[tool] / cpu["seen"]
            print ""
        }
    }'
