#!/usr/bin/env python3
"""A site that wants to be asked again.

    again.py PORT LOG      every request is one line of LOG: seconds, path

/ links to twenty pages and works the second time. /later/N wants a second, each time, and /never more seconds than
there are years."""
import http.server
import sys
import time

LOG = open(sys.argv[2], "a", buffering=1)
TIMES = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        TIMES[self.path] = TIMES.get(self.path, 0) + 1
        LOG.write(f"{time.time():.3f} {self.path}\n")
        status, wait, body = 200, None, b""
        if self.path == "/robots.txt":
            status = 404
        elif self.path == "/":
            status = 503 if TIMES["/"] == 1 else 200
            body = b"".join(b"<a href=/%d>x</a>" % n for n in range(20))
        elif self.path.startswith("/later/"):
            status, wait = 503, "1"
        elif self.path == "/never":
            status, wait = 429, "9999999999"
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        if wait is not None:
            self.send_header("Retry-After", wait)
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
