/* Parses IPv4 and IPv6 addresses in all notations of the WHATWG URL standard, and writes their
 * canonical notation. */
#include "url/url.h"

#include <string.h>

/* Parses one part of an IPv4 address: 0x hexadecimal, 0 octal, or decimal. The value saturates far
 * above the valid range, so any number of digits is safe. False if it is not a number. */
static bool read_number(const char *text, size_t len, uint64_t *value)
{
    unsigned base = 10;
    size_t i = 0;
    if (len == 0)
        return false;
    if (len >= 2 && text[0] == '0') {
        base = text[1] == 'x' ? 16 : 8;
        i = text[1] == 'x' ? 2 : 1;
    }
    *value = 0;
    for (; i < len; i++) {
        unsigned digit = 99;
        if (text[i] >= '0' && text[i] <= '9')
            digit = (unsigned)(text[i] - '0');
        else if (text[i] >= 'a' && text[i] <= 'f')
            digit = (unsigned)(text[i] - 'a') + 10;
        if (digit >= base)
            return false;
        *value = *value * base + digit;
        if (*value > UINT32_MAX)
            *value = (uint64_t)UINT32_MAX + 1;
    }
    return true;
}

bool sn_url_ends_in_number(const char *host, size_t len)
{
    if (len > 1 && host[len - 1] == '.')
        len--;
    size_t at = len;
    bool digits = true;
    while (at > 0 && host[at - 1] != '.') {
        at--;
        digits = digits && host[at] >= '0' && host[at] <= '9';
    }
    uint64_t ignored;
    return at < len && (digits || read_number(host + at, len - at, &ignored));
}

bool sn_url_read_ipv4(const char *host, size_t len, uint32_t *address)
{
    uint64_t parts[4];
    size_t count = 0;
    if (len > 1 && host[len - 1] == '.')
        len--;
    for (size_t at = 0;; at++) {
        const char *dot = memchr(host + at, '.', len - at);
        size_t end = dot ? (size_t)(dot - host) : len;
        if (count == 4 || !read_number(host + at, end - at, &parts[count++]))
            return false;
        at = end;
        if (!dot)
            break;
    }
    uint64_t sum = parts[count - 1];
    if (sum >= (uint64_t)1 << (8 * (5 - count)))
        return false;
    for (size_t i = 0; i + 1 < count; i++) {
        if (parts[i] > 255)
            return false;
        sum += parts[i] << (8 * (3 - i));
    }
    *address = (uint32_t)sum;
    return true;
}

static size_t print_decimal(unsigned value, char *text)
{
    size_t len = 0;
    if (value >= 100)
        text[len++] = (char)('0' + value / 100);
    if (value >= 10)
        text[len++] = (char)('0' + value / 10 % 10);
    text[len++] = (char)('0' + value % 10);
    return len;
}

size_t sn_url_print_ipv4(uint32_t address, char text[16])
{
    size_t len = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        len += print_decimal(address >> shift & 255, text + len);
        if (shift > 0)
            text[len++] = '.';
    }
    return len;
}

static int hex_value(char c)
{
    if (!sn_url_is(c, SN_URL_HEX))
        return -1;
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Parses the dotted end of an IPv6 address: four decimal numbers without leading zeros, and nothing
 * after them. */
static bool read_dotted(const char *text, size_t len, uint16_t pieces[2])
{
    unsigned bytes[4];
    size_t at = 0;
    for (int i = 0; i < 4; i++) {
        if (i > 0 && (at == len || text[at++] != '.'))
            return false;
        size_t start = at;
        bytes[i] = 0;
        for (; at < len && text[at] >= '0' && text[at] <= '9'; at++) {
            if (at > start && bytes[i] == 0)
                return false;
            bytes[i] = bytes[i] * 10 + (unsigned)(text[at] - '0');
            if (bytes[i] > 255)
                return false;
        }
        if (at == start)
            return false;
    }
    pieces[0] = (uint16_t)(bytes[0] << 8 | bytes[1]);
    pieces[1] = (uint16_t)(bytes[2] << 8 | bytes[3]);
    return at == len;
}

/* Moves the pieces after the "::" to the end. */
static void spread(uint16_t pieces[8], int count, int gap)
{
    int behind = count - gap;
    memmove(pieces + 8 - behind, pieces + gap, (size_t)behind * sizeof *pieces);
    memset(pieces + gap, 0, (size_t)(8 - count) * sizeof *pieces);
}

bool sn_url_read_ipv6(const char *text, size_t len, uint16_t pieces[8])
{
    int count = 0, gap = -1;
    size_t at = 0;
    if (len > 0 && text[0] == ':') {
        if (len < 2 || text[1] != ':')
            return false;
        pieces[count++] = 0;
        gap = count;
        at = 2;
    }
    while (at < len) {
        if (count == 8)
            return false;
        if (text[at] == ':') {
            if (gap >= 0)
                return false;
            pieces[count++] = 0; /* "::" is at least one zero */
            gap = count;
            at++;
            continue;
        }
        size_t start = at;
        unsigned value = 0;
        for (; at < len && at - start < 4 && hex_value(text[at]) >= 0; at++)
            value = value * 16 + (unsigned)hex_value(text[at]);
        if (at < len && text[at] == '.') {
            if (count > 6 || !read_dotted(text + start, len - start, pieces + count))
                return false;
            count += 2;
            break;
        }
        if (at < len && (text[at] != ':' || ++at == len))
            return false;
        pieces[count++] = (uint16_t)value;
    }
    if (gap >= 0)
        spread(pieces, count, gap);
    return gap >= 0 || count == 8;
}

/* The first longest run of at least two zeros; 8 if there is none. */
static int find_gap(const uint16_t pieces[8], int *gap_len)
{
    int best = 8;
    *gap_len = 1;
    for (int i = 0; i < 8; i++) {
        int run = 0;
        while (i + run < 8 && pieces[i + run] == 0)
            run++;
        if (run > *gap_len) {
            best = i;
            *gap_len = run;
        }
        i += run;
    }
    return best;
}

size_t sn_url_print_ipv6(const uint16_t pieces[8], char text[40])
{
    int gap_len, gap = find_gap(pieces, &gap_len);
    size_t len = 0;
    for (int i = 0; i < 8;) {
        if (i == gap) {
            text[len++] = ':';
            if (i == 0)
                text[len++] = ':';
            i += gap_len;
            continue;
        }
        int shift = 12;
        while (shift > 0 && pieces[i] >> shift == 0)
            shift -= 4;
        for (; shift >= 0; shift -= 4)
            text[len++] = "0123456789abcdef"[pieces[i] >> shift & 15];
        if (++i < 8)
            text[len++] = ':';
    }
    return len;
}
