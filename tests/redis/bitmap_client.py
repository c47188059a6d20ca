#!/usr/bin/env python3
"""A second client of the bitmap layout, written from docs/redis.md alone.

bitmap_client.py PORT NAME add|check < lines      prints the lines that are new, or that were seen
Speaks the protocol itself: Python's standard library is enough. Only filters made with SipHash."""
import socket
import sys

M = (1 << 64) - 1


def siphash128(key, data):
    """SipHash-2-4 with 128 bits of output."""
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE,
         k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotl(x, b):
        return (x << b | x >> (64 - b)) & M

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & M
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & M
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & M
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & M
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    whole = len(data) // 8 * 8
    for i in range(0, whole, 8):
        m = int.from_bytes(data[i:i + 8], "little")
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    m = (len(data) & 0xFF) << 56 | int.from_bytes(data[whole:], "little")
    v[3] ^= m
    rounds(2)
    v[0] ^= m
    v[2] ^= 0xEE
    rounds(4)
    lo = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return lo, v[0] ^ v[1] ^ v[2] ^ v[3]


def stir(x, salt):
    p = (x + salt & M) * 0x9E6C63D0876A9A47
    return p & M ^ p >> 64


def offsets(lo, hi, hashes, lines):
    """The k offsets of a key, as SETBIT counts them."""
    for j in range(hashes):
        f = stir(hi, j * 0x9E3779B97F4A7C15 & M) if j else hi
        w = stir(lo, j * 0xD1B54A32D192ED03 & M) if j else lo
        line = f * lines >> 64
        word = w >> 48 & 7
        bit = w >> 6 * word & 63
        byte = line * 64 + word * 8 + bit // 8
        yield byte * 8 + 7 - bit % 8


class Redis:
    def __init__(self, port):
        self.file = socket.create_connection(("127.0.0.1", port)).makefile("rwb")

    def say(self, *args):
        args = [a if isinstance(a, bytes) else str(a).encode() for a in args]
        self.file.write(b"*%d\r\n" % len(args) + b"".join(b"$%d\r\n%s\r\n" % (len(a), a) for a in args))
        self.file.flush()
        return self.reply()

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        return rest


def main():
    port, name, what = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3]
    redis = Redis(port)
    table = redis.say("HGETALL", b"seen:" + name)
    meta = dict(zip(table[::2], table[1::2]))
    assert meta[b"layout"] == b"bitmap" and meta[b"hash"] == b"siphash", meta
    seed = meta[b"seed"].decode()
    key = int(seed[:16], 16).to_bytes(8, "little") + int(seed[16:], 16).to_bytes(8, "little")
    _, hashes, _, _, lines, *_ = [int(x) for x in meta[b"layer:0"].split()]
    for text in sys.stdin.buffer.read().splitlines():
        lo, hi = siphash128(key, text)
        if what == "add":
            fresh = any([redis.say("SETBIT", name, o, 1) == 0 for o in offsets(lo, hi, hashes, lines)])
            if fresh:
                print(text.decode())
        elif all(redis.say("GETBIT", name, o) for o in offsets(lo, hi, hashes, lines)):
            print(text.decode())


main()
