# The users of docs/redis.md, created with its own commands: one can do everything, the other only
# check.
set -eu
. "$ROOT/tests/redis/server.sh"
start_redis

words=$(sed -n '/^    ACL SETUSER seen/,/^$/p' "$ROOT/docs/redis.md" | tr -s ' \n' ' ')
# shellcheck disable=SC2086 # words
[ "$(redis-cli -p "$PORT" $words)" = OK ] || fail "rejected: $words"
look=$(sed -n 's/.*To check only: `\([^`]*\)`.*/\1/p' "$ROOT/docs/redis.md")
[ -n "$look" ] || fail "the documentation has changed"
# shellcheck disable=SC2086 # words
[ "$(redis-cli -p "$PORT" ACL SETUSER looker on '>LOOK' resetchannels '~seen:*' -@all $look)" = OK ] || fail "$look"
ALL=redis://seen:PASSWORD@127.0.0.1:$PORT
LOOK=redis://looker:LOOK@127.0.0.1:$PORT

seq 1 3000 > some
for growth in fixed growing window; do
    for kind in bloom counting; do
        [ "$growth-$kind" != window-counting ] || continue # not supported
        name=$growth-$kind
        $SEEN create -q "$ALL/$name" --growth "$growth" --kind "$kind" -n 5000 -p 0.001 --ttl 1h
        $SEEN add -q "$ALL/$name" some > /dev/null
        $SEEN check -q "$ALL/$name" some | cmp - some || fail "$name: a key is missing"
        $SEEN check -q "$LOOK/$name" some | cmp - some || fail "$name: the read-only user does not see a key"
        ! $SEEN add -q "$LOOK/$name" some > /dev/null 2> error || fail "$name: the read-only user can add"
        grep -q 'not allowed\|docs/redis.md' error || fail "$name: $(cat error)"
        [ "$kind" = bloom ] || $SEEN remove -q "$ALL/$name" some > /dev/null
        [ "$growth" != window ] || $SEEN rotate "$ALL/$name" > /dev/null
        $SEEN info "$ALL/$name" > /dev/null
        $SEEN copy -q "$ALL/$name" "$name.seen"
        $SEEN copy -q "$name.seen" "$ALL/$name-copy"
        $SEEN merge -q "$ALL/$name-both" "$ALL/$name" "$ALL/$name-copy"
        $SEEN drop --force "$ALL/$name"
        $SEEN drop --force "$ALL/$name-copy"
        $SEEN drop --force "$ALL/$name-both"
    done
done
# A plain bitmap needs permission for its own name in addition, and nothing else.
[ "$(redis-cli -p "$PORT" ACL SETUSER seen '~plain')" = OK ] || fail "~plain"
$SEEN create -q "$ALL/plain" --layout bitmap -n 5000
$SEEN create -q plain.seen --like "$ALL/plain"
$SEEN add -q plain.seen some > /dev/null
$SEEN merge -q --into "$ALL/plain" plain.seen
$SEEN check -q "$ALL/plain" some | cmp - some || fail "plain: a key is missing"
$SEEN drop --force "$ALL/plain"
# No message contains a password, even without a connection or with another filter.
$SEEN create -q "$ALL/other" -n 500
$SEEN create -q here.seen --growth growing --kind counting
for what in "create $ALL/other --if-absent -n 600" "create $ALL/other --if-absent --like here.seen" \
    "copy here.seen $ALL/plain --layout bitmap" "create $ALL/long -n 5 --ttl 9999999999s"; do
    # shellcheck disable=SC2086 # words
    ! $SEEN $what 2> error || fail "$what: done"
    grep -q "seen: redis://127.0.0.1:$PORT/" error || fail "$what: $(cat error)"
    ! grep -q PASSWORD error || fail "$what: $(cat error)"
done
$SEEN drop --force "$ALL/other"
# Fences expire by themselves; the rest is gone.
redis-cli -p "$PORT" --scan | while read -r key; do
    [ "$(redis-cli -p "$PORT" type "$key" < /dev/null)" = list ] || fail "left: $key"
done
