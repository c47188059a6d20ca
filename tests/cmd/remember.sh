# A filter stores how its keys were made: later commands use the same options, others are refused.
set -eu
fail() { echo "remember: $*" >&2; exit 1; }
refused() { # PATTERN ARGUMENTS...
    pattern=$1; shift
    code=0
    "$SEEN" "$@" > out 2> words < /dev/null || code=$?
    [ $code = 2 ] || fail "$*: status $code"
    grep -q -- "$pattern" words || fail "$*: $(cat words)"
}
check_store() { # FILTER; keys are the column url, in canonical form
    f=$1
    printf 'id,url\n1,http://A/?b&a\n2,http://b/\n' > t.csv
    "$SEEN" add -q --csv -k url --sort-query "$f" t.csv
    "$SEEN" info "$f" | grep -qx '  made with    --csv --url --sort-query --key=url' || fail "info: $("$SEEN" info "$f")"
    printf 'id,url\n7,http://a/?a&b\n8,http://c/\n' > more.csv
    "$SEEN" check "$f" more.csv > out; printf 'id,url\n7,http://a/?a&b\n' | cmp - out || fail "check: $(cat out)"
    "$SEEN" check -q --csv -k url --sort-query "$f" more.csv > out2; cmp out out2 || fail "the same options"
    "$SEEN" uniq -q -f "$f" more.csv > out; printf 'id,url\n8,http://c/\n' | cmp - out || fail "uniq -f: $(cat out)"
    "$SEEN" common -q more.csv "$f" > out; [ "$(wc -l < out)" = 3 ] || fail "common: $(cat out)"
    [ "$("$SEEN" check "$f" -e 'HTTP://a/?a&b')" = 'HTTP://a/?a&b' ] || fail "check -e"
    refused 'its keys were made with --csv --url --sort-query --key=url, not with --csv --key=id' check --csv -k id "$f" more.csv
    refused 'not with --ignore-case' add -i "$f" more.csv
    refused 'not with --url' uniq -f "$f" --url more.csv
    refused 'not with --csv' except --csv more.csv "$f"
    [ "$(printf 'http://b/\n' | "$SEEN" check --other-keys "$f")" = http://b/ ] || fail "--other-keys"
}
check_store f.seen
# "Whole lines" is stored as well; a filter without stored options accepts any.
printf 'a\n' | "$SEEN" add -q lines.seen
refused 'made with whole lines, not with --key=2' check -k 2 lines.seen t.csv
"$SEEN" create -q any.seen -n 100
printf 'x\ta\n' | "$SEEN" add -q -k 2 any.seen; [ "$(echo a | "$SEEN" check any.seen)" = a ] || fail "any keys"
# create accepts the options; copies keep them. Values may have spaces and percent signs.
"$SEEN" create -q made.seen -n 100 -p 1e-9 --jsonl -k '"a b".c%' --drop '100% sure' -i
printf '{"a b": {"c%%": "X"}}\n' | "$SEEN" add -q made.seen
"$SEEN" copy -q made.seen copied.seen
[ "$(printf '{"a b": {"c%%": "x"}}\n' | "$SEEN" check -c copied.seen)" = 1 ] || fail "create and copy"
"$SEEN" info --json copied.seen | grep -q '"made_with": "--jsonl --ignore-case --url --key=' || fail "--json"
# Different fields, delimiters.
printf 'a;b\n' | "$SEEN" add -q -t ';' -k 2 d.seen; [ "$(printf 'x;b\n' | "$SEEN" check d.seen)" = 'x;b' ] || fail "-t"
refused 'too long to be stored' add --jsonl -k "$(printf 'x%.0s' $(seq 250))" long.seen
[ ! -e long.seen ] || fail "long.seen was created"
if "$SEEN" --version | grep -q redis && command -v redis-server > /dev/null; then
    redis-server --port 0 --unixsocket "$TMP/redis.sock" --save '' --daemonize no > redis.log 2>&1 &
    server=$!
    trap 'kill $server' EXIT
    for _ in $(seq 1200); do [ -S "$TMP/redis.sock" ] && break; sleep 0.05; done
    check_store "redis+unix://$TMP/redis.sock/f"
fi
