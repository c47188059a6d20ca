"""Every command that reads records against a slow reference: Python's csv and json modules.

    records_oracle.py ROUNDS [SEED]
Random and adversarial CSV, TSV and JSON lines; uniq in all modes, count, split, check, common, except, with random options,
block boundaries in every place (SEEN reads small pipes), one thread and several.
"""
import collections
import csv
import io
import json
import os
import random
import re
import subprocess
import sys

SEEN = os.environ["SEEN"]
rounds = int(sys.argv[1])
seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
print(f"records: SEED {seed}", flush=True)
rng = random.Random(seed)
MISSING = ("missing",)


def run(args, data, files=()):
    for name, content in files:
        with open(name, "wb") as f:
            f.write(content)
    p = subprocess.run([SEEN] + args, input=data, capture_output=True)
    assert p.returncode in (0, 1), (args, p.returncode, p.stderr, data)
    return p.stdout


# ---- CSV --------------------------------------------------------------------------------------

def csv_text(delimiter, header, rows, wild):
    """Rows as text, randomly quoted, with the quirks that readers agree on."""
    def field(value):
        if any(c in value for c in '"\r\n' + delimiter) or rng.random() < 0.3:
            return '"' + value.replace('"', '""') + '"'
        return value
    lines = [delimiter.join(field(v) for v in row) for row in ([header] if header else []) + rows]
    if wild:
        lines = [line if rng.random() < 0.8 or line.startswith('"') else 'x"y' + line for line in lines[:1]] + lines[1:]
    end = rng.choice(["\n", "\r\n"])
    text = end.join(lines)
    return text + (end if rng.random() < 0.7 or not rows else "")


def csv_records(text, delimiter):
    """The raw text of each record, by a state machine, and its values, by the csv module."""
    raw, inside, start, field_start, closed = [], False, 0, True, False
    for i, c in enumerate(text):
        opens = c == '"' and not inside and (field_start or closed)
        closed = c == '"' and inside
        field_start = not inside and c in (delimiter, "\n")
        inside = opens or (inside and not closed)
        if c == "\n" and not inside:
            raw.append(text[start:i + 1])
            start = i + 1
    if start < len(text):
        raw.append(text[start:])
    values = []
    for record in raw:
        rows = list(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter))
        assert len(rows) == 1, record
        values.append(rows[0] or [""])
    return raw, values


def pick_columns(values, columns):
    key = []
    for c in columns:
        if isinstance(c, tuple):
            last = c[1] if c[1] else max(len(values), c[0])
            cols = range(c[0], last + 1)
        else:
            cols = [c]
        for k in cols:
            key.append(values[k - 1] if k <= len(values) else MISSING)
    return tuple(key)


def csv_case():
    delimiter = rng.choice([",", ",", ";", "\t"])
    width = rng.randint(1, 6)
    alphabet = rng.choice(["ab", 'a"', 'a,\n', '"\n\r,;\tab', "aä€😀"])
    alphabet = alphabet.replace("\r", "") if rng.random() < 0.5 else alphabet
    pool = ["".join(rng.choice(alphabet) for _ in range(rng.randint(0, 6))).replace("\r", "\r\n" if rng.random() < .5 else "")
            for _ in range(rng.randint(1, 8))]
    rows = [[rng.choice(pool) for _ in range(max(1, width - (rng.random() < 0.1)))] for _ in range(rng.randint(0, 60))]
    header = [f"c{i}" + rng.choice(["", " x", ",y", '"z', "\nw"]) for i in range(1, width + 1)] if rng.random() < 0.6 else None
    text = csv_text(delimiter, header, rows, False)
    raw, values = csv_records(text, delimiter)
    head = b""
    if header:
        head = raw.pop(0).encode()
        values.pop(0)
    columns, names = [], []
    for _ in range(rng.randint(0, 3)):
        kind = rng.random()
        c = rng.randint(1, width + (rng.random() < 0.2))
        if kind < 0.2:
            columns.append((c, 0))
            names.append(f"{c}-")
        elif kind < 0.4:
            last = rng.randint(c, width + 1)
            columns.append((c, last))
            names.append(f"{c}-{last}")
        elif kind < 0.7 and header and c <= width:
            columns.append(c)
            names.append('"' + header[c - 1].replace('"', '""') + '"')
        else:
            columns.append(c)
            names.append(str(c))
    args = ["--tsv"] if delimiter == "\t" and rng.random() < 0.5 else ["--csv", "-t", delimiter]
    if delimiter == "," and rng.random() < 0.5:
        args = ["--csv"]
    if not header:
        args.append("--no-header")
    if columns:
        args += ["-k", ",".join(names)]
    keys = [pick_columns(v, columns or [(1, 0)]) for v in values]
    other = None
    if columns and not any(isinstance(c, tuple) for c in columns):  # the same number of columns, for --key-b
        others = [rng.randint(1, width) for _ in columns]
        other = ",".join(map(str, others)), [pick_columns(v, others) for v in values]
    return args, head, [r.encode() for r in raw], keys, other


# ---- JSON -------------------------------------------------------------------------------------

def json_value(depth=0):
    kind = rng.random()
    if kind < 0.35:
        return "".join(rng.choice('ab"\\\n\tä€😀/ ') for _ in range(rng.randint(0, 4)))
    if kind < 0.5:
        return rng.choice([0, 1, -1, 10 ** 20, 1.5, -2.5e-7])
    if kind < 0.65 or depth > 2:
        return rng.choice([True, False, None])
    if kind < 0.8:
        return [json_value(depth + 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice("abc"): json_value(depth + 1) for _ in range(rng.randint(0, 3))}


def spaced(text):
    """Random white space where JSON allows it."""
    out, inside, i = [], False, 0
    while i < len(text):
        c = text[i]
        out.append(c)
        if inside and c == "\\":
            i += 1
            out.append(text[i])
        elif c == '"':
            inside = not inside
        elif not inside and c in "{}[],:" and rng.random() < 0.3:
            out.append(rng.choice([" ", "\t", "  ", "\r"]))
        i += 1
    return "".join(out)


class Number(str):
    pass


def text_of(value):
    """The form in which the command compares it; None: the raw text."""
    if isinstance(value, Number) or isinstance(value, str):
        return str(value)
    if value is True or value is False or value is None:
        return json.dumps(value)
    return None


def find_path(value, path):
    for step in path:
        if isinstance(value, Pairs) and step in dict(value):
            value = dict(value)[step]
        elif isinstance(value, list) and not isinstance(value, Pairs) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


class Pairs(list):
    """An object, with its members in order."""


def compact(value):
    if isinstance(value, Pairs):
        return "{" + ",".join(key + ":" + compact(v) for key, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(compact(v) for v in value) + "]"
    return value


def json_key(value):
    """Scalars as text. Objects and arrays only with scalars whose notation is canonical here."""
    if value is MISSING:
        return MISSING
    if isinstance(value, list):
        return ("raw", json.dumps(plain(value), ensure_ascii=True))
    return ("text", text_of(value))


def plain(value):
    if isinstance(value, Pairs):
        return {"pairs": [[k, plain(v)] for k, v in value]}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, Number):
        return {"number": str(value)}
    return value


def json_case():
    lines, keys, paths = [], [], []
    for _ in range(rng.randint(1, 3)):
        path = [rng.choice(["a", "b", "c", "0", "1"]) for _ in range(rng.randint(1, 3))]
        paths.append(path)
    ascii_only = rng.random() < 0.5
    for _ in range(rng.randint(0, 60)):
        record = {rng.choice("abc"): json_value() for _ in range(rng.randint(0, 4))}
        text = json.dumps(record, ensure_ascii=ascii_only)
        if rng.random() < 0.1:
            text = text[:-1] + (", " if len(text) > 2 else "") + '"a": {"b": 1}}'  # a name that is there already
        lines.append(spaced(text))
    for text in lines:
        value = json.loads(text, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number)
        keys.append(tuple(json_key(find_path(value, path)) for path in paths))
    args = ["--jsonl", "-k", ",".join(".".join(path) for path in paths)]
    return args, b"", [line.encode() + b"\n" for line in lines], keys, None


# ---- Commands ---------------------------------------------------------------------------------

def end_lines(records):
    """Every record of an output ends with a newline."""
    return b"".join(r if r.endswith(b"\n") else r + b"\n" for r in records)


def with_missing(args, raw, keys):
    """The records that --missing leaves."""
    pairs = list(zip(raw, keys))
    if rng.random() < 0.7:
        return args, pairs
    return args + ["--missing", "skip"], [(r, k) for r, k in pairs if MISSING not in k]


def delimiter_of(args):
    """What divides columns in the output; None for JSON."""
    if "--jsonl" in args:
        return None
    return args[args.index("-t") + 1].encode() if "-t" in args else b"\t" if "--tsv" in args else b","


def prefixed(head, columns, delimiter):
    """A header with further columns in front."""
    return delimiter.join(columns) + delimiter + head if head else b""


MODES = ["first", "-c", "-d", "-D", "-u", "--duplicates", "--keep", "--source"]


def choose(mode, pairs):
    """The records that a mode of uniq prints, as number and record."""
    total = collections.Counter(key for _, key in pairs)
    so_far, chosen = collections.Counter(), []
    for number, (record, key) in enumerate(pairs):
        so_far[key] += 1
        first, n = so_far[key] == 1, total[key]
        keep = {"-d": first and n > 1, "-D": n > 1, "-u": n == 1, "--duplicates": not first, "--keep": so_far[key] == n}
        if keep.get(mode, first):
            chosen.append((number, record, n))
    return chosen


def check_uniq(args, head, raw, keys, other):
    mode = rng.choice(MODES)
    delimiter = delimiter_of(args)
    data = head + b"".join(raw)
    if mode != "--source":
        args, pairs = with_missing(args, raw, keys)
    else:  # records that are skipped count as lines of the file
        pairs = list(zip(raw, keys))
    want = choose(mode, pairs)
    if mode == "-c":
        lines = [(b"%d" % n + delimiter if delimiter else b"%7d " % n) + record for _, record, n in want]
        head = prefixed(head, [b"count"], delimiter) if delimiter else b""
    elif mode == "--source":
        lines = [(b"u.in" + delimiter + b"%d" % (i + 1) + delimiter if delimiter else b"u.in:%d:" % (i + 1)) + record
                 for i, record, _ in want]
        head = prefixed(head, [b"file", b"line"], delimiter) if delimiter else b""
    else:
        lines = [record for _, record, _ in want]
    words = [] if mode == "first" else [mode, "last"] if mode == "--keep" else [mode]
    extra = words + rng.choice([[], ["-j", "1"], ["-j", "4"]]) + ["-q"]
    if mode == "--source" or rng.random() < 0.3:
        got = run(["uniq"] + args + extra + ["u.in"], b"", [("u.in", data)])
    else:
        got = run(["uniq"] + args + extra, data)
    assert got == head + end_lines(lines), (args, extra, data, got, head + end_lines(lines))


def check_count(args, head, raw, keys, other):
    delimiter = delimiter_of(args)
    args, pairs = with_missing(args, raw, keys)
    rows = [(n, record) for _, record, n in choose("-c", pairs)]
    extra = []
    if rng.random() < 0.5:
        least = rng.randint(1, 4)
        extra += ["--min", str(least)]
        rows = [row for row in rows if row[0] >= least]
    if rng.random() < 0.5:
        top = rng.randint(1, 10)
        extra += ["--top", str(top)]
        rows = sorted(rows, key=lambda row: -row[0])[:top]
    want = prefixed(head, [b"count"], delimiter) if delimiter else b""
    want += end_lines([b"%d" % n + (delimiter or b"\t") + record for n, record in rows])
    got = run(["count", "-q"] + args + extra, head + b"".join(raw))
    assert got == want, (args, extra, head + b"".join(raw), got, want)


def records_of(args, data):
    """The records of an output, each with its end."""
    if delimiter_of(args):
        return [r.encode() for r in csv_records(data.decode(), delimiter_of(args).decode())[0]]
    return [line + b"\n" for line in data.split(b"\n")[:-1]]


def check_split(args, head, raw, keys, other):
    """Each record is in one part, in order, equal keys in the same part; each part has the header."""
    parts = rng.choice([1, 2, 5])
    args, pairs = with_missing(args, raw, keys)
    run(["split", "-q", "-n", str(parts), "-o", "part.%d"] + args, head + b"".join(raw))
    key_of = {end_lines([record]): key for record, key in pairs}
    place = {}
    for i in range(parts):
        with open("part.%d" % i, "rb") as file:
            got = file.read()
        assert got.startswith(head), (args, got)
        mine = records_of(args, got[len(head):])
        for record in mine:
            assert place.setdefault(key_of[record], i) == i, (args, record)
        want = [record for record, key in pairs if place.get(key) == i]
        assert b"".join(mine) == end_lines(want), (args, mine, want)
    assert set(place) == set(key_of.values()), (args, head + b"".join(raw))


def check_sets(args, head, raw, keys, other):
    """common and except, with -u, several B, and other columns of B."""
    half = len(raw) // 2
    if half and not raw[half - 1].endswith(b"\n"):
        return
    a, b = list(zip(raw, keys))[:half], list(zip(raw, keys))[half:]
    files = [("a.in", head + b"".join(r for r, _ in a)), ("b.in", head + b"".join(r for r, _ in b))]
    if other and rng.random() < 0.5:
        args = args + ["--key-b", other[0]]
        b = list(zip(raw, other[1]))[half:]
    in_b = {key for _, key in b}
    once = rng.random() < 0.3
    for command, wanted in (("common", True), ("except", False)):
        want, printed = [], set()
        for record, key in a:
            if (key in in_b) == wanted and not (once and key in printed):
                want.append(record)
                printed.add(key)
        got = run([command, "-q"] + (["-u"] if once else []) + args + ["a.in", "b.in"], b"", files)
        assert got == (head if a or head else b"") + end_lines(want), (command, args, files, got, want)


def check_filter(args, head, raw, keys, other):
    half = len(raw) // 2
    if half and not raw[half - 1].endswith(b"\n"):
        return
    if os.path.exists("f.seen"):
        os.unlink("f.seen")
    run(["create", "-q", "f.seen", "-n", "1000", "-p", "1e-9"], b"")
    run(["add", "-q"] + args + ["f.seen"], head + b"".join(raw[:half]))
    known = set(keys[:half])
    got = run(["check"] + args + ["f.seen"], head + b"".join(raw[half:]))
    want = [r for r, key in zip(raw[half:], keys[half:]) if key in known]
    assert got == head + end_lines(want), (args, got, want)


for number in range(rounds):
    case = csv_case() if rng.random() < 0.6 else json_case()
    check_uniq(*case)
    check_count(*case)
    if number % 3 == 0:
        check_sets(*case)
        check_split(*case)
    if number % 5 == 0:
        check_filter(*case)
print(f"records: {rounds} cases agree")
