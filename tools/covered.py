#!/usr/bin/env python3
"""Line coverage of src/ from a build made with --coverage: tools/covered.py BUILD [SKIP...]

Prints for each file how many of its lines ran and which did not, then the sum. A line is counted
once, and as run if any file that includes it ran it: a header, or a source that a test includes
to make its calls fail. Lines that only tell the compiler that they are unreachable are not
counted. SKIP: parts of names to omit. Fails below 95%."""
import collections
import json
import os
import subprocess
import sys

WANTED = 95.0


def notes(build):
    for folder, _, names in os.walk(build):
        for name in names:
            if name.endswith(".gcno"):
                yield os.path.join(folder, name)


def runs(root, note):
    """(file, line, times) of one object; an object that never ran has no data and counts as 0."""
    out = subprocess.run(["gcov", "--json-format", "--stdout", os.path.abspath(note)], cwd="/",
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    for text in out.splitlines():
        data = json.loads(text)
        for file in data["files"]:
            path = os.path.join(data["current_working_directory"], file["file"])
            path = os.path.relpath(os.path.realpath(path), root)
            if path.startswith("src/"):
                for line in file["lines"]:
                    yield path, line["line_number"], line["count"]


def unreachable(root, path):
    """The lines of a file that only inform the compiler."""
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return {n for n, line in enumerate(f, 1) if line.strip() == "__builtin_unreachable();"}


def ranges(numbers):
    text, first, last = [], None, None
    for n in numbers + [None]:
        if first is not None and n == last + 1:
            last = n
            continue
        if first is not None:
            text.append(str(first) if first == last else f"{first}-{last}")
        first = last = n
    return " ".join(text)


def main():
    build, skip = sys.argv[1], sys.argv[2:]
    root = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
    files = collections.defaultdict(lambda: collections.defaultdict(int))
    for note in notes(build):
        for path, line, count in runs(root, note):
            if not any(part in path for part in skip):
                files[path][line] += count
    all_lines = all_run = 0
    for path in sorted(files):
        none = unreachable(root, path)
        lines = {n: count for n, count in files[path].items() if n not in none}
        missing = sorted(n for n in lines if not lines[n])
        all_lines += len(lines)
        all_run += len(lines) - len(missing)
        print(f"{100 * (1 - len(missing) / len(lines)):5.1f}%  {path}  {ranges(missing)}".rstrip())
    if not all_lines:
        sys.exit(f"{build}: no coverage data")
    percent = 100 * all_run / all_lines
    print(f"lines of src/ that ran: {all_run} of {all_lines}, {percent:.2f}%")
    if percent < WANTED:
        sys.exit(f"below {WANTED}%")


main()
