"""Writes tests/unit/test_hash_vectors.h: expected hashes from hashes.py.

    python3 tests/reader/make_vectors.py > tests/unit/test_hash_vectors.h
"""
import hashes

SEEDS = [(0, 0), (1, 2), (0x9E3779B185EBCA8D, 0xFEDCBA9876543210), (2**64 - 1, 2**63)]
LENGTHS = list(range(0, 301)) + [511, 512, 513, 1023, 1024, 1025, 1087, 1088, 1089, 4095, 4096]


def key_bytes(length):
    """Every byte value occurs; half of the bytes are above 0x7f."""
    x, out = 0x2545F4914F6CDD1D ^ length, bytearray()
    for _ in range(length):
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(x >> 56)
    return bytes(out)


print("/* Expected hashes: {length, which seed, low, high}. Created by tests/reader/make_vectors.py, which")
print(" * shares no code with the library. Key bytes: byte i of length n is the top byte of the i-th step")
print(" * of x = 6364136223846793005 x + 1442695040888963407 from 0x2545f4914f6cdd1d ^ n. */")
print("static const uint64_t SEEDS[%d][2] = {" % len(SEEDS))
for a, b in SEEDS:
    print("    {0x%016xu, 0x%016xu}," % (a, b))
print("};")
for name, make in (("XXH3", lambda d, s: hashes.xxh3_128(d, s[0])),
                   ("SIP", lambda d, s: hashes.siphash_128(d, s[0], s[1]))):
    print("static const struct vector %s_VECTORS[] = {" % name)
    for n in LENGTHS:
        seed = n % len(SEEDS)
        for which in sorted({seed, 0} if n % 16 == 0 else {seed}):
            print("    {%d, %d, 0x%016xu, 0x%016xu}," % ((n, which) + make(key_bytes(n), SEEDS[which])))
    print("};")
