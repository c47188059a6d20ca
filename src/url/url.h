/* URLs: from the bytes in a page or a file to the canonical form used as a key.
 *
 *     bytes --fast--> already canonical: copied                                    --options--> key
 *          '--parse--> scheme, authority (host), path, query, each written as it is read --'
 *
 * Nothing here allocates (libidn2 does, for internationalized hosts) or has state apart from the
 * caller's buffer. The rules are in docs/url.md. */
#ifndef SN_URL_URL_H
#define SN_URL_URL_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Byte classes --------------------------------------------------------------------------- */

/* Bits of sn_url_class[byte]. */
enum {
    SN_URL_PATH = 1,        /* literal in a path (% never is: it begins an escape) */
    SN_URL_QUERY = 2,       /* literal in a query */
    SN_URL_USER = 4,        /* literal in a user name or password */
    SN_URL_UNRESERVED = 8,  /* letters, digits, - . _ ~ : their escapes are decoded */
    SN_URL_HEX = 16,        /* a hexadecimal digit */
    SN_URL_SKIP = 32,       /* tab, LF, CR: ignored */
    SN_URL_DOMAIN = 64,     /* allowed in a domain name */
    SN_URL_SCAN_HOST = 128, /* a-z 0-9 _ : needs no further checks in a domain name */
    SN_URL_SCAN_PATH = 256  /* as SN_URL_PATH, with / and without . : needs no further checks */
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
    size_t path; /* offset of the path, once written */
} sn_url_out;

/* Appends one byte; false if there is no room. */
static inline bool sn_url_put(sn_url_out *out, char c)
{
    if (out->len >= out->capacity)
        return false;
    out->text[out->len++] = c;
    return true;
}

bool sn_url_put_all(sn_url_out *out, const char *text, size_t len);

/* Appends text, escaping bytes that `raw` (SN_URL_PATH, _QUERY or _USER) does not allow, and with
 * existing escapes made canonical. False if there is no room. */
bool sn_url_put_escaped(sn_url_out *out, const char *text, size_t len, unsigned raw);

/* The value of the escape whose % is at text[at], or -1; *next is set to the offset after it. */
int sn_url_escape_at(const char *text, size_t len, size_t at, size_t *next);

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The length of the canonical URL at the start of url, if nothing or only a fragment follows it; 0:
 * use the parser. *path is set to the offset of the path. */
size_t sn_url_scan(const char *url, size_t len, size_t *path);

/* Writes the canonical form, without options, at the start of out. */
seen_url_result sn_url_parse(const char *url, size_t len, const char *base, size_t base_len,
                             sn_url_out *out);

/* Appends the canonical form of a host, which may contain escapes and ignored bytes. */
seen_url_result sn_url_put_host(sn_url_out *out, const char *host, size_t len);

/* Addresses. The text contains no ignored bytes and, for IPv4, is in lower case. */
bool sn_url_ends_in_number(const char *host, size_t len);
bool sn_url_read_ipv4(const char *host, size_t len, uint32_t *address);
size_t sn_url_print_ipv4(uint32_t address, char text[16]);
bool sn_url_read_ipv6(const char *text, size_t len, uint16_t pieces[8]);
size_t sn_url_print_ipv6(const uint16_t pieces[8], char text[40]);

/* UTS 46, non-transitional, of UTF-8 whose ASCII letters are in lower case; at most SN_URL_IDN_MAX
 * bytes, the DNS limit. */
enum { SN_URL_IDN_MAX = 255, SN_URL_LABEL_MAX = 63 };
seen_url_result sn_url_idn(const char *host, size_t len, char ascii[SN_URL_IDN_MAX],
                           size_t *ascii_len);

/* Appends the Punycode of at most SN_URL_LABEL_MAX code points, without "xn--". */
bool sn_url_put_punycode(sn_url_out *out, const uint32_t *points, size_t count);

/* Applies the options to the canonical URL in text; the result is never longer. */
size_t sn_url_apply(char *text, size_t len, const seen_url_options *options);

/* Sorts pieces, each beginning with '&', by name; equal names keep their order. In place. */
void sn_url_sort(char *pieces, size_t len);

/* ---- Relative links -------------------------------------------------------------------------- */

/* Resolves a link of unreserved characters and single slashes against a canonical base. `out` must
 * have room for len + base_len bytes. Returns the length, or 0 if the link has to be parsed. */
size_t sn_url_relative(const char *href, size_t len, const char *base, size_t base_len, char *out);

#endif
