#!/usr/bin/env python3
"""A site whose pages lead to each other by links and by redirects, at random.

    depths.py PORT                 serves it; a path is /SEED/PAGE, and some pages are slow
    depths.py expect SEED DEPTH    prints `DEPTH /SEED/PAGE` for the pages within DEPTH links of page 0,
                                   sorted
    depths.py sound SEED DEPTH     reads the crawler's JSON lines and checks that each depth follows from
                                   the page's parent and is not below the minimum number of links

A redirect is not a link: its target has the depth of the page that redirects. Sites from 100 on
have none. Site 0 is a chain of redirects that starts late, after all of its pages were linked."""
import asyncio
import collections
import json
import random
import sys

PAGES = 240


def site(seed):
    """For each page a list: its redirect target, or its links."""
    if seed == 0:
        chain = {n: (True, [n + 1]) for n in range(3, 60)}
        return {0: (False, [1, 2]), 1: (True, [3]), 2: (False, list(chain)), **chain, 60: (False, [])}
    draw = random.Random(seed)
    pages = {0: (False, [1, 2, 3, 4, 5, 6])}
    for n in range(1, PAGES):
        near = [draw.randrange(max(0, n - 20), min(PAGES, n + 20)) for _ in range(5)]
        pages[n] = (True, near[:1]) if seed < 100 and draw.random() < 0.35 else (False, near)
    return pages


def least_depths(seed, limit):
    pages, depths, queue = site(seed), {}, collections.deque([(0, 0)])
    while queue:
        page, depth = queue.popleft()
        if page in depths or depth > limit:
            continue
        depths[page] = depth
        redirects, targets = pages[page]
        for target in targets:
            if redirects:
                queue.appendleft((target, depth))
            else:
                queue.append((target, depth + 1))
    return depths


def expect(seed, limit):
    for page, depth in least_depths(seed, limit).items():
        print(depth, f"/{seed}/{page}")


def sound(seed, limit):
    pages, least, found = site(seed), least_depths(seed, limit), {}
    number = lambda url: int(url.split("/")[4])
    for line in sys.stdin:
        page = json.loads(line)
        n = number(page["url"])
        assert n not in found, f"{n} was fetched twice"
        found[n] = page["depth"]
        assert least[n] <= page["depth"] <= limit, f"{n}: depth {page['depth']}, at least {least[n]}"
        if page["parent"]:
            parent = number(page["parent"])
            redirects, targets = pages[parent]
            assert n in targets and page["depth"] == found[parent] + (not redirects), f"{n} from {parent}"
    print(len(found), "of", len(least))


async def handle(reader, writer):
    try:
        while True:
            path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
            if path == "/robots.txt":
                writer.write(b"HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n")
                continue
            seed, page = (int(part) for part in path[1:].split("/"))
            redirects, targets = SITES.setdefault(seed, site(seed))[page]
            await asyncio.sleep(random.Random(page).choice([0, 0, 0.004, 0.01]) if seed > 0 else 0.3 * (page == 1))
            head, body = "HTTP/1.1 200 OK\r\n", "".join(f"<a href={target}>x</a>" for target in targets)
            if redirects:
                head, body = f"HTTP/1.1 302 Found\r\nLocation: {targets[0]}\r\n", ""
            writer.write(f"{head}Content-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


SITES = {}
if sys.argv[1] in ("expect", "sound"):
    {"expect": expect, "sound": sound}[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
else:
    asyncio.run(main())
