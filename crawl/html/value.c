/* Attribute values, and character references within them.
 *
 * Only the values of wanted attributes are stored; others are skipped without decoding, because a
 * reference can neither open nor close a quote. */
#include "base/memory.h"
#include "crawl/html/internal.h"

#include <stdlib.h>
#include <string.h>

/* Stores bytes of the value. A value above its limit is marked and no longer stored. */
static void keep(sn_links *t, const void *bytes, size_t len)
{
    if (t->attr == ATTR_NONE)
        return;
    size_t max = t->attr <= ATTR_CONTENT ? SN_LINKS_URL_MAX : SN_LINKS_WORD_MAX;
    if (len > max - t->value[t->attr].len) {
        t->over |= (uint16_t)(1u << t->attr);
        t->used = t->value[t->attr].at;
        t->attr = ATTR_NONE;
        return;
    }
    if (len > t->room - t->used) {
        /* Bounded: a tag stores at most five values, each within its limit. */
        char *grown = sn_memory_grow(t->bytes, &t->room, t->used + len, 1);
        if (!grown) {
            t->failed = true;
            t->have &= (uint16_t) ~(1u << t->attr);
            t->attr = ATTR_NONE;
            return;
        }
        t->bytes = grown;
    }
    memcpy(t->bytes + t->used, bytes, len);
    t->used += len;
    t->value[t->attr].len += (uint32_t)len;
}

static void keep_code(sn_links *t, uint32_t code)
{
    char utf8[4];
    keep(t, utf8, sn_html_put_utf8(code, utf8));
}

static bool is_alnum(uint8_t c)
{
    return sn_html_is_letter(c) || (c >= '0' && c <= '9');
}

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || (sn_html_lower(c) >= 'a' && sn_html_lower(c) <= 'f');
}

/* Characters for numbers below 0xa0: C1 controls are interpreted as windows-1252. */
static const uint16_t windows_1252[32] = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178,
};

static uint32_t meant_by(uint32_t code)
{
    if (code >= 0x80 && code < 0xa0)
        return windows_1252[code - 0x80];
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0xfffd;
    return code;
}

/* It is not a reference: the bytes read are literal. */
static void keep_literally(sn_links *t)
{
    keep(t, "&", 1);
    keep(t, t->ref, t->ref_len);
    t->state = t->ref_back;
}

static const uint8_t *in_ref(sn_links *t, const uint8_t *p)
{
    t->ref_len = 0;
    if (is_alnum(*p)) {
        t->state = AT_REF_NAME;
        return p;
    }
    if (*p != '#') {
        keep_literally(t);
        return p;
    }
    t->ref[t->ref_len++] = '#';
    t->state = AT_REF_NUMBER;
    return p + 1;
}

/* In an attribute a name must match all letters and digits that follow the "&": a shorter match
 * would have no semicolon and be followed by a letter, which the standard does not accept. */
static const uint8_t *in_ref_name(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    for (; p < end && is_alnum(*p); p++) {
        if (t->ref_len == SN_REF_MAX) {
            keep_literally(t);
            return p;
        }
        t->ref[t->ref_len++] = (char)*p;
    }
    if (p == end)
        return p;
    char utf8[SN_ENTITY_MAX];
    size_t len = *p == '=' ? 0 : sn_links_entity(t->ref, t->ref_len, *p != ';', utf8);
    if (len == 0) {
        keep_literally(t);
        return p;
    }
    keep(t, utf8, len);
    t->state = t->ref_back;
    return p + (*p == ';');
}

static const uint8_t *in_ref_number(sn_links *t, const uint8_t *p)
{
    t->ref_code = 0;
    t->ref_hex = t->state == AT_REF_HEX_START;
    if (!t->ref_hex && (*p == 'x' || *p == 'X')) {
        t->ref[t->ref_len++] = (char)*p;
        t->state = AT_REF_HEX_START;
        return p + 1;
    }
    if (t->ref_hex ? is_hex(*p) : (*p >= '0' && *p <= '9'))
        t->state = AT_REF_DIGITS;
    else
        keep_literally(t);
    return p;
}

static const uint8_t *in_ref_digits(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    for (; p < end && (t->ref_hex ? is_hex(*p) : (*p >= '0' && *p <= '9')); p++) {
        uint32_t digit = *p <= '9' ? *p - (uint32_t)'0' : (*p | 0x20u) - 'a' + 10;
        if (t->ref_code <= 0x10ffff)
            t->ref_code = t->ref_code * (t->ref_hex ? 16 : 10) + digit;
    }
    if (p == end)
        return p;
    keep_code(t, meant_by(t->ref_code));
    t->state = t->ref_back;
    return p + (*p == ';');
}

/* The bytes that need handling, by state. */
enum { STOPS_DOUBLE = 1, STOPS_SINGLE = 2, STOPS_BARE = 4, STOPS_ALL = 7 };

static const uint8_t value_class[256] = {
    ['"'] = STOPS_DOUBLE, ['\''] = STOPS_SINGLE, ['&'] = STOPS_ALL,   ['\0'] = STOPS_ALL,
    ['\r'] = STOPS_ALL,   ['\n'] = STOPS_BARE,   ['\t'] = STOPS_BARE, ['\f'] = STOPS_BARE,
    [' '] = STOPS_BARE,   ['>'] = STOPS_BARE,
};

static const uint8_t *in_value(sn_links *t, const uint8_t *p, const uint8_t *end, uint8_t stops)
{
    if (t->after_cr && *p == '\n') {
        t->after_cr = false;
        return p + 1;
    }
    t->after_cr = false;
    const uint8_t *from = p;
    while (p < end && !(value_class[*p] & stops))
        p++;
    if (p > from)
        keep(t, from, (size_t)(p - from));
    if (p == end)
        return p;
    switch (*p) {
    case '&':
        t->ref_back = t->state;
        t->state = AT_REF;
        return p + 1;
    case '\0':
        keep_code(t, 0xfffd);
        return p + 1;
    case '\r':
        if (stops != STOPS_BARE) {
            keep(t, "\n", 1);
            t->after_cr = true;
            return p + 1;
        }
        break;
    default:
        break;
    }
    /* An unquoted value ends before its delimiter, which may be ">"; a quote is part of it. */
    t->state = AT_AFTER_VALUE;
    return p + (stops != STOPS_BARE);
}

/* Skips to the end of a value that is not stored. */
static const uint8_t *pass_value(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    if (t->state == AT_VALUE_BARE) {
        while (p < end && !sn_html_is_space(*p) && *p != '>')
            p++;
    } else {
        int quote = t->state == AT_VALUE_DOUBLE ? '"' : '\'';
        const uint8_t *found = memchr(p, quote, (size_t)(end - p));
        p = found ? found + 1 : end;
        if (!found)
            return end;
        t->state = AT_AFTER_VALUE;
        return p;
    }
    if (p < end)
        t->state = AT_AFTER_VALUE;
    return p;
}

const uint8_t *sn_links_value(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    switch (t->state) {
    case AT_REF:
        return in_ref(t, p);
    case AT_REF_NAME:
        return in_ref_name(t, p, end);
    case AT_REF_NUMBER:
    case AT_REF_HEX_START:
        return in_ref_number(t, p);
    case AT_REF_DIGITS:
        return in_ref_digits(t, p, end);
    default:
        break;
    }
    if (t->attr == ATTR_NONE)
        return pass_value(t, p, end);
    if (t->state == AT_VALUE_DOUBLE)
        return in_value(t, p, end, STOPS_DOUBLE);
    return in_value(t, p, end, t->state == AT_VALUE_SINGLE ? STOPS_SINGLE : STOPS_BARE);
}
