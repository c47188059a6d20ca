#!/usr/bin/env python3
"""A generated web of which every URL is known, for crawls by several workers.

    web.py PORT LOG PAGES HOSTS [SEED]     serves 127.1.0.1, 127.1.0.2, ... on PORT
    web.py --urls PORT PAGES HOSTS [SEED]  prints all its URLs

Page 0 is the start. Page n links to the pages 10n+1 to 10n+10 and to five others, and belongs to a
host by its number and the seed. Every request is one line of LOG: nanoseconds of the monotonic
clock, host, path. robots.txt is empty."""
import asyncio
import random
import sys
import time

FAN = 10


class Web:
    def __init__(self, port, pages, hosts, seed):
        self.port, self.pages, self.hosts, self.seed = port, pages, hosts, seed

    def host(self, page):
        n = random.Random(self.seed * 7919 + page // 7).randrange(self.hosts) if page else 0
        return f"127.1.{n >> 8}.{(n & 255) + 1}"

    def url(self, page):
        return f"http://{self.host(page)}:{self.port}/section-{page % 97}/page-{page}.html"

    def links(self, page):
        rng = random.Random(self.seed * 104729 + page)
        links = [n for n in range(FAN * page + 1, FAN * page + FAN + 1) if n < self.pages]
        return links + [rng.randrange(self.pages) for _ in range(5)]

    def body(self, page):
        return "".join(f'<a href="{self.url(n)}">x</a>\n' for n in self.links(page)).encode()


class Handler(asyncio.Protocol):
    web, log = None, None

    def connection_made(self, transport):
        self.transport, self.buffer = transport, b""

    def data_received(self, data):
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
            self.answer(head.decode("latin-1"))

    def answer(self, head):
        now = time.monotonic_ns()
        lines = head.split("\r\n")
        path = lines[0].split()[1]
        host = next(line[6:] for line in lines if line.lower().startswith("host: ")).split(":")[0]
        self.log.write(f"{now} {host} {path}\n")
        status, kind, body = 404, "text/plain", b""
        if path == "/robots.txt":
            status = 200
        elif path.startswith("/section-"):
            page = int(path.rsplit("-", 1)[1].split(".")[0])
            if page < self.web.pages and self.web.host(page) == host:
                status, kind, body = 200, "text/html", self.web.body(page)
        self.transport.write(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n"
                             f"Content-Length: {len(body)}\r\n\r\n".encode() + body)


async def main():
    if sys.argv[1] == "--urls":
        port, pages, hosts = map(int, sys.argv[2:5])
        web = Web(port, pages, hosts, int(sys.argv[5]) if len(sys.argv) > 5 else 1)
        for page in range(pages):
            print(web.url(page))
        return
    port, pages, hosts = int(sys.argv[1]), int(sys.argv[3]), int(sys.argv[4])
    Handler.web = Web(port, pages, hosts, int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    Handler.log = open(sys.argv[2], "a", buffering=1)
    server = await asyncio.get_running_loop().create_server(Handler, "0.0.0.0", port, backlog=1000)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
