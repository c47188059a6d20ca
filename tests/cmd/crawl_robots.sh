# Fetching robots.txt: redirects, incomplete responses, servers that ask for a pause.
set -eu
. "$ROOT/tests/sites/nginx.sh"
python3 -c 'import socket; socket.socket().bind(("127.4.0.1", 0))' 2> /dev/null || exit 77
start_server robots.py "$TMP/log"
# One connection, so that the order is known; half of the requested delay is accepted, because a busy
# machine may handle a request late.
OPTIONS="--allow-private --delay 0 --per-host 1 --retries 1 --backoff 100ms"
crawl() { # last byte of the address, options
    : > log
    "$SEEN" crawl -q "http://127.4.0.$1:$PORT_SERVER/" $OPTIONS -o pages.jsonl "${@:2}"
}
expect() { # what, paths in the order of the requests
    awk '{ print $3 }' log > asked
    printf '%s\n' "${@:2}" | diff - asked > difference || fail "$1: $(cat log)"
}

# The redirect target is requested as it is, regardless of options that drop parts of URLs.
crawl 1 --drop-tracking
expect "--drop-tracking" /robots.txt '/robots.txt?utm_source=x' / /yes

# Incomplete rules are invalid: requested again, then the host is skipped.
status=0
crawl 2 2> err || status=$?
expect "truncated" /robots.txt /robots.txt
[ $status = 2 ] && grep -q 'could not be fetched: robots.txt unavailable' err || fail "exit $status: $(cat err)"
# Of more than a mebibyte, only whole lines are used.
crawl 3
expect "long" /robots.txt / /yes

# Without rules, but with Retry-After.
crawl 4
expect "429" /robots.txt / /yes /no
python3 - << 'PY' || fail "Retry-After was not obeyed: $(cat log)"
times = [float(line.split()[0]) for line in open("log")]
assert times[1] - times[0] >= 0.5, times
PY

# Redirects observe the delay of the host, and if many hosts redirect to one, that of the target.
crawl 5 --delay 1s
expect "redirected" /robots.txt /r2 /r3 / /yes
python3 - << 'PY' || fail "redirected without a pause: $(cat log)"
times = [float(line.split()[0]) for line in open("log")]
assert times[2] - times[0] >= 1, times
PY
: > log
urls=$(for n in 6 7 8 9; do echo "http://127.4.0.$n:$PORT_SERVER/"; done)
"$SEEN" crawl -q $urls $OPTIONS --delay 1s -o pages.jsonl
for n in 6 7 8 9; do
    [ "$(grep -c " 127.4.0.$n /yes\| 127.4.0.10 /of/$n" log)" = 2 ] || fail "rules elsewhere: $(cat log)"
    if grep -q " 127.4.0.$n /no" log; then fail "the rules of $n: $(cat log)"; fi
done
python3 - << 'PY' || fail "four at once: $(cat log)"
times = [float(line.split()[0]) for line in open("log") if " 127.4.0.10 " in line]
assert len(times) == 4 and times[3] - times[0] >= 1.5, times
PY

# Retry-After is for the host that answers: it gets no more requests for the rules of others, but those whose rules it
# refused are not held.
: > log
"$SEEN" crawl -q "http://127.4.0.11:$PORT_SERVER/" "http://127.4.0.12:$PORT_SERVER/" $OPTIONS --delay 1s --depth 0 -o pages.jsonl
python3 - << 'PY' || fail "Retry-After of rules elsewhere: $(cat log)"
lines = [line.split() for line in open("log")]
times = [float(time) for time, host, path in lines if host == "127.4.0.13"]
homes = [float(time) for time, host, path in lines if path == "/"]
assert len(times) == len(homes) == 2 and times[1] - times[0] >= 3 and homes[0] < times[1], times
PY
