# info: text and JSON, the estimate, the warning, and files that are not filters.
set -eu
fail() { echo "info: $*" >&2; exit 1; }
"$SEEN" create -q f.seen -n 100k -p 1% --when-full go-on
seq 50000 | "$SEEN" add -q f.seen
"$SEEN" info f.seen > text 2> words
[ ! -s words ] || fail "half full, and a warning: $(cat words)"
for part in '^f.seen$' 'kind *bloom, fixed' 'store *file, format 1' 'capacity *100,000 keys at an error rate of 1%' \
    'keys *about' 'fill' 'error rate .* at present'; do
    grep -q "$part" text || fail "no '$part' in: $(cat text)"
done
"$SEEN" info --json f.seen > json
python3 - << 'PY' || fail "the JSON: $(cat json)"
import json
i = json.load(open("json"))
assert list(i) == ["kind", "growth", "store", "capacity", "error_rate", "bits", "bytes", "hashes", "spread",
                   "keys_estimated", "fill", "error_rate_now", "layers", "seed", "format_version"], list(i)
assert i["kind"] == "bloom" and i["growth"] == "fixed" and i["store"] == "file"
assert i["capacity"] == 100000 and i["error_rate"] == 0.01 and i["layers"] == 1 and i["format_version"] == 1
assert i["bytes"] * 8 == i["bits"] and len(i["seed"]) == 32 and int(i["seed"], 16) >= 0
assert abs(i["keys_estimated"] - 50000) < 1000, i["keys_estimated"]
assert 0.1 < i["fill"] < 0.5 and 0 < i["error_rate_now"] < 0.005
PY

# Over capacity: reported once, on stderr, and the current rate is above the error rate.
seq 50001 150000 | "$SEEN" add -q f.seen
"$SEEN" info f.seen > text 2> words
grep -q 'past its capacity' words && [ "$(wc -l < words)" = 1 ] || fail "no warning: $(cat words)"
"$SEEN" info --json f.seen 2> /dev/null | python3 -c '
import json, sys
i = json.load(sys.stdin)
assert i["error_rate_now"] > 0.02 and abs(i["keys_estimated"] - 150000) < 3000, i' || fail "150% full"
"$SEEN" info -q f.seen 2>&1 > /dev/null | grep -q . && fail "-q warns"

# A burst exceeds the capacity of one generation long before the window is full.
"$SEEN" create -q burst --window 1h -n 10k -p 1%
seq 5000 | "$SEEN" add burst 2>&1 | grep -q 'warning: burst got too many keys at once' || fail "a burst: no warning"
"$SEEN" create -q even --window 1h -n 10k -p 1%
seq 1000 | "$SEEN" add even 2>&1 | grep warning && fail "a window with room: a warning"

# No warning at exactly the capacity, and a growing filter is never over capacity.
"$SEEN" create -q g.seen -n 10k --when-full go-on
seq 10000 | "$SEEN" add -q g.seen
[ -z "$("$SEEN" info g.seen 2>&1 > /dev/null)" ] || fail "a warning at capacity"
"$SEEN" create -q grow.seen --growth growing -n 1k
seq 100000 | "$SEEN" add -q grow.seen
[ -z "$("$SEEN" info grow.seen 2>&1 > /dev/null)" ] || fail "a growing filter warns"
"$SEEN" info --json grow.seen | python3 -c '
import json, sys
i = json.load(sys.stdin)
assert i["format_version"] == 2 and i["capacity"] >= 100000, i
assert 0 < i["error_rate_now"] <= i["error_rate"] * 1.05 and abs(i["keys_estimated"] - 100000) < 1000, i' || fail "growing"

# Files that are not filters, or damaged, are refused and not changed.
printf '' > empty; head -c 100000 /dev/urandom > junk; head -c 20000 f.seen > cut; mkdir folder
head -c 9000 f.seen > stump
for f in empty junk cut stump folder nosuch; do
    before=$(cat "$f" 2> /dev/null | md5sum)
    status=0
    "$SEEN" info "$f" > out 2> words || status=$?
    [ "$status" = 2 ] && [ ! -s out ] && grep -q "^seen: $f" words || fail "$f: $status $(cat words)"
    [ "$(cat "$f" 2> /dev/null | md5sum)" = "$before" ] || fail "$f was changed"
    case $f in
    cut | stump) grep -q 'truncated.*; restore it from a backup, or create it again$' words ;;
    *) grep -q '; check the name$' words ;;
    esac || fail "what to do about $f: $(cat words)"
done
# Several filters; an unreadable one does not prevent showing the others.
"$SEEN" info f.seen g.seen > out; grep -qx f.seen out && grep -qx g.seen out || fail "several: $(cat out)"
"$SEEN" info --json f.seen g.seen | python3 -c 'import json, sys; a = json.load(sys.stdin); assert [x["filter"] for x in a] == ["f.seen", "g.seen"], a' || fail "several, --json"
status=0; "$SEEN" info nosuch g.seen > out 2> words || status=$?
[ $status = 2 ] && grep -qx g.seen out && grep -q nosuch words || fail "one of several is missing: $status"
# A name with a newline is printed on one line.
cp g.seen $'odd\nname\x1b[0m'
"$SEEN" info $'odd\nname\x1b[0m' | head -1 | grep -qxF 'odd\nname\x1b[0m' || fail "a raw name"
# A read-only filter can be shown.
chmod 400 g.seen
"$SEEN" info g.seen > /dev/null || fail "a read-only file"
true
