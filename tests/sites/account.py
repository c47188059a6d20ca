#!/usr/bin/env python3
"""A site behind a password and a cookie, which also acts as a proxy: account.py PORT

Prints a line per request to standard output: path, Authorization, Cookie, X-Test. A request for another host's URL, as
proxies get them, is answered with a page that names it."""
import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        get = lambda name: self.headers.get(name, "-")
        # One write, so that threads do not interleave their lines.
        line = " ".join([self.path, get("Authorization"), get("Cookie").replace(" ", ""), get("X-Test"), get("User-Agent")])
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        status, body = 200, b"<title>A &amp;\n  B \xc3\xa9</title><a href=/d/one>1</a><a href=/d/sub/two>2</a><a href=/other>3</a>"
        if self.path.endswith("/robots.txt"):
            status, body = 404, b""
        elif self.path.startswith("/d/"):
            body = b"x" * 500
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        if self.path == "/d/sub/two":
            self.send_header("Content-Encoding", "utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
