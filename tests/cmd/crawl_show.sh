# Progress of a crawl: JSON on request, a line that is redrawn on a terminal.
set -eu
. "$ROOT/tests/sites/nginx.sh"
start_server moves.py "$TMP/log"
URL=http://127.3.0.2:$PORT_SERVER/home
OPTIONS="--allow-private --delay 700ms -o pages.jsonl"

"$SEEN" crawl "$URL" $OPTIONS --progress=json 2> err || fail "exit $?: $(cat err)"
python3 - << 'PY' || fail "not the JSON it should be: $(cat err)"
import json
lines = [json.loads(line) for line in open("err")]
assert len(lines) >= 3, lines
assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True], lines
assert all(line["what"] == "crawl" for line in lines)
assert all(a["pages"] <= b["pages"] and a["seconds"] <= b["seconds"] for a, b in zip(lines, lines[1:]))
last = lines[-1]
assert last["pages"] == last["ok"] == 4 and last["queued"] == last["failed"] == 0 and last["hosts"] == 1, last
assert 0 < last["fill"] < 0.01 and last["error_rate"] < 1e-6, last
PY

# On a terminal, with Ctrl-C while a page is in progress.
cat > terminal.py << 'PY'
import fcntl, os, pty, re, signal, struct, sys, termios
columns, path = int(sys.argv[1]), sys.argv[2]
pid, fd = pty.fork()
if pid == 0:
    os.execv(path, sys.argv[2:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
seen, stopped = b"", False
while True:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    seen += part
    if not stopped and "/slow" in open("log").read():
        os.kill(pid, signal.SIGINT)
        stopped = True
status = os.waitpid(pid, 0)[1]
open("shown", "wb").write(seen)
assert os.waitstatus_to_exitcode(status) == 0, status
text = seen.decode()
# Redrawn, never wider than the terminal; parts that do not fit are omitted completely.
lines = re.findall(r"\r([^\r\x1b\n]+)\x1b\[K", text)
usual = r"(stopping: )?(1 page|\d+ pages), \d+/s, \d+ queued, \d+ bytes, 0 failed, 1 host"
full = ", set 0% full" if columns == 80 else ", set 0% full, error rate below 1e-12"
assert len(lines) > 3, text
for line in lines[2:]:
    assert len(line) < columns and re.fullmatch(usual + full, line), line
assert any(line.startswith("stopping: ") for line in lines), lines
assert text.count("stopping when the 1 page in progress is done; press Ctrl-C again to stop at once") == 1, text
# The last one is erased before the summary.
end = text[text.rindex("\r\x1b[K"):]
assert re.match(r"\r\x1b\[Kseen: [23] pages, ", end), end
PY
for columns in 80 120; do
    : > log
    python3 terminal.py $columns "$SEEN" crawl "http://127.3.0.5:$PORT_SERVER/" $OPTIONS ||
        fail "a terminal of $columns columns: $(cat -v shown)"
done
