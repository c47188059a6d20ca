# Numbers that make no sense are refused with a message that names the option, and status 2.
set -eu
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

# The same number in every spelling.
bytes() { "$SEEN" plan --json "$@" | grep '"bytes"'; }
want=$(bytes -n 100000000 -p 0.01)
for n in 100M 1e8 0.1G 100000k .1e9; do
    [ "$(bytes -n "$n" -p 1%)" = "$want" ] || fail "-n $n is not 100 million"
done
[ "$(bytes -n 1M -m 64K)" = "$(bytes -n 1M -m 64KiB)" ] || fail "64K is not 64KiB"
[ "$(bytes -n 1M -m 65536)" = "$(bytes -n 1M -m 64KiB)" ] || fail "64KiB is not 65536"
[ "$(bytes -n 1M -m 64KB)" != "$(bytes -n 1M -m 64KiB)" ] || fail "64KB is 64KiB"
