# uniq --exact: exact within the memory limit, with temporary files if needed, which are removed.
set -eu
fail() { echo "uniq_exact: $*" >&2; exit 1; }
python3 - "$SEEN" <<'P' || fail "memory or lines"
import hashlib, os, random, resource, subprocess, sys
seen = sys.argv[1]
r = random.Random(3)
with open("in", "w") as f:
    for _ in range(1200000):
        f.write("http://example.org/%x\n" % r.randrange(1000000))
have, want = set(), hashlib.md5()
for line in open("in", "rb"):
    if line not in have:
        have.add(line)
        want.update(line)
distinct = len(have)
del have
os.mkdir("temp")
# With --count-only, also for lines deferred to a temporary file.
for options, count in ("", distinct), ("--duplicates", 1200000 - distinct):
    for memory in 64, 6:
        command = "%s uniq -q --exact --count-only -m %dM -T temp in " % (seen, memory)
        said = subprocess.run(command + options, shell=True, capture_output=True, check=True).stdout
        assert int(said) == count and not os.listdir("temp"), (command, options, said, count)
last = 0
for memory in 12 << 20, 6 << 20:
    for pipe in False, True:
        command = "%s uniq -q --exact -j 2 -m %d -T temp" % (seen, memory)
        command = "cat in | " + command if pipe else command + " in"
        p = subprocess.run(command + " > out", shell=True)
        assert p.returncode == 0
        assert hashlib.md5(open("out", "rb").read()).digest() == want.digest(), command
        assert not os.listdir("temp")
# The peak memory of the last and smallest run, in a separate process.
code = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""
# (A sanitizer's own memory is not limited.)
program = open(seen, "rb").read()
for memory in () if b"__tsan_init" in program or b"__asan_init" in program else (12, 6):
    peak = subprocess.run([sys.executable, "-c", code, seen, "uniq", "-q", "--exact", "-j", "2", "-m",
                           "%dM" % memory, "in"], capture_output=True, check=True).stdout
    assert int(peak) <= (memory + 16) * 1024, (memory, peak)
# Long lines count too, but not once per thread.
with open("long", "wb") as out:
    for i in range(2000000):
        out.write(b"%d\n" % (i * 7919))
        if i % 100000 == 50000:
            out.write(b"%d" % i * 300000 + b"\n")
if b"__tsan_init" not in program and b"__asan_init" not in program:
    peak = subprocess.run([sys.executable, "-c", code, seen, "uniq", "-q", "--exact", "-j", "8", "-m",
                           "36M", "long"], capture_output=True, check=True).stdout
    assert int(peak) <= (36 + 20) * 1024, peak
os.remove("long")
P
# The message for a full disk contains the size needed. (Only if a small one can be mounted.)
mkdir small
if mount -t tmpfs -o size=1m none small 2> /dev/null; then
    code=0
    "$SEEN" uniq -q --exact -m 2M -T small in > out 2> words || code=$?
    left=$(find small -type f | wc -l)
    umount small
    [ $code = 2 ] && grep -q "small is full" words && grep -q "MiB" words || fail "full: $code $(cat words)"
    [ "$left" = 0 ] || fail "temporary files were left"
fi
# A file that is modified between the passes is detected.
seq 300000 > in
cp in other
( sleep 0.05; while [ ! -e stop ]; do touch in; sleep 0.02; done ) &
code=0
"$SEEN" uniq -q -u in > out 2> words || code=$?
touch stop
wait
[ $code = 0 ] || grep -q "in changed" words || fail "changed: $(cat words)"
