"""10^7 calls of each kind with flat memory: long.py [CALLS]. Run by make bindings-long."""
import gc
import os
import sys
import tempfile

import seen


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    calls = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10 ** 7
    keys = [f"https://example.org/{i}" for i in range(1000)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        memory = seen.Set(keys, capacity=2000, when_full="go on")
        file = seen.open(os.path.join(folder, "f"), capacity=2000)
        file.update(keys)

        def refuse():
            try:
                memory.add(1)
            except TypeError:
                pass
        jobs = {
            "add": lambda: [memory.add(key) for key in keys],
            "in": lambda: [key in memory for key in keys],
            "add to a file": lambda: [file.add(key) for key in keys],
            "add_many": lambda: memory.add_many(keys),
            "update(iterator)": lambda: memory.update(iter(keys)),
            "new": lambda: memory.new(keys),
            "check_many": lambda: memory.check_many(tuple(keys)),
            "a refused key": lambda: [refuse() for _ in keys],
            "canonical_url": lambda: [seen.canonical_url(key) for key in keys],
        }
        for name, job in jobs.items():
            for _ in range(max(1, calls // 10000)):
                job()
            gc.collect()
            before = resident()
            for _ in range(calls // 1000):
                job()
            gc.collect()
            grown = resident() - before
            failed |= grown > 1 << 20
            print(f"{'ok  ' if grown <= 1 << 20 else 'LEAK'} {name}: {calls:,} calls, {grown:+,} bytes", flush=True)
    return failed


sys.exit(main())
