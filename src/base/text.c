/* UTF-8, and text that is safe to print. File names and server replies may contain any bytes. */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Decodes one character; returns its length, or 0 if it is not well-formed. */
static size_t decode(const unsigned char *s, size_t len, uint32_t *code)
{
    if (len == 0)
        return 0;
    *code = s[0];
    if (s[0] < 0x80)
        return 1;
    size_t need = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || need > len)
        return 0;
    *code &= 0x7fu >> need;
    for (size_t i = 1; i < need; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    bool overlong = *code < (need == 4 ? 0x10000u : need == 3 ? 0x800u : 0x80u);
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return overlong || surrogate || *code > 0x10ffff ? 0 : need;
}

size_t sn_text_utf8(const void *s, size_t len)
{
    uint32_t code;
    return decode(s, len, &code);
}

/* As sn_text_utf8, but 0 also for characters that can control a terminal: C0, DEL, C1, line
 * separators, byte order marks and marks that reorder text. */
static size_t printable(const void *s, size_t len)
{
    uint32_t code;
    size_t length = decode(s, len, &code);
    bool control = code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
                   code == 0x2029 || code == 0xfeff;
    bool reorders = code == 0x061c || code == 0x200e || code == 0x200f ||
                    (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return length && !control && !reorders ? length : 0;
}

/* Writes the escape of one byte to `out`, which has room for 4; returns its length. */
static size_t escape_byte(char *out, unsigned char byte)
{
    static const char HEX[] = "0123456789abcdef";
    out[0] = '\\';
    if (byte == '\n' || byte == '\t' || byte == '\r') {
        out[1] = byte == '\n' ? 'n' : byte == '\t' ? 't' : 'r';
        return 2;
    }
    out[1] = 'x';
    out[2] = HEX[byte >> 4];
    out[3] = HEX[byte & 15];
    return 4;
}

size_t sn_text_escape(char *out, size_t room, const char *text, size_t len)
{
    size_t at = 0;
    for (size_t i = 0; i < len;) {
        char escape[4];
        const char *from = text + i;
        size_t taken = printable(from, len - i), put = taken;
        if (!taken) {
            put = escape_byte(escape, (unsigned char)text[i]);
            from = escape;
            taken = 1;
        }
        if (at + put + 1 > room)
            break;
        memcpy(out + at, from, put);
        at += put;
        i += taken;
    }
    if (at < room)
        out[at] = '\0';
    return at;
}

size_t sn_text_escaped_length(const char *text, size_t len)
{
    size_t escaped = 0;
    for (size_t i = 0; i < len;) {
        char escape[4];
        size_t taken = printable(text + i, len - i);
        escaped += taken ? taken : escape_byte(escape, (unsigned char)text[i]);
        i += taken ? taken : 1;
    }
    return escaped;
}
