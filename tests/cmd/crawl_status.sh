# What an operator sees of a shared crawl: pages over time; the slowest host at its own delay, why nothing is fetched, each worker; and
# --watch waits for a server that is down.
set -eu
. "$ROOT/tests/sites/nginx.sh"
command -v redis-server > /dev/null || exit 77
python3 -c 'import socket; socket.socket().bind(("127.1.0.1", 0))' 2> /dev/null || exit 77
"$SEEN" crawl --join redis://127.0.0.1:1/x 2> probe || true
if grep -q "no Redis" probe; then exit 77; fi
. "$ROOT/tests/redis/server.sh"
trap 'stop_redis; stop_servers' EXIT
start_redis
until_status() { # text, options
    local text=$1
    shift
    for _ in $(seq 120); do
        "$SEEN" crawl status "$URL/web" "$@" > status 2> error || true # not created yet
        if grep -q "$text" status; then return 0; fi
    done
    fail "status has no \"$text\": $(cat status error)"
}
# The report of a crawl that takes some seconds has each page once, spread over the time.
start_server web.py "$TMP/log0" 150 3
"$SEEN" crawl --summary --allow-private --join "$URL/short" "http://127.1.0.1:$PORT_SERVER/section-0/page-0.html" --scope all \
    --delay 100ms --lease 1s -o short.jsonl 2> error || fail "$(cat error)"
grep -q 'the whole crawl is done: 150 pages, ' error || fail "$(cat error)"
"$SEEN" crawl report "$URL/short" --html report.html
python3 - << 'PY' || fail "the times of the report: $(grep -o '"seconds":.*"rates":[^]]*' report.html)"
import re, sys
seconds, rates = re.search(r'"seconds":(\d+),"width":1,"rates":\[([\d,]+)\]', open("report.html").read()).groups()
rates = list(map(int, rates.split(",")))
sys.exit(not (sum(rates) == 150 and int(seconds) >= 4 and max(rates) < 75))
PY
# The progress line of a worker says why it waits, it takes no processor time for that, and it continues.
python3 - "$URL/waits" "http://127.1.0.1:$PORT_SERVER/section-0/page-0.html" "$TMP/log0" << 'PY' || fail "a worker that waits"
import atexit, os, pty, subprocess, sys, threading, time
seen, (address, start, log) = os.environ["SEEN"], sys.argv[1:]


class Worker:
    def __init__(self, *args):
        self.drawn, (self.master, slave) = b"", pty.openpty()
        self.process = subprocess.Popen([seen, "crawl", "--join", address, "--allow-private", *args], stderr=slave)
        atexit.register(self.process.kill)
        os.close(slave)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while part := os.read(self.master, 65536):
                self.drawn += part
        except OSError:
            pass  # it has ended

    def until(self, text):
        for _ in range(600):
            if text in self.drawn:
                return
            time.sleep(0.1)
        sys.exit(f"not drawn: {text} in {self.drawn[-500:]}")

    def seconds(self):
        stat = open(f"/proc/{self.process.pid}/stat").read().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def requests():
    return len(open(log).readlines())


def command(*words):
    subprocess.run([seen, "crawl", *words, address], check=True, stderr=subprocess.DEVNULL)


first = Worker(start, "--delay", "200ms", "-o", "waits.1.jsonl")
first.until(b", 1 host")
second = Worker("-o", "waits.2.jsonl")
second.until(b"no host is free: 0 pages")
command("pause")
first.until(b"paused: ")
before, began = first.seconds(), requests()
time.sleep(2)
used = first.seconds() - before
assert used < 0.5, f"{used} s of processor time in 2 s"
assert requests() <= began + 2, "a request while it was paused"
command("resume")
for _ in range(600):
    if requests() > began + 3:
        break
    time.sleep(0.1)
assert requests() > began + 3, "it does not continue"
command("stop")
assert first.process.wait() == 0 and second.process.wait() == 0
PY
# A worker that is stopped reports how many URLs are left now, not at its last heartbeat; the last worker of a crawl in
# which another one was killed does not report its sums as exact.
part() { # signal, lease
    rm -f part.jsonl
    "$SEEN" crawl --summary --allow-private --join "$URL/part" "http://127.1.0.1:$PORT_SERVER/section-0/page-0.html" \
        --scope all --delay 20ms --lease "$2" -o part.jsonl 2> error &
    until [ "$(cat part.jsonl 2> /dev/null | wc -l)" -gt 8 ]; do
        kill -0 $! || fail "the worker ended: $(cat error)"
        sleep 0.05
    done
    kill "$1" $!
    wait $! 2> /dev/null || true
}
part -INT 60s
"$SEEN" crawl status "$URL/part" > status
left=$(sed -n 's/^  waiting   \([0-9]*\) URL.*/\1/p' status)
grep -q "stopped; the crawl has $left URLs\? left: " error || fail "not $left: $(cat error)"
"$SEEN" crawl drop "$URL/part"
part -KILL 1s
"$SEEN" crawl --summary --allow-private --join "$URL/part" -o rest.jsonl 2> error || fail "$(cat error)"
grep -Eq 'the whole crawl is done: about [0-9]+ pages, ' error || fail "$(cat error)"
# Its robots.txt asks for a longer delay than that of the crawl.
start_server web.py "$TMP/log" 200 3 --crawl-delay 2
"$SEEN" crawl -q --allow-private --join "$URL/web" "http://127.1.0.1:$PORT_SERVER/section-0/page-0.html" --scope all \
    --delay 10ms --lease 1s --worker first -o pages.jsonl &
until_status 'slowest .* URLs\?, .* at its delay of 2 s'
until_status 'first .* pages\?, .*/s, .* requests\?, [1-9][0-9]* hosts\?, heartbeat .* ago'
until_status '"slowest_delay_ms": 2000' --json
mv status running.json
"$SEEN" crawl pause "$URL/web"
until_status 'paused: seen crawl resume continues it'
until_status 'paused: seen crawl resume continues it' --json
# docs/fleet.md explains the fields of --json, and no others.
python3 - "$ROOT/docs/fleet.md" running.json status << 'PY' || fail "docs/fleet.md has other fields than --json"
import json, re, sys
printed = set()
for name in sys.argv[2:]:
    status = json.load(open(name))
    printed |= set(status) | {"workers[]." + field for worker in status["workers"] for field in worker}
table = re.search(r"With `--json`.*?\n\n(\|.*?)\n\n", open(sys.argv[1], encoding="utf-8").read(), re.DOTALL).group(1)
listed = {field for line in table.splitlines() for field in re.findall(r"`([^`]+)`", line.split("|")[1])}
print("not listed:", printed - listed, "not printed:", listed - printed, file=sys.stderr)
sys.exit(printed != listed or len(printed) < 25)
PY
"$SEEN" crawl resume "$URL/web"
# A server that does not answer.
kill -STOP "$SERVER"
until_status 'requests wait for an answer'
kill -CONT "$SERVER"
kill -9 $!
wait $! 2> /dev/null || true
until_status 'no worker is live'
# The server goes away, and comes back without the crawl.
"$SEEN" crawl status "$URL/web" --watch > watch 2> watch.err &
watch=$!
for _ in $(seq 200); do
    [ ! -s watch ] || break
    sleep 0.05
done
stop_redis
for _ in $(seq 400); do
    ! grep -q 'trying again' watch.err || break
    sleep 0.05
done
grep -q 'cannot connect to .*; trying again' watch.err || fail "watch: $(cat watch.err)"
kill -0 $watch || fail "the watch ended: $(cat watch.err)"
redis-server --port "$PORT" --bind 127.0.0.1 --save '' --dir "$TMP/redis" > /dev/null 2>&1 &
REDIS_PID=$!
status=0
wait $watch || status=$?
[ $status = 2 ] || fail "status $status"
grep -q 'there is no crawl of this name' watch.err || fail "watch: $(cat watch.err)"
