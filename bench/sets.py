#!/usr/bin/env python3
"""bench/sets: `seen common` beside `wc -l` and `comm` on two sorts, in one run on the same files.

    bench/sets.py [--lines 5e6] [--common 10] [--rounds 3] [--dir DIR] [--threads 2]

Generates A and B of URL lines of about 64 bytes (bench/gen), reads them once so that the cache is
warm, and prints time (best of several; the sorts run once), CPU time, memory and ratios. The bars of
the project are for 50 million lines and 256 MB; with other numbers of lines the memory is scaled.
The programs are found beside each other in the build folder, or named by SEEN and GEN in the
environment. Nothing else should run meanwhile.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

FULL = 50e6
MIB = 1 << 20


def arguments():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lines", type=float, default=5e6)
    p.add_argument("--common", type=float, default=10, help="percent of A that is in B")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--dir", default=os.environ.get("TMPDIR", "/tmp"))
    p.add_argument("--no-sort", action="store_true", help="leave the sorts out: they take long")
    return p.parse_args()


ARGS = arguments()
BUILD = os.environ.get("BUILD", "build")
SEEN = os.environ.get("SEEN", os.path.join(BUILD, "seen"))
GEN = os.environ.get("GEN", os.path.join(BUILD, "bench", "gen"))
LINES = int(ARGS.lines)


def memory(mib):
    """What this much memory at the full size comes to here; some of it does not shrink."""
    return max(16, round(10 + (mib - 10) * LINES / FULL))


def measure(command, rounds, out="/dev/null"):
    """Best seconds, the CPU seconds of that run, and the largest peak memory in MiB."""
    best, cpu, peak = float("inf"), 0, 0
    for _ in range(rounds):
        begin = time.perf_counter()
        with open(out, "wb") as target:
            process = subprocess.Popen(command, stdout=target, stderr=subprocess.DEVNULL,
                                       env=dict(os.environ, LC_ALL="C"))
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit("%s: exit status %d" % (" ".join(command), process.returncode))
        seconds = time.perf_counter() - begin
        if seconds < best:
            best, cpu = seconds, usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss / 1024)
    return best, cpu, peak


def generate(path, *args):
    with open(path, "wb") as out:
        subprocess.run([GEN, *map(str, args)], stdout=out, check=True)


def checksum(command):
    """Of the sorted output, so that comm and we can be compared."""
    text = subprocess.run(command, shell=True, check=True, capture_output=True,
                          env=dict(os.environ, LC_ALL="C")).stdout
    return text.split()[0]


def main():
    rows, bars = {}, []
    with tempfile.TemporaryDirectory(dir=ARGS.dir, prefix="seen-bench-") as folder:
        a, b = folder + "/a", folder + "/b"
        generate(a, LINES, 0, 1)
        generate(b, LINES, 0, 2, ARGS.common, 1)
        size = os.path.getsize(a) + os.path.getsize(b)
        print("%d lines in each of two files, %.1f GB in all, %g%% in common, %d threads" %
              (LINES, size / 1e9, ARGS.common, ARGS.threads))
        print("%-34s %9s %9s %9s %8s" % ("", "seconds", "CPU", "MiB", "x wc -l"))
        threads = ["-j", str(ARGS.threads)]

        def row(name, command, rounds=ARGS.rounds, limit=None):
            seconds, cpu, peak = rows[name] = measure(command, rounds)
            print("%-34s %9.2f %9.2f %9.0f %8.1f" %
                  (name, seconds, cpu, peak, seconds / rows["wc -l A B"][0]))
            sys.stdout.flush()
            if limit:
                bars.append((peak <= limit + 16, "%s: %.0f MiB of %d" % (name, peak, limit)))

        def common(mib, first=a, second=b, *more):
            return [SEEN, "common", "-q", "-m", "%dM" % memory(mib), *threads, *more, first, second]

        subprocess.run(["cat", a, b], stdout=subprocess.DEVNULL, check=True)
        row("wc -l A B", ["wc", "-l", a, b])
        row("common, 256 MB", common(256), limit=memory(256))
        row("common, 256 MB, one thread",
            [x if x != str(ARGS.threads) else "1" for x in common(256)])
        row("common --approx, 256 MB", common(256, a, b, "--approx"), limit=memory(256))
        row("except, 256 MB", [SEEN, "except", *common(256)[2:]], limit=memory(256))
        row("common, 64 MB", common(64), limit=memory(64))
        row("common, equal files, 128 MB", common(128, a, a), limit=memory(128))
        for mib in 512, 1024, 2048:
            row("common, %d MB" % mib, common(mib), limit=memory(mib))
        row("common, default memory", [SEEN, "common", "-q", *threads, a, b])
        duckdb = os.path.join(BUILD, "duckdb")
        if os.path.isdir(duckdb + "/node_modules/@duckdb/node-api"):
            row("DuckDB, SEMI JOIN", ["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "duckdb.mjs"), duckdb,
                                      "semijoin", str(ARGS.threads), a, b, "/dev/null"], rounds=2)
        mem = "%dM" % memory(256)
        if not ARGS.no_sort:
            script = ("sort -S %s -T %s %s > %s/sa && sort -S %s -T %s %s > %s/sb && "
                      "comm -12 %s/sa %s/sb" % (mem, folder, a, folder, mem, folder, b, folder,
                                                folder, folder))
            row("sort, sort, comm -12", ["sh", "-c", script], rounds=1)
            ours = checksum("%s | sort -S 1G | md5sum" % " ".join(common(256)))
            theirs = checksum("comm -12 %s/sa %s/sb | md5sum" % (folder, folder))
            bars.append((ours == theirs, "the answer is that of comm"))
            bars.append((rows["sort, sort, comm -12"][0] >= 15 * rows["common, 256 MB"][0],
                         "common is %.1f x faster than comm on two sorts (15)" %
                         (rows["sort, sort, comm -12"][0] / rows["common, 256 MB"][0])))

    def ratio(one, other):
        return rows[one][0] / rows[other][0]

    for one, other, most in (("common, 256 MB", "wc -l A B", 6),
                             ("common --approx, 256 MB", "wc -l A B", 4),
                             ("common, 64 MB", "common, 256 MB", 3),
                             ("common, equal files, 128 MB", "common, 256 MB", 6)):
        bars.append((ratio(one, other) <= most,
                     "%s takes %.2f x the time of %s (%d)" % (one, ratio(one, other), other, most)))
    sizes = ["common, %d MB" % mib for mib in (64, 256, 512, 1024, 2048)]
    for less, more in zip(sizes, sizes[1:]):
        bars.append((ratio(more, less) <= 1.05, "%s takes %.2f x the time of %s (1.05)" % (more, ratio(more, less), less)))
    print()
    for kept, text in bars:
        print("%s  %s" % ("ok  " if kept else "MISS", text))


main()
