"""seen uniq, count, common, except and split against a slow reference, on random and adversarial inputs.

    reference.py SEEN [SECONDS]

Every output must equal that of the few lines of Python below, byte for byte: option by option,
then in
random combinations, until the time is over. The seed is printed and can be given as SEEN_SEED.
"""
import collections
import os
import random
import re
import subprocess
import sys
import time

SEEN = sys.argv[1]
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 5
SEED = int(os.environ.get("SEEN_SEED", random.randrange(1 << 32)))
RANDOM = random.Random(SEED)


# ---- the reference ----------------------------------------------------------------------------

def records(files, end):
    """The records of all files, without their terminators."""
    for data in files:
        parts = data.split(end)
        yield from parts[:-1]
        if parts[-1]:
            yield parts[-1]


def fold(text, o):
    return bytes(c | 32 if 65 <= c <= 90 else c for c in text) if "-i" in o else text


def key_of(record, o):
    if "#keys" in o:  # of URLs: known since they were made
        return o["#keys"].get(record, record)
    if "--crlf" in o and record.endswith(b"\r"):
        record = record[:-1]
    if "-k" not in o:
        return fold(record, o)
    delimiter = o["-t"].encode() if "-t" in o else b"\t"
    fields, key = record.split(delimiter), []
    for item in str(o["-k"]).split(","):
        first, dash, last = item.partition("-")
        end = int(last) if last else len(fields) if dash else int(first)
        key.append(delimiter.join(fields[int(first) - 1:end]))  # a range is its text
    return tuple(fold(field, o) for field in key) if len(key) > 1 else fold(key[0], o)


def places_of(files, end):
    """FILE:LINE: of each record."""
    return [b"f%d:%d:" % (i, n + 1) for i, data in enumerate(files) for n, _ in enumerate(records([data], end))]


def uniq(lines, o, places=None):
    keys = [key_of(line, o) for line in lines]
    total = collections.Counter(keys)
    so_far = collections.Counter()
    chosen, others = [], []
    for line, key in zip(lines, keys):
        so_far[key] += 1
        first, n = so_far[key] == 1, total[key]
        keep = (n == 1 if "-u" in o else n > 1 and first if "-d" in o else n > 1 if "-D" in o
                else not first if "--duplicates" in o else so_far[key] == n if "--keep" in o else first)
        text = b"%7d %s" % (n, line) if "-c" in o else line
        if "--source" in o:
            text = places[len(chosen) + len(others)] + line
        (chosen if keep else others).append(text)
    return chosen, others


def count(lines, o):
    total, first = collections.Counter(), {}
    for line in lines:
        key = key_of(line, o)
        total[key] += 1
        first.setdefault(key, line)
    rows = [(n, first[key]) for key, n in total.items() if n >= int(o.get("--min", 1))]
    if "--top" in o:
        rows = sorted(rows, key=lambda row: -row[0])[:int(o["--top"])]
    return [b"%d\t%s" % row for row in rows]


def join(command, a, b, o):
    """With --all in each B (except: not in each), else in any of them."""
    of_b = dict(o, **{"-k": o["--key-b"]}) if "--key-b" in o else o
    sets = [{key_of(line, of_b) for line in lines} for lines in b]
    chosen, printed = [], set()
    for line in a:
        key = key_of(line, o)
        there = (all if "--all" in o else any)(key in s for s in sets)
        if there == (command == "common") and not ("-u" in o and key in printed):
            chosen.append(line)
            printed.add(key)
    return chosen


# ---- URLs ---------------------------------------------------------------------------------------

TRACKING, SESSIONS = {"utm_source", "gclid"}, {"PHPSESSID", "sid"}
URL_FLAGS = ["--sort-query", "--drop-tracking", "--drop-sessions", "--drop-www", "--drop-slash", "--any-scheme",
             "--ignore-values", "--similar"]


def similar(segment):
    name, dot, ending = segment.partition(".")
    if re.fullmatch("[0-9]+", name):
        name = "0"
    elif re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name):
        name = re.sub("[0-9a-f]", "0", name)
    elif len(name) >= 16 and re.fullmatch("[0-9a-f]*", name) and re.search("[0-9]", name) and re.search("[a-f]", name):
        name = "a0" * 8
    return name + dot + ending


def canonical(url, o):
    """The canonical form of a URL that is given as scheme, host, segments, slash at the end, parameters."""
    scheme, host, segments, slash, params = url
    drop = o.get("--drop", "").rstrip("*")
    def kept(name):
        return not (drop and (name.startswith(drop) if o["--drop"].endswith("*") else name == drop)
                    or "--drop-tracking" in o and name in TRACKING or "--drop-sessions" in o and name in SESSIONS)
    params = [pair for pair in params if kept(pair[0])]
    if "--drop-sessions" in o:
        segments = [segment.split(";sid=")[0] for segment in segments]
    if "--sort-query" in o:
        params.sort(key=lambda pair: pair[0])
    if "--ignore-values" in o:
        params = [(name, "") for name in sorted({name for name, _ in params})]
    if "--similar" in o:
        segments = [similar(segment) for segment in segments]
    if "--drop-www" in o and re.match(r"www\..+\..+", host):
        host = host[4:]
    if "--any-scheme" in o:
        scheme = "http"
    path = "/".join([""] + segments) + ("/" if not segments or slash and "--drop-slash" not in o else "")
    query = "&".join(name + value for name, value in params)
    return (scheme + "://" + host + path + ("?" + query if params else "")).encode()


def make_url(r):
    segments = ["a", "b.html", "17", "18", "17.html", "18.html", "2024-05", "0123456789abcdef", "00ff00ff00ff00ff00",
                "550e8400-e29b-41d4-a716-446655440000", "00000000-1111-2222-3333-444444444444", "a;sid=1"]
    names = ["id", "b", "utm_source", "gclid", "PHPSESSID", "sid", "bb"]
    return (r.choice(["http", "https"]), r.choice(["www.a.com", "a.com", "www.com"]),
            [r.choice(segments) for _ in range(r.randrange(3))], r.random() < 0.3,
            [(r.choice(names), r.choice(["", "=", "=1", "=2"])) for _ in range(r.randrange(4))])


def spell(r, url):
    """One of the spellings that are always equal."""
    scheme, host, segments, slash, params = url
    text = (r.choice([scheme, scheme.upper()]) + "://" + r.choice([host, host.upper()]) +
            r.choice(["", "", ":80" if scheme == "http" else ":443"]))
    text += "".join(r.choice(["/", "/", "/./", "/x/../", "/%2e/"]) + segment for segment in segments)
    text += "/" if slash or not segments and (params or r.random() < 0.5) else ""
    text += "?" + "&".join(name + value for name, value in params) if params else ""
    return (text + r.choice(["", "", "#f"])).encode()


# ---- inputs -----------------------------------------------------------------------------------

def word(r):
    kind = r.randrange(8)
    if kind == 0:
        return b""
    if kind == 1:
        return bytes(r.choice(b"aAbB\t,\r\x00\xff \xc3") for _ in range(r.randrange(6)))
    if kind == 2:
        return b"x" * r.choice([15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 240, 241, 300])
    return b"%d" % int(r.paretovariate(0.7))


def make_file(r, end, size):
    pool = [word(r).replace(end, b"") for _ in range(r.choice([1, 3, 30, 3000]))]
    lines = [r.choice(pool) + r.choice([b"", b"", b"\t" + r.choice(pool), b"," + r.choice(pool)])
             for _ in range(size)]
    data = end.join(lines) + (end if lines and r.random() < 0.7 else b"")
    if r.random() < 0.1:  # one long line
        data += b"y" * r.choice([200000, 262143, 262144, 262145, 600000])
    return data


def size_of(r):
    return r.choice([0, 1, 2, 10, 100, 2000, 20000])


# ---- runs -------------------------------------------------------------------------------------

def words_of(o):
    out = []
    for name, value in o.items():
        if name[0] == "#":
            continue
        out += [name] if value is True else [name, str(value)]
    return out


def run(command, o, operands, stdin=None):
    words = [SEEN, command, "-q", *words_of(o), *operands]
    p = subprocess.run(words, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        fail(words, "status %d: %s" % (p.returncode, p.stderr.decode()))
    return words, p.stdout


def fail(words, why):
    sys.exit("reference: SEEN_SEED=%d: %s\n%s" % (SEED, " ".join(words[1:]), why))


def compare(words, want, got, end):
    want = b"".join(line + end for line in want)
    if want != got:
        at = next((i for i, (x, y) in enumerate(zip(want, got)) if x != y), min(len(want), len(got)))
        fail(words, "differs at byte %d of %d (%d): wanted %r, got %r" %
             (at, len(want), len(got), want[at - 20 if at > 20 else 0:at + 40], got[at - 20 if at > 20 else 0:at + 40]))


def common_options(r, end):
    o = {}
    if end == b"\n" and r.random() < 0.3:
        o["--crlf"] = True
    if r.random() < 0.3:
        o["-i"] = True
    if r.random() < 0.3:
        o["-k"] = r.choice([1, 2, 3, "1,2", "3,1", "2-", "1-2", "2-,1"])
        if r.random() < 0.5:
            o["-t"] = ","
    o["-j"] = r.choice([1, 2, 3, 5])
    return o


def write_files(files, names):
    for name, data in zip(names, files):
        with open(name, "wb") as out:
            out.write(data)


MODES = [(), ("-c",), ("-d",), ("-D",), ("-u",), ("--duplicates",), ("--keep", "last")]


def check_uniq(r, mode, o, files, end):
    if mode:
        o[mode[0]] = mode[1] if len(mode) > 1 else True
    if end == b"\0":
        o["-z"] = True
    lines = list(records(files, end))
    if mode != ("-c",) and r.random() < 0.2:
        o["--source"] = True
    want, others = uniq(lines, o, places_of(files, end))
    if mode != ("-c",) and "--source" not in o and r.random() < 0.3:
        o["--dropped"] = "others"
    names = ["f%d" % i for i in range(len(files))]
    write_files(files, names)
    if r.random() < 0.4 and "--source" not in o:
        # One of the files is a pipe, at its position in the order.
        place = r.randrange(len(names))
        words, got = run("uniq", o, names[:place] + ["-"] + names[place + 1:], files[place])
    else:
        words, got = run("uniq", o, names)
    compare(words, want, got, end)
    if "--dropped" in o:
        compare(words, others, open("others", "rb").read(), end)
    elif r.random() < 0.2:
        words, got = run("uniq", dict(o, **{"--count-only": True}), names)
        compare(words, [b"%d" % len(want)], got, b"\n")


def check_count(r, o, files, end):
    if r.random() < 0.5:
        o["--top"] = r.choice([1, 2, 3, 10, 1000])
    if r.random() < 0.3:
        o["--min"] = r.choice([1, 2, 5])
    if end == b"\0":
        o["-z"] = True
    lines = list(records(files, end))
    if r.random() < 0.4:
        words, got = run("count", o, [], b"".join(d if d.endswith(end) or not d else d + end for d in files))
    else:
        names = ["f%d" % i for i in range(len(files))]
        write_files(files, names)
        words, got = run("count", o, names)
    compare(words, count(lines, o), got, end)


def check_join(r, o, files, end):
    command = r.choice(["common", "except"])
    for flag in ("-u", "--all"):
        if r.random() < 0.4:
            o[flag] = True
    if end == b"\0":
        o["-z"] = True
    if r.random() < 0.3 and "#url" not in o:
        o["--key-b"] = r.choice([1, 2, 3])
        if "-k" in o:
            o["-k"] = r.choice([1, 2, 3])
    if "#url" not in o:
        files = files + [make_file(r, end, size_of(r))]
    names = ["f%d" % i for i in range(len(files))]
    write_files(files, names)
    a, *b = [list(records([data], end)) for data in files]
    b = b if "--all" in o else [[line for lines in b for line in lines]]
    strategy = r.choice(["", "table of B", "table of A", "spill", "filter", "filtered spill"])
    if command == "except" and "-u" in o and "filter" in strategy:
        strategy = ""
    os.environ["SEEN_JOIN_STRATEGY"] = strategy
    words, got = run(command, dict(o, **{"-m": "64M"}), names)
    compare([words[0], strategy or "any strategy"] + words[1:], join(command, a, b, o), got, end)


def check_split(r, o, files, end):
    """Each line is in one part, in input order, and equal keys are in the same part."""
    parts = r.choice([1, 2, 3, 7])
    if end == b"\0":
        o["-z"] = True
    names = ["f%d" % i for i in range(len(files))]
    write_files(files, names)
    words, _ = run("split", dict(o, **{"-n": parts, "-o": "part.%d"}), names)
    got = [open("part.%d" % i, "rb").read() for i in range(parts)]
    part_of = {}
    for i, data in enumerate(got):
        for line in records([data], end):
            if part_of.setdefault(key_of(line, o), i) != i:
                fail(words, "the key of %r is in part %d and in part %d" % (line, part_of[key_of(line, o)], i))
    for i, data in enumerate(got):
        compare(words, [line for line in records(files, end) if part_of.get(key_of(line, o)) == i], data, end)


def check_url(r):
    """URL options, with every command that prints lines."""
    urls = [make_url(r) for _ in range(r.choice([3, 20, 200]))]
    o = {"-j": r.choice([1, 2, 4]), "--url": True}
    for flag in URL_FLAGS:
        if r.random() < 0.25:
            o[flag] = True
    if r.random() < 0.2:
        o["--drop"] = r.choice(["b", "b*", "id"])
    spelled = {}  # the same text may stand for one URL only
    for _ in range(r.choice([5, 50, 2000])):
        url = r.choice(urls)
        spelled[spell(r, url)] = url
    lines = [r.choice(list(spelled) + [b"no url"]) for _ in range(r.choice([5, 50, 2000]))]
    o["#keys"] = {text: canonical(url, o) for text, url in spelled.items()}
    files = [b"".join(line + b"\n" for line in part) for part in (lines[::2], lines[1::2])]
    kind = r.randrange(5)
    if kind == 0:
        check_count(r, o, files, b"\n")
    elif kind == 1:
        check_join(r, dict(o, **{"#url": True}), files, b"\n")
    elif kind == 2:
        check_split(r, o, files, b"\n")
    elif kind == 3:
        check_uniq(r, r.choice(MODES), o, files, b"\n")
    else:  # printed: what exists, not what is compared
        shown = {name: value for name, value in o.items() if name not in ("--any-scheme", "--ignore-values", "--similar")}
        first, _ = uniq(lines, o)
        words, got = run("uniq", dict(o, **{"--print": "canonical"}), [], b"".join(line + b"\n" for line in lines))
        compare(words, [canonical(spelled[line], shown) if line in spelled else line for line in first], got, b"\n")


def round_of(r):
    if r.random() < 0.25:
        return check_url(r)
    end = b"\0" if r.random() < 0.15 else b"\n"
    files = [make_file(r, end, size_of(r)) for _ in range(r.choice([1, 1, 2, 3]))]
    kind = r.randrange(5)
    if kind == 4:
        check_split(r, common_options(r, end), files, end)
    elif kind < 2:
        check_uniq(r, r.choice(MODES), common_options(r, end), files, end)
    elif kind == 2:
        check_count(r, common_options(r, end), files, end)
    else:
        check_join(r, common_options(r, end), files, end)


def spills(r):
    """More distinct lines than fit into memory: the rest goes through temporary files."""
    numbers = [r.randrange(150000) for _ in range(220000)] + [7] * 3000
    r.shuffle(numbers)
    data = b"".join(b"%x\n" % n for n in numbers)
    lines = list(records([data], b"\n"))
    write_files([data], ["many"])
    for mode in MODES:
        o = {"-m": "2M", "-j": r.choice([1, 2, 4])}
        if mode:
            o[mode[0]] = mode[1] if len(mode) > 1 else True
        piped = r.random() < 0.5
        if mode == () and not piped:
            o["--source"] = True
        words, got = run("uniq", o, ["-"] if piped else ["many"], data if piped else None)
        places = [b"many:%d:" % (n + 1) for n in range(len(lines))]
        compare(words, uniq(lines, o, places)[0], got, b"\n")
    for o in {"--top": 1000}, {"--min": 3}:
        o["-m"] = "2M"
        words, got = run("count", o, ["many"])
        compare(words, count(lines, o), got, b"\n")


def main():
    print("SEEN_SEED=%d" % SEED)
    begin, rounds = time.time(), 0
    spills(RANDOM)
    for mode in MODES:  # option by option
        for end in b"\n", b"\0":
            files = [make_file(RANDOM, end, 500), make_file(RANDOM, end, 500)]
            check_uniq(RANDOM, mode, {}, files, end)
            for name, value in ("-i", True), ("-k", 2), ("-j", 1):
                check_uniq(RANDOM, mode, {name: value}, files, end)
    while time.time() - begin < SECONDS or rounds < 40:
        round_of(RANDOM)
        rounds += 1
    print("%d random rounds" % rounds)


main()
