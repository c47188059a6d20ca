#!/usr/bin/env python3
"""Sites that redirect, one per loopback address.

    moves.py PORT LOG      every request is one line of LOG: host, path

127.3.0.1 redirects to 127.3.0.2, which has its own pages and a link to 127.3.0.3.
127.3.0.4 has no robots.txt, all kinds of sitemaps starting at the default location, pages without
a type, and one page with ten thousand links.
127.3.0.5 has a page that takes two seconds.
127.3.0.8 redirects to URLs with a trailing slash.
127.3.0.9 has no sitemap and redirects requests for it to its home page; 127.3.0.10 redirects them
to a page.
127.3.0.6 redirects to 127.3.0.7, late; 127.3.0.7 is linked before, and declares a compressed
sitemap of two parts."""
import asyncio
import gzip
import sys

PORT, LOG = int(sys.argv[1]), open(sys.argv[2], "a", buffering=1)
HTML = b"Content-Type: text/html\r\n"


def at(n, path):
    return f"http://127.3.0.{n}:{PORT}{path}"


def links(*hrefs):
    return "".join(f"<a href='{href}'>x</a>" for href in hrefs).encode()


def index(*urls):
    return "".join(["<sitemapindex>", *(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls),
                    "</sitemapindex>"]).encode()


def urlset(*urls):
    return "".join(["<urlset>", *(f"<url><loc>{url}</loc></url>" for url in urls), "</urlset>"]).encode()


# More than is inflated at a time, and a decompression bomb: 60 MB of spaces before a URL.
LONG = gzip.compress(urlset(*(at(4, f"/gz/{n}") for n in range(2000))).replace(b"<url>", b"<url>" + b" " * 50))
BOMB = gzip.compress(urlset(at(4, "/before")) + b" " * (60 << 20) + urlset(at(4, "/behind")))
PARTS = gzip.compress(b"<urlset><url><loc>" + at(7, "/docs/").encode()) + gzip.compress(b"1</loc></url></urlset>")
PAGES = {
    (1, "/"): (302, b"Location: " + at(2, "/home").encode() + b"\r\n", b""),
    (2, "/home"): (200, HTML, links("/a", at(3, "/out"), at(1, "/back"))),
    (2, "/a"): (200, HTML, links("/b")),
    (2, "/b"): (200, HTML, links("/c")),
    (5, "/"): (200, HTML, links("/1", "/slow")),
    (6, "/"): (200, HTML, links(at(7, "/home"), at(7, "/docs/2"))),
    (6, "/slow"): (302, b"Location: " + at(7, "/home").encode() + b"\r\n", b""),
    (7, "/robots.txt"): (200, b"", b"Sitemap: /parts.xml.gz"),
    (7, "/parts.xml.gz"): (200, b"", PARTS),
    (7, "/home"): (200, HTML, links("/docs/2", "/other")),
    (8, "/"): (200, HTML, links("/docs/", "/self", "/to-and-fro", "/steps")),
    (8, "/docs"): (301, b"Location: /docs/\r\n", b""),
    (8, "/docs/"): (200, HTML, links("a.html", "/docs/")),
    (8, "/self"): (302, b"Location: /self\r\n", b""),
    (8, "/to-and-fro"): (302, b"Location: /to-and-fro/\r\n", b""),
    (8, "/to-and-fro/"): (302, b"Location: /to-and-fro\r\n", b""),
    (8, "/steps"): (302, b"Location: /steps/\r\n", b""),
    (8, "/steps/"): (302, b"Location: /steps/?sid=1\r\n", b""),
    (8, "/steps/?sid=1"): (200, HTML, links("/last")),
    (9, "/"): (200, HTML, links("/a")),
    (9, "/sitemap.xml"): (302, b"Location: /\r\n", b""),
    (10, "/"): (200, HTML, links("/a")),
    (10, "/a"): (200, HTML, links("/b")),
    (10, "/b"): (200, HTML, links("/map.html")),
    (10, "/sitemap.xml"): (302, b"Location: /map.html\r\n", b""),
    (10, "/map.html"): (200, HTML, links("/listed")),
    (4, "/sitemap.xml"): (200, b"", index("/long.xml.gz", "/plain.xml", "/sitemap.xml", "/deep/0", "/cut.gz",
                                          "/bomb.gz", "/missing.xml")),
    (4, "/long.xml.gz"): (200, b"", LONG),
    (4, "/plain.xml"): (200, b"", urlset(at(4, "/plain/1"), at(3, "/elsewhere"))),
    (4, "/cut.gz"): (200, b"", LONG[:len(LONG) // 2]),
    (4, "/bomb.gz"): (200, b"", BOMB),
    (4, "/typeless"): (200, b"", b" \t\n" + links("/found")),
    (4, "/twice"): (200, b"Content-Type: text/html, text/html; charset=x\r\n", links("/found-twice")),
    (4, "/data"): (200, b"", b"\0" + links("/not-found")),
    (4, "/many"): (200, HTML, links(*(f"/n/{n}" for n in range(10000)))),
}


def answer(host, path):
    n = int(host.split(":")[0].split(".")[3])
    if n == 4 and path.startswith("/deep/"):  # an index of an index of ...
        deeper = int(path[6:]) + 1
        return 200, b"", index(f"/deep/{deeper}")
    return PAGES.get((n, path), (404 if path == "/robots.txt" or "missing" in path else 200, HTML, b""))


async def handle(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            host = next(line[6:] for line in head if line.lower().startswith("host: "))
            LOG.write(f"{host.split(':')[0]} {path}\n")
            status, headers, body = answer(host, path)
            if path == "/slow":
                await asyncio.sleep(5)
            writer.write(b"HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n" % (status, headers, len(body)) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(handle, "0.0.0.0", PORT, limit=1 << 20)
    async with server:
        await server.serve_forever()


asyncio.run(main())
