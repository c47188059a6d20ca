#!/usr/bin/env python3
"""Generates crawl/html/entities.c: the named character references of HTML as sorted tables.

    tools/gen_entities.py > crawl/html/entities.c

The list is the one in Python's standard library. Names that may be written without a semicolon
are marked; none must be.
"""
from html.entities import html5
from string import ascii_uppercase, ascii_lowercase

HEAD = """/* The named character references of HTML.
 * Made by tools/gen_entities.py: change that, not this.
 *
 * The names that share a first letter lie sorted in one string, which ends[] cuts into names; the
 * top bit of an end says that its name may be written without a semicolon. codes[] has the
 * character; its top byte, when not 0, says which of seconds[] follows it. */
#include "crawl/html/internal.h"

#include <string.h>

/* clang-format off */
"""

TAIL = """/* clang-format on */

#define BARE 0x8000

/* As memcmp orders them, the shorter first when one begins the other. */
static int compare(const char *name, size_t len, const char *with, size_t with_len)
{
    int order = memcmp(name, with, len < with_len ? len : with_len);
    return order != 0 ? order : (len > with_len) - (len < with_len);
}

static size_t put(uint32_t code, char out[SN_ENTITY_MAX])
{
    size_t len = sn_html_put_utf8(code & 0xffffff, out);
    if (code >> 24)
        len += sn_html_put_utf8(seconds[code >> 24], out + len);
    return len;
}

size_t sn_links_entity(const char *name, size_t len, bool bare, char out[SN_ENTITY_MAX])
{
    if (len == 0 || !sn_html_is_letter((uint8_t)name[0]))
        return 0;
    size_t letter = name[0] <= 'Z' ? (size_t)(name[0] - 'A') : (size_t)(name[0] - 'a') + 26;
    size_t low = firsts[letter], high = firsts[letter + 1];
    while (low < high) {
        size_t mid = (low + high) / 2;
        size_t from = mid == firsts[letter] ? 0 : ends[mid - 1] & ~(size_t)BARE;
        size_t to = ends[mid] & ~(size_t)BARE;
        int order = compare(name, len, names[letter] + from, to - from);
        if (order == 0)
            return bare && !(ends[mid] & BARE) ? 0 : put(codes[mid], out);
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return 0;
}
"""


def wrapped(numbers, width=94):
    line = ""
    for word in map(str, numbers):
        if line and len(line) + len(word) + 2 > width:
            yield f"    {line},"
            line = ""
        line += (", " if line else "") + word
    yield f"    {line},"


def literal(words):
    line = ""
    for word in words:
        if len(line) + len(word) > 92:
            yield f'    "{line}"'
            line = ""
        line += word
    yield f'    "{line}"'


def table(kind, name, numbers):
    print(f"static const {kind} {name}[] = {{")
    print("\n".join(wrapped(numbers)))
    print("};\n")


def main():
    entities = sorted(name[:-1] for name in html5 if name.endswith(";"))
    bare = {name for name in html5 if not name.endswith(";")}
    assert bare <= set(entities)
    assert all(html5[name] == html5[name + ";"] for name in bare)
    assert all(name.isascii() and name.isalnum() and len(name) < 32 for name in entities)

    seconds = [0] + sorted({ord(html5[name + ";"][1]) for name in entities
                            if len(html5[name + ";"]) == 2})
    firsts, ends, codes, strings = [0], [], [], []
    for letter in ascii_uppercase + ascii_lowercase:
        mine = [name for name in entities if name[0] == letter]
        end = 0
        for name in mine:
            end += len(name)
            ends.append(end | (0x8000 if name in bare else 0))
            first, *second = map(ord, html5[name + ";"])
            codes.append(first | (seconds.index(second[0]) << 24 if second else 0))
        assert end < 4096
        strings.append(mine)
        firsts.append(len(codes))
    assert len(codes) == len(entities)

    print(HEAD, end="")
    print("static const char *const names[] = {")
    print(",\n".join("\n".join(literal(mine)) for mine in strings))
    print("};\n")
    table("uint16_t", "firsts", firsts)
    table("uint16_t", "ends", ends)
    table("uint32_t", "codes", codes)
    table("uint32_t", "seconds", seconds)
    print(TAIL, end="")


main()
