/* Percent-escapes: which bytes are literal, which become %XX, and which %XX are decoded. */
#include "url/url.h"

#include <string.h>

/* The complements of the standard's percent-encode sets (path, special query, userinfo) and of the
 * forbidden domain code points, and the unreserved characters of RFC 3986. Above 0x7f: none. */
/* clang-format off */
const uint16_t sn_url_class[256] = {
    0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x020, 0x020, 0x000,
    0x000, 0x020, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000,
    0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x000, 0x147, 0x040, 0x000,
    0x147, 0x000, 0x147, 0x145, 0x147, 0x147, 0x147, 0x147, 0x147, 0x14f, 0x04f, 0x102,
    0x1df, 0x1df, 0x1df, 0x1df, 0x1df, 0x1df, 0x1df, 0x1df, 0x1df, 0x1df, 0x103, 0x143,
    0x000, 0x143, 0x000, 0x002, 0x103, 0x15f, 0x15f, 0x15f, 0x15f, 0x15f, 0x15f, 0x14f,
    0x14f, 0x14f, 0x14f, 0x14f, 0x14f, 0x14f, 0x14f, 0x14f, 0x14f, 0x14f, 0x14f, 0x14f,
    0x14f, 0x14f, 0x14f, 0x14f, 0x14f, 0x14f, 0x14f, 0x103, 0x002, 0x103, 0x002, 0x1cf,
    0x042, 0x1df, 0x1df, 0x1df, 0x1df, 0x1df, 0x1df, 0x1cf, 0x1cf, 0x1cf, 0x1cf, 0x1cf,
    0x1cf, 0x1cf, 0x1cf, 0x1cf, 0x1cf, 0x1cf, 0x1cf, 0x1cf, 0x1cf, 0x1cf, 0x1cf, 0x1cf,
    0x1cf, 0x1cf, 0x1cf, 0x042, 0x103, 0x042, 0x14f, 0x000,
};
/* clang-format on */

static const char HEX[] = "0123456789ABCDEF";

bool sn_url_put_all(sn_url_out *out, const char *text, size_t len)
{
    if (len > out->capacity - out->len)
        return false;
    memcpy(out->text + out->len, text, len);
    out->len += len;
    return true;
}

static bool put_escape(sn_url_out *out, unsigned byte)
{
    const char escape[3] = {'%', HEX[byte >> 4], HEX[byte & 15]};
    return sn_url_put_all(out, escape, sizeof escape);
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return (c | 0x20) - 'a' + 10;
}

int sn_url_escape_at(const char *text, size_t len, size_t at, size_t *next)
{
    int value = 0;
    size_t i = at + 1;
    for (int digits = 0; digits < 2; digits++) {
        while (i < len && sn_url_is(text[i], SN_URL_SKIP))
            i++;
        if (i == len || !sn_url_is(text[i], SN_URL_HEX))
            return -1;
        value = value * 16 + digit_value(text[i++]);
    }
    *next = i;
    return value;
}

/* A % that does not begin an escape is kept, so decoding an escape after it could create a new one:
 * %%32%65 would become %2e, and that a dot. `bare` is the offset of the last such %, or
 * SIZE_MAX. */
static bool would_make_escape(const sn_url_out *out, size_t bare, int value)
{
    if (bare == SIZE_MAX || !sn_url_is((char)value, SN_URL_HEX))
        return false;
    size_t distance = out->len - bare;
    return distance == 1 || (distance == 2 && sn_url_is(out->text[bare + 1], SN_URL_HEX));
}

bool sn_url_put_escaped(sn_url_out *out, const char *text, size_t len, unsigned raw)
{
    size_t bare = SIZE_MAX;
    for (size_t i = 0; i < len;) {
        char c = text[i];
        bool fits = true;
        size_t next = i + 1;
        if (sn_url_is(c, raw)) {
            fits = sn_url_put(out, c);
        } else if (c == '%') {
            int value = sn_url_escape_at(text, len, i, &next);
            if (value < 0) {
                bare = out->len;
                fits = sn_url_put(out, c);
            } else if (sn_url_is((char)value, SN_URL_UNRESERVED) &&
                       !would_make_escape(out, bare, value)) {
                fits = sn_url_put(out, (char)value);
            } else {
                fits = put_escape(out, (unsigned)value);
            }
        } else if (!sn_url_is(c, SN_URL_SKIP)) {
            fits = put_escape(out, (unsigned char)c);
        }
        if (!fits)
            return false;
        i = next;
    }
    return true;
}
