"""Plays the table of test vectors: vectors.py TABLE FOLDER. See README.md.

    vectors.py --make TABLE     writes the table anew: only if a format is added
"""
import os
import random
import sys

import seen


def create(words, folder):
    name, capacity, rate, kind, hash_name, low, high = words
    return seen.open(os.path.join(folder, name + ".seen"), "x", capacity=int(capacity), error_rate=float(rate),
                     kind=kind, hash=hash_name, seed=int(low) | int(high) << 64)


def play(table, folder):
    current = None
    for line in open(table):
        what, *words = line.rstrip("\n").split(" ")
        if what == "set":
            current = create(words, folder)
            continue
        key = bytes.fromhex(words[0])
        got = current.add(key) if what == "add" else key in current
        assert got == (words[1] == "1"), line


def make(table):
    choose = random.Random(1)
    keys = [b"", b"a", "é".encode(), b"\0", b"a\0b", b"\n", bytes(range(256)), b"x" * 1000]
    keys += [b"https://example.org/%d" % i for i in range(60)] + [choose.randbytes(choose.randrange(300)) for _ in range(60)]
    with open(table, "w") as out:
        for name, capacity, rate, kind, hash_name in (
                ("bloom", 150, 0.01, "bloom", "xxh3"), ("loose", 150, 0.2, "bloom", "xxh3"),
                ("strict", 150, 1e-9, "bloom", "xxh3"), ("siphash", 150, 0.05, "bloom", "siphash"),
                ("counting", 300, 0.05, "counting", "xxh3")):
            low, high = choose.getrandbits(63), choose.getrandbits(63)
            current = seen.Set(capacity=capacity, error_rate=rate, kind=kind, hash=hash_name, seed=low | high << 64)
            out.write(f"set {name} {capacity} {rate} {kind} {hash_name} {low} {high}\n")
            for key in keys + choose.sample(keys, 20):
                out.write(f"add {key.hex()} {current.add(key):d}\n")
            for i in range(150):
                key = b"absent %d" % i
                out.write(f"has {key.hex()} {key in current:d}\n")


if sys.argv[1] == "--make":
    make(sys.argv[2])
else:
    play(*sys.argv[1:])
