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

#ifndef SEEN_API
#define SEEN_API
#endif

#ifndef SEEN_URL_BOUND
/* ---- URLs ----------------------------------------------------------------------------------- */

typedef enum seen_url_result {
    SEEN_URL_OK = 0,
    SEEN_URL_INVALID = 1,      /* no browser would go there: a bad host, a bad port, no base */
    SEEN_URL_OTHER_SCHEME = 2, /* mailto:, javascript:, ftp: … : well, but not http or https */
    SEEN_URL_TOO_LONG = 3,     /* the buffer is too small */
    SEEN_URL_NO_MEMORY = 4     /* an allocation failed (international hosts only) */
} seen_url_result;

/* What to forget beyond the standard. All of it is off by default: two URLs that differ in one of
 * these usually show the same page, but not always. */
#define SEEN_URL_SORT_QUERY                                                                        \
    1u /* parameters in the order of their names, equal names as they were */
#define SEEN_URL_DROP_TRACKING                                                                     \
    2u                           /* utm_*, gclid, fbclid and the like; docs/url.md has the list    \
                                  */
#define SEEN_URL_DROP_SESSION 4u /* PHPSESSID, sid and the like; ;jsessionid=… in the path */
#define SEEN_URL_DROP_WWW 8u     /* www. in front of a host of two labels or more */
#define SEEN_URL_DROP_SLASH 16u  /* slashes at the end of the path, except the first */

typedef struct seen_url_options {
    size_t size;    /* sizeof(seen_url_options) */
    uint32_t flags; /* SEEN_URL_…; bits without a name are ignored */
    /* Names of query parameters to drop, whatever the flags. A `*` at the end stands for any
     * ending. Compared byte by byte with the canonical spelling of a name. */
    const char *const *drop;
    size_t drop_count;
} seen_url_options;

/* A buffer of so many bytes is enough for any URL of len bytes on a base of base_len. */
#define SEEN_URL_BOUND(len, base_len) (3 * ((size_t)(len) + (size_t)(base_len)) + 320)

/* Gives the canonical form of an http or https URL: parsed and resolved as the WHATWG URL standard
 * does, without its fragment, escapes in upper case, escaped letters, digits and - . _ ~ unescaped.
 * The canonical form of a canonical form is itself.
 *   url, len    any bytes
 *   base        what a relative URL is relative to; looked at only if url needs it. NULL: nothing
 *   options     NULL: none
 *   out         gets *out_len printable ASCII bytes, without a NUL; must not overlap url or base.
 *               Scribbled on when the result is not SEEN_URL_OK
 *   out_len     SEEN_URL_TOO_LONG: a capacity that is enough. Other failures leave it as it was
 * Cost: a canonical URL is scanned once and copied. Never more than O(len log len). */
SEEN_API seen_url_result seen_url_canonical(const char *url, size_t len, const char *base,
                                            size_t base_len, const seen_url_options *options,
                                            char *out, size_t capacity, size_t *out_len);

typedef struct seen_url_span {
    size_t at; /* offset in the URL */
    size_t len;
} seen_url_span;

typedef struct seen_url_parts {
    seen_url_span scheme;   /* http or https */
    seen_url_span userinfo; /* without the @; usually empty */
    seen_url_span host;     /* an IPv6 address has its brackets */
    seen_url_span port;     /* digits; empty where it is the scheme's own */
    seen_url_span path;     /* begins with / */
    seen_url_span query;    /* without the ?; see has_query */
    uint16_t port_number;   /* 80 and 443 filled in */
    bool has_query;         /* `/a?` has an empty one, `/a` has none */
} seen_url_parts;

/* Takes a canonical URL apart. Answers SEEN_URL_INVALID, and leaves *parts alone, where the bytes
 * do not have the shape of one; it does not check that they are canonical in every detail. */
SEEN_API seen_url_result seen_url_split(const char *url, size_t len, seen_url_parts *parts);
#endif

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

#endif
