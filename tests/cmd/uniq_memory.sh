# The memory of uniq: the longest line that -m allows stays within the limit, whatever copies of it
# are made, and a longer one is refused with its offset.
set -eu
fail() { echo "uniq_memory: $*" >&2; exit 1; }
if grep -q -e __asan_init -e __tsan_init "$SEEN"; then
    echo "memory cannot be measured under a sanitizer"
    exit 77
fi
bound() { # MiB allowed, command
    python3 "$ROOT/tests/cmd/sets_oracle.py" rss "$@" > /dev/null 2> err || fail "$*: $(cat err)"
}

# Enough lines to touch all of the filter; then one line twice, of `length` bytes that are escaped in
# a canonical URL.
seq 300000 > many
lines() { # length, name
    python3 - "$1" "$2" <<'P'
import sys
length, name = int(sys.argv[1]), sys.argv[2]
line = b"http://e.org/A" + b"\xff" * (length - 14) + b"\n"
with open(name, "wb") as to:
    to.write(open("many", "rb").read() + 2 * line)
P
}
at=$(wc -c < many)
long() { # copies of a line in memory, options
    local most=$((128 * 1024 * 1024 / 16 / $1)) code=0
    shift
    lines "$most" fits
    bound 144 "$SEEN" uniq -q -m 128M -n 100M -j 2 "$@" fits -o out
    [ "$(wc -l < out)" = 300001 ] || fail "$*: $(wc -l < out) lines"
    lines $((most + 1)) longer
    "$SEEN" uniq -q -m 128M -j 2 "$@" longer -o out 2> err || code=$?
    [ $code = 2 ] && grep -q "^seen: longer: the line at offset $at is longer than $most bytes.*-m" err ||
        fail "$*: status $code: $(cat err)"
}
long 1
long 2 -i
long 3 -i --dropped dropped
long 4 --url
long 5 --url --dropped dropped
long 5 --exact --url --dropped dropped

# The two sets of -U share the memory.
cat many many > twice
bound 144 "$SEEN" uniq -q -u -m 128M -n 100M -j 2 twice -o out
[ ! -s out ] || fail "-U: $(wc -l < out) lines"

# The number of lines written but not yet remembered is limited with little memory.
seq 1500000 > new
bound 64 bash -c 'exec "$1" uniq -q -m 32M -f new.seen -j 2 new > out' - "$SEEN"
cmp -s out new || fail "-f: not all lines"
[ "$("$SEEN" check -c new.seen new)" = 1500000 ] || fail "-f: not all were remembered"

# The same for two files.
lines $((64 * 1024 * 1024 / 16 / 4)) fits
bound 80 "$SEEN" common -q --url -m 64M -j 2 fits fits -o out
cmp -s out fits || fail "common --url: not all lines"
lines $((64 * 1024 * 1024 / 16 / 4 + 1)) longer
code=0
"$SEEN" common -q --url -m 64M -j 2 longer longer > out 2> err || code=$?
[ $code = 2 ] && grep -q "longer: the line at offset $at is longer than" err || fail "common: $code: $(cat err)"
