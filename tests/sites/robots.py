#!/usr/bin/env python3
"""Sites with special cases of robots.txt, one per loopback address.

    robots.py PORT LOG      every request is one line of LOG: seconds, host, path

Each has a page / with links to /yes and /no, and rules that deny /no; the rest is in PAGES."""
import asyncio
import gzip
import sys
import time

PORT, LOG = int(sys.argv[1]), open(sys.argv[2], "a", buffering=1)
RULES = b"User-agent: *\nDisallow: /no\n"
HOME = b"<a href=/yes>x</a><a href=/no>x</a>"
CUT = gzip.compress(b"".join([RULES, *(b"Disallow: /%x\n" % (n * n * n) for n in range(2000))]))[:2000]
# The line that crosses the limit of one mebibyte would deny everything if its first part were
# read.
LONG = RULES + b"#" * ((1 << 20) - len(RULES) - 12) + b"\nDisallow: /zzz\n"


def moved(to):
    return 301, f"Location: {to}\r\n".encode(), b""


# (last byte of the address, path) -> status, headers, body
PAGES = {
    (1, "/robots.txt"): moved("/robots.txt?utm_source=x"),  # which --drop-tracking would remove
    (1, "/robots.txt?utm_source=x"): (200, b"", RULES),
    (2, "/robots.txt"): (200, b"Content-Encoding: gzip\r\n", CUT),
    (3, "/robots.txt"): (200, b"", LONG),
    (4, "/robots.txt"): (429, b"Retry-After: 1\r\n", b""),
    (5, "/robots.txt"): moved("/r2"),
    (5, "/r2"): moved("/r3"),
    (5, "/r3"): (200, b"", RULES),
    **{(n, "/robots.txt"): moved(f"http://127.4.0.10:{PORT}/of/{n}") for n in (6, 7, 8, 9)},
    **{(10, f"/of/{n}"): (200, b"", RULES) for n in (6, 7, 8, 9)},
    **{(n, "/robots.txt"): moved(f"http://127.4.0.13:{PORT}/of/{n}") for n in (11, 12)},
    **{(13, f"/of/{n}"): (429, b"Retry-After: 4\r\n", b"") for n in (11, 12)},
}


def answer(host, path):
    n = int(host.split(".")[3])
    page = {"/robots.txt": (200, b"", RULES), "/": (200, b"Content-Type: text/html\r\n", HOME)}
    return PAGES.get((n, path)) or page.get(path, (200, b"", b""))


async def handle(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            host = next(line[6:] for line in head if line.lower().startswith("host: ")).split(":")[0]
            LOG.write(f"{time.time():.3f} {host} {path}\n")
            status, headers, body = answer(host, path)
            writer.write(b"HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n" % (status, headers, len(body)) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(handle, "0.0.0.0", PORT)
    await server.serve_forever()


asyncio.run(main())
