/* crawl/links_pass.c: over text and plain tags at once.
 *
 * Most tags of a page mean nothing to us and are written in the usual way: <span class="x">, </td>.
 * They are passed over here without touching the state of the tokenizer. Whatever is unusual, may
 * mean something or is not whole yet is left alone, for the states to read from its "<" on; so each
 * byte is looked at twice at most. */
#include <string.h>

#include "crawl/links_inside.h"

/* The lengths that names which mean something have, by their first letter, as bits. */
#define LEN(n) (1u << (n))
static const uint16_t lengths[26] = {
    ['a' - 'a'] = LEN(1) | LEN(4),          /* a, area */
    ['b' - 'a'] = LEN(4),                   /* base */
    ['f' - 'a'] = LEN(5),                   /* frame */
    ['i' - 'a'] = LEN(6),                   /* iframe */
    ['l' - 'a'] = LEN(4),                   /* link */
    ['m' - 'a'] = LEN(4),                   /* math, meta */
    ['n' - 'a'] = LEN(7) | LEN(8),          /* noembed, noframes */
    ['p' - 'a'] = LEN(9),                   /* plaintext */
    ['s' - 'a'] = LEN(3) | LEN(5) | LEN(6), /* svg, style, script */
    ['t' - 'a'] = LEN(5) | LEN(8),          /* title, textarea */
    ['x' - 'a'] = LEN(3),                   /* xmp */
};

static bool may_mean(const uint8_t *name, size_t len)
{
    return len < 16 && (lengths[sn_lower(*name) - 'a'] >> len & 1) != 0;
}

/* Passes over name="value" pairs, from the end of the tag's name on; NULL: not plain. */
static const uint8_t *pass_attributes(const uint8_t *p, const uint8_t *end)
{
    for (;;) {
        while (p < end && sn_is_space(*p))
            p++;
        const uint8_t *name = p;
        while (p < end && !sn_links_name_class[*p])
            p++;
        if (p == end)
            return NULL;
        if (*p == '>')
            return p + 1;
        if (*p == '/' && end - p > 1 && p[1] == '>')
            return p + 2;
        /* A "=" that begins a name belongs to it. */
        if (p == name || *p != '=' || end - p < 2 || (p[1] != '"' && p[1] != '\''))
            return NULL;
        p = memchr(p + 2, p[1], (size_t)(end - p - 2));
        if (p == NULL)
            return NULL;
        p++;
    }
}

static const uint8_t *pass_tag(const uint8_t *p, const uint8_t *end)
{
    bool end_tag = p < end && *p == '/';
    p += end_tag;
    if (p == end || !sn_is_letter(*p))
        return NULL;
    const uint8_t *name = p;
    while (p < end && !(sn_links_name_class[*p] & SN_ENDS_TAG))
        p++;
    if (p == end || (!end_tag && may_mean(name, (size_t)(p - name))))
        return NULL;
    if (*p == '>')
        return p + 1;
    return end_tag ? NULL : pass_attributes(p, end);
}

const uint8_t *sn_links_pass(const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        const uint8_t *tag = *p == '<' ? p : memchr(p, '<', (size_t)(end - p));
        if (tag == NULL)
            return end;
        p = pass_tag(tag + 1, end);
        if (p == NULL)
            return tag;
    }
    return end;
}
