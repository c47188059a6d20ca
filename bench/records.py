#!/usr/bin/env python3
"""bench/records: keys of CSV and JSON lines, compared with Miller and with plain lines.

    bench/records.py [--records 1e6] [--rounds 5] [--dir DIR]

Creates a CSV file of six columns (one in five fields quoted) and a file of JSON objects with
eight members, and removes duplicates by two columns and by one member. Plain lines are the same
files without --csv and --jsonl: the same bytes, compared as whole lines. Rounds are interleaved;
the best of each counts. Ends with the limits of the project and whether they hold. SEEN names the
command.
"""
import argparse, json, os, random, shutil, subprocess, tempfile, time


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--records", type=float, default=1e6)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--dir", default=os.environ.get("TMPDIR", "/tmp"))
    return p.parse_args()


ARGS = arguments()
SEEN = os.environ.get("SEEN", os.path.join(os.environ.get("BUILD", "build"), "seen"))


def write_csv(path, count):
    rng = random.Random(1)
    words = ["alpha", "beta, or so", 'the "gamma"', "delta", "a line\nand another"]
    with open(path, "w") as out:
        out.write("id,url,user,title,size,time\n")
        for i in range(count):
            user = rng.randrange(count // 2)
            title = words[i % 5]
            if i % 5 in (1, 2, 4):
                title = '"%s"' % title.replace('"', '""')
            out.write("%d,https://www.example.org/articles/%d/%x,user%d,%s,%d,2026-01-%02dT12:00:00Z\n"
                      % (i, user % 100000, user, user, title, user % 9999, i % 28 + 1))


def write_json(path, count):
    rng = random.Random(2)
    with open(path, "w") as out:
        for i in range(count):
            user = rng.randrange(count // 2)
            out.write('{"id": %d, "url": "https://www.example.org/articles/%d/%x", "user": {"id": %d, "name": "user %d"}, '
                      '"title": "a \\"quoted\\" title", "tags": ["a", "b"], "size": %d, "ok": true, "time": "2026-01-%02dT12:00:00Z"}\n'
                      % (i, user % 100000, user, user, user, user % 9999, i % 28 + 1))


def best(rows, rounds):
    times = {name: [] for name, _ in rows}
    for _ in range(rounds):
        for name, command in rows:
            if command is None:
                continue
            begin = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times[name].append(time.perf_counter() - begin)
            if times[name][-1] > 20:
                rows = [(n, c if n != name else None) for n, c in rows]  # slow: once is enough
    return {name: min(list_) for name, list_ in times.items() if list_}


def report(title, size, times, plain, record, miller, share):
    print("%s, %.0f MB" % (title, size / 1e6))
    for name, seconds in times.items():
        print("  %-38s %8.2f s  %7.0f MB/s" % (name, seconds, size / seconds / 1e6))
    held = True
    ratio = times[plain] / times[record]
    good = ratio >= share
    held &= good
    print("  %.2f of the speed of plain lines (bar: %.2f) %s" % (ratio, share, "holds" if good else "MISSED"))
    if miller in times:
        ratio = times[miller] / times[record]
        good = ratio >= 10
        held &= good
        print("  %.1f times as fast as Miller (bar: 10) %s" % (ratio, "holds" if good else "MISSED"))
    else:
        print("  Miller (mlr) is not installed")
    return held


def main():
    count = int(ARGS.records)
    mlr = shutil.which("mlr")
    with tempfile.TemporaryDirectory(prefix="seen-bench.", dir=ARGS.dir) as folder:
        table, objects = os.path.join(folder, "t.csv"), os.path.join(folder, "t.jsonl")
        write_csv(table, count)
        write_json(objects, count)
        rows = [("seen uniq", [SEEN, "uniq", "-q", table]),
                ("seen uniq --csv -k url,user", [SEEN, "uniq", "-q", "--csv", "-k", "url,user", table]),
                ("mlr --csv head -n 1 -g url,user", [mlr, "--csv", "head", "-n", "1", "-g", "url,user", table] if mlr else None)]
        held = report("CSV", os.path.getsize(table), best(rows, ARGS.rounds), rows[0][0], rows[1][0], rows[2][0], 1 / 2)
        rows = [("seen uniq", [SEEN, "uniq", "-q", objects]),
                ("seen uniq --jsonl -k url", [SEEN, "uniq", "-q", "--jsonl", "-k", "url", objects]),
                ("mlr --ijsonl --ojsonl head -n 1 -g url", [mlr, "--ijsonl", "--ojsonl", "head", "-n", "1", "-g", "url", objects] if mlr else None)]
        held &= report("JSON lines", os.path.getsize(objects), best(rows, ARGS.rounds), rows[0][0], rows[1][0], rows[2][0], 1 / 3)
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
