#!/usr/bin/env python3
"""Runs the ```console blocks of a document and compares what they print.

    readme.py SEEN DOCUMENT            exits 1 where the output differs
    readme.py SEEN DOCUMENT --update   writes the output into the document

A line that starts with "$ " is a command; what follows up to the next one is its output, stdout and
stderr together. The commands of one document share a folder. Times and rates of work vary from run to
run: numbers before "s", "pages/s" and the like are compared as such, not by value. A web server for the
folder tests/sites/small listens where the document says localhost:8000.
"""
import functools
import http.server
import os
import re
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VARIES = [(r"\d[\d,.]* (s|ms)\b", r"# \1"), (r"\d[\d,.]*( [kMG])?(i?B)?( pages| lines)?/s", "#/s"),
          (r'"ms":\d+', '"ms":#'), (r"seed +[0-9a-f:]+", "seed #")]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def plain(text):
    for pattern, to in VARIES:
        text = re.sub(pattern, to, text)
    return [line.rstrip() for line in text.splitlines()]


def run(command, folder, seen, port):
    env = dict(os.environ, PATH=os.path.dirname(seen) + ":" + os.environ["PATH"], LC_ALL="C", COLUMNS="80")
    command = command.replace("localhost:8000", "localhost:%d" % port)
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.stdout.decode("utf-8", "replace").replace("localhost:%d" % port, "localhost:8000")


def main():
    seen, document = os.path.abspath(sys.argv[1]), sys.argv[2]
    update = "--update" in sys.argv
    handler = functools.partial(Quiet, directory=os.path.join(ROOT, "tests/sites/small"))
    server = http.server.ThreadingHTTPServer(("localhost", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lines, out, bad, count = open(document).read().split("\n"), [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        i, inside = 0, False
        while i < len(lines):
            line = lines[i]
            i += 1
            out.append(line)
            if line.startswith("```"):
                inside = line == "```console"
            if not (inside and line.startswith("$ ")):
                continue
            expected = []
            while i < len(lines) and not lines[i].startswith(("$ ", "```")):
                expected.append(lines[i])
                i += 1
            got = run(line[2:], folder, seen, server.server_port)
            count += 1
            if update:
                out += got.rstrip("\n").split("\n") if got.strip() else []
            elif plain(got) != plain("\n".join(expected)):
                bad += 1
                print("%s: $ %s\n--- expected\n%s\n--- got\n%s" % (document, line[2:], "\n".join(expected), got))
    if update:
        open(document, "w").write("\n".join(out))
    if count == 0:
        print("%s: no commands" % document)
        bad = 1
    sys.exit(1 if bad else 0)


main()
