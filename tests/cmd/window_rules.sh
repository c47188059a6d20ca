# The two modes of a window: uniq -f and add give the same answers for a file and for Redis. A key
# that is added in every generation is new again after a window, or never with --renew.
# Needs: redis.
set -eu
. "$ROOT/tests/redis/server.sh"
start_redis

for rule in plain renew; do
    option=
    [ $rule = plain ] || option=--renew
    for where in "$TMP/$rule.seen" "$URL/$rule"; do
        $SEEN create -q "$where" --growth window --generations 3 -n 1000 -p 1e-9 $option
        for run in 1 2 3 4 5 6 7; do
            echo "run $run: $(printf 'often\nrun %s\n' "$run" | $SEEN uniq -q -f "$where" | tr '\n' ' ')"
            # The other commands that add: a deferred output, and add.
            printf 'other\n' | $SEEN uniq -q -f "$where" -o "$TMP/out"
            echo "other $(wc -l < "$TMP/out")"
            $SEEN rotate "$where" > /dev/null
        done > "$TMP/answers"
        if [ $rule = plain ]; then
            want='1 4 7'
        else
            want=1
        fi
        got=$(awk '/often/ { printf "%s%d", n++ ? " " : "", $2 }' "$TMP/answers")
        [ "$got" = "$want" ] || fail "$rule, $where: often was new in runs $got, not $want"
        got=$(awk '$1 == "other" && $2 == 1 { printf "%s%d", n++ ? " " : "", NR / 2 }' "$TMP/answers")
        [ "$got" = "$want" ] || fail "$rule, $where: other was new in runs $got, not $want"
    done
done
$SEEN info "$URL/renew" | grep -q 'every addition renews' || fail "info does not show the rule"
status=0
$SEEN create -q "$TMP/fixed.seen" -n 1000 --renew 2> "$TMP/err" || status=$?
[ $status = 2 ] && grep -q 'renew needs a window' "$TMP/err" || fail "--renew without a window"
