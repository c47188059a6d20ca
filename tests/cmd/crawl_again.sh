# Retries and resumed crawls: a limit on pages, Retry-After, outputs.
set -eu
. "$ROOT/tests/sites/nginx.sh"
start_server again.py "$TMP/log"
HOST=http://127.0.0.1:$PORT_SERVER
OPTIONS="--allow-private --delay 0 --backoff 100ms"
none() { # arguments of a crawl that fetches no page
    local status=0
    "$SEEN" crawl -q $OPTIONS -o /dev/null "$@" 2> err || status=$?
    [ $status = 2 ] || fail "exit $status of: $*: $(cat err)"
}

# A page that was started is finished, even if it has to be retried after the limit is reached.
"$SEEN" crawl "$HOST/" $OPTIONS --max-pages 1 --state state -o pages.jsonl 2> err
grep -q '"status":200.*"links":20,"retries":1' pages.jsonl || fail "not retried: $(cat pages.jsonl err)"
[ "$(wc -l < pages.jsonl)" = 1 ] || fail "--max-pages 1: $(cat pages.jsonl)"
grep -q 'stopped after --max-pages with 20 URLs queued; --state state resumes it with a larger --max-pages' err ||
    fail "no word about the limit: $(cat err)"
# Going on counts from the start, and does what the words said.
"$SEEN" crawl --state state 2> err
grep -q '^seen: 1 page, .* in all; 0 in' err || fail "continued beyond the limit: $(cat err)"
"$SEEN" crawl -q --state state --max-pages 5
[ "$(wc -l < pages.jsonl)" = 5 ] || fail "--max-pages 5: $(wc -l < pages.jsonl)"
"$SEEN" crawl --state state --max-pages 0 2> err
[ "$(wc -l < pages.jsonl)" = 21 ] || fail "--max-pages 0: $(wc -l < pages.jsonl)"
if grep -q stopped err; then fail "not done: $(cat err)"; fi

# A server that sends Retry-After gets no request before that time, also for pages that are not retried.
: > log
none "$HOST/later/1" "$HOST/later/2" --retries 0 --per-host 1
python3 - << 'PY' || fail "Retry-After was not obeyed: $(cat log)"
times = [float(line.split()[0]) for line in open("log") if "/later/" in line]
assert len(times) == 2 and times[1] - times[0] >= 0.99, times
PY
# A long Retry-After is obeyed up to the configured maximum.
: > log
none "$HOST/never" --retries 1 --max-wait 1s
python3 - << 'PY' || fail "a long Retry-After was not obeyed: $(cat log)"
times = [float(line.split()[0]) for line in open("log") if "/never" in line]
assert len(times) == 2 and times[1] - times[0] >= 0.99, times
PY

# A failed page counts for the limit of its host, with or without a complete response, and a retry counts as the same
# page.
: > log
"$SEEN" crawl -q "$HOST/weak" $OPTIONS --retries 0 --max-pages-per-host 9 --state weak -o weak.jsonl
asked() {
    cut -d' ' -f2 log | grep -c '^/weak'
}
[ "$(asked)" = 9 ] || fail "--max-pages-per-host: $(asked) were asked for"
[ "$(grep -c . weak/failed)" = 8 ] || fail "--max-pages-per-host: $(cat weak/failed)"
: > log
"$SEEN" crawl -q --state weak --retry-failed --retries 0
[ "$(asked)" = 8 ] && [ "$(grep -vc '"error"' weak.jsonl)" = 9 ] || fail "--retry-failed: $(cat log)"
[ ! -s weak/failed ] || fail "--retry-failed: $(cat weak/failed)"

# An output with another spelling of the same path is continued.
: > log
"$SEEN" crawl -q "$HOST/" $OPTIONS --max-pages 3 --state spelled -o lines.jsonl --urls lines.txt
ln -s lines.txt link.txt
"$SEEN" crawl -q --state spelled --max-pages 5 -o ./lines.jsonl --urls "$TMP/link.txt"
"$SEEN" crawl -q --state spelled --max-pages 7 -o "$TMP//lines.jsonl"
[ "$(wc -l < lines.jsonl)" = 7 ] || fail "lines are lost: $(wc -l < lines.jsonl)"
[ "$(sort -u lines.txt | wc -l)" = 7 ] || fail "URLs are lost: $(cat lines.txt)"
# A different file is a different output.
echo old > other.jsonl
"$SEEN" crawl -q --state spelled --max-pages 9 -o other.jsonl
[ "$(wc -l < other.jsonl)" = 2 ] || fail "another output: $(cat other.jsonl)"
[ "$(wc -l < lines.jsonl)" = 7 ] || fail "the previous output was modified"

# Two outputs must not be the same file.
status=0
"$SEEN" crawl -q "$HOST/" $OPTIONS -o - --edges - > out 2> err || status=$?
[ $status = 2 ] && grep -q 'two outputs to standard output' err || fail "exit $status: $(cat err)"
status=0
"$SEEN" crawl -q "$HOST/" $OPTIONS --urls same --edges same 2> err || status=$?
[ $status = 2 ] && grep -q "two outputs to $TMP/same" err || fail "exit $status: $(cat err)"
mkdir folder
ln -s folder link
for pair in same=./same same=link/../same "same=$TMP//same" folder/x=link/x; do # none of them exists
    status=0
    "$SEEN" crawl -q "$HOST/" $OPTIONS --urls "${pair%%=*}" --edges "${pair#*=}" 2> err || status=$?
    [ $status = 2 ] && grep -q 'two outputs to' err || fail "$pair: exit $status: $(cat err)"
    [ ! -e "${pair%%=*}" ] || fail "${pair%%=*} was written"
done
echo kept > same
ln same hard
status=0
"$SEEN" crawl -q "$HOST/" $OPTIONS --urls same --edges hard 2> err || status=$?
[ $status = 2 ] && [ "$(cat same)" = kept ] || fail "two names of one file: exit $status: $(cat err same)"
"$SEEN" crawl -q "$HOST/1" $OPTIONS --urls same --edges folder/same -o - > out
"$SEEN" crawl -q "$HOST/1" $OPTIONS --urls /dev/null --edges /dev/null

# A missing seen-set is not replaced by an empty one, which would cause every page to be fetched again.
"$SEEN" crawl -q "$HOST/" $OPTIONS --max-pages 3 --state shared --filter shared.seen -o shared.jsonl
rm shared.seen
status=0
"$SEEN" crawl -q --state shared --max-pages 0 2> err || status=$?
[ $status = 2 ] && grep -q "$TMP/shared.seen.*restore it, or start a new crawl" err || fail "exit $status: $(cat err)"
[ ! -e shared.seen ] && [ "$(wc -l < shared.jsonl)" = 3 ] || fail "continued without the set"

# URLs excluded when a crawl is resumed are not fetched although they are queued, nor those beyond the depth limit.
"$SEEN" crawl -q "$HOST/" $OPTIONS --max-pages 1 --state narrow -o narrow.jsonl
cp -r narrow flat
"$SEEN" crawl -q --state narrow --max-pages 0 --exclude '/1.$'
[ "$(wc -l < narrow.jsonl)" = 11 ] || fail "fetched although excluded: $(cat narrow.jsonl)"
"$SEEN" crawl --state flat --max-pages 0 --depth 0 -o flat.jsonl 2> err
[ ! -s flat.jsonl ] || fail "fetched although too deep: $(cat flat.jsonl)"
if grep -q stopped err; then fail "still queued: $(cat err)"; fi

# More connections than allowed open files: the limit is raised, or an error is reported, and no page is considered
# lost.
: > log
(ulimit -Sn 16 && "$SEEN" crawl -q "$HOST/" $OPTIONS --retries 0 --connections 64 --per-host 64 -o many.jsonl)
[ "$(grep -c '"status":200' many.jsonl)" = 21 ] || fail "few files: $(cat many.jsonl)"
status=0
(ulimit -n 60 && "$SEEN" crawl -q "$HOST/" $OPTIONS --connections 64 --state few -o few.jsonl 2> err) || status=$?
[ $status = 2 ] && grep -q '64 connections need 152 open files, and 60 are allowed' err || fail "exit $status: $(cat err)"
[ ! -e few ] || fail "a folder was created"

# Slow URL patterns, evaluated for every link, do not keep the crawler from reacting to signals.
: > log
"$SEEN" crawl "http://127.3.0.1:$PORT_SERVER/" $OPTIONS -o denied.jsonl 2> err & crawler=$!
for _ in $(seq 1200); do
    [ ! -s denied.jsonl ] || break
    sleep 0.05
done
kill -INT $crawler
for _ in $(seq 1200); do
    kill -0 $crawler 2> /dev/null || break
    sleep 0.05
done
if kill -9 $crawler 2> /dev/null; then fail "Ctrl-C was ignored: $(cat err)"; fi
wait $crawler || fail "exit $? after Ctrl-C: $(cat err)"
grep -Eq 'stopped with (1.,...|20,000) URLs queued' err || fail "not stopped on the way: $(cat err)"
