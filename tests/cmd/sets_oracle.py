#!/usr/bin/env python3
"""Makes inputs for common and except, and the right answers, from Python's own sets.

    sets_oracle.py make DIR           writes DIR/NAME.a, DIR/NAME.b and DIR/NAME.c
    sets_oracle.py common|except [-u] [--all] [-z] A B...
    sets_oracle.py rss LIMIT-MIB COMMAND...   runs it; fails where its peak memory is more
"""
import random
import resource
import subprocess
import sys


def make(folder):
    random.seed(20240607)

    def put(name, side, lines, end=b"\n", last=True):
        with open("%s/%s.%s" % (folder, name, side), "wb") as out:
            out.write(end.join(lines) + (end if last and lines else b""))

    def urls(count, low, high):
        return [b"https://example.org/path/%d?q=1" % random.randrange(low, high)
                for _ in range(count)]

    put("random", "a", urls(20000, 0, 20000))
    put("random", "b", urls(20000, 10000, 30000))
    put("random", "c", urls(20000, 5000, 25000))
    for side in "abc":
        put("equal", side, urls(1, 7, 8) * 5000)
    same = urls(5000, 0, 10**12)
    for side in "abc":
        put("same", side, same if side == "a" else random.sample(same, len(same)))
    for at, side in enumerate("abc"):
        put("different", side, [b"%s-%d" % (side.encode(), i) for i in range(5000)])
    for side in "abc":
        put("one", side, [b"line"] if side != "c" else [b"other"])
    for name, empty in (("empty-a", "a"), ("empty-b", "b"), ("empty-all", "abc")):
        for side in "abc":
            put(name, side, [] if side in empty else urls(100, 0, 50))
    for side in "abc":
        put("blank", side, [b"", b"x", b"", b"%s" % side.encode(), b""])
    long = [bytes([random.randrange(97, 123)]) * random.randrange(1, 300000) for _ in range(30)]
    for side in "abc":
        put("long", side, random.sample(long, 20) + [b"short"])
    for side in "abc":
        put("unfinished", side, urls(1000, 0, 500), last=side == "b")
    for side in "abc":
        put("crlf", side, [b"%d%s" % (random.randrange(500), random.choice([b"", b"\r"]))
                           for _ in range(1000)])
    for side in "abc":
        put("nul", side, [b"%d\nx%d" % (random.randrange(500), random.randrange(2))
                          for _ in range(1000)], end=b"\0", last=side == "b")
    for side in "abc":
        put("binary", side, [random.randbytes(random.randrange(4)).replace(b"\n", b"")
                             for _ in range(3000)])


def read(path, end):
    with open(path, "rb") as source:
        lines = source.read().split(end)
    if lines[-1] == b"":
        lines.pop()
    return lines


def answer(args):
    flags = [a for a in args if a.startswith("-")]
    what, first, *others = [a for a in args if not a.startswith("-")]
    end = b"\0" if "-z" in flags else b"\n"
    sets = [set(read(path, end)) for path in others]
    test = all if "--all" in flags else any
    lines = [x for x in read(first, end) if test(x in s for s in sets) == (what == "common")]
    if "-u" in flags:
        lines = list(dict.fromkeys(lines))
    sys.stdout.buffer.write(b"".join(x + end for x in lines))


def rss(limit, command):
    status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    if status != 0:
        sys.exit("exit status %d" % status)
    if peak > float(limit):
        sys.exit("peak memory %.1f MiB, allowed are %s" % (peak, limit))


if sys.argv[1] == "make":
    make(sys.argv[2])
elif sys.argv[1] == "rss":
    rss(sys.argv[2], sys.argv[3:])
else:
    answer(sys.argv[1:])
