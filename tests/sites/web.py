#!/usr/bin/env python3
"""A generated web of which every URL is known, for crawls by several workers.

    web.py PORT LOG PAGES HOSTS [SEED]     serves 127.1.0.1, 127.1.0.2, ... on PORT
    web.py --urls PORT PAGES HOSTS [SEED]  prints all its URLs
      --address ADDRESS   where to listen (all addresses)
      --network A.B  its hosts are A.B.0.1, A.B.0.2, ... (127.1)
      --connect MS   also a SOCKS5 proxy to itself, on the same port: a connection takes 0 to MS milliseconds
      --latency MS   answers come so much later, those on a new connection twice
      --close N      every Nth request on a kept connection is closed without an answer
      --busy PATH=S  answers this path once with status 429 and a Retry-After of S seconds
      --crawl-delay S   robots.txt asks for a Crawl-delay of S seconds; otherwise it is empty

Page 0 is the start. Page n links to the pages 10n+1 to 10n+10 and to five others, and belongs to a
host by its number and the seed. Every request is one line of LOG: nanoseconds of the monotonic
clock, host, path, and what its header X-Worker says or "-". The time is that of the kernel when the request arrived, however late this process
gets to see it."""
import argparse
import functools
import heapq
import random
import select
import socket
import struct
import time

FAN = 10
SO_TIMESTAMPNS = 35


class Web:
    def __init__(self, port, pages, hosts, seed, network="127.1"):
        self.port, self.pages, self.hosts, self.seed, self.network = port, pages, hosts, seed, network
        self.host = functools.lru_cache(maxsize=None)(self.host)

    def host(self, page):
        n = random.Random(self.seed * 7919 + page // 7).randrange(self.hosts) if page else 0
        return f"{self.network}.{n >> 8}.{(n & 255) + 1}"

    def url(self, page):
        return f"http://{self.host(page)}:{self.port}/section-{page % 97}/page-{page}.html"

    def links(self, page):
        rng = random.Random(self.seed * 104729 + page)
        links = [n for n in range(FAN * page + 1, FAN * page + FAN + 1) if n < self.pages]
        return links + [rng.randrange(self.pages) for _ in range(5)]

    def body(self, page):
        return "".join(f'<a href="{self.url(n)}">x</a>\n' for n in self.links(page)).encode()


def offset():
    """Nanoseconds between the two clocks, of the reading that was interrupted the least. It must not be read for each
    request: on a busy machine much time can pass between two calls."""
    readings = [(time.monotonic_ns(), time.time_ns(), time.monotonic_ns()) for _ in range(100)]
    before, now, after = min(readings, key=lambda r: r[2] - r[0])
    return now - (before + after) // 2


class Server:
    def __init__(self, args, web):
        self.args, self.web, self.rng = args, web, random.Random(args.seed)
        self.log = open(args.log, "a", buffering=1)
        self.busy = dict(pair.split("=") for pair in args.busy)
        self.rules = f"User-agent: *\nCrawl-delay: {args.crawl_delay}\n".encode() if args.crawl_delay else b""
        self.offset = offset()
        self.epoll, self.connections, self.later, self.kept, self.number = select.epoll(), {}, [], 0, 0
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.listener.bind((args.address, args.port))
        self.listener.listen(1000)
        self.listener.setblocking(False)
        self.epoll.register(self.listener.fileno(), select.EPOLLIN)

    def run(self):
        while True:
            wait = max(0, self.later[0][0] - time.monotonic()) if self.later else -1
            for fd, _ in self.epoll.poll(wait):
                if fd == self.listener.fileno():
                    self.accept()
                else:
                    self.receive(self.connections[fd])
            while self.later and self.later[0][0] <= time.monotonic():
                _, _, connection, data = heapq.heappop(self.later)
                self.send(connection, data)

    def send_later(self, c, data, ms):
        if ms <= 0:
            self.send(c, data)
            return
        self.number += 1
        heapq.heappush(self.later, (time.monotonic() + ms / 1000, self.number, c, data))

    def accept(self):
        try:
            sock, _ = self.listener.accept()
        except OSError:
            return
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections[sock.fileno()] = Connection(sock)
        self.epoll.register(sock.fileno(), select.EPOLLIN)

    def send(self, c, data):
        try:
            c.sock.sendall(data)
        except OSError:
            pass  # the client is gone, and so may the connection be

    def close(self, c):
        del self.connections[c.sock.fileno()]
        c.sock.close()

    def receive(self, c):
        try:
            data, more, _, _ = c.sock.recvmsg(65536, 128)
        except OSError:
            data, more = b"", []
        if not data:
            self.close(c)
            return
        c.buffer += data
        if c.buffer[0] == 5:
            self.negotiate(c)
            return
        at = time.monotonic_ns()
        for level, kind, value in more:
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                seconds, ns = struct.unpack("qq", value[:16])
                at = seconds * 10**9 + ns - self.offset
        while b"\r\n\r\n" in c.buffer:
            head, c.buffer = c.buffer.split(b"\r\n\r\n", 1)
            if not self.answer(c, head.decode("latin-1"), at):
                self.close(c)
                return

    def negotiate(self, c):
        """The two messages of a SOCKS5 client; the second is answered late."""
        if c.greeted:
            self.send_later(c, b"\5\0\0\1\0\0\0\0\0\0", self.rng.uniform(0, self.args.connect))
        else:
            self.send(c, b"\5\0")
        c.buffer, c.greeted = b"", True

    def answer(self, c, head, at):
        """False: the connection is to be closed."""
        lines = head.split("\r\n")
        path = lines[0].split()[1]
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        host = fields["host"].split(":")[0]
        self.log.write(f"{at} {host} {path} {fields.get('x-worker', '-')}\n")
        c.requests += 1
        self.kept += c.requests > 1
        if self.args.close and c.requests > 1 and self.kept % self.args.close == 0:
            return False
        status, kind, body, extra = 404, "text/plain", b"", ""
        if path in self.busy:
            status, extra = 429, f"Retry-After: {self.busy.pop(path)}\r\n"
        elif path == "/robots.txt":
            status, body = 200, self.rules
        elif path.startswith("/section-"):
            page = int(path.rsplit("-", 1)[1].split(".")[0])
            if page < self.web.pages and self.web.host(page) == host:
                status, kind, body = 200, "text/html", self.web.body(page)
        self.send_later(c, f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{extra}"
                           f"Content-Length: {len(body)}\r\n\r\n".encode() + body,
                        self.args.latency * (1 if c.requests > 1 else 2))
        return True


class Connection:
    def __init__(self, sock):
        self.sock, self.buffer, self.greeted, self.requests = sock, b"", False, 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--urls", action="store_true")
    parser.add_argument("port", type=int)
    parser.add_argument("rest", nargs="+", metavar="[LOG] PAGES HOSTS [SEED]")
    parser.add_argument("--address", default="0.0.0.0")
    parser.add_argument("--network", default="127.1")
    parser.add_argument("--connect", type=float, default=0)
    parser.add_argument("--latency", type=float, default=0)
    parser.add_argument("--close", type=int, default=0)
    parser.add_argument("--busy", action="append", default=[])
    parser.add_argument("--crawl-delay")
    args = parser.parse_args()
    args.log = None if args.urls else args.rest.pop(0)
    pages, hosts, args.seed = map(int, (args.rest + ["1"])[:3])
    web = Web(args.port, pages, hosts, args.seed, args.network)
    if not args.urls:
        Server(args, web).run()
    for page in range(pages):
        print(web.url(page))


if __name__ == "__main__":
    main()
