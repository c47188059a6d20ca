# Progress on a terminal: drawn if nothing else is printed there, and never between results.
set -eu
seq 3 > in
"$SEEN" create -q f.seen -n 100 -p 1e-9
for i in 1 2 3 4; do echo "line$i"; done > lines
"$SEEN" add -q f.seen lines
cat > terminal.py << 'END'
import concurrent.futures, os, pty, re, subprocess, sys, threading, time

SLOW = [b"line1\n", b"line2\n", b"line3\n", b"line4\n"]


def run(args, results_too, until=None):
    """What a terminal gets from a command that is fed slowly, and for as long as it takes until `until` is printed."""
    master, slave = pty.openpty()
    env = dict(os.environ, TERM="xterm")
    p = subprocess.Popen([os.environ["SEEN"]] + args, stdin=subprocess.PIPE, stderr=slave, env=env,
                         stdout=slave if results_too else subprocess.DEVNULL)
    os.close(slave)
    got = []

    def read():
        try:
            while part := os.read(master, 65536):
                got.append(part)
        except OSError:
            pass  # the other end is closed

    reader = threading.Thread(target=read)
    reader.start()
    for line in SLOW:
        p.stdin.write(line)
        p.stdin.flush()
        time.sleep(0.4)
    limit = time.monotonic() + 60
    while until and until not in b"".join(got) and time.monotonic() < limit:
        time.sleep(0.4)
        p.stdin.write(SLOW[-1])
        p.stdin.flush()
    p.stdin.close()
    assert p.wait() == 0, (args, got)
    reader.join()
    os.close(master)
    return b"".join(got)


printing = [["uniq"], ["uniq", "-o", "-"], ["check", "f.seen"], ["except", "-", "in"]]
quiet = [["uniq", "--count-only"], ["uniq", "-o", "out"], ["add", "f.seen"]]
with concurrent.futures.ThreadPoolExecutor(20) as pool:
    shared = [(args, pool.submit(run, args, True)) for args in printing]
    alone = [(args, pool.submit(run, args, False, b"\x1b[K")) for args in printing]
    alone += [(args, pool.submit(run, args, True, b"\x1b[K")) for args in quiet]
    asked = pool.submit(run, ["uniq", "--progress"], True, b"seen: uniq: ")
    silent = pool.submit(run, ["uniq", "-q"], False)
for args, result in shared:
    lines = result.result().replace(b"\r\n", b"\n").splitlines(True)
    assert lines[:4] == SLOW and not any(c in b"".join(lines) for c in b"\r\x1b"), (args, lines)
for args, result in alone:
    assert b"\x1b[K" in result.result(), (args, result.result())
# On request, it is printed as separate lines.
text = asked.result().replace(b"\r\n", b"\n")
assert b"\x1b" not in text and b"\nseen: uniq: " in b"\n" + text, text
assert silent.result() == b"", "-q"

# A job that has no measure shows how long it has been running: here a server never answers. Tried again on a machine so
# slow that the second was missed.
if b" redis" in subprocess.run([os.environ["SEEN"], "--version"], capture_output=True).stdout:
    import socket
    server = socket.create_server(("127.0.0.1", 0))
    words = [os.environ["SEEN"], "copy", "f.seen", "redis://127.0.0.1:%d/x" % server.getsockname()[1],
             "--command-timeout", "1500ms", "--retry", "1ms"]
    for _ in range(5):
        master, slave = pty.openpty()
        p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=slave, stdout=slave, env=dict(os.environ, TERM="xterm"))
        os.close(slave)
        text = b""
        try:
            while part := os.read(master, 65536):
                text += part
        except OSError:
            pass
        os.close(master)
        assert p.wait() == 2, text
        if b"\rcopy: 1.0 s\x1b[K" in text:
            break
    assert b"\rcopy: 1.0 s\x1b[K" in text, text
    # The message has a line of its own, and no clock is left behind it.
    assert re.search(rb"\r\x1b\[K(\x1b\[1;31m)?seen:[^\r\n]*\r\n((\rcopy: [^\r]*)+\r\x1b\[K)?$", text), text
END
python3 terminal.py
