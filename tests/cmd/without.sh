# A build without any optional part: it needs no library but xxHash, does the main jobs, and says what
# it lacks. Needs: siphash.
set -eu
fail() { echo "without: $*" >&2; exit 1; }
off=
for part in REDIS CRAWL COMPRESSION SIPHASH IDN; do
    off="$off -DSEEN_WITH_$part=OFF"
done
# shellcheck disable=SC2086 # words
cmake -S "$ROOT" -B small -G Ninja -DCMAKE_BUILD_TYPE=Debug -DSEEN_WERROR=ON -DSEEN_BUILD_TESTS=OFF \
    -DSEEN_BUILD_BENCH=OFF $off > log 2>&1 || fail "configure: $(cat log)"
cmake --build small --target seen_command > log 2>&1 || fail "build: $(cat log)"
small=small/seen
[ "$($small --version | sed -n 2p)" = "built with:" ] || fail "$($small --version)"
ldd $small > libraries
grep -Eq 'hiredis|curl|psl|sodium|idn|libz|lzma|bz2|lz4' libraries && fail "$(cat libraries)"

printf 'b\na\nb\n' > in
printf 'b\na\n' | cmp - <($small uniq -q in) || fail "uniq"
$small create -q a.seen -n 1k
$small add -q a.seen in
[ "$(printf 'a\nc\n' | $small check a.seen)" = a ] || fail "check"
[ "$($small common -q in <(echo a))" = a ] || fail "common"
# Files written by one build can be read by the other.
[ "$(printf 'a\nc\n' | $SEEN check a.seen)" = a ] || fail "the full build does not read it"

refused() {
    local part=$1 status=0
    shift
    "$@" > out 2> words || status=$?
    [ $status = 2 ] || fail "$*: status $status"
    grep -q -- "$part" words || fail "$*: $(cat words)"
}
refused 'this build has no Redis; build with SEEN_WITH_REDIS=ON' $small create redis://127.0.0.1:1/x -n 5
refused 'this build has no crawler; rebuild with -DSEEN_WITH_CRAWL=ON' $small crawl http://127.0.0.1:1/
refused 'this build has no SipHash; build with SEEN_WITH_SIPHASH=ON' $small create b.seen -n 5 --hash sip
gzip -c in > in.gz
refused 'in.gz is compressed with gzip, which this build does not support' $small uniq in.gz
refused 'this build does not support compression' $small uniq in -o out.gz
$SEEN create -q sip.seen -n 5 --hash sip
refused 'uses SipHash, which is not included in this build' $small check sip.seen in
