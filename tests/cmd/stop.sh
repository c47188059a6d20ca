# Signals: two signals for one request end a command in order; a copy ends at once and leaves nothing
# behind.
set -eu
python3 - "$SEEN" <<'P'
import os, signal, subprocess, sys, time
seen = sys.argv[1]

def fail(words):
    sys.exit("stop: " + words)

def pending(pid):
    with open("/proc/%d/status" % pid) as file:
        return any(line.startswith("ShdPnd") and line.split()[1].strip("0") for line in file)

# timeout(1) signals the process, and then its process group.
os.mkfifo("pipe")
subprocess.run([seen, "create", "-q", "f.seen", "-n", "1k"], check=True)
for command in ["uniq", "pipe"], ["uniq", "-u", "pipe"], ["common", "pipe", "f.seen"], ["add", "f.seen", "pipe"], ["check", "f.seen", "pipe"]:
    apart = 1
    while apart > 0.05:  # two signals that are apart, because this program had to wait between them, are two requests
        p = subprocess.Popen([seen] + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        writer = os.open("pipe", os.O_WRONLY)  # it reads now
        begin = time.monotonic()
        p.send_signal(signal.SIGTERM)
        p.send_signal(signal.SIGTERM)
        apart = time.monotonic() - begin
        words = p.communicate(timeout=600)[1].decode()
        os.close(writer)
    if p.returncode != -signal.SIGTERM or "stopped" not in words:
        fail("%s, signalled twice at once: %d: %s" % (command, p.returncode, words))

# A closed terminal stops a command like Ctrl-C, but not one started with nohup.
def with_hangups(what):
    return lambda: signal.signal(signal.SIGHUP, what)

for ignored in False, True:
    p = subprocess.Popen([seen, "uniq", "pipe", "-o", "kept"], stderr=subprocess.PIPE, preexec_fn=with_hangups(signal.SIG_IGN if ignored else signal.SIG_DFL))
    writer = os.open("pipe", os.O_WRONLY)
    os.write(writer, b"line\n")
    p.send_signal(signal.SIGHUP)
    if not ignored:
        words = p.communicate(timeout=600)[1].decode()
        if p.returncode != -signal.SIGHUP or "stopped" not in words:
            fail("a hangup: %d: %s" % (p.returncode, words))
        if os.path.exists("kept"):
            fail("a hangup: the output appeared")
    os.close(writer)
    if ignored and (p.wait(timeout=600) != 0 or open("kept").read() != "line\n"):
        fail("a hangup under nohup: %d: %s" % (p.returncode, p.stderr.read()))

# A later second signal ends it at once: here it could not end in order, since its output is not
# read.
p = subprocess.Popen([seen, "uniq", "-q", "-j", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
try:
    os.set_blocking(p.stdin.fileno(), False)
    number = 0
    full = time.monotonic()
    while time.monotonic() - full < 1:
        try:
            number += 1
            os.write(p.stdin.fileno(), b"%099d\n" % number)
            full = time.monotonic()
        except BlockingIOError:
            time.sleep(0.05)
    p.send_signal(signal.SIGINT)
    while pending(p.pid):  # two pending signals are merged into one
        time.sleep(0.05)
    time.sleep(0.5)
    if p.poll() is not None:
        fail("it did not wait for the reader of its output")
    p.send_signal(signal.SIGINT)
    if p.wait(timeout=600) != -signal.SIGINT:
        fail("asked again: %d" % p.returncode)
finally:
    p.kill()

subprocess.run([seen, "create", "-q", "big.seen", "-n", "150M"], check=True)
before = sorted(os.listdir("."))
here = os.getcwd() + "/"

def writes(pid):
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            name = os.readlink("/proc/%d/fd/%s" % (pid, fd))
        except FileNotFoundError:
            continue
        if name.startswith(here) and name != here + "big.seen":
            return True

for number in signal.SIGINT, signal.SIGHUP:
    p = subprocess.Popen([seen, "copy", "big.seen", "copy.seen"], preexec_fn=with_hangups(signal.SIG_DFL))
    while not writes(p.pid):
        if p.poll() is not None:
            fail("the copy ended before it could be stopped")
    p.send_signal(number)
    if p.wait(timeout=600) != -number:
        fail("copy: %d" % p.returncode)
try:
    os.close(os.open(".", os.O_TMPFILE | os.O_RDWR))
except OSError:
    sys.exit(0)  # files have names on this file system
if sorted(os.listdir(".")) != before:
    fail("left behind: %s" % os.listdir("."))
P
