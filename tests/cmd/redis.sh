# Every command on a filter in Redis, as on a file.
set -eu
. "$ROOT/tests/redis/server.sh"
start_redis

seq 1 20000 > some
seq 15001 40000 > more

# create, add, check, info, drop
$SEEN create -q "$URL/urls" -n 100000 -p 0.001
! $SEEN create -q "$URL/urls" -n 100000 -p 0.001 2> error || fail "created twice"
grep -q "$URL/urls: a filter of this name exists" error || fail "no reason: $(cat error)"
$SEEN create -q "$URL/urls" -n 100000 -p 0.001 --if-absent
! $SEEN create -q "$URL/urls" -n 200000 -p 0.001 --if-absent 2> error || fail "different parameters are accepted"
$SEEN add -q "$URL/urls" some > /dev/null
$SEEN check -q "$URL/urls" some | cmp - some || fail "a key is missing"
[ "$($SEEN check -q "$URL/urls" more | wc -l)" -lt 5060 ] || fail "too many false positives"
$SEEN info "$URL/urls" | grep -q 'about \(19,9\|20,0\)' || fail "info: $($SEEN info "$URL/urls")"
$SEEN info "$URL/urls" --json | grep -q '"store": *"redis"' || fail "info --json"

# The same bits everywhere: to a file, back, and again.
$SEEN copy -q "$URL/urls" a.seen
$SEEN copy -q a.seen "$URL/copy"
$SEEN copy -q "$URL/copy" b.seen
cmp a.seen b.seen || fail "a copy there and back differs"
$SEEN check -q b.seen some | cmp - some || fail "a copied key is missing"
$SEEN create -q window.seen --growth window -n 3000 -p 0.01
$SEEN add -q window.seen some > /dev/null
# A file that grew may have another length than one that was created at once.
$SEEN copy -q window.seen window.copy
$SEEN copy -q window.seen "$URL/window"
$SEEN copy -q "$URL/window" window.back
cmp window.copy window.back || fail "a window copied there and back differs"
$SEEN add -q window.seen more > /dev/null
$SEEN add -q "$URL/window" more > /dev/null
$SEEN check -q window.seen some more > here || true
$SEEN check -q "$URL/window" some more > there || true
cmp here there || fail "a copy of a window continues differently"

# A growing set in Redis has layers, and so has a copy of it; a growing file has none to copy.
$SEEN create -q "$URL/growing" --growth growing -n 3000 -p 0.01
$SEEN add -q "$URL/growing" some > /dev/null
$SEEN copy -q "$URL/growing" growing.seen
$SEEN copy -q growing.seen "$URL/growing2"
$SEEN copy -q "$URL/growing2" growing.back
# Counters with reservations are adjusted to the cells; the lines are the same.
cmp <(tail -c +16385 growing.seen) <(tail -c +16385 growing.back) || fail "a growing set copied there and back differs"
$SEEN add -q growing.seen more > /dev/null
$SEEN add -q "$URL/growing2" more > /dev/null
$SEEN check -q growing.seen some more > here || true
$SEEN check -q "$URL/growing2" some more > there || true
cmp here there || fail "a copy of a growing set continues differently"
$SEEN drop --force "$URL/growing2"
$SEEN create -q tags.seen --growth growing -n 3000 -p 0.01
status=0
$SEEN copy -q tags.seen "$URL/tags" 2> error || status=$?
[ $status = 2 ] && grep -q 'create a growing set there' error || fail "tag lines were copied to Redis"

# Two batches in flight: one of two equal lines is new.
seq 20000 | awk '{ print $1 * 7919 % 7001 }' > again
$SEEN create -q "$URL/lanes" -n 100000 -p 1e-9
$SEEN add -q --json "$URL/lanes" again > told
tr -d ' \n' < told | grep -q '"lines":20000,"new":7001,"before":12999' || fail "add printed $(cat told)"
$SEEN drop --force "$URL/lanes"

# An interrupted copy leaves no filter.
$SEEN create -q big.seen -n 30M -p 0.01
# Killed as soon as it has put something there. A copy that was done before that is tried again, and so is one that was
# killed between its last two steps, in which its shards stop to expire and its hash is written.
cut=
for _ in $(seq 50); do
    $SEEN copy -q big.seen "$URL/big" & copy=$!
    while kill -0 $copy 2> /dev/null; do
        redis-cli -p "$PORT" --scan --pattern '*big*' > stages
        [ ! -s stages ] || break
    done
    kill -KILL $copy 2> /dev/null || :
    wait $copy 2> /dev/null || :
    if [ "$(redis-cli -p "$PORT" exists seen:big)" = 1 ]; then
        $SEEN drop --force "$URL/big"
        continue
    fi
    redis-cli -p "$PORT" --scan --pattern '*big*' > stages
    lasting=$(sed 's/^/ttl /' stages | redis-cli -p "$PORT" | grep -cx -- -1 || :)
    if [ -s stages ] && [ "$lasting" = 0 ]; then
        cut=yes
        break
    fi
    [ ! -s stages ] || xargs redis-cli -p "$PORT" del < stages > /dev/null
done
[ "$cut" ] || fail "no copy could be interrupted"
redis-cli -p "$PORT" --scan --pattern '*big*' > stages
[ -s stages ] || fail "the copy was interrupted before it began"
! $SEEN info "$URL/big" 2> error || fail "an incomplete filter was opened"
# Its leftovers expire.
while read -r key; do
    [ "$(redis-cli -p "$PORT" ttl "$key" < /dev/null)" -gt 0 ] || fail "$key does not expire"
    redis-cli -p "$PORT" del "$key" < /dev/null > /dev/null
done < stages
$SEEN copy -q big.seen "$URL/big"
$SEEN info "$URL/big" > /dev/null
$SEEN drop --force "$URL/big"

# Orphaned shards, as left by a client that is killed just before the hash is written: the
# commands in docs/redis.md find and remove them, and nothing else.
$SEEN create -q "$URL/lost" -n 1000
redis-cli -p "$PORT" del seen:lost > /dev/null
redis-cli -p "$PORT" setrange 'seen:{urls:0123456789abcdef:0.1:0}' 100 x > /dev/null
$SEEN create -q "$URL/urls:b" -n 1000
$SEEN create -q "$URL/lost:b" -n 1000
redis-cli() { command redis-cli -p "$PORT" "$@"; }
for name in urls lost; do
    sed -n "/^    id=/,/UNLINK/s/NAME/$name/gp" "$ROOT/docs/redis.md" \
        | sed "s/-n 1 redis-cli/-n 1 redis-cli -p $PORT/" > clean
    [ "$(wc -l < clean)" = 2 ] || fail "the documentation has changed: $(cat clean)"
    . ./clean > removed
    [ "$(grep -c 1 removed)" -ge 1 ] || fail "nothing of $name was removed"
done
unset -f redis-cli
[ "$(redis-cli -p "$PORT" exists 'seen:{urls:0123456789abcdef:0.1:0}')" = 0 ] || fail "an orphan stays"
redis-cli -p "$PORT" --scan --pattern 'seen:{lost:*' | grep -v '{lost:b:' && fail "an orphan of no filter stays"
$SEEN check -q "$URL/urls" some | cmp - some || fail "the removal of orphans took a shard"
$SEEN drop --force "$URL/urls:b"
$SEEN drop --force "$URL/lost:b"

# uniq, across runs; the output of two runs is the union
cat some more | $SEEN uniq -q -f "$URL/uniq" -n 100000 -p 1e-7 > once
seq 1 40000 | cmp - once || fail "uniq -f differs"
[ "$(cat some more | $SEEN uniq -q -f "$URL/uniq" -n 100000 -p 1e-7 | wc -l)" = 0 ] || fail "uniq -f prints known lines"

# counting: remove
$SEEN create -q "$URL/count" --kind counting -n 30000 -p 0.001
$SEEN add -q "$URL/count" some > /dev/null
$SEEN remove -q "$URL/count" some > /dev/null
! $SEEN check -q "$URL/count" some > left || true
[ ! -s left ] || fail "$(wc -l < left) removed keys are still there"

# merge: from a file and from Redis into Redis
$SEEN create -q "$URL/other" --like "$URL/urls"
$SEEN add -q "$URL/other" more > /dev/null
$SEEN merge -q "$URL/both" "$URL/other" a.seen
$SEEN check -q "$URL/both" some more | cmp - <(cat some more) || fail "the union lacks a key"

# unix socket, no password in messages
$SEEN check -q "redis+unix://$TMP/redis/socket/urls" some | cmp - some || fail "unix socket"
! $SEEN info "redis://ann:hunter2@127.0.0.1:$PORT/urls" 2> error || fail "logged in without a password"
! grep -q hunter2 error || fail "the password is printed"
! $SEEN info "redis://127.0.0.1:1/urls" --retry 200ms 2> error || fail "no server, but no error"
grep -q 'is the server running' error || fail "$(cat error)"

# time to live
$SEEN create -q "$URL/short" -n 1000 --ttl 100s
[ "$(redis-cli -p "$PORT" --scan --pattern '*short*' | while read -r key; do
    redis-cli -p "$PORT" ttl "$key"
done | awk '$1 < 0 { print }' | wc -l)" = 0 ] || fail "no time to live"
# --like uses the Redis options; an existing filter must have the same parameters.
$SEEN create -q alike.seen -n 2000
$SEEN create -q "$URL/alike" --like alike.seen --ttl 100s
[ "$(redis-cli -p "$PORT" ttl seen:alike)" -gt 0 ] || fail "--like: no time to live"
$SEEN create -q "$URL/alike" --like alike.seen --if-absent || fail "--like --if-absent: it exists with the same parameters"
! $SEEN create -q "$URL/short" --like alike.seen --if-absent 2> error || fail "--like --if-absent: different parameters"
grep -q 'short: exists with a different seed' error || fail "$(cat error)"
! $SEEN create -q "$URL/alike" --like alike.seen 2> error || fail "--like: it exists"
grep -q 'exists' error || fail "$(cat error)"
seq 2000 | $SEEN add -q "$URL/alike"
$SEEN merge -q both.seen alike.seen "$URL/alike"
seq 2000 | $SEEN check -q both.seen | cmp - <(seq 2000) || fail "--like: they do not merge"
$SEEN drop --force "$URL/alike"

# A plain bitmap, shared with a client that was written from the documentation alone.
$SEEN create -q "$URL/plain" --layout bitmap --hash sip -n 10000 -p 0.001
head -300 some | $SEEN add -q "$URL/plain" > /dev/null
head -600 some | python3 "$ROOT/tests/redis/bitmap_client.py" "$PORT" plain check > python
head -300 some | cmp - python || fail "the other client does not see our keys"
sed -n 301,500p some | python3 "$ROOT/tests/redis/bitmap_client.py" "$PORT" plain add > python
sed -n 301,500p some | cmp - python || fail "the other client adds differently"
head -800 some | $SEEN check -q "$URL/plain" | cmp - <(head -500 some) || fail "we do not see its keys"
[ "$(redis-cli -p "$PORT" strlen plain)" -gt 17000 ] || fail "the bitmap is no plain key"

# drop leaves nothing
for name in urls copy growing window uniq count other both short plain; do
    $SEEN drop --force "$URL/$name"
done
[ "$(redis-cli -p "$PORT" dbsize | tr -dc 0-9)" = 0 ] || fail "left: $(redis-cli -p "$PORT" keys '*')"
