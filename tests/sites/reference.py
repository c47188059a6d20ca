#!/usr/bin/env python3
"""A minimal crawler, which determines what a crawl must find.

    reference.py URL [DEPTH]    prints `STATUS URL`, sorted, for every URL of the same origin that can
                                be reached by (at most DEPTH) <a href>, without fragments

One request at a time, regular expressions and Python's own URL joining: independent of our code,
and sufficient for sites whose HTML is well-formed."""
import collections
import functools
import html
import http.client
import re
import sys
import urllib.parse


SKIP = re.compile(rb"<!--.*?-->|<(script|style|textarea|title)\b.*?</\1\s*>", re.S | re.I)
TAG = re.compile(rb"<(a|base)\s([^>]*)>", re.S | re.I)
HREF = re.compile(rb"""(?:^|\s)href\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""", re.S | re.I)


def links(body):
    """(base, hrefs) of a well-formed page, by three regular expressions."""
    base, found = None, []
    for tag, attributes in TAG.findall(SKIP.sub(b" ", body)):
        href = HREF.search(attributes)
        if href is None:
            continue
        text = html.unescape(href.group(1).strip(b"\"'").decode("utf-8", "replace")).strip()
        if tag.lower() == b"a":
            found.append(text)
        elif base is None:
            base = text
    return base, found


def canonical(url):
    parts = urllib.parse.urlsplit(url)
    path = urllib.parse.quote(parts.path or "/", safe="/%:@!$&'()*+,;=-._~[]|^")
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


@functools.lru_cache(maxsize=100000)
def join(base, href):
    try:
        return canonical(urllib.parse.urljoin(base, href))
    except ValueError:
        return ""


def main():
    start = canonical(sys.argv[1])
    origin = urllib.parse.urlsplit(start)
    connection = http.client.HTTPConnection(origin.netloc)
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 30
    queue, seen, answers = collections.deque([(start, 0)]), {start}, {}
    while queue:
        url, depth = queue.popleft()
        parts = urllib.parse.urlsplit(url)
        connection.request("GET", parts.path + ("?" + parts.query if parts.query else ""))
        answer = connection.getresponse()
        body = answer.read()
        answers[url] = answer.status
        found, base = [], url
        if 300 <= answer.status < 400:
            found = [answer.headers["Location"]]
        elif answer.status == 200 and answer.headers.get_content_type() == "text/html":
            named, found = links(body)
            if named is not None:
                base = urllib.parse.urljoin(url, named)
        for target in {join(base, href) for href in found}:
            if target.startswith(f"{origin.scheme}://{origin.netloc}/") and target not in seen:
                seen.add(target)
                if depth < limit:
                    queue.append((target, depth + 1))
    for url in sorted(answers):
        print(answers[url], url)


main()
