#!/usr/bin/env python3
"""A site with every kind of bad behaviour.

    bad.py PORT LOG        every request is one line of LOG: seconds, path, user agent

What each path does is written next to it in SITE and in the methods below."""
import gzip
import http.server
import sys
import threading
import time
import zlib

LOG = open(sys.argv[2], "a", buffering=1)
LOCK = threading.Lock()
TIMES = {}

ROBOTS = b"""\xef\xbb\xbf# a comment
User-agent: other
Disallow: /

user-agent: *
Disallow: /secret
Allow: /secret/open
Disallow: /*.cgi$
Sitemap: /map.xml
"""

INDEX = """<!doctype html><title>bad</title>
<a href="/chain/1">chain</a> <a href="/loop/a">loop</a> <a href="/forever?n=1">forever</a>
<a href="/slow">slow</a> <a href="/endless">endless</a> <a href="/bomb">bomb</a>
<a href="/broken.html">broken</a> <a href="/latin1.html">latin1</a> <a href="/utf16.html">16</a>
<a href="/declared">16, too</a> <a href="/zip/cut">cut</a> <a href="/zip/junk">junk</a>
<a href="/zip/parts">parts</a> <a href="/zip/none">none</a>
<a href="/named-nofollow">named</a> <a href="/tagged">tagged</a>
<a href="/busy">busy</a> <a href="/flaky">flaky</a> <a href="/error">error</a>
<a href="/cut">cut</a> <a href="/headers">headers</a> <a href="/empty">empty</a>
<a href="/secret/x">no</a> <a href="/secret/open">yes</a> <a href="/x.cgi">no</a>
<a href="/x.cgi?a">yes</a> <a href="/trap/">trap</a> <a href="/type">type</a>
<a rel="external nofollow" href="/nofollow">no</a> <a href="/meta-nofollow">meta</a>
<a href="/based/page">base</a> <a href="mailto:a@b">mail</a> <a href="javascript:void(0)">js</a>
<a href="ftp://127.0.0.1/x">ftp</a> <a href="http://[::1">wrong</a> <a href="/\x1b]0;evil\x07">esc</a>
<a href="/moved">moved</a> <a href="/linked">linked</a> <a href="/badzip">bad gzip</a> <a href="/404">missing</a> <a href="/?b=1&amp;a=2#x">query</a>
<a href="/%7Euser/../~user/./a%2fb">dots</a> <a href="/~user/a%2Fb">the same</a>
<a href="http://127.0.0.1:1/other">another port</a> <a href="/many">many</a> <a href=/302none>n</a>
<!-- <a href="/comment">no</a> --><script>'<a href="/script">no</a>'</script>
<map><area href="/area"></map>
<a href="http://me:word@HOST/as/me">log in</a> <a href="http://you@HOST/as/me">log in</a>"""

BROKEN = b"""<p><a href=/b1 <b><a href="/b3
"><a HREF = /b4 href=/b5></a/><a
href
=
"/b7">x</><!-- x --!><a href="/b8">&lt;a href=/b9&gt;<!><a href=/b10>&#47;<a href="&#x2F;b11&amp">
<textarea><a href="/b13"></textarea><a href="/b14"""

LOST = b"<base href='/%s/'><a href=lost>x</a><a href='http://HOST/h/%s'>x</a>"  # a base that is too long

SITE = {
    "/": INDEX.encode(),
    "/chain/5": b"<a href=/after-chain>x</a>",
    "/after-chain": b"",
    "/secret/open": b"", "/x.cgi?a": b"", "/area": b"", "/nofollow": b"", "/comment": b"",
    "/broken.html": BROKEN,
    "/latin1.html": b"<meta charset=utf-8><a href='/caf\xe9?q=\xe9'>x</a>",
    "/utf16.html": "\ufeff<a href='/from-utf16'>x</a>".encode("utf-16-le"),
    "/from-utf16": b"",
    "/based/page": b"<base href='/elsewhere/'><a href=leaf>x</a><a href=/based/long>x</a><a href=/based/longer>x</a>",
    "/based/long": LOST % (b"x" * 20000, b"long"), "/based/longer": LOST % (b"x" * 70000, b"longer"),
    "/elsewhere/leaf": b"",
    "/meta-nofollow": b"<meta name=robots content='noindex, NOFOLLOW'><a href=/hidden>x</a>",
    "/named-nofollow": b"<meta name=Seen content=nofollow><a href=/hidden>x</a>",
    "/many": b"".join(b"<a href=/m/%d>x</a>" % n for n in range(300)),
    "/map.xml": b"<urlset><url><loc>http://HOST/from-map</loc></url></urlset>",
    "/from-map": b"",
}


def bomb(head, megabytes):
    """A gzip body of a head and many zeros. A full flush resets the compressor, so that one
    compressed megabyte of zeros can be repeated, which takes no time."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    start = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    zeros = packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + zeros * megabytes + packer.flush()


BOMB = bomb(b"<a href=/h/bomb>x</a>", 200)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        headers.setdefault("Content_Type", "text/html")
        headers.setdefault("Content_Length", str(len(body)))
        for name, value in headers.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with LOCK:
            TIMES[self.path] = TIMES.get(self.path, 0) + 1
            tries = TIMES[self.path]
            login = " LOGIN" if "Authorization" in self.headers else ""
            LOG.write(f"{time.time():.3f} {self.path}{login} {self.headers['User-Agent']}\n")
        path, _, query = self.path.partition("?")
        method = getattr(self, "do_" + path.strip("/").split("/")[0].replace(".", "_"), None)
        try:
            if self.path in SITE:
                host = self.headers["Host"].encode()
                self.reply(200, SITE[self.path].replace(b"HOST", host))
            elif method is not None:
                method(path, query, tries)
            elif path.startswith(("/m/", "/b", "/caf", "/~user", "/h/", "/as/")) or query:
                self.reply(200)
            else:
                self.reply(404, b"<a href=/from-404>x</a>")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_robots_txt(self, path, query, tries):
        self.reply(200, ROBOTS, Content_Type="text/plain")

    def do_chain(self, path, query, tries):  # 1 -> 2 -> ... -> 5
        self.reply(302, Location=str(int(path[7:]) + 1))

    def do_loop(self, path, query, tries):  # a <-> b
        self.reply(301, Location="/loop/b" if path == "/loop/a" else "/loop/a")

    def do_forever(self, path, query, tries):  # an endless chain
        self.reply(307, Location=f"/forever?n={int(query[2:]) + 1}")

    def do_302none(self, path, query, tries):
        self.reply(302)

    def do_slow(self, path, query, tries):  # a byte now and then
        self.reply(200, b"<a href=/h/slow>", Content_Length="1000000")
        for _ in range(1000):
            self.wfile.write(b"x")
            time.sleep(0.3)

    def do_endless(self, path, query, tries):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<a href=/h/early>x</a>")
        for n in range(100000):
            self.wfile.write(b"<p>" * 5000 + b"<a href=/h/late>x</a>" * (n > 1000))

    def do_bomb(self, path, query, tries):  # 200 MB compressed to a few hundred KB
        self.reply(200, BOMB, Content_Encoding="gzip")

    def do_declared(self, path, query, tries):  # UTF-16 only according to its header
        body = "<a href=/h/declared>x</a>".encode("utf-16-be")
        self.reply(200, body, Content_Type="text/html; charset=UTF-16BE")

    def do_tagged(self, path, query, tries):  # as a <meta>, in a header
        self.reply(200, b"<a href=/hidden>x</a>", X_Robots_Tag="seen: noindex, nofollow")

    def do_zip(self, path, query, tries):  # encodings with errors that browsers tolerate
        case = path[5:]
        page = b"<a href=/h/zip/%s>x</a>" % case.encode()
        packed = gzip.compress(page + bytes(range(256)) * 9)
        if case == "cut":
            self.reply(200, packed[:-20], Content_Encoding="gzip")
        elif case == "junk":
            self.reply(200, packed + b"\r\n and more", Content_Encoding="gzip")
        elif case == "parts":
            self.reply(200, gzip.compress(b"<p>") + packed, Content_Encoding="gzip")
        else:
            self.reply(200, page, Content_Encoding="UTF-8")

    def do_badzip(self, path, query, tries):
        page = gzip.compress(b"<a href=/h/badzip>x</a>" + bytes(range(256)) * 99, 0)
        self.reply(200, page[:-9] + b"?" + page[-8:], Content_Encoding="gzip")

    def do_busy(self, path, query, tries):  # 429 once
        if tries == 1:
            self.reply(429, Retry_After="1")
        else:
            self.reply(200)

    def do_flaky(self, path, query, tries):  # works the third time
        self.reply(503 if tries < 3 else 200, b"<a href=/h/flaky>x</a>")

    def do_tired(self, path, query, tries):  # a list of pages that all work the second time
        if path == "/tired":
            self.reply(200, b"".join(b"<a href=/tired/%d>x</a>" % n for n in range(40)))
        else:
            self.reply(503 if tries == 1 else 200)

    def do_error(self, path, query, tries):
        self.reply(500)

    def do_cut(self, path, query, tries):  # the second link is truncated
        self.reply(200, b"<a href=/h/cut><a href=/h/cu", Content_Length="1000")
        self.close_connection = True

    def do_linked(self, path, query, tries):  # links only in headers, relative to the page
        pages = {
            "": (b"<a href=/linked/refresh>x</a> <a href=/linked/next>x</a> <a href=/linked/no>x</a>", {}),
            "/refresh": (b"<base href=/wrong/>", {"Refresh": "0; url='../h/refresh'"}),
            "/next": (b"{}", {"Content_Type": "application/json", "Link": '<../h/1>; rel=prev, <../h/next>; rel="x Next"'}),
            "/no": (b"", {"X_Robots_Tag": "nofollow", "Link": "</hidden>; rel=next", "Refresh": "1;/hidden"}),
        }
        body, headers = pages[path[7:]]
        self.reply(200, body, **headers)

    def do_moved(self, path, query, tries):  # a redirect that announces a body
        self.reply(302, Location="/h/moved", Content_Length="1000")
        self.close_connection = True

    def do_headers(self, path, query, tries):
        self.send_response(200)
        for n in range(5000):
            self.send_header(f"X-{n}", "y" * 100)
        self.end_headers()

    def do_empty(self, path, query, tries):
        self.close_connection = True

    def do_trap(self, path, query, tries):  # /trap/a/a/a/...
        self.reply(200, b"<a href=a/>x</a>")

    def do_type(self, path, query, tries):
        self.reply(200, b"<a href=/h/type>", Content_Type="text/plain\x1b[31m\xff")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
