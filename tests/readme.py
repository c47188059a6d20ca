#!/usr/bin/env python3
"""Runs the ```console blocks of a document and compares their output.

    readme.py SEEN DOCUMENT            exits 1 if the output differs
    readme.py SEEN DOCUMENT --update   writes the output into the document
    readme.py SEEN --lines DOCUMENT... runs the command lines in the text: `seen ...` and indented ones

A line that starts with "$ " is a command; what follows up to the next one is its output, stdout and
stderr together. The commands of one document share a folder. Times and rates of work vary from run to
run: numbers before "s", "pages/s" and the like are compared as such, not by value. A web server for the
folder tests/sites/small listens where the document says localhost:8000. Commands see two processors: what
they plan depends on the number.

Command lines in the text must succeed, in a folder with the files of FILES. https://example.org is the web
server; redis://HOST is that of REDIS_URL in the environment, with a new name for each line, and without one these lines
are left out. Lines with a word in capital letters that stands for something else (STATE, ADDRESS) are no commands.
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


def run(command, folder, seen, port, check=False):
    """What a command prints, or with `check` what it prints if it fails and None if it does not. 1 is no failure of check."""
    env = dict(os.environ, PATH=os.path.dirname(seen) + ":" + os.environ["PATH"], LC_ALL="C", COLUMNS="80")
    command = command.replace("localhost:8000", "localhost:%d" % port)
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    if check and (done.returncode == 0 or done.returncode == 1 and "seen check" in command):
        return None
    return done.stdout.decode("utf-8", "replace").replace("localhost:%d" % port, "localhost:8000")


LINES = "a\nb\na\n"
FILES = {"urls.txt": LINES, "a.txt": LINES, "b.txt": LINES, "big.txt": LINES, "huge.txt": LINES, "new-urls.txt": LINES,
         "users.csv": "id,email\n1,a@b\n", "new.csv": "id,email\n2,c@d\n"}
MADE = ["zstd -q huge.txt", "seen create -q urls.seen -n 1000"]  # from these
PLACEHOLDER = re.compile(r"\b(STATE|FILE|ADDRESS|URLS?|SIZE|N)\b|\.\.\.|…")


def lines_of(text):
    """The command lines in the text of a document, outside of ``` blocks."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^    (seen .*)$|`(seen [a-z]+ [^`]+)`", text, re.MULTILINE)
    return [indented or inline for indented, inline in found if not PLACEHOLDER.search(indented or inline)]


def run_lines(seen, documents, port):
    redis, bad, count = os.environ.get("REDIS_URL"), 0, 0
    for document in documents:
        with tempfile.TemporaryDirectory() as folder, open(document) as file:
            for name, text in FILES.items():
                with open(os.path.join(folder, name), "w") as out:
                    out.write(text)
            for command in MADE:
                run(command, folder, seen, port)
            for command in lines_of(file.read()):
                if "redis://" in command and not redis:
                    continue
                real = re.sub(r"redis://[a-z.]+/(\w+)", r"%s/\1.%d" % (redis, count), command).replace("/big/disk", folder)
                real = real.replace("https://example.org/", "http://localhost:8000/ --allow-private --delay 0")
                said = run("set -e; " + real, folder, seen, port, check=True)
                count += 1
                if said is not None:
                    bad += 1
                    print("%s: %s\n%s" % (document, command, said))
    print("%d command lines" % count)
    return bad or count == 0


def main():
    seen, document = os.path.abspath(sys.argv[1]), sys.argv[2]
    update = "--update" in sys.argv
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    handler = functools.partial(Quiet, directory=os.path.join(ROOT, "tests/sites/small"))
    server = http.server.ThreadingHTTPServer(("localhost", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if document == "--lines":
        sys.exit(1 if run_lines(seen, sys.argv[3:], server.server_port) else 0)
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
