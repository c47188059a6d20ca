#!/usr/bin/env bash
# bench/crawl.sh [ROUNDS]: pages per second of `seen crawl`, wget2 and wget on one site.
#
# The site is the largest installed documentation package, served by one nginx on loopback (two
# workers, sendfile, headers and page in one packet, open file cache, no log: the server shares the
# processors with the crawlers). All three obey robots.txt, keep connections alive, stay below the
# same folder and write their usual output: wget and wget2 the pages, ours its JSON lines. wget2 has
# its default of five threads (with 16 it is slower), ours 32 connections. A page is an HTML page
# that was fetched, so that pictures and style sheets fetched by the other two are not counted, and
# pages that a tool missed are noticed. Five rounds, interleaved; the best and the median of each
# tool are printed.
#
# Everything is run twice, because the target of the pages matters most (wget, which is far behind,
# only once):
#   memory   /dev/shm, where a file costs next to nothing: the crawlers alone
#   disk     TMPDIR, or /tmp: what a user has. On ext4 wget2 has two speeds there, which is not its
#            fault: for one to six minutes after a file was deleted ext4 does not reuse its inode and
#            checks it again for each file that is created (recently_deleted in fs/ext4/ialloc.c).
#            Each round deletes the files of the round before, as for any repeated crawl, so the best
#            is a disk without recent deletions, if there is one in the run, and the median one with.
#
# SEEN is the command, TOOLS and PLACES which of them run. RESULTS is a file to which runs are
# appended, so that rounds may be run at different times. One line per run: place, tool, seconds,
# pages, pages/s, peak KB, CPU seconds of the tool, CPU seconds of nginx. On a busy machine, `setsid
# nice -n -20` helps a little (as root, `chrt -f 5` more), and CPU seconds are the figure to look at.
set -eu
ROUNDS=${1:-5}
ROOT=$(cd "$(dirname "$0")/.." && pwd)
SEEN=${SEEN:-$ROOT/build/seen}
TOOLS=${TOOLS:-seen wget2 wget}
PLACES=${PLACES:-memory disk}
# Two gigabytes are more than the pages of any package.
memory=$(df --output=avail -k /dev/shm 2> /dev/null | tail -1)
if [ "${memory:-0}" -lt 2000000 ]; then
    PLACES=${PLACES/memory/}
fi
TMP=$(mktemp -d "${TMPDIR:-/tmp}/seen-bench.XXXXXX")
OUT_memory=/dev/shm/${TMP##*/}
OUT_disk=$TMP/out
RESULTS=${RESULTS:-$TMP/results}
. "$ROOT/tests/sites/nginx.sh"
trap 'stop_servers; rm -rf "$TMP" "$OUT_memory"' EXIT
export NGINX_LOG=off NGINX_WORKERS=2
export NGINX_MORE='tcp_nopush on; open_file_cache max=20000; open_file_cache_valid 10m;'
if [ -d /usr/share/doc/openjdk-17-doc/api ]; then
    PACKAGE=openjdk-17-doc
    start_nginx SITE=/usr/share/doc/openjdk-17-doc
    FOLDER=/api/
else
    PACKAGE=postgresql-doc-15
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

pages_fetched() { # folder
    if [ -f "$1/pages.jsonl" ]; then
        grep -c '"status":200,.*"type":"text/html' "$1/pages.jsonl" || true
    else
        find "$1" -name '*.html' | wc -l
    fi
}

measure() { # place, tool, folder, command
    local place=$1 tool=$2 out=$3 before
    shift 3
    rm -rf "$out"
    mkdir "$out"
    before=$(nginx_cpu)
    /usr/bin/time -o "$TMP/time" -f '%e %M %U %S' "$@" > /dev/null 2>&1 || true
    awk -v tool="$place $tool" -v pages="$(pages_fetched "$out")" -v nginx="$(nginx_cpu)" -v before="$before" '
        END { printf "%s %.2f %d %.0f %d %.2f %.2f\n", tool, $1, pages, pages / $1, $2, $3 + $4, nginx - before }' \
        "$TMP/time" | tee -a "$RESULTS"
}

run() { # place, tool
    local out
    case $1 in
    memory) out=$OUT_memory ;;
    *) out=$OUT_disk ;;
    esac
    case $2 in
    seen) measure "$1" seen "$out" "$SEEN" crawl -q "$URL" --allow-private --delay 0 --connections 32 \
        --per-host 32 --include "^http://[^/]*$FOLDER" -o "$out/pages.jsonl" ;;
    *) measure "$1" "$2" "$out" "$2" -q -r -l inf -np -P "$out" "$URL" ;;
    esac
}

for place in $PLACES; do
    for _ in $(seq "$ROUNDS"); do
        for tool in $TOOLS; do
            if [ "$place $tool" != "disk wget" ] && { [ "$tool" = seen ] || command -v "$tool" > /dev/null; }; then
                run "$place" "$tool"
            fi
        done
    done
done
echo "$(awk '{ print $4; exit }' "$RESULTS") pages of $PACKAGE; the server shares $(nproc) processors with the" \
    "crawlers; disk is $(df --output=fstype "$TMP" | tail -1)"
sort -k1,1r -k2,2 -k3,3n "$RESULTS" | awk '
    { run = $1 " " $2 }
    !(run in runs) { order[++n] = run; place[run] = $1; tool[run] = $2; cpu[run] = $7; nginx[run] = $8 }
    { seconds[run, ++runs[run]] = $3; if ($6 > memory[run]) memory[run] = $6 }
    $7 < cpu[run] { cpu[run] = $7 }
    $8 < nginx[run] { nginx[run] = $8 }
    pages && $4 != pages { different = 1 }
    { pages = $4 }
    function median(run) { return seconds[run, int((runs[run] + 1) / 2)] }
    END {
        bar["wget2"] = 5; bar["wget"] = 10
        if (different) print "the tools did not fetch the same number of pages"
        for (i = 1; i <= n; i++) {
            run = order[i]; ours = place[run] " seen"
            printf "%s: best %.2f s (%d pages/s), median %.2f s of %d; CPU %.2f s (nginx %.2f s), peak %.1f MB", run, seconds[run, 1], pages / seconds[run, 1], median(run), runs[run], cpu[run], nginx[run], memory[run] / 1000
            if (tool[run] in bar && ours in runs) printf ": seen is %.1f times as fast by the best, %.1f by the median (bar: %d), with %.1f times less CPU", seconds[run, 1] / seconds[ours, 1], median(run) / median(ours), bar[tool[run]], cpu[run] / cpu[ours]
            print ""
        }
    }'
