#!/usr/bin/env python3
"""Which paths random robots.txt files allow, by a slow and independent implementation of RFC 9309:

    robots_rules.py PROGRAM [CASES [SEED]]        PROGRAM: robots_dump

Patterns become regular expressions over lists of tokens, with a percent-escape as one token, so
that nothing can match within an escape. Files that Python's robotparser reads by the same rules
(one group, plain rules of which at most one matches) are compared with it too. Exit status: 0
they agree, 1 they differ."""
import random
import re
import subprocess
import sys
import urllib.robotparser

HEX = "0123456789abcdefABCDEF"
UNRESERVED = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
RESERVED = ":/?#[]@!&'()+,;=%"


def tokens(text, pattern):
    """The bytes of a path or pattern in one form, escapes as one token; "*" and a final "$" of a pattern as None, 0."""
    out, data, i = [], text.encode(), 0
    while i < len(data):
        c = chr(data[i])
        if c == "%" and i + 2 < len(data) and chr(data[i + 1]) in HEX and chr(data[i + 2]) in HEX:
            code = int(data[i + 1:i + 3], 16)
            out.append(chr(code) if chr(code) in UNRESERVED else f"%{code:02X}")
            i += 3
            continue
        if pattern and c == "*":
            out.append(None)
        elif pattern and c == "$" and i + 1 == len(data):
            out.append(0)
        elif c in UNRESERVED or c in RESERVED:
            out.append(c)
        else:
            out.append(f"%{data[i]:02X}")
        i += 1
    return out


def matches(pattern, path):
    """The length of the pattern if it matches, else -1. A plain "%" also matches the one of an escape, with what follows."""
    expression, length, last = "", 0, "x"
    for token in pattern:
        if token is None:
            length += last is not None
            expression += "(?:%[0-9A-F]{2}|(?!%[0-9A-F]{2}).)*?"
        elif token == 0:
            expression += r"\Z"
            length += 1
        else:
            expression += re.escape(token)
            length += len(token)
        last = token
    return length if re.match(expression, "".join(path), re.S) else -1


def groups(text):
    """[agents, [(allow, pattern)]] in order."""
    found, in_rules = [], True
    for line in re.split(r"\r\n|\r|\n", text):
        line = line.split("#")[0].strip(" \t")
        key, colon, value = line.partition(":")
        if not colon:
            words = re.split(r"[ \t]+", line)
            if len(words) != 2:
                continue
            key, value = words
        key, value = key.strip(" \t").lower(), value.strip(" \t")
        if key in ("user-agent", "useragent", "user agent"):
            if in_rules:
                found.append(([], []))
            in_rules = False
            found[-1][0].append(value)
        elif key in ("allow", "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"):
            in_rules = True
            if found and value[:1] in ("/", "*") and value:
                found[-1][1].append((key == "allow", value))
    return found


def allowed(text, path):
    if path == "/robots.txt":
        return True
    read = groups(text)
    ours = [g for g in read if any(re.match("[A-Za-z_-]*", a)[0].lower() == "seen" for a in g[0])]
    ours = ours or [g for g in read if any(re.match(r"\*(?:[ \t]|$)", a) for a in g[0])]
    best = (-1, True)
    for _, rules in ours:
        for allow, pattern in rules:
            best = max(best, (matches(tokens(pattern, True), tokens(path, False)), allow))
    return best[1] if best[0] >= 0 else True


PIECES = ["/", "a", "b", "ab", "%20", "%2F", "%41", "%7c", "|", "$", "*", "?", "=", "%", "%2", "24", "C", "é", "~", "//", "A"]


def some(draw, pieces, most):
    return "".join(draw.choice(pieces) for _ in range(draw.randint(0, most)))


def make_plain(draw):
    """A file that robotparser mostly reads by the same rules."""
    rules = [draw.choice(["Disallow: /", "Allow: /"]) + some(draw, ["a", "b", "a/", "b/"], 3) for _ in range(draw.randint(1, 2))]
    return "\n".join(["User-agent: *"] + rules) + "\n", "/" + some(draw, ["a", "b", "a/", "b/"], 3)


def make(draw):
    if draw.random() < 0.05:
        return make_plain(draw)
    rule = lambda: draw.choice(["Disallow: ", "Disallow: ", "Allow: ", "disalow:", "Disallow ", "Noindex: "]) + \
        draw.choice(["/", "/", "/", "*", ""]) + some(draw, PIECES, 4)
    lines = []
    for _ in range(draw.randint(0, 3)):
        for _ in range(draw.randint(1, 2)):
            lines.append(draw.choice(["User-agent: *", "User Agent: *", "user-agent: seen", "User-agent: other", "useragent:seen/2"]))
        lines += [rule() for _ in range(draw.randint(0, 3))]
        if draw.random() < 0.2:
            lines.append(draw.choice(["Crawl-delay: 1", "# c", "", "Sitemap: /s.xml", "junk"]))
    text = draw.choice(["\n", "\r\n", "\r"]).join(lines) + "\n"
    return text, "/" + some(draw, [p for p in PIECES if p != "*"] + ["*"], 5)


def by_robotparser(text, path):
    """The answer of robotparser; None if it does not follow RFC 9309."""
    read = groups(text)
    if "//" in text + path: # it parses paths as URLs, where this begins a host
        return None
    if len(read) != 1 or read[0][0] not in (["*"], ["seen"]) or not re.fullmatch("[a-zA-Z0-9/]*", path):
        return None
    rules = read[0][1]
    if any(not re.fullmatch("[a-zA-Z0-9/]*", p) for _, p in rules) or re.search("(?i)disalow|low ", text) or "Agent" in text:
        return None
    if sum(path.startswith(p) for _, p in rules) > 1 or re.search(r"(?im)^(dis)?allow *: *([^/\s]|$)", text.replace("\r", "\n")):
        return None
    parser = urllib.robotparser.RobotFileParser()
    parser.parse(text.splitlines())
    return parser.can_fetch("seen", path)


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    cases = [make(draw) for _ in range(count)]
    data = b"".join(b"%d\n%s%d\n%s" % (len(x.encode()), x.encode(), len(y.encode()), y.encode()) for x, y in cases)
    ours = subprocess.run([program], input=data, stdout=subprocess.PIPE, check=True).stdout.decode()
    assert len(ours) == count, len(ours)
    wrong = library = denied = 0
    for (text, path), answer in zip(cases, ours):
        theirs, denied = allowed(text, path), denied + (answer == "0")
        also = by_robotparser(text, path)
        library += also is not None
        if (answer == "1") != theirs or also not in (None, theirs):
            wrong += 1
            if wrong <= 10:
                print(f"differ: {text!r} path {path!r}: ours {answer}, reference {theirs:d}, robotparser {also}", file=sys.stderr)
    print(f"{count} cases, {denied} denied, {library} also by robotparser, {wrong} differ")
    return 1 if wrong or denied < count // 20 or library < count // 200 else 0


sys.exit(main())
