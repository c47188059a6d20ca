#!/usr/bin/env python3
"""bench/bindings: the bindings beside what their languages have, in one run on the same keys.

    BUILD=build bench/bindings.py [--keys 1e6] [--rounds 3]

Prints nanoseconds of CPU time per key (best of several interleaved rounds), ratios and the bars of the
project. The packages are built first (bindings/*/check). Languages whose tools are missing are left out.
Keys are URLs of 64 bytes; the error rate is 1%.
"""
import argparse
import gc
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
missed = 0


def bar(good, text):
    global missed
    missed |= not good
    print(("ok    " if good else "MISS  ") + text)


class PureFilter:
    """What a Bloom filter costs in Python itself: 7 bits of two halves of an MD5."""

    def __init__(self, keys):
        self.size = keys * 10
        self.bits = bytearray(self.size // 8 + 1)

    def add(self, key):
        digest = hashlib.md5(key.encode()).digest()
        a, b = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")
        for i in range(7):
            bit = (a + i * b) % self.size
            self.bits[bit >> 3] |= 1 << (bit & 7)


def loop(call, keys):
    for key in keys:
        call(key)


def put_all(table, keys):
    for key in keys:
        table[key] = True


def best(jobs, keys, rounds):
    """Nanoseconds per key of each job: (make, run)."""
    times = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, (make, run, count) in jobs.items():
            made = make()
            fresh = [key[:32] + key[32:] for key in keys]  # whose hash Python has not stored yet
            gc.disable()
            start = time.process_time()
            run(made, fresh)
            times[name].append((time.process_time() - start) / count * 1e9)
            gc.enable()
            del made, fresh
    return {name: min(values) for name, values in times.items()}


def python(keys, rounds):
    import seen
    n = len(keys)
    other = [key[:-1] + "~" for key in keys]
    full = seen.Set(keys, capacity=n)

    def filled(_=None):
        return full
    folder = tempfile.mkdtemp()
    shared = seen.open(os.path.join(folder, "shared"), capacity=n)
    shared.update(keys)
    jobs = {
        "set.add": (set, lambda s, k: loop(s.add, k), n),
        "dict[key] = True": (dict, lambda d, k: put_all(d, k), n),
        "a filter in Python, add": (lambda: PureFilter(n), lambda f, k: loop(f.add, k[:n // 20]), n // 20),
        "an empty C method": (filled, lambda s, k: loop(s._nothing, k), n),
        "seen.Set.add": (lambda: seen.Set(capacity=n), lambda s, k: loop(s.add, k), n),
        "seen.Set.add, growing": (lambda: seen.Set(), lambda s, k: loop(s.add, k), n),
        "key in seen.Set, present": (filled, lambda s, k: loop(s.__contains__, k), n),
        "key in seen.Set, absent": (filled, lambda s, k: loop(s.__contains__, other), n),
        "seen.Set.update(list)": (lambda: seen.Set(capacity=n), lambda s, k: s.update(k), n),
        "seen.Set.add_many(list)": (lambda: seen.Set(capacity=n), lambda s, k: s.add_many(k), n),
        "seen.Set.check_many(list)": (filled, lambda s, k: s.check_many(k), n),
        "shared file, add of a present key": (lambda: shared, lambda s, k: loop(s.add, k[:n // 10]), n // 10),
        "shared file, add of a new key": (
            lambda: seen.open(os.path.join(folder, "new"), "n", capacity=n), lambda s, k: loop(s.add, k[:n // 10]), n // 10),
    }
    ns = best(jobs, keys, rounds)
    print(f"Python {sys.version.split()[0]}, {n:,} keys of {len(keys[0])} bytes        ns per key  x set.add")
    for name, value in ns.items():
        print(f"  {name:<40} {value:12.0f} {value / ns['set.add']:8.2f}")
    size = seen.plan(capacity=n, error_rate=0.01)["bytes"]
    print(f"  memory: {full.nbytes / n:.3f} bytes per key; the C library: {size / n:.3f}")
    over = ns["seen.Set.add"] - ns["an empty C method"]
    ratio = ns["set.add"] / ns["seen.Set.update(list)"]
    bar(over <= 100, f"add takes {over:.0f} ns more than an empty C method (100)")
    bar(ratio >= 8, f"update(list) is {ratio:.1f} x faster than a loop of set.add (8)")
    bar(full.nbytes <= size * 1.01, "memory per key within 1% of the C library's")
    bar(ns["shared file, add of a present key"] <= 500,
        f"adding a present key to a shared file takes {ns['shared file, add of a present key']:.0f} ns (500); "
        f"a new key {ns['shared file, add of a new key']:.0f} ns")
    subprocess.run(["rm", "-rf", folder], check=True)


SCRAPY = """
import hashlib, os, sys, time
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
which, n, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if which == "seen":
    import seen
    make = lambda: seen.open(os.path.join(folder, "requests.seen.bloom"), error_rate=1e-9, alone=True)
    add = lambda s, i: s.add(hashlib.sha1(b"%d" % i).digest())
else:
    from scrapy.dupefilters import RFPDupeFilter
    class Filter(RFPDupeFilter):
        def request_fingerprint(self, request):
            return request
    make = lambda: Filter(folder)
    add = lambda s, i: s.request_seen(hashlib.sha1(b"%d" % i).hexdigest())
before = resident()
s = make()
for i in range(n):
    add(s, i)
memory = resident() - before
s.close() if which == "seen" else s.close("done")
start = time.perf_counter()
s = make()
reopen = time.perf_counter() - start
print(memory / n, reopen * 1000)
"""


def scrapy(n):
    figures = {}
    for which in ("RFPDupeFilter", "seen"):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", SCRAPY, which, str(n), folder], capture_output=True, text=True)
        if done.returncode:
            print("Scrapy: left out", done.stderr.splitlines()[-1:])
            return
        figures[which] = [float(word) for word in done.stdout.split()]
        print(f"  {which:<20} {figures[which][0]:8.1f} bytes per URL, reopened in {figures[which][1]:8.1f} ms")
    ratio = figures["RFPDupeFilter"][0] / figures["seen"][0]
    bar(ratio >= 15, f"Scrapy's filter takes {ratio:.1f} x the memory of seen.scrapy at 1e-9 (15)")
    bar(figures["seen"][1] <= 10, f"reopening takes {figures['seen'][1]:.1f} ms (10)")


def go(n):
    env = dict(os.environ, SEEN_BENCH_KEYS=str(n))
    done = subprocess.run([os.path.join(ROOT, "bindings/go/check"), BUILD, "-run", "xxx", "-bench", ".", "-count", "5"],
                          capture_output=True, text=True, env=env)
    found = re.findall(r"Benchmark(\w+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op", done.stdout)
    if done.returncode or not found:
        print("Go: left out: " + (done.stdout + done.stderr)[-500:])
        return
    ns = {}
    for name, value in found:
        ns[name] = min(float(value), ns.get(name, 1e9))
    print("Go                                                ns per key")
    for name, value in ns.items():
        print(f"  {name:<40} {value:12.0f}")
    bar(ns["AddString"] / ns["AddMany"] >= 6,
        f"AddMany is {ns['AddString'] / ns['AddMany']:.1f} x faster than one call per key (6)")


NODE = """
const { SeenSet } = require(process.argv[1] + '/bindings/node/index.js');
const n = Number(process.argv[2]);
const keys = Array.from({ length: n }, (_, i) => ('https://example.org/' + i).padEnd(64, 'x'));
keys.forEach((key) => Buffer.byteLength(key));
const lines = Buffer.alloc(n * 65, 10); // a string of all of them may be too long
keys.forEach((key, i) => lines.write(key, i * 65, 'latin1'));
const jobs = {
  'Set.add': () => { const s = new Set(); return () => { for (const k of keys) s.add(k); }; },
  'SeenSet.add': () => { const s = new SeenSet({ capacity: n }); return () => { for (const k of keys) s.add(k); }; },
  'SeenSet.has': () => { const s = new SeenSet({ capacity: n }); return () => { for (const k of keys) s.has(k); }; },
  'SeenSet.addMany': () => { const s = new SeenSet({ capacity: n }); return () => s.addMany(keys); },
  'SeenSet.addLines': () => { const s = new SeenSet({ capacity: n }); return () => s.addLines(lines); },
};
const best = {};
for (let round = 0; round < 3; round++) {
  for (const [name, make] of Object.entries(jobs)) {
    const run = make(), start = process.cpuUsage();
    run();
    const used = process.cpuUsage(start);
    best[name] = Math.min(best[name] ?? Infinity, (used.user + used.system) * 1000 / n);
  }
}
for (const [name, value] of Object.entries(best)) console.log(name, value);
"""


def node(n):
    env = dict(os.environ, SEEN_NODE=os.path.join(BUILD, "node/seen.node"))
    try:
        done = subprocess.run(["node", "--max-old-space-size=8000", "-e", NODE, ROOT, str(n)], capture_output=True, text=True, env=env)
    except FileNotFoundError:
        done = None
    if not done or done.returncode:
        print("Node.js: left out" + (": " + done.stderr[-500:] if done else ""))
        return
    ns = {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}
    print("Node.js                                           ns per key")
    for name, value in ns.items():
        print(f"  {name:<40} {value:12.0f}")
    bar(ns["SeenSet.add"] <= 200, f"add takes {ns['SeenSet.add']:.0f} ns (200)")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--keys", type=float, default=1e6)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    if os.path.realpath(sys.executable) != os.path.realpath(PYTHON) or "SEEN_BENCH" not in os.environ:
        subprocess.run([os.path.join(ROOT, "bindings/python/build.sh"), BUILD, os.path.join(BUILD, "python-bench")], check=True)
        env = dict(os.environ, SEEN_BENCH="1", PYTHONPATH=os.path.join(BUILD, "python-bench"))
        os.execve(PYTHON, [PYTHON] + sys.argv, env)
    n = int(given.keys)
    if not os.path.exists(os.path.join(BUILD, "node/seen.node")):
        subprocess.run([os.path.join(ROOT, "bindings/node/check"), BUILD], capture_output=True)
    python([("https://example.org/%d" % i).ljust(64, "x") for i in range(n)], given.rounds)
    scrapy(n)
    go(n)
    node(n)
    sys.exit(missed)


main()
