#!/usr/bin/env python3
"""All character references of HTML: the table equals the output of its generator, and every name, in
every notation in an attribute, is read as gumbo reads it.

    links_entities.py LINKS_ORACLE ROOT
"""
import pathlib
import subprocess
import sys
import tempfile
from html.entities import html5

oracle, root = sys.argv[1], pathlib.Path(sys.argv[2])

made = subprocess.run([sys.executable, root / "tools/gen_entities.py"], check=True,
                      capture_output=True, text=True).stdout
if made != (root / "crawl/html/entities.c").read_text():
    sys.exit("crawl/html/entities.c differs from the output of tools/gen_entities.py")

links = []
for name in sorted({name.rstrip(";") for name in html5}):
    for end in (";", "", "=", "x", "-", ";x", "9", "&", "&amp;"):
        links.append(f"<a href='{name}{end}:&{name}{end}'>")
        links.append(f"<a href='{name}{end}.&{name[:-1]}{end}'>")
for code in list(range(0, 0x200)) + [0xd7ff, 0xd800, 0xdfff, 0xe000, 0xfffd, 0x10ffff, 0x110000]:
    links.append(f"<a href='{code}:&#{code};&#x{code:x};&#X{code:X}z&#{code}'>")
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "all.html").write_text("".join(links))
    sys.exit(subprocess.run([oracle, "-s", "1", "-r", "0", "-g", "1", folder]).returncode)
