"""XXH3-128, XXH3-64 and SipHash-2-4-128 in plain Python, written from their specifications.

Independent of the implementation in the library, so that the two can check each other. Optimized
for readability, not for speed.
"""

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1

P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def u32(b, at=0):
    return int.from_bytes(b[at:at + 4], "little")


def u64(b, at=0):
    return int.from_bytes(b[at:at + 8], "little")


def swap32(x):
    return int.from_bytes(x.to_bytes(4, "little"), "big")


def swap64(x):
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def fold(a, b):
    p = a * b
    return (p & M64) ^ (p >> 64)


def xorshift(x, n):
    return x ^ (x >> n)


def avalanche3(h):
    h = xorshift(h, 37) * MX1 & M64
    return xorshift(h, 32)


def avalanche64(h):
    h = xorshift(h, 33) * P64_2 & M64
    h = xorshift(h, 29) * P64_3 & M64
    return xorshift(h, 32)


def mix16(d, at, s, sat, seed):
    lo, hi = u64(d, at), u64(d, at + 8)
    return fold(lo ^ (u64(s, sat) + seed & M64), hi ^ (u64(s, sat + 8) - seed & M64))


# ---- 128 bits ----

def short128(d, seed):
    n, s = len(d), SECRET
    if n == 0:
        return (avalanche64(seed ^ u64(s, 64) ^ u64(s, 72)),
                avalanche64(seed ^ u64(s, 80) ^ u64(s, 88)))
    if n <= 3:
        lo = d[0] << 16 | d[n >> 1] << 24 | d[n - 1] | n << 8
        swapped = swap32(lo)
        hi = (swapped << 13 | swapped >> 19) & M32
        keyed_lo = lo ^ ((u32(s, 0) ^ u32(s, 4)) + seed & M64)
        keyed_hi = hi ^ ((u32(s, 8) ^ u32(s, 12)) - seed & M64)
        return avalanche64(keyed_lo), avalanche64(keyed_hi)
    if n <= 8:
        seed ^= swap32(seed & M32) << 32
        word = u32(d) + (u32(d, n - 4) << 32)
        keyed = word ^ ((u64(s, 16) ^ u64(s, 24)) + seed & M64)
        p = keyed * (P64_1 + (n << 2) & M64)
        lo, hi = p & M64, p >> 64
        hi = hi + (lo << 1) & M64
        lo ^= hi >> 3
        lo = xorshift(lo, 35) * MX2 & M64
        lo = xorshift(lo, 28)
        return lo, avalanche3(hi)
    flip_lo = (u64(s, 32) ^ u64(s, 40)) - seed & M64
    flip_hi = (u64(s, 48) ^ u64(s, 56)) + seed & M64
    a, b = u64(d), u64(d, n - 8)
    p = (a ^ b ^ flip_lo) * P64_1
    lo, hi = p & M64, p >> 64
    lo = lo + ((n - 1) << 54) & M64
    b ^= flip_hi
    hi = hi + (b & M64) + (b & M32) * (P32_2 - 1) & M64
    lo ^= swap64(hi)
    q = lo * P64_2
    out_lo = q & M64
    out_hi = (q >> 64) + hi * P64_2 & M64
    return avalanche3(out_lo), avalanche3(out_hi)


def mix32(acc, d, at1, at2, sat, seed):
    lo, hi = acc
    lo = lo + mix16(d, at1, SECRET, sat, seed) & M64
    lo ^= u64(d, at2) + u64(d, at2 + 8) & M64
    hi = hi + mix16(d, at2, SECRET, sat + 16, seed) & M64
    hi ^= u64(d, at1) + u64(d, at1 + 8) & M64
    return lo, hi


def medium128(d, seed):
    n = len(d)
    acc = (n * P64_1 & M64, 0)
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            acc = mix32(acc, d, 16 * i, n - 16 * (i + 1), 32 * i, seed)
    else:
        for i in range(4):
            acc = mix32(acc, d, 32 * i, 32 * i + 16, 32 * i, seed)
        acc = (avalanche3(acc[0]), avalanche3(acc[1]))
        for i in range(4, n // 32):
            acc = mix32(acc, d, 32 * i, 32 * i + 16, 3 + 32 * (i - 4), seed)
        acc = mix32(acc, d, n - 16, n - 32, 136 - 17 - 16, -seed & M64)
    lo, hi = acc
    out_lo = lo + hi & M64
    out_hi = lo * P64_1 + hi * P64_4 + (n - seed & M64) * P64_2 & M64
    return avalanche3(out_lo), -avalanche3(out_hi) & M64


def seeded_secret(seed):
    if seed == 0:
        return SECRET
    out = b""
    for i in range(0, 192, 16):
        out += (u64(SECRET, i) + seed & M64).to_bytes(8, "little")
        out += (u64(SECRET, i + 8) - seed & M64).to_bytes(8, "little")
    return out


def stripe(acc, d, at, s, sat):
    for i in range(8):
        word = u64(d, at + 8 * i)
        key = word ^ u64(s, sat + 8 * i)
        acc[i ^ 1] = acc[i ^ 1] + word & M64
        acc[i] = acc[i] + (key & M32) * (key >> 32) & M64


def long_acc(d, s):
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    per_block = (len(s) - 64) // 8
    block = 64 * per_block
    blocks = (len(d) - 1) // block
    for b in range(blocks):
        for i in range(per_block):
            stripe(acc, d, b * block + 64 * i, s, 8 * i)
        for i in range(8):
            a = xorshift(acc[i], 47) ^ u64(s, len(s) - 64 + 8 * i)
            acc[i] = a * P32_1 & M64
    for i in range((len(d) - 1 - blocks * block) // 64):
        stripe(acc, d, blocks * block + 64 * i, s, 8 * i)
    stripe(acc, d, len(d) - 64, s, len(s) - 64 - 7)
    return acc


def merge(acc, s, sat, start):
    for i in range(4):
        start += fold(acc[2 * i] ^ u64(s, sat + 16 * i), acc[2 * i + 1] ^ u64(s, sat + 16 * i + 8))
    return avalanche3(start & M64)


def long128(d, seed):
    s = seeded_secret(seed)
    acc = long_acc(d, s)
    return (merge(acc, s, 11, len(d) * P64_1 & M64),
            merge(acc, s, len(s) - 64 - 11, ~(len(d) * P64_2) & M64))


def xxh3_128(data, seed=0):
    """(low 64 bits, high 64 bits)"""
    if len(data) <= 16:
        return short128(data, seed)
    if len(data) <= 240:
        return medium128(data, seed)
    return long128(data, seed)


# ---- 64 bits, long input and seed 0 only: the checksum of a header page ----

def xxh3_64_long(data):
    assert len(data) > 240
    acc = long_acc(data, SECRET)
    return merge(acc, SECRET, 11, len(data) * P64_1 & M64)


# ---- SipHash-2-4 with 128 bits of output ----

def siphash_128(data, key0, key1):
    """(first 8 bytes, last 8 bytes of the output), each read as little-endian"""
    v = [key0 ^ 0x736F6D6570736575, key1 ^ 0x646F72616E646F6D ^ 0xEE,
         key0 ^ 0x6C7967656E657261, key1 ^ 0x7465646279746573]

    def rotl(x, n):
        return (x << n | x >> (64 - n)) & M64

    def rounds(n):
        for _ in range(n):
            v[0] = v[0] + v[1] & M64
            v[2] = v[2] + v[3] & M64
            v[1] = rotl(v[1], 13) ^ v[0]
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = rotl(v[0], 32)
            v[2] = v[2] + v[1] & M64
            v[0] = v[0] + v[3] & M64
            v[1] = rotl(v[1], 17) ^ v[2]
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = rotl(v[2], 32)

    whole = len(data) // 8 * 8
    for at in range(0, whole, 8):
        word = u64(data, at)
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    last = int.from_bytes(data[whole:], "little") | (len(data) & 255) << 56
    v[3] ^= last
    rounds(2)
    v[0] ^= last
    v[2] ^= 0xEE
    rounds(4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return first, v[0] ^ v[1] ^ v[2] ^ v[3]
