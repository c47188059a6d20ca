#!/usr/bin/env python3
"""Reads a filter of format version 1 or 2, written from docs/format.md alone. Standard library only.

    seen_reader.py FILE < keys      prints, for each line of input, "before" or "new"
    seen_reader.py --info FILE      prints the header page
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from hashes import siphash_128, xxh3_128, xxh3_64_long  # noqa: E402

M64 = (1 << 64) - 1
MAGIC = bytes.fromhex("89 53 45 45 4E 0D 0A 1A")
BLOOM, COUNTING = 0, 1
FIXED, GROWING, WINDOW = 0, 1, 2


class Refused(Exception):
    pass


def number(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


def stir(x):
    p = (x & M64) * 0x9E6C63D0876A9A47
    return p >> 64 ^ p & M64


class Layer:
    def __init__(self, data, at, kind):
        self.kind = kind
        self.offset, self.capacity, self.rate, self.born = (number(data, at + 8 * i, 8) for i in range(4))
        self.spread, self.probes = number(data, at + 32, 4), number(data, at + 36, 4)
        self.shards, self.shard_lines = number(data, at + 40, 8), number(data, at + 48, 8)
        self.generation = number(data, at + 56, 8)

    def bytes(self):
        return 64 * self.shards * self.shard_lines

    def shape(self):
        return self.spread, self.probes, self.shards, self.shard_lines

    def check(self, end, file_bytes):
        possible = (1 <= self.spread <= 64 and 1 <= self.probes <= 8
                    and 1 <= self.shards < 2**32 and 1 <= self.shard_lines < 2**32
                    and (self.probes == 1 or self.shard_lines % self.spread == 0)
                    and self.bytes() <= 2**52 and 1 <= self.capacity <= 10**12 and self.rate != 0
                    and self.offset % 4096 == 0 and self.offset >= end
                    and self.offset + self.bytes() <= file_bytes)
        if not possible:
            raise Refused("truncated, or impossible numbers in a layer")

    def cells(self, lo, hi):
        """(line, word, cell) of every cell of a key."""
        p = hi * self.shards
        shard, f = p >> 64, p & M64
        for j in range(self.spread):
            fj = f if j == 0 else stir(f + j * 0x9E3779B97F4A7C15)
            wj = lo if j == 0 else stir(lo + j * 0xD1B54A32D192ED03)
            if self.probes > 1:
                part = self.shard_lines // self.spread
                line = j * part + (fj * part >> 64)
            else:
                line = fj * self.shard_lines >> 64
            first = wj >> 48 & 7
            for i in range(self.probes):
                word = (first + i) % 8
                cell = wj >> 6 * word & (63 if self.kind == BLOOM else 15)
                yield shard * self.shard_lines + line, word, cell

    def has(self, data, lo, hi):
        for line, word, cell in self.cells(lo, hi):
            value = number(data, self.offset + 64 * line + 8 * word, 8)
            if self.kind == BLOOM and not value >> cell & 1:
                return False
            if self.kind == COUNTING and not value >> 4 * cell & 15:
                return False
        return True


class Part:
    """A partition of tag lines (version 2)."""

    def __init__(self, page, p, extra):
        self.offset, self.homes, self.words = (number(page, 128 + 32 * p + 8 * i, 8) for i in range(3))
        self.extra, self.width = extra, 16 + extra
        self.level = self.homes.bit_length() - 1

    def bytes(self):
        return self.homes // 32 * 36 * 64 + 8 * self.words

    def check(self):
        power = 1 << self.level
        if not (self.homes >= 32 and self.homes % 32 == 0 and self.homes < 2**40
                and (self.homes == power or 63 * self.homes >= 64 * power)
                and self.words >= 8 and self.words % 8 == 0 and self.words <= 32 * self.homes + 64
                and self.offset % 4096 == 0 and self.offset >= 16384):
            raise Refused("impossible numbers in a partition")

    def line(self, data, block, n):
        """Line n of a block as one number: bit 0 is the lowest bit of the first byte."""
        return number(data, self.offset + (36 * block + n) * 64, 64)

    def line_has(self, line, width, tag):
        slots, extra = 511 // width, width - 16
        for i in range(slots):
            lane = line >> 16 * i & 0xffff
            if lane == 0:
                continue
            have = (line >> 16 * slots + extra * i & (1 << extra) - 1) << 16 | lane
            unknown = have ^ have - 1  # the marker and what is below
            if (have | unknown) == (tag | unknown):
                return True
        return False

    def has(self, data, x, tail):
        j = x * self.homes >> 64
        block, number_in_block = divmod(j, 32)
        bits = (x << 64 | tail) << self.level & (1 << 128) - 1
        tag = bits >> 129 - self.width << 1 | 1
        home = self.line(data, block, number_in_block)
        if self.line_has(home, self.width, tag):
            return True
        if not home >> 511:
            return False
        for n in range(4):
            over = self.line(data, block, 32 + ((j >> 3) + n) % 4)
            if self.line_has(over, self.width + 5, number_in_block << self.width | tag):
                return True
            if not over >> 511:
                return False
        return self.stash_has(data, block, x)

    def stash_has(self, data, block, x):
        stash = self.offset + self.homes // 32 * 36 * 64
        start = block * self.words // (self.homes // 32)
        for n in range(self.words):
            word = number(data, stash + 8 * ((start + n) % self.words), 8)
            if word == 0:
                return False
            unknown = word ^ word - 1
            if (word | unknown) == (x | unknown):
                return True
        return False


def boot_id():
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return bytes.fromhex(file.read().strip().replace("-", ""))
    except OSError:
        return None


class Page:
    def __init__(self, data, at, file_bytes):
        page = data[at:at + 4096]
        if page[:8] != MAGIC:
            raise Refused("not a seen filter")
        if xxh3_64_long(page[:4088]) != number(page, 4088, 8):
            raise Refused("the checksum does not match")
        self.version = number(page, 8, 4)
        if self.version not in (1, 2) or number(page, 12, 4) != 4096:
            raise Refused("another version")
        self.kind, self.growth, self.hash, self.when_full = (number(page, 16 + 4 * i, 4) for i in range(4))
        self.seed = number(page, 32, 8), number(page, 40, 8)
        self.capacity, self.rate = number(page, 48, 8), number(page, 56, 8)
        self.generations, layers = number(page, 64, 4), number(page, 68, 4)
        self.seconds, self.current = number(page, 72, 8), number(page, 80, 4)
        self.sequence = number(page, 88, 8)
        if self.version == 2:
            self.read_parts(page, layers, file_bytes)
            return
        possible = (self.kind <= 1 and self.growth <= 2 and self.hash <= 1 and self.when_full <= 1
                    and 1 <= self.capacity <= 10**12 and self.rate != 0 and 1 <= layers <= 48
                    and self.current < layers and self.seconds <= 2**40
                    and (self.growth != FIXED or layers == 1)
                    and (self.growth != GROWING or self.current == layers - 1)
                    and (self.growth != WINDOW or 2 <= self.generations <= 32 and layers == self.generations))
        if not possible:
            raise Refused("impossible numbers")
        self.layers, end = [], 16384
        for i in range(layers):
            layer = Layer(page, 128 + 64 * i, self.kind)
            layer.check(end, file_bytes)
            end = layer.offset + layer.bytes()
            self.layers.append(layer)
        if self.growth == WINDOW and any(layer.shape() != self.layers[0].shape() for layer in self.layers):
            raise Refused("generations of different sizes")

    def read_parts(self, page, layers, file_bytes):
        extra, boot = number(page, 84, 4), page[104:120]
        if not (self.kind == BLOOM and self.growth == GROWING and self.hash <= 1 and self.when_full <= 1
                and 1 <= self.capacity <= 10**12 and self.rate != 0 and 1 <= extra <= 40
                and layers == self.generations == self.seconds == self.current == 0):
            raise Refused("impossible numbers")
        if any(boot) and boot != boot_id():
            raise Refused("of an earlier boot of the system")
        self.layers, self.parts, end = [], [Part(page, p, extra) for p in range(64)], 16384
        for part in self.parts:
            part.check()
        for part in sorted(self.parts, key=lambda part: part.offset):
            if part.offset < end:
                raise Refused("partitions overlap")
            end = part.offset + part.bytes()
        if -(-end // 4096) * 4096 > file_bytes:
            raise Refused("truncated")


class Reader:
    def __init__(self, path, now=None):
        with open(path, "rb") as file:
            self.data = file.read()
        self.now = now
        good, why = [], "too short"
        for at in (0, 4096):
            try:
                if len(self.data) < 16384:
                    raise Refused("too short")
                good.append(Page(self.data, at, len(self.data)))
            except Refused as refused:
                why = str(refused)
        if not good:
            raise Refused(why)
        self.page = max(good, key=lambda page: page.sequence)

    def alive(self, i):
        page = self.page
        if page.growth != WINDOW:
            return True
        if page.layers[i].generation == 0:
            return False
        if page.seconds == 0:
            return True
        span = -(-page.seconds // (page.generations - 1))
        ended = page.layers[i].born + span
        if i != page.current:
            ended = min(ended, page.layers[(i + 1) % len(page.layers)].born)
        now = int(time.time()) if self.now is None else self.now
        return now <= ended + page.seconds

    def seen(self, key):
        if self.page.hash == 0:
            lo, hi = xxh3_128(key, self.page.seed[0])
        else:
            lo, hi = siphash_128(key, *self.page.seed)
        if self.page.version == 2:
            x, tail = (hi << 6 | lo >> 58) & M64, lo << 6 & M64
            return self.page.parts[hi >> 58].has(self.data, x, tail)
        return any(self.alive(i) and layer.has(self.data, lo, hi)
                   for i, layer in enumerate(self.page.layers))


def main():
    args = sys.argv[1:]
    if args and args[0] == "--info":
        page = Reader(args[1]).page
        print("kind %d growth %d hash %d layers %d capacity %d sequence %d"
              % (page.kind, page.growth, page.hash, len(page.layers), page.capacity, page.sequence))
        return
    reader = Reader(args[0])
    for line in sys.stdin.buffer:
        print("before" if reader.seen(line.rstrip(b"\n")) else "new")


if __name__ == "__main__":
    main()
