#!/usr/bin/env bash
# bench/crawl.sh [ROUNDS]: pages per second of `seen crawl`, wget2 and wget on one site.
#
# The site is the largest documentation package that is installed, served by one nginx on loopback
# (two workers, sendfile, no log). All three obey robots.txt, keep connections alive, stay below the
# same folder and write what they write: wget and wget2 the pages, ours its JSON lines. wget2 has its
# default of five threads (with 16 it is slower). A page is an HTML page that was fetched, so that
# the pictures and style sheets that the other two take along count for nobody, and pages that a tool
# missed are noticed. Five rounds, interleaved; the best and the median of each tool are printed.
#
# The pages are written to memory (/dev/shm) where there is room, else to TMPDIR. On ext4 wget2 has
# two speeds, and it is not its fault: for one to six minutes after a file was deleted ext4 does not
# use its inode again and looks at it anew for each file that is created (recently_deleted in
# fs/ext4/ialloc.c), so that a run after an `rm -r` of the run before takes four times as long. In
# memory, and on a disk where nothing was deleted lately, it has the faster one.
#
# SEEN is the command, TOOLS which of them run. One line a run: tool, seconds, pages, pages/s, peak
# KB, seconds of CPU of the tool, seconds of CPU of nginx. On a machine that does other things too,
# `setsid nice -n -20` in front of it helps a little (as root, `chrt -f 5` more), and seconds of CPU
# are what to look at.
set -eu
ROUNDS=${1:-5}
ROOT=$(cd "$(dirname "$0")/.." && pwd)
SEEN=${SEEN:-$ROOT/build/seen}
TOOLS=${TOOLS:-seen wget2 wget}
# Two gigabytes are more than the pages of any package, for wget and wget2 in turn.
memory=$(df --output=avail -k /dev/shm 2> /dev/null | tail -1)
if [ -z "${TMPDIR:-}" ] && [ "${memory:-0}" -gt 2000000 ]; then
    TMPDIR=/dev/shm
fi
TMP=$(mktemp -d "${TMPDIR:-/tmp}/seen-bench.XXXXXX")
. "$ROOT/tests/sites/nginx.sh"
trap 'stop_servers; rm -rf "$TMP"' EXIT
export NGINX_LOG=off NGINX_WORKERS=2
SITE=$(find /usr/share/doc -maxdepth 1 -name 'openjdk-[0-9]*-doc' | sort -V | tail -1)
FOLDER=/api/
if [ ! -d "$SITE/api" ]; then
    SITE=$(documentation 'postgresql-doc-[0-9]*')
    FOLDER=/
fi
PACKAGE=$(basename "${SITE%/html}")
start_nginx "SITE=$SITE"
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

run() { # tool
    case $1 in
    seen) measure seen "$SEEN" crawl -q "$URL" --allow-private --delay 0 --per-host 16 \
        --include "^http://[^/]*$FOLDER" -o "$TMP/out/pages.jsonl" ;;
    *) measure "$1" "$1" -q -r -l inf -np -P "$TMP/out" "$URL" ;;
    esac
}

for _ in $(seq "$ROUNDS"); do
    for tool in $TOOLS; do
        if [ "$tool" = seen ] || command -v "$tool" > /dev/null; then
            run "$tool"
        fi
    done
done
echo "$(awk '{ print $3; exit }' "$TMP/results") pages of $PACKAGE, written to" \
    "$(df --output=fstype "$TMP" | tail -1); the server shares $(nproc) processors with the crawlers"
sort -k1,1 -k2,2n "$TMP/results" | awk '
    !($1 in runs) { tools[++n] = $1 }
    { seconds[$1, ++runs[$1]] = $2; if ($5 > memory[$1]) memory[$1] = $5 }
    !($1 in cpu) || $6 < cpu[$1] { cpu[$1] = $6 }
    !($1 in nginx) || $7 < nginx[$1] { nginx[$1] = $7 }
    $3 != pages && pages { different = 1 }
    { pages = $3 }
    function median(tool) { return seconds[tool, int((runs[tool] + 1) / 2)] }
    END {
        bar["wget2"] = 5; bar["wget"] = 10
        if (different) print "the tools did not fetch the same number of pages"
        for (i = 1; i <= n; i++) {
            tool = tools[i]
            printf "best: %s %.2f s (%d pages/s), median %.2f s; CPU %.2f s (nginx %.2f s), peak %.1f MB", tool, seconds[tool, 1], pages / seconds[tool, 1], median(tool), cpu[tool], nginx[tool], memory[tool] / 1000
            if (tool in bar) printf ": seen is %.1f times as fast by the best, %.1f by the median (bar: %d), with %.1f times less CPU", seconds[tool, 1] / seconds["seen", 1], median(tool) / median("seen"), bar[tool], cpu[tool] / cpu["seen"]
            print ""
        }
    }'
