#!/usr/bin/env python3
"""bench/stream: `seen uniq` and `seen count` beside the tools that people use, in one run on one file.

    bench/stream.py [--lines 5e6] [--duplicates 40] [--rounds 5] [--dir DIR] [--only WORD]

Generates URL lines of about 64 bytes (bench/gen), reads them once so that the cache is warm, and
prints time (best of several; the slow tools run once), memory, and ratios. Ends with the bars of the
project and whether they hold. The programs are found beside each other in the build folder, or
named by SEEN and GEN in the environment. Nothing else should run meanwhile.
"""
import argparse, os, shutil, signal, subprocess, sys, tempfile, time


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lines", type=float, default=5e6)
    p.add_argument("--duplicates", type=float, default=40)
    p.add_argument("--rounds", type=int, default=4)
    p.add_argument("--dir", default=os.environ.get("TMPDIR", "/tmp"))
    p.add_argument("--only", default="", help="only rows whose name has this text; several are divided by |")
    return p.parse_args()


ARGS = arguments()
BUILD = os.environ.get("BUILD", "build")
SEEN = os.environ.get("SEEN", os.path.join(BUILD, "seen"))
GEN = os.environ.get("GEN", os.path.join(BUILD, "bench", "gen"))


def run_once(stages, out, source):
    """Runs a pipeline; gives seconds, CPU seconds and the peak memory in bytes of each stage."""
    env = dict(os.environ, LC_ALL="C")
    begin = time.perf_counter()
    pids, before = [], os.open(source, os.O_RDONLY) if source else None
    for i, stage in enumerate(stages):
        last = i + 1 == len(stages)
        target = open(out, "wb") if last else None
        ends = (None, None) if last else os.pipe()
        process = subprocess.Popen(stage, stdin=before, stdout=target if last else ends[1],
                                   stderr=subprocess.DEVNULL, env=env)
        for fd in (before, ends[1]):
            if fd is not None:
                os.close(fd)
        if target:
            target.close()
        before = ends[0]
        pids.append(process)
    peaks, cpu = [], 0
    for process in pids:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        peaks.append(usage.ru_maxrss * 1024)
        cpu += usage.ru_utime + usage.ru_stime
        closed = process is not pids[-1] and process.returncode == -signal.SIGPIPE  # by head, say
        if process.returncode and not closed:
            raise SystemExit("%s failed: %d" % (process.args, process.returncode))
    return time.perf_counter() - begin, cpu, peaks


class Table:
    def __init__(self):
        self.rows = {}

    def measure(self, name, stages, out="/dev/null", rounds=None, which=0, makes=None, source=None):
        """`which`: the stage whose memory is told; `makes`: a file that the
        command writes itself; `source`: its standard input."""
        if ARGS.only and not any(part in name for part in ARGS.only.split("|")):
            return
        best, least, peak = 1e9, 1e9, 0
        for _ in range(rounds or ARGS.rounds):
            for path in (out, makes):
                if path and path != "/dev/null" and os.path.exists(path):
                    os.unlink(path)
            seconds, cpu, peaks = run_once(stages, out, source)
            best, least = min(best, seconds), min(least, cpu)
            peak = max(peak, peaks[which])
        self.rows[name] = (best, peak)
        base = self.rows.get("seen uniq")
        wc = self.rows.get("wc -l")
        print("%-36s %9.3f s %7.2f s %8.1f MB %s %s" % (
            name, best, least, peak / 1e6,
            "%8.2f x" % (best / base[0]) if base else " " * 10,
            "%8.2f x" % (best / wc[0]) if wc else ""), flush=True)

    def seconds(self, name):
        return self.rows[name][0] if name in self.rows else None


def tools(file, half):
    """The tools that people use, where they are installed."""
    rows = [("sort -u -S 256M", ["sort", "-u", "-S", "256M", file]),
            ("sort -u, half the memory", ["sort", "-u", "-S", half, file]),
            ("mawk '!s[$0]++'", ["mawk", "!s[$0]++", file]),
            ("gawk '!s[$0]++'", ["gawk", "!s[$0]++", file]),
            ("perl -ne 'print unless $s{$_}++'", ["perl", "-ne", "print unless $s{$_}++", file])]
    return [(name, command) for name, command in rows if shutil.which(command[0])]


def duckdb(*job):
    """The command that lets DuckDB do a job, or nothing if tools/duckdb has not installed it."""
    folder = os.path.join(BUILD, "duckdb")
    if not os.path.isdir(os.path.join(folder, "node_modules/@duckdb/node-api")) or not shutil.which("node"):
        return None
    return ["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "duckdb.mjs"), folder, *job]


def bars(table, distinct):
    t = table.seconds
    others = [n for n in table.rows if n.startswith(("sort -u", "mawk", "gawk", "perl", "unique")) and not n.endswith("> file")]
    to_file = [n for n in table.rows if n.startswith(("sort -u", "unique")) and n.endswith("> file")]
    checks = []
    if others and t("seen uniq"):
        fastest = min(others, key=t)
        checks += [("at least 15 x %s" % fastest, t(fastest) / t("seen uniq"), ">=", 15)]
    if to_file and t("seen uniq > file"):
        fastest = min(to_file, key=t)
        checks += [("at least 15 x %s" % fastest, t(fastest) / t("seen uniq > file"), ">=", 15)]
    if t("DuckDB, SELECT DISTINCT") and t("seen uniq"):
        checks += [("faster than DuckDB", t("DuckDB, SELECT DISTINCT") / t("seen uniq"), ">=", 1)]
    pairs = [("exact, at most 5 x wc -l", "seen uniq", "wc -l", 5),
             ("one thread at most 2 x two", "seen uniq -j 1", "seen uniq", 2),
             ("--approx at most 4 x wc -l", "seen uniq --approx", "wc -l", 4),
             ("in a quarter of the memory at most 3 x", "seen uniq, a quarter of the memory", "seen uniq", 3),
             ("pipes at most 2 x", "cat | seen uniq | cat", "seen uniq", 2)]
    for words, a, b, bound in pairs:
        if t(a) and t(b):
            checks.append((words, t(a) / t(b), "<=", bound))
    if "seen uniq" in table.rows and distinct > 2e6:
        checks.append(("bytes per distinct line", table.rows["seen uniq"][1] / distinct, "<=", 16))
    if t("sort | uniq -c | sort -rn | head") and t("seen count --top 10"):
        checks.append(("count --top 10 at least 10 x the sorts",
                       t("sort | uniq -c | sort -rn | head") / t("seen count --top 10"), ">=", 10))
    if "seen count --top 10, 64 MB" in table.rows:
        checks.append(("count --top 10 -m 64M: MB", table.rows["seen count --top 10, 64 MB"][1] / 1e6, "<=", 90))
    print()
    failed = 0
    for words, value, relation, bound in checks:
        good = value >= bound if relation == ">=" else value <= bound
        failed += not good
        print("%-4s %-48s %8.2f  (%s %g)" % ("ok" if good else "MISS", words, value, relation, bound))
    return failed


def main():
    folder = tempfile.mkdtemp(prefix="seen-bench.", dir=ARGS.dir)
    file, out = os.path.join(folder, "in"), os.path.join(folder, "out")
    try:
        with open(file, "wb") as target:
            subprocess.run([GEN, str(int(ARGS.lines)), str(ARGS.duplicates), "1"], stdout=target, check=True)
        size = os.path.getsize(file)
        distinct = int(subprocess.run([SEEN, "uniq", "-q", "--count-only", file], stdout=subprocess.PIPE,
                                      check=True).stdout)
        print("%d lines, %d distinct, %.0f MB" % (ARGS.lines, distinct, size / 1e6))
        print("%-36s %11s %9s %11s %10s %10s" % ("", "time", "CPU", "memory", "/ seen", "/ wc -l"))
        half = "%dK" % (os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2048)
        quarter = str(16 * distinct // 4)
        table = Table()
        table.measure("wc -l", [["wc", "-l", file]])
        uniq = [SEEN, "uniq", "-q", "-j", "2"]
        table.measure("seen uniq", [uniq + [file]])
        table.measure("seen uniq -j 1", [[SEEN, "uniq", "-q", "-j", "1", file]])
        table.measure("seen uniq, a quarter of the memory", [uniq + ["-m", quarter, "-T", folder, file]])
        table.measure("seen uniq, 64 MB", [uniq + ["-m", "64M", "-T", folder, file]])
        table.measure("seen uniq --approx", [uniq + ["--approx", file]])
        table.measure("seen uniq -u", [uniq + ["-u", file]])
        count = [SEEN, "count", "-q", "-j", "2", "--top", "10"]
        table.measure("seen count --top 10", [count + [file]])
        table.measure("seen count --top 10, 64 MB", [count + ["-m", "64M", "-T", folder, file]])
        table.measure("cat | seen uniq | cat", [["cat", file], uniq, ["cat"]], which=1)
        table.measure("seen uniq > file", [uniq + [file]], out)
        table.measure("seen uniq -o file", [uniq + [file, "-o", out]], makes=out)
        for name, command in tools(file, half):
            table.measure(name, [command], rounds=1)
            if name == "sort -u -S 256M":
                table.measure(name + " > file", [command], out, rounds=1)
        table.measure("sort | uniq -c | sort -rn | head",
                      [["sort", "-S", "256M", file], ["uniq", "-c"], ["sort", "-rn", "-S", "256M"], ["head"]], rounds=1)
        if duckdb():
            table.measure("DuckDB, SELECT DISTINCT", [duckdb("distinct", "2", file, "/dev/null")], rounds=2)
            table.measure("DuckDB, SELECT DISTINCT > file", [duckdb("distinct", "2", file, out)], rounds=1, makes=out)
        if shutil.which("unique"):  # john's: it writes a file of its own
            table.measure("unique > file", [["unique", out]], rounds=1, makes=out, source=file)
            table.rows.setdefault("unique", table.rows.get("unique > file", (1e9, 1e18)))
        return bars(table, distinct) and 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
