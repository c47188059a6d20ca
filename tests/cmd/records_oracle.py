"""Every command that reads records against a slow reference: Python's csv and json modules.

    records_oracle.py ROUNDS [SEED]
Random and adversarial CSV, TSV and JSON lines; uniq, check, common, except, with random options,
block boundaries in every place (SEEN reads small pipes), one thread and several.
"""
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
    """Rows as text, quoted now and then, with the quirks that readers agree on."""
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
    return args, head, [r.encode() for r in raw], keys


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
    """White space where JSON allows it."""
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
    """As the command compares it; None: white space and all."""
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
    """Scalars by their text. Objects and arrays only with scalars whose spelling is canonical here."""
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
    return args, b"", [line.encode() + b"\n" for line in lines], keys


# ---- Commands ---------------------------------------------------------------------------------

def end_lines(records):
    """Every record of an output ends with a newline."""
    return b"".join(r if r.endswith(b"\n") else r + b"\n" for r in records)


def check_uniq(args, head, raw, keys):
    missing = rng.choice(["value", "value", "skip"])
    if missing == "skip":
        pairs = [(r, k) for r, k in zip(raw, keys) if MISSING not in k]
        args = args + ["--missing", "skip"]
    else:
        pairs = list(zip(raw, keys))
    seen, want = set(), []
    for record, key in pairs:
        if key not in seen:
            want.append(record)
        seen.add(key)
    extra = rng.choice([[], ["-j", "1"], ["-j", "4"]]) + ["--exact", "-q"]
    got = run(["uniq"] + args + extra, head + b"".join(raw))
    assert got == head + end_lines(want), (args, extra, head + b"".join(raw), got, head + end_lines(want))


def check_sets(args, head, raw, keys):
    half = len(raw) // 2
    if half and not raw[half - 1].endswith(b"\n"):
        return
    a, b = list(zip(raw, keys))[:half], list(zip(raw, keys))[half:]
    in_b = {key for _, key in b}
    files = [("a.in", head + b"".join(r for r, _ in a)), ("b.in", head + b"".join(r for r, _ in b))]
    for command, wanted in (("common", True), ("except", False)):
        got = run([command, "-q"] + args + ["a.in", "b.in"], b"", files)
        want = [r for r, key in a if (key in in_b) == wanted]
        assert got == (head if a or head else b"") + end_lines(want), (command, args, files, got, want)


def check_filter(args, head, raw, keys):
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
    if number % 3 == 0:
        check_sets(*case)
    if number % 5 == 0:
        check_filter(*case)
print(f"records: {rounds} cases agree")
