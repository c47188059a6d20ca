#!/usr/bin/env python3
"""A site whose pages need retries.

    again.py PORT LOG      every request is one line of LOG: seconds, path

/ links to twenty pages and works the second time. /later/N sends a Retry-After of one second,
each time, and /never a huge one. /weak links to twenty pages, /weak/N, that work the second time:
the first time the even ones break off, and the odd ones return 503. As 127.3.0.1 it has thousands
of links that robots.txt denies by the last of thousands of rules."""
import http.server
import sys
import time

LOG = open(sys.argv[2], "a", buffering=1)
TIMES = {}
RULES = b"".join([b"User-agent: *\nAllow: /$\n", *(b"Disallow: /*%dx*y\n" % n for n in range(20000)), b"Disallow: /*\n"])
DENIED = b"".join(b"<a href=/%d/%s>x</a>" % (n, b"0123456789" * 30) for n in range(20000))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        TIMES[self.path] = TIMES.get(self.path, 0) + 1
        LOG.write(f"{time.time():.3f} {self.path}\n")
        status, wait, body = 200, None, b""
        if self.headers["Host"].startswith("127.3.0.1:"):
            body = RULES if self.path == "/robots.txt" else DENIED
        elif self.path == "/robots.txt":
            status = 404
        elif self.path == "/":
            status = 503 if TIMES["/"] == 1 else 200
            body = b"".join(b"<a href=/%d>x</a>" % n for n in range(20))
        elif self.path.startswith("/later/"):
            status, wait = 503, "1"
        elif self.path == "/weak":
            body = b"".join(b"<a href=/weak/%d>x</a>" % n for n in range(20))
        elif self.path.startswith("/weak/") and TIMES[self.path] == 1:
            status = 500
            if int(self.path[6:]) % 2 == 0:
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.close_connection = True
                return
        elif self.path == "/never":
            status, wait = 429, "9999999999"
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        if wait is not None:
            self.send_header("Retry-After", wait)
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Handler).serve_forever()
