# plan: any two or three of four parameters, on one screen, as JSON, as a picture.
set -eu
fail() { echo "plan: $*" >&2; exit 1; }
value() { sed -n "s/^  \"$1\": \(.*[^,]\),*$/\1/p" "$2"; }

# Typical parameters.
for numbers in "-n 5e9 -m 4GiB" "-n 100M -p 1e-4" "-m 120MB --hashes 7" "-n 1M --hashes 5" "-m 1GiB -p 1%" \
    "-n 100M -p 1e-4 -m 1GiB" "-n 1M -p 1% --hashes 6" "-n 1M -m 2MB --hashes 7" "-n 1 -p 1%" \
    "-n 1e12 -p 1e-15" "-n 1M -p 1% --kind counting"; do
    # shellcheck disable=SC2086
    "$SEEN" plan $numbers > screen 2> words || fail "$numbers: $(cat words)"
    [ ! -s words ] || fail "$numbers: messages on stderr: $(cat words)"
    lines=$(wc -l < screen)
    [ "$lines" -le 24 ] || fail "$numbers: $lines lines are more than a screen"
    [ "$(awk '{ if (length > m) m = length } END { print m }' screen)" -le 100 ] || fail "$numbers: too wide"
    for part in 25% 50% 100% 150% 200% textbook "hash set" "seen create"; do
        grep -q -- "$part" screen || fail "$numbers: no '$part' on the screen"
    done
    # shellcheck disable=SC2086
    "$SEEN" plan $numbers --json > json
    python3 - json << 'PY' || fail "$numbers: the JSON is inconsistent"
import json, math, sys
p = json.load(open(sys.argv[1]))
assert p["bits"] % 512 == 0 and p["bytes"] * 8 == p["bits"]
assert p["hashes"] == p["spread"] * p["probes"]
assert p["predicted_rate"] <= p["error_rate"] * (1 + 1e-6)
assert abs(p["bits_per_key"] - p["bits"] / p["capacity"]) < 1e-6
rates = [r["error_rate"] for r in p["rates"]]
assert len(rates) == 5 and rates == sorted(rates) and abs(rates[2] - p["predicted_rate"]) < 1e-9
k = -math.log2(p["error_rate"])
assert abs(p["classic_hashes"] - k) < 1e-6 * k
PY
done

# Known values: the classic filter of m bits and k hashes.
"$SEEN" plan -m 120MB --hashes 7 --json > json
[ "$(value hashes json)" = 7 ] || fail "--hashes 7 gave $(value hashes json) hashes"
[ "$(value spread json)" = 7 ] || fail "-m and --hashes: one bit per line, not $(value spread json)"
bytes=$(value bytes json)
[ "$bytes" -le 120000000 ] && [ "$bytes" -gt 119000000 ] || fail "-m 120MB gave $bytes bytes"

# With only a size, the rest is what create uses.
for size in '-n 1M' '-m 1M'; do
    "$SEEN" plan $size --json > json 2> words || fail "$size: $(cat words)"
    grep -q 'planned for 1%' words || fail "$size: $(cat words)"
    "$SEEN" create -q --replace alone.seen $size
    [ "$("$SEEN" info --json alone.seen | sed -n 's/.*"bytes": *\([0-9]*\).*/\1/p' | head -n 1)" = "$(value bytes json)" ] ||
        fail "$size: plan and create differ"
done
rm alone.seen

# Too few, contradictory or invalid parameters.
for numbers in "" "-p 1%" "--hashes 7" "-n 100M -p 1e-9 -m 1MiB" "-n 1M extra"; do
    # shellcheck disable=SC2086
    if "$SEEN" plan $numbers > out 2> words; then fail "'$numbers' was accepted"; fi
    [ ! -s out ] || fail "'$numbers' printed results"
    grep -q '^seen: ' words || fail "'$numbers' was refused without a message"
done
"$SEEN" plan -n 1k -p 0.7 2>&1 | grep -q 'error rate is too high; use 0.6' || fail "-p 0.7 is not explained"
for size in '-n 1' '-n 1k' '-n 1e12' '-m 64' '-m 1G'; do
    "$SEEN" plan $size -p 0.6 > /dev/null || fail "$size -p 0.6 is refused"
done
"$SEEN" plan -n 100M -p 1e-9 -m 1MiB 2>&1 | grep -q contradict || fail "a contradiction is not explained"

# A picture, written atomically; standard output for -.
"$SEEN" plan -n 1M -p 1% --svg curve.svg -q > /dev/null
python3 -c 'import sys, xml.dom.minidom as m; m.parse("curve.svg")' || fail "the SVG is not XML"
"$SEEN" plan -n 1M -p 1% --svg - | cmp - curve.svg || fail "--svg - differs"
if "$SEEN" plan -n 1M -p 1% --svg no/such/folder/x.svg > /dev/null 2> words; then fail "wrote nowhere"; fi
grep -q 'no/such/folder/x.svg' words || fail "the message does not name the file"
[ "$(ls -A | grep -c '^\.')" = 0 ] || fail "a temporary file was left: $(ls -A)"

# A full disk is an error, a closed pipe is not, also when it is closed in the middle.
mkfifo pipe
python3 - "$SEEN" <<'P' || fail "a closed pipe is an error"
import fcntl, os, subprocess, sys
for to in "-", "pipe":
    command = [sys.argv[1], "plan", "-q", "-n", "1k", "-p", "1%", "--html", to]
    if to == "-":
        reader, writer = os.pipe()
        p = subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
    else:
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        reader = os.open(to, os.O_RDONLY)
    try:
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    except OSError:
        pass  # its buffer is already larger
    assert os.read(reader, 1) == b"<"
    os.close(reader)
    words = p.communicate(timeout=60)[1]
    assert p.returncode == 0 and not words, (to, p.returncode, words)
P
for what in "plan -n 1M -p 1%" "plan -n 1M -p 1% --json" "help" "help plan" "--version" "plan --help"; do
    # shellcheck disable=SC2086
    if "$SEEN" $what > /dev/full 2> words; then fail "$what: a full disk was not reported"; fi
    grep -q 'No space left' words || fail "$what: $(cat words)"
    # shellcheck disable=SC2086
    { "$SEEN" $what; echo $? > status; } 2> words | true
    [ "$(cat status)" = 0 ] && [ ! -s words ] || fail "$what: a closed pipe is an error: $(cat words)"
done
if "$SEEN" plan -n 1M -p 1% --svg /dev/full > /dev/null 2> words; then fail "a full disk went unnoticed"; fi

# Invalid numbers are refused with a message that names the option, and status 2.
mkdir numbers
cd numbers
fail() { echo "numbers: $*" >&2; exit 1; }
refused() {
    status=0
    "$SEEN" "$@" > out 2> words || status=$?
    [ "$status" = 2 ] || fail "$*: status $status"
    [ ! -s out ] || fail "$*: results on stdout"
    [ "$(wc -l < words)" = 1 ] || fail "$*: not one line: $(cat words)"
}
for bad in -1 NaN nan inf -inf 1e400 0 1e30 10000000000000000000000000000000 5x "" " 5" 0x10 1.5 5,00 2e12; do
    refused plan -p 1% -n "$bad"
    grep -q '^seen: -n: ' words || fail "-n '$bad': $(cat words)"
done
for bad in 0 1 2 -0.1 NaN inf 100% 1e-400 1e400 5x ""; do
    refused plan -n 1M -p "$bad"
    grep -q '^seen: -p: ' words || fail "-p '$bad': $(cat words)"
done
for bad in 0 -1 NaN 1e400 63 4QiB 1e30 99999999TiB ""; do
    refused plan -n 1M -m "$bad"
    grep -q '^seen: -m: ' words || fail "-m '$bad': $(cat words)"
done
for bad in 0 -1 65 1.5 1e9; do refused plan -n 1M --hashes "$bad"; done
for bad in -5s 0 5y 1e30d; do refused create x.seen -n 1M --window "$bad"; done
for bad in 0 1 33 -1; do refused create x.seen -n 1M --growth window --generations "$bad"; done
[ ! -e x.seen ] || fail "something was made all the same"

# The same number in every notation.
bytes() { "$SEEN" plan --json "$@" | grep '"bytes"'; }
want=$(bytes -n 100000000 -p 0.01)
for n in 100M 1e8 0.1G 100000k .1e9; do
    [ "$(bytes -n "$n" -p 1%)" = "$want" ] || fail "-n $n is not 100 million"
done
[ "$(bytes -n 1M -m 64K)" = "$(bytes -n 1M -m 64KiB)" ] || fail "64K is not 64KiB"
[ "$(bytes -n 1M -m 65536)" = "$(bytes -n 1M -m 64KiB)" ] || fail "64KiB is not 65536"
[ "$(bytes -n 1M -m 64KB)" != "$(bytes -n 1M -m 64KiB)" ] || fail "64KB is 64KiB"
