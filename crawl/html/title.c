/* The text of the first <title>: references decoded, white space collapsed, truncated to fit. */
#include "crawl/html/internal.h"

#include <stdlib.h>
#include <string.h>

void sn_links_title_add(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *stop = memchr(p, '<', (size_t)(end - p));
    size_t len = (size_t)((stop ? stop : end) - p), room = sizeof t->title - t->title_len;
    len = len < room ? len : room;
    memcpy(t->title + t->title_len, p, len);
    t->title_len += len;
}

static size_t put_utf8(char *out, unsigned long code)
{
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((0xf00 >> len & 0xf0) | code);
    return len;
}

/* Decodes the reference at `p`; returns its length and writes the characters to `out`. 0: none. */
static size_t decode(const char *p, const char *end, char out[SN_ENTITY_MAX], size_t *out_len)
{
    const char *at = p + 1;
    while (at < end && at - p < SN_REF_MAX && *at != ';' && *at != '&' && *at != ' ')
        at++;
    if (at == end || *at != ';' || at == p + 1)
        return 0;
    size_t len = (size_t)(at - p - 1);
    char text[SN_REF_MAX + 1];
    memcpy(text, p + 1, len);
    text[len] = '\0';
    if (text[0] == '#') {
        bool hex = text[1] == 'x' || text[1] == 'X';
        char *stop;
        unsigned long code = strtoul(text + 1 + hex, &stop, hex ? 16 : 10);
        *out_len = *stop == '\0' && stop > text + 1 + hex ? put_utf8(out, code) : 0;
    } else {
        *out_len = sn_links_entity(text, len, false, out);
    }
    return *out_len > 0 ? len + 2 : 0;
}

/* Removes an incomplete character from the end. */
static size_t whole(const char *text, size_t len)
{
    size_t at = len;
    while (at > 0 && len - at < 4 && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
        at--;
    if (at == 0 || (unsigned char)text[at - 1] < 0xc0)
        return len;
    unsigned char first = (unsigned char)text[at - 1];
    size_t need = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    return len - at + 1 < need ? at - 1 : len;
}

void sn_links_title_end(sn_links *t)
{
    const char *p = t->title, *end = p + t->title_len;
    sn_links_page *page = &t->page;
    page->title_len = 0;
    bool space = false;
    while (p < end) {
        char decoded[SN_ENTITY_MAX];
        size_t n = 1, used = *p == '&' ? decode(p, end, decoded, &n) : 0;
        if (used == 0) {
            decoded[0] = *p;
            n = used = 1;
        }
        p += used;
        if (n == 1 && sn_html_is_space((uint8_t)decoded[0])) {
            space = page->title_len > 0;
            continue;
        }
        if (page->title_len + space + n > sizeof page->title)
            break;
        if (space)
            page->title[page->title_len++] = ' ';
        space = false;
        memcpy(page->title + page->title_len, decoded, n);
        page->title_len += n;
    }
    page->title_len = whole(page->title, page->title_len);
}
