/* Fast path over text and plain tags.
 *
 * Most tags of a page are irrelevant and written in the usual form: <span class="x">, </td>. They
 * are skipped here without using the state machine, and links of the form <a href="b.html"> are
 * reported directly. Anything unusual, possibly relevant or incomplete is left to the state
 * machine, starting at its "<", so each byte is read at most twice. */
#include "crawl/html/internal.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* memchr for short distances: most texts and values are shorter than the cost of a call. */
static inline const uint8_t *find(const uint8_t *p, const uint8_t *end, char byte)
{
#ifdef __SSE2__
    for (int turns = 0; turns < 4 && end - p >= 16; turns++, p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned hits = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)));
        if (hits != 0)
            return p + __builtin_ctz(hits);
    }
#endif
    return p == end ? NULL : memchr(p, byte, (size_t)(end - p));
}

/* Whether a value is literal: without references and bytes that would be replaced. */
static inline bool is_literal(const uint8_t *p, const uint8_t *end)
{
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i other = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('&')),
                                     _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')),
                                                  _mm_cmpeq_epi8(bytes, _mm_setzero_si128())));
        if (_mm_movemask_epi8(other) != 0)
            return false;
    }
#endif
    for (; p < end; p++)
        if (*p == '&' || *p == '\r' || *p == '\0')
            return false;
    return true;
}

/* The lengths of relevant names, by first letter, as bit sets. */
#define LEN(n) (1u << (n))
static const uint16_t lengths[26] = {
    ['a' - 'a'] = LEN(4),                   /* area; a is handled separately */
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
    return len < 16 && (lengths[sn_html_lower(*name) - 'a'] >> len & 1) != 0;
}

/* name="value"; the last one is the end of the tag, optionally preceded by a name. */
typedef struct attribute {
    const uint8_t *name, *value;
    size_t name_len, value_len;
    bool last;
} attribute;

/* Reads an attribute, or the end of the tag; NULL: not plain. */
static inline const uint8_t *read_attribute(const uint8_t *p, const uint8_t *end, attribute *a)
{
    while (p < end && sn_html_is_space(*p))
        p++;
    a->name = p;
    while (p < end && !sn_links_name_class[*p])
        p++;
    a->name_len = (size_t)(p - a->name);
    if (p == end)
        return NULL;
    if (*p == '>' || (*p == '/' && end - p > 1 && p[1] == '>')) {
        a->last = true;
        return p + 1 + (*p == '/');
    }
    /* A "=" at the start of a name belongs to it. */
    if (a->name_len == 0 || *p != '=' || end - p < 2 || (p[1] != '"' && p[1] != '\''))
        return NULL;
    a->value = p + 2;
    p = find(a->value, end, (char)p[1]);
    if (!p)
        return NULL;
    a->value_len = (size_t)(p - a->value);
    return p + 1;
}

/* Skips attributes, starting after the name of the tag; NULL: not plain. */
static const uint8_t *pass_attributes(const uint8_t *p, const uint8_t *end)
{
    attribute a = {0};
    do
        p = read_attribute(p, end, &a);
    while (p && !a.last);
    return p;
}

static inline bool is_name(const attribute *a, const char *name, size_t len)
{
    if (a->name_len != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (sn_html_lower(a->name[i]) != (uint8_t)name[i])
            return false;
    return true;
}

/* Reports a link in place, starting after the name of the tag; NULL: not plain. */
static const uint8_t *pass_link(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    attribute a = {0}, href = {0};
    for (;;) {
        p = read_attribute(p, end, &a);
        if (!p || is_name(&a, "rel", 3))
            return NULL;
        if (a.last)
            break;
        if (!href.value && is_name(&a, "href", 4))
            href = a;
    }
    /* A name without a value may be that of a link. */
    if (a.name_len > 0)
        return NULL;
    if (!href.value)
        return p;
    if (href.value_len > SN_LINKS_URL_MAX || !is_literal(href.value, href.value + href.value_len))
        return NULL;
    sn_links_report(t, SN_LINK_A, (sn_html_text){(const char *)href.value, href.value_len}, 0);
    return p;
}

static const uint8_t *pass_tag(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    bool end_tag = p < end && *p == '/';
    p += end_tag;
    if (p == end || !sn_html_is_letter(*p))
        return NULL;
    const uint8_t *name = p;
    while (p < end && !(sn_links_name_class[*p] & SN_ENDS_TAG))
        p++;
    size_t len = (size_t)(p - name);
    if (p == end)
        return NULL;
    uint8_t *open = sn_links_open_count(t, name, len);
    if (end_tag) {
        if (*p != '>')
            return NULL;
        if (*open > 0)
            --*open;
        return p + 1;
    }
    if (len == 1 && sn_html_lower(*name) == 'a')
        p = pass_link(t, p, end);
    else if (may_mean(name, len))
        return NULL;
    else
        p = *p == '>' ? p + 1 : pass_attributes(p, end);
    if (p && *open < UINT8_MAX)
        ++*open;
    return p;
}

const uint8_t *sn_links_pass(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        const uint8_t *tag = *p == '<' ? p : find(p, end, '<');
        if (!tag)
            return end;
        p = pass_tag(t, tag + 1, end);
        if (!p)
            return tag;
    }
    return end;
}
