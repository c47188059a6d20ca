/* Detects UTF-16 pages and transcodes them to UTF-8 incrementally; UTF-8 output. */
#include "crawl/html/internal.h"

#include <string.h>
#include <strings.h>

size_t sn_html_put_utf8(uint32_t code, char out[4])
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

/* Writes the result of one more unit: nothing, a character, or U+FFFD for an unpaired surrogate
 * followed by a character. */
static size_t put_unit(sn_links *t, uint16_t unit, char out[8])
{
    size_t len = 0;
    bool second = unit >= 0xdc00 && unit < 0xe000;
    if (t->surrogate != 0 && second) {
        uint32_t high = t->surrogate - 0xd800u;
        t->surrogate = 0;
        return sn_html_put_utf8(0x10000 + (high << 10) + (unit - 0xdc00u), out);
    }
    if (t->surrogate != 0)
        len = sn_html_put_utf8(0xfffd, out);
    t->surrogate = 0;
    if (unit >= 0xd800 && unit < 0xdc00)
        t->surrogate = unit;
    else
        len += sn_html_put_utf8(second ? 0xfffd : unit, out + len);
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

/* ---- Detection ------------------------------------------------------------------------------ */

/* The value of the first "charset" of a Content-Type. */
static sn_html_text find_charset(const char *type)
{
    for (const char *at = type; (at = strchr(at, ';')) != NULL;) {
        at += 1 + strspn(at + 1, " \t");
        if (strncasecmp(at, "charset=", 8) != 0)
            continue;
        at += 8;
        bool quoted = *at == '"';
        at += quoted;
        return (sn_html_text){at, strcspn(at, quoted ? "\"" : " \t;,")};
    }
    return (sn_html_text){"", 0};
}

void sn_links_declare(sn_links *t, const char *type)
{
    /* Labels of the Encoding standard. */
    static const char *const little[] = {"utf-16",          "utf-16le",  "unicode",    "ucs-2",
                                         "iso-10646-ucs-2", "csunicode", "unicodefeff"};
    static const char *const big[] = {"utf-16be", "unicodefffe"};
    sn_html_text charset = find_charset(type);
    t->declared = charset.len > 0 ? ENCODING_BYTES : ENCODING_UNKNOWN;
    for (size_t i = 0; i < sizeof little / sizeof little[0]; i++)
        if (sn_html_text_is(charset, little[i]))
            t->declared = ENCODING_UTF16LE;
    for (size_t i = 0; i < sizeof big / sizeof big[0]; i++)
        if (sn_html_text_is(charset, big[i]))
            t->declared = ENCODING_UTF16BE;
}

/* In order of precedence: byte order mark, headers, "<?x" in UTF-16. */
uint8_t sn_links_sniff(const sn_links *t, size_t *skip)
{
    static const struct {
        uint8_t bytes[6], len, encoding;
        bool mark;
    } heads[] = {{{0xff, 0xfe}, 2, ENCODING_UTF16LE, true},
                 {{0xfe, 0xff}, 2, ENCODING_UTF16BE, true},
                 {{0xef, 0xbb, 0xbf}, 3, ENCODING_BYTES, true},
                 {{'<', 0, '?', 0, 'x', 0}, 6, ENCODING_UTF16LE, false},
                 {{0, '<', 0, '?', 0, 'x'}, 6, ENCODING_UTF16BE, false}};
    bool maybe = false;
    *skip = 0;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        size_t n = t->mark_len < heads[i].len ? t->mark_len : heads[i].len;
        if (memcmp(t->mark, heads[i].bytes, n) != 0 ||
            (t->declared != ENCODING_UNKNOWN && !heads[i].mark))
            continue;
        maybe = true;
        if (n < heads[i].len)
            continue;
        *skip = heads[i].mark ? n : 0;
        return heads[i].encoding;
    }
    if (maybe)
        return ENCODING_UNKNOWN;
    return t->declared != ENCODING_UNKNOWN ? t->declared : ENCODING_BYTES;
}
