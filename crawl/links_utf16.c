/* crawl/links_utf16.c: a UTF-16 page, read as UTF-8 a little at a time; and UTF-8 itself. */
#include "crawl/links_inside.h"

size_t sn_utf8_put(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Writes what one more unit makes known: nothing, a character, or a lone half of a pair, which is
 * U+FFFD, and a character. */
static size_t put_unit(sn_links *t, uint16_t unit, char out[8])
{
    size_t len = 0;
    bool second = unit >= 0xdc00 && unit < 0xe000;
    if (t->surrogate != 0 && second) {
        uint32_t high = t->surrogate - 0xd800u;
        t->surrogate = 0;
        return sn_utf8_put(0x10000 + (high << 10) + (unit - 0xdc00u), out);
    }
    if (t->surrogate != 0)
        len = sn_utf8_put(0xfffd, out);
    t->surrogate = 0;
    if (unit >= 0xd800 && unit < 0xdc00)
        t->surrogate = unit;
    else
        len += sn_utf8_put(second ? 0xfffd : unit, out + len);
    return len;
}

void sn_links_utf16(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    char out[1024];
    size_t len = 0;
    for (; p < end; p++) {
        if (!t->have_unit) {
            t->unit = *p;
            t->have_unit = true;
            continue;
        }
        t->have_unit = false;
        bool little = t->encoding == ENCODING_UTF16LE;
        uint16_t unit = (uint16_t)(little ? *p << 8 | t->unit : t->unit << 8 | *p);
        len += put_unit(t, unit, out + len);
        if (len > sizeof out - 8) {
            sn_links_read(t, (const uint8_t *)out, (const uint8_t *)out + len);
            len = 0;
        }
    }
    sn_links_read(t, (const uint8_t *)out, (const uint8_t *)out + len);
}
