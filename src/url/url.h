/* URLs: from what a page or a file says to the one canonical spelling that is used as a key.
 *
 *     bytes --fast--> canonical already: copied                                    --options--> key
 *          '--parse--> scheme, authority (host), path, query, each written as it is read --'
 *
 * Nothing here allocates (libidn2 does, for international hosts) and nothing has state: what has
 * been written to the caller's buffer is the state. The rules are in docs/url.md. */
#ifndef SN_URL_URL_H
#define SN_URL_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

/* ---- Classes of bytes ------------------------------------------------------------------------ */

/* What a byte may be, as bits of sn_url_class[byte]. */
enum {
    SN_URL_PATH = 1,        /* stands for itself in a path (% never does: it begins an escape) */
    SN_URL_QUERY = 2,       /* stands for itself in a query */
    SN_URL_USER = 4,        /* stands for itself in a user name or password */
    SN_URL_UNRESERVED = 8,  /* letters, digits, - . _ ~ : an escape of it is undone */
    SN_URL_HEX = 16,        /* a hexadecimal digit */
    SN_URL_SKIP = 32,       /* tab, LF, CR: as if it were not there */
    SN_URL_DOMAIN = 64,     /* may stand in a domain name */
    SN_URL_SCAN_HOST = 128, /* a-z 0-9 _ : nothing to think about in a domain name */
    SN_URL_SCAN_PATH = 256  /* as SN_URL_PATH, with / and without . : nothing to think about */
};

extern const uint16_t sn_url_class[256];

static inline unsigned sn_url_is(char c, unsigned bits)
{
    return sn_url_class[(unsigned char)c] & bits;
}

/* ---- Reading and writing --------------------------------------------------------------------- */

typedef struct sn_url_out {
    char *text;
    size_t capacity;
    size_t len;
    size_t path; /* where the path begins, once it has */
} sn_url_out;

/* Appends one byte; false where there is no room. */
static inline bool sn_url_put(sn_url_out *out, char c)
{
    if (out->len >= out->capacity)
        return false;
    out->text[out->len++] = c;
    return true;
}

bool sn_url_put_all(sn_url_out *out, const char *text, size_t len);

/* Appends text with what `raw` (one of SN_URL_PATH, _QUERY, _USER) does not allow escaped, and with
 * the escapes that it has made canonical. False where there is no room. */
bool sn_url_put_escaped(sn_url_out *out, const char *text, size_t len, unsigned raw);

/* Value of the escape whose % is at text[at], or -1; *next gets the offset behind it. */
int sn_url_escape_at(const char *text, size_t len, size_t at, size_t *next);

/* ---- Steps ----------------------------------------------------------------------------------- */

/* How many bytes at the front of url are a canonical URL that only a fragment or nothing follows;
 * 0 where a closer look is needed. *path gets the offset of the path. */
size_t sn_url_scan(const char *url, size_t len, size_t *path);

/* Writes the canonical form, without options, at the start of out. */
seen_url_result sn_url_parse(const char *url, size_t len, const char *base, size_t base_len,
                             sn_url_out *out);

/* Appends the canonical form of a host, which may hold escapes and bytes to skip. */
seen_url_result sn_url_put_host(sn_url_out *out, const char *host, size_t len);

/* Addresses. The text holds nothing to skip and, for IPv4, is in lower case. */
bool sn_url_ends_in_number(const char *host, size_t len);
bool sn_url_read_ipv4(const char *host, size_t len, uint32_t *address);
size_t sn_url_print_ipv4(uint32_t address, char text[16]);
bool sn_url_read_ipv6(const char *text, size_t len, uint16_t pieces[8]);
size_t sn_url_print_ipv6(const uint16_t pieces[8], char text[40]);

/* UTS 46, non-transitional, of UTF-8 whose ASCII letters are in lower case; at most SN_URL_IDN_MAX
 * bytes, the most that the DNS can ask for. */
enum { SN_URL_IDN_MAX = 255, SN_URL_LABEL_MAX = 63 };
seen_url_result sn_url_idn(const char *host, size_t len, char ascii[SN_URL_IDN_MAX],
                           size_t *ascii_len);

/* Appends the Punycode of at most SN_URL_LABEL_MAX code points, without "xn--". */
bool sn_url_put_punycode(sn_url_out *out, const uint32_t *points, size_t count);

/* Applies the options to the canonical URL in text; the result is never longer. */
size_t sn_url_apply(char *text, size_t len, const seen_url_options *options);

/* Sorts pieces, each of which begins with '&', by name; equal names keep their order. In place. */
void sn_url_sort(char *pieces, size_t len);

/* ---- Relative links -------------------------------------------------------------------------- */

/* Resolves a link of unreserved characters and single slashes against a canonical base. `out` has
 * room for len + base_len bytes. Returns the length, or 0: not such a link, it has to be parsed. */
size_t sn_url_relative(const char *href, size_t len, const char *base, size_t base_len, char *out);

#endif
