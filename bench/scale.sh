#!/usr/bin/env bash
# Two files of 5 billion URLs with 4 GB of memory, at 1/25 of the size: the prediction of the
# planner, and the time of an actual run.
#
#     bench/scale.sh [BUILD-FOLDER]
#
# LINES (200000000) lines in each file, memory in proportion; the files go to TMPDIR (26 GB at the
# full size) and are removed. CHECK=1 also compares the result with one computed with plenty of
# memory. The plan goes to stderr, the comparison to stdout: with RECORD=1 tools/bench keeps it.
set -eu
build=${1:-build}
seen=$build/seen
gen=$build/bench/gen
lines=${LINES:-200000000}
memory=$((lines * 82 / 100))
[ $memory -ge 16777216 ] || memory=16777216
folder=$(mktemp -d "${TMPDIR:-/tmp}/seen-scale.XXXXXX")
trap 'rm -rf "$folder"' EXIT

need=$((lines * 135 / 1048576))
have=$(($(df -Pk "$folder" | awk 'NR == 2 { print $4 }') / 1024))
if [ $have -lt $need ]; then
    echo "$folder has $have MiB free, and $need are needed: set TMPDIR, or LINES to less" >&2
    exit 2
fi
echo "writing two files of $lines lines to $folder" >&2
"$gen" "$lines" 0 1 > "$folder/a"
"$gen" "$lines" 0 2 10 1 > "$folder/b"
"$seen" common --explain -m $memory -T "$folder" "$folder/a" "$folder/b" >&2
"$seen" common --explain --json -m $memory -T "$folder" "$folder/a" "$folder/b" > "$folder/plan"
begin=$(date +%s.%N)
wc -l "$folder/a" "$folder/b" > "$folder/count"
middle=$(date +%s.%N)
"$seen" common --json -m $memory -T "$folder" "$folder/a" "$folder/b" 2> "$folder/done" > "$folder/out" &
pid=$!
peak=0
while kill -0 $pid 2> /dev/null; do
    now=$(awk '/VmHWM/ { print $2 }' /proc/$pid/status 2> /dev/null || true)
    peak=${now:-$peak}
    sleep 0.2
done
wait $pid
end=$(date +%s.%N)
sum=$(md5sum < "$folder/out")
grep -v '^seen: about' "$folder/done" > "$folder/json" || true
size=$(stat -c %s "$folder/a" "$folder/b" | awk '{ s += $1 } END { print s }')
python3 - "$folder/plan" "$folder/json" "$peak" "$memory" "$begin" "$middle" "$end" "$lines" "$size" << 'END'
import json, os, sys
plan, done = (json.load(open(path)) for path in sys.argv[1:3])
peak, memory, begin, middle, end, lines, size = map(float, sys.argv[3:])
machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
print("%g million lines in each file (%.1f GiB in all), %.0f MiB for seen; %d processors, %.0f GiB of memory\n" %
      (lines / 1e6, size / 2**30, memory / 2**20, os.cpu_count(), machine))
print("%-22s %14s %14s" % ("", "predicted", "measured"))
def row(name, a, b, unit=1, form="%14.1f"):
    print("%-22s %s %s" % (name, form % (a / unit), form % (b / unit)))
print("%-22s %14s %14s" % ("strategy", plan["strategy"], done["strategy"]))
row("candidates, million", plan["candidates_expected"], done["candidates"], 1e6)
row("parts", plan["slices"], done["slices"], form="%14.0f")
steps = sum(s["bytes_read"] for s in plan["steps"] if s["what"] != "decide part by part")
row("files read, GiB", steps, done["bytes_read"], 1 << 30)
row("temporary, GiB", plan["bytes_written"], done["temporary"], 1 << 30)
row("memory, MiB", memory / (1 << 20), peak / 1024)
print("%-22s %14s %14.1f" % ("seconds", "", end - middle))
print("%-22s %14s %14.1f" % ("x wc -l", "", (end - middle) / (middle - begin)))
print("%-22s %14s %14s" % ("lines printed", "", format(done["written"], ",")))
END
if [ "${CHECK:-}" ]; then
    [ "$("$seen" common -q "$folder/a" "$folder/b" | md5sum)" = "$sum" ] || { echo "the result is wrong" >&2; exit 1; }
    echo "the result is the same as with a table in memory" >&2
fi
