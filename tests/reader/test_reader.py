#!/usr/bin/env python3
"""The reader of docs/format.md with the golden files: every key, every false positive, every error."""
import glob
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hashes  # noqa: E402
import seen_reader  # noqa: E402

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
STRANGERS = 3000


def check_file(path):
    reader = seen_reader.Reader(path, now=1600000000)
    with open(path[:-5] + ".keys", "rb") as file:
        keys = file.read().split(b"\n")[:-1]
    missing = [key for key in keys if not reader.seen(key)]
    assert not missing, "%s: %d keys are missing" % (path, len(missing))
    with open(path[:-5] + ".mistakes") as file:
        want = [int(line) for line in file]
    got = [i for i in range(STRANGERS) if reader.seen(b"stranger %d" % i)]
    assert got == want, "%s: %d mistakes, not %d" % (path, len(got), len(want))
    return len(keys), len(got)


def check_refusals(path):
    with open(path, "rb") as file:
        good = file.read()
    for name, data in (("empty", b""), ("text", b"hello" * 10000), ("cut", good[:len(good) - 4096]),
                       ("both pages", good[:20] + b"\xff" + good[21:4116] + b"\xff" + good[4117:])):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            try:
                seen_reader.Reader(file.name)
            except seen_reader.Refused:
                continue
            raise AssertionError("%s is accepted" % name)
    # One damaged page: the other one is sufficient.
    for at in (0, 4096):
        with tempfile.NamedTemporaryFile() as file:
            file.write(good[:at + 100] + b"\xff" + good[at + 101:])
            file.flush()
            seen_reader.Reader(file.name)


def check_window(path):
    """A window of one hour with three generations: half an hour each, all expired after an hour and
    a half."""
    key = open(path[:-5] + ".keys", "rb").read().split(b"\n")[-2]
    assert seen_reader.Reader(path, now=1600000000 + 3600 + 1800).seen(key)
    assert not seen_reader.Reader(path, now=1600000000 + 3600 + 1801).seen(key)


def check_example():
    lo, hi = hashes.xxh3_128(b"seen", 1)
    layer = seen_reader.Layer(bytes(64), 0, seen_reader.BLOOM)
    layer.spread, layer.probes, layer.shards, layer.shard_lines = 2, 3, 1, 8
    got = sorted("%d = %02X" % (64 * line + 8 * word + cell // 8, 1 << cell % 8)
                 for line, word, cell in layer.cells(lo, hi))
    page = open(os.path.join(GOLDEN, "..", "..", "docs", "format.md")).read()
    assert "lo  = %016X        hi  = %016X" % (lo, hi) in page
    assert all(part in page for part in got), got


def main():
    files = sorted(glob.glob(os.path.join(GOLDEN, "*.seen")))
    assert len(files) >= 8, "the golden files are missing"
    for path in files:
        keys, mistakes = check_file(path)
        print("%s: %d keys, %d false positives among %d absent keys" % (os.path.basename(path), keys, mistakes, STRANGERS))
    check_refusals(files[0])
    check_window(os.path.join(GOLDEN, "v1-bloom-window-time.seen"))
    check_example()
    assert hashes.siphash_128(b"", 0x0706050403020100, 0x0F0E0D0C0B0A0908)[0] == 0xE6A825BA047F81A3


main()
