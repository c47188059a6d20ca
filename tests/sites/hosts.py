#!/usr/bin/env python3
"""Many small sites, one per loopback address, each with its own robots.txt.

    hosts.py PORT LOG COUNT      serves 127.1.0.1, 127.1.0.2, ... (256 per last byte) on PORT

Site n has a page `/`, which links to the sites 2n and 2n+1 and to its own pages /1 to /3; the
robots.txt of the addresses below 127.2.0.0 is empty. 127.2.0.N are the cases of ROBOTS. Every
request is one line of LOG: seconds, host, path."""
import asyncio
import sys
import time

PORT, LOG, COUNT = int(sys.argv[1]), open(sys.argv[2], "a", buffering=1), int(sys.argv[3])
TEXT = b"HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s"
ANSWERS = {}

# address -> its robots.txt: (status, headers, body), or a function of the number of requests
ROBOTS = {
    "127.2.0.1": (404, b"", b"Disallow: /"),
    "127.2.0.2": (403, b"", b""),
    "127.2.0.3": (503, b"", b""),
    "127.2.0.4": lambda n: (503, b"Retry-After: 1\r\n", b"") if n == 1 else (200, b"", b""),
    "127.2.0.5": (301, b"Location: /r1\r\n", b""),  # five hops, then rules that deny /no
    "127.2.0.6": (302, b"Location: /robots.txt?\r\n", b""),  # endless
    "127.2.0.7": (200, b"", b"User-agent: *\nDisallow: /\n\nUser-Agent: SEEN\nDisallow: /no\n"),
    "127.2.0.8": (200, b"", b"User-agent: seen\nCrawl-delay: 1\nDisallow: /no"),
    "127.2.0.9": (200, b"", b"User-agent: *\n" + b"# long\n" * 70000 + b"Disallow: /no\n"),
    "127.2.0.10": (200, b"", b"<html>not robots at all</html>"),
    "127.2.0.11": (200, b"", b"User-agent: *\nDisallow: /\nAllow: /$\nAllow: /yes"),
    "127.2.0.12": None,  # closes the connection
}


def name(n):
    return f"127.1.{n >> 8}.{n & 255}"


def page(host, path):
    if host.startswith("127.2."):
        links = ["/yes", "/no"] if path == "/" else []
    else:
        n = int(host.split(".")[2]) * 256 + int(host.split(".")[3])
        links = [f"/{i}" for i in (1, 2, 3)] + [
            f"http://{name(m)}:{PORT}/" for m in (2 * n, 2 * n + 1) if m <= COUNT]
        links = links if path == "/" else []
    return 200, b"", "".join(f"<a href='{link}'>x</a>" for link in links).encode()


def robots(host, path):
    case = ROBOTS.get(host, (200, b"", b""))
    if path.startswith("/r"):
        if path[1:].startswith("r5"):
            return 200, b"", b"User-agent: *\nDisallow: /no"
        if path != "/robots.txt" and not path.startswith("/robots.txt?"):
            return 302, b"Location: /r%d\r\n" % (int(path[2:]) + 1), b""
    ANSWERS[host] = ANSWERS.get(host, 0) + 1
    return case(ANSWERS[host]) if callable(case) else case


async def handle(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            path = lines[0].split()[1]
            host = next(l[6:] for l in lines if l.lower().startswith("host: ")).rsplit(":")[0]
            LOG.write(f"{time.time():.3f} {host} {path}\n")
            answer = robots(host, path) if path.startswith("/r") else page(host, path)
            if answer is None:
                break
            kind = b"text/plain" if path.startswith("/r") else b"text/html"
            writer.write(TEXT % (answer[0], kind, len(answer[2]), answer[1], answer[2]))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    hosts = ["127.0.0.1"] + [name(n) for n in range(1, COUNT + 1)] + list(ROBOTS)
    server = await asyncio.start_server(handle, hosts, PORT)
    await server.serve_forever()


asyncio.run(main())
