/* The outer half of the tokenizer: text, tags and attribute names.
 *
 * Each state of the HTML standard that matters for finding links is one function here or in value.c
 * and skip.c. If the next byte is available, a function continues directly with the state that
 * usually follows, so that an ordinary tag needs few iterations of the loop; the state is stored in
 * the object only at the end of a piece. */
#include "crawl/html/internal.h"

#include <stdlib.h>
#include <string.h>

const uint8_t sn_links_name_class[256] = {
    ['\t'] = SN_ENDS_TAG, ['\n'] = SN_ENDS_TAG, ['\f'] = SN_ENDS_TAG, ['\r'] = SN_ENDS_TAG,
    [' '] = SN_ENDS_TAG,  ['/'] = SN_ENDS_TAG,  ['>'] = SN_ENDS_TAG,  ['='] = SN_ENDS_ATTR,
};

static const uint8_t *finish_tag(sn_links *t, const uint8_t *p)
{
    t->state = AT_TEXT;
    sn_links_tag_done(t);
    return p;
}

static void begin_name(sn_links *t)
{
    t->name = (sn_links_name){0, 0, 0};
}

/* Reads the bytes of a name up to one that ends it. */
static inline const uint8_t *read_name(sn_links *t, const uint8_t *p, const uint8_t *end, int ends)
{
    sn_links_name name = t->name;
    for (; p < end && name.len < 8 && !(sn_links_name_class[*p] & ends); p++, name.len++)
        name.head = name.head << 8 | sn_html_lower(*p);
    for (; p < end && !(sn_links_name_class[*p] & ends); p++) {
        if (name.len < SN_NAME_MAX)
            name.tail = name.tail << 8 | sn_html_lower(*p);
        name.len += name.len <= SN_NAME_MAX;
    }
    t->name = name;
    return p;
}

static inline const uint8_t *pass_name(const uint8_t *p, const uint8_t *end, int ends)
{
    while (p < end && !(sn_links_name_class[*p] & ends))
        p++;
    return p;
}

static const uint8_t *in_tag_name(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    p = read_name(t, p, end, SN_ENDS_TAG);
    if (p == end)
        return p;
    sn_links_tag_named(t);
    if (*p == '>')
        return finish_tag(t, p + 1);
    t->state = *p == '/' ? AT_SELF_CLOSING : AT_BEFORE_ATTR;
    return p + 1;
}

static const uint8_t *begin_tag(sn_links *t, const uint8_t *p, const uint8_t *end, bool end_tag)
{
    t->end_tag = end_tag;
    t->state = AT_TAG_NAME;
    begin_name(t);
    return in_tag_name(t, p, end);
}

static const uint8_t *in_end_tag_open(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    if (sn_html_is_letter(*p))
        return begin_tag(t, p, end, true);
    t->state = *p == '>' ? AT_TEXT : AT_BOGUS;
    return p + (*p == '>');
}

static const uint8_t *in_tag_open(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    if (sn_html_is_letter(*p))
        return begin_tag(t, p, end, false);
    switch (*p) {
    case '/':
        t->state = AT_END_TAG_OPEN;
        return p + 1 < end ? in_end_tag_open(t, p + 1, end) : p + 1;
    case '!':
        t->state = AT_MARKUP;
        return p + 1;
    case '?':
        t->state = AT_BOGUS;
        return p;
    default:
        t->state = AT_TEXT;
        return p;
    }
}

static const uint8_t *in_text(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *found;
    if (t->depth == 0)
        found = sn_links_pass(t, p, end);
    else if (!(found = memchr(p, '<', (size_t)(end - p))))
        found = end;
    if (found == end)
        return end;
    t->state = AT_TAG_OPEN;
    return found + 1 < end ? in_tag_open(t, found + 1, end) : found + 1;
}

/* The name of an attribute is complete: its value is stored if it is wanted and the first of its
 * name. */
static void attr_named(sn_links *t)
{
    t->attr = ATTR_NONE;
    if (t->want == 0)
        return;
    uint8_t id = sn_links_attr_named(t);
    if (id == ATTR_NONE || !(t->want >> id & 1) || (t->have >> id & 1))
        return;
    t->attr = id;
    t->have |= (uint16_t)(1u << id);
    t->value[id].at = (uint32_t)t->used;
    t->value[id].len = 0;
}

static const uint8_t *in_before_value(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    while (sn_html_is_space(*p))
        if (++p == end)
            return p;
    if (*p == '>')
        return finish_tag(t, p + 1);
    t->after_cr = false;
    t->state = *p == '"' ? AT_VALUE_DOUBLE : *p == '\'' ? AT_VALUE_SINGLE : AT_VALUE_BARE;
    p += t->state != AT_VALUE_BARE;
    return p < end ? sn_links_value(t, p, end) : p;
}

static const uint8_t *in_attr_name(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    const int ends = SN_ENDS_TAG | SN_ENDS_ATTR;
    p = t->want != 0 ? read_name(t, p, end, ends) : pass_name(p, end, ends);
    if (p == end)
        return p;
    attr_named(t);
    if (*p == '=') {
        t->state = AT_BEFORE_VALUE;
        return p + 1 < end ? in_before_value(t, p + 1, end) : p + 1;
    }
    t->state = AT_AFTER_ATTR_NAME;
    return p;
}

/* The first byte always belongs to the name, even "=". */
static const uint8_t *begin_attr(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    t->state = AT_ATTR_NAME;
    begin_name(t);
    if (*p != '=')
        return in_attr_name(t, p, end);
    t->name.head = '=';
    t->name.len = 1;
    return p + 1;
}

static const uint8_t *in_before_attr(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    while (sn_html_is_space(*p))
        if (++p == end)
            return p;
    if (*p == '>')
        return finish_tag(t, p + 1);
    if (*p != '/')
        return begin_attr(t, p, end);
    t->state = AT_SELF_CLOSING;
    return p + 1;
}

static const uint8_t *in_after_attr_name(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    while (sn_html_is_space(*p))
        if (++p == end)
            return p;
    if (*p == '=') {
        t->state = AT_BEFORE_VALUE;
        return p + 1;
    }
    return in_before_attr(t, p, end);
}

static const uint8_t *in_after_value(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    t->state = AT_BEFORE_ATTR;
    return in_before_attr(t, p, end);
}

static const uint8_t *in_self_closing(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    if (*p == '>') {
        t->self_closing = true;
        return finish_tag(t, p + 1);
    }
    t->state = AT_BEFORE_ATTR;
    return in_before_attr(t, p, end);
}

void sn_links_read(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        switch (t->state) {
        case AT_TEXT:
            p = in_text(t, p, end);
            break;
        case AT_TAG_OPEN:
            p = in_tag_open(t, p, end);
            break;
        case AT_END_TAG_OPEN:
            p = in_end_tag_open(t, p, end);
            break;
        case AT_TAG_NAME:
            p = in_tag_name(t, p, end);
            break;
        case AT_BEFORE_ATTR:
            p = in_before_attr(t, p, end);
            break;
        case AT_ATTR_NAME:
            p = in_attr_name(t, p, end);
            break;
        case AT_AFTER_ATTR_NAME:
            p = in_after_attr_name(t, p, end);
            break;
        case AT_BEFORE_VALUE:
            p = in_before_value(t, p, end);
            break;
        case AT_AFTER_VALUE:
            p = in_after_value(t, p, end);
            break;
        case AT_SELF_CLOSING:
            p = in_self_closing(t, p, end);
            break;
        case AT_VALUE_DOUBLE:
        case AT_VALUE_SINGLE:
        case AT_VALUE_BARE:
        case AT_REF:
        case AT_REF_NAME:
        case AT_REF_NUMBER:
        case AT_REF_HEX_START:
        case AT_REF_DIGITS:
            p = sn_links_value(t, p, end);
            break;
        default:
            p = sn_links_skip(t, p, end);
            break;
        }
    }
}

static void read_encoded(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    if (t->encoding == ENCODING_BYTES)
        sn_links_read(t, p, end);
    else
        sn_links_utf16(t, p, end);
}

/* The first bytes of the page determine whether it is UTF-16; nothing is parsed before. */
static const uint8_t *find_encoding(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    size_t skip = 0;
    while (t->encoding == ENCODING_UNKNOWN && p < end) {
        t->mark[t->mark_len++] = *p++;
        t->encoding = sn_links_sniff(t, &skip);
    }
    if (t->encoding != ENCODING_UNKNOWN)
        read_encoded(t, t->mark + skip, t->mark + t->mark_len);
    return p;
}

bool sn_links_feed(sn_links *links, const void *bytes, size_t len)
{
    if (len == 0)
        return !links->failed;
    const uint8_t *p = bytes, *end = p + len;
    if (links->encoding == ENCODING_UNKNOWN)
        p = find_encoding(links, p, end);
    if (p < end)
        read_encoded(links, p, end);
    return !links->failed;
}

const sn_links_page *sn_links_end(sn_links *links)
{
    sn_links_title_end(links);
    return &links->page;
}

sn_links *sn_links_create(const sn_links_options *options)
{
    sn_links *links = calloc(1, sizeof *links);
    if (links)
        links->options = *options;
    return links;
}

void sn_links_reset(sn_links *links)
{
    sn_links_options options = links->options;
    char *bytes = links->bytes;
    size_t room = links->room;
    *links = (sn_links){.options = options, .bytes = bytes, .room = room};
}

void sn_links_destroy(sn_links *links)
{
    if (!links)
        return;
    free(links->bytes);
    free(links);
}
