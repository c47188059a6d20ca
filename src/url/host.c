/* Hosts: escapes are decoded, then the host is an IPv6 address in brackets, an IPv4 address, or a
 * domain processed by IDNA. */
#include "url/url.h"

#include <string.h>

/* No valid address is longer, so a longer text is rejected without copying it. */
enum { IPV6_TEXT_MAX = 45 };

static seen_url_result put_ipv6(sn_url_out *out, const char *host, size_t len)
{
    char text[IPV6_TEXT_MAX + 2]; /* including the brackets */
    size_t text_len = 0;
    for (size_t i = 0; i < len; i++) {
        if (sn_url_is(host[i], SN_URL_SKIP))
            continue;
        if (text_len == sizeof text)
            return SEEN_URL_INVALID;
        text[text_len++] = host[i];
    }
    uint16_t pieces[8];
    if (text_len < 2 || text[text_len - 1] != ']' ||
        !sn_url_read_ipv6(text + 1, text_len - 2, pieces))
        return SEEN_URL_INVALID;
    char canonical[40];
    size_t canonical_len = sn_url_print_ipv6(pieces, canonical);
    bool fits = sn_url_put(out, '[') && sn_url_put_all(out, canonical, canonical_len) &&
                sn_url_put(out, ']');
    return fits ? SEEN_URL_OK : SEEN_URL_TOO_LONG;
}

/* Appends the host with escapes decoded and ASCII letters in lower case. */
static bool put_decoded(sn_url_out *out, const char *host, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t next = i + 1;
        int value = (unsigned char)host[i];
        if (sn_url_is(host[i], SN_URL_SKIP)) {
            i = next;
            continue;
        }
        if (value == '%') {
            int escaped = sn_url_escape_at(host, len, i, &next);
            value = escaped < 0 ? value : escaped;
        }
        if (value >= 'A' && value <= 'Z')
            value |= 0x20;
        if (!sn_url_put(out, (char)value))
            return false;
        i = next;
    }
    return true;
}

static bool is_domain(const char *host, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!sn_url_is(host[i], SN_URL_DOMAIN))
            return false;
    }
    return len > 0;
}

/* IDNA is only applied to hosts with bytes above 0x7f. An ASCII host is kept unchanged, even with
 * an xn-- label that is not a valid A-label, as in the URL standard since 2026: such hosts are in
 * use. */
static bool needs_idn(const char *host, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)host[i] > 0x7f)
            return true;
    }
    return false;
}

seen_url_result sn_url_put_host(sn_url_out *out, const char *host, size_t len)
{
    size_t start = out->len, first = 0;
    while (first < len && sn_url_is(host[first], SN_URL_SKIP))
        first++;
    if (first < len && host[first] == '[')
        return put_ipv6(out, host + first, len - first);

    if (!put_decoded(out, host, len))
        return SEEN_URL_TOO_LONG;
    if (needs_idn(out->text + start, out->len - start)) {
        char ascii[SN_URL_IDN_MAX];
        size_t ascii_len = 0;
        seen_url_result result = sn_url_idn(out->text + start, out->len - start, ascii, &ascii_len);
        if (result != SEEN_URL_OK)
            return result;
        out->len = start;
        if (!sn_url_put_all(out, ascii, ascii_len))
            return SEEN_URL_TOO_LONG;
    }
    if (!is_domain(out->text + start, out->len - start))
        return SEEN_URL_INVALID;
    if (!sn_url_ends_in_number(out->text + start, out->len - start))
        return SEEN_URL_OK;

    uint32_t address;
    if (!sn_url_read_ipv4(out->text + start, out->len - start, &address))
        return SEEN_URL_INVALID;
    char text[16];
    out->len = start;
    return sn_url_put_all(out, text, sn_url_print_ipv4(address, text)) ? SEEN_URL_OK
                                                                       : SEEN_URL_TOO_LONG;
}
