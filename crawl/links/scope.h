/* Which URLs belong to a crawl.
 *
 * URLs are canonical: scheme://host[:port]/path?query. Once its seeds are added, a scope is
 * read-only and may be used by several threads. */
#ifndef SN_CRAWL_LINKS_SCOPE_H
#define SN_CRAWL_LINKS_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sn_scope_kind {
    SN_SCOPE_HOST,   /* the hosts of the seeds, with their ports; http and https are equal */
    SN_SCOPE_DOMAIN, /* the registrable domains of the seeds, any port; an IP address is its own
                      * domain */
    SN_SCOPE_ALL     /* everything */
} sn_scope_kind;

/* Limits that apply in addition to the options. */
#define SN_SCOPE_URL_MAX 16384
#define SN_SCOPE_SEGMENTS_MAX 255
#define SN_SCOPE_PATTERN_MAX 4096
#define SN_SCOPE_PATTERNS_MAX 256

typedef struct sn_scope_options {
    sn_scope_kind kind;
    const char *const *include; /* POSIX extended expressions: one of them must match, if any */
    size_t include_count;
    const char *const *exclude; /* none of them may match */
    size_t exclude_count;
    size_t url_max;      /* bytes of a URL; 0: SN_SCOPE_URL_MAX */
    unsigned depth_max;  /* segments of a path, "/a/b" has 2; 0: SN_SCOPE_SEGMENTS_MAX */
    unsigned repeat_max; /* maximum repeats of one segment in a path; 0: no limit */
    bool no_parent;      /* only below the folders of the seeds */
} sn_scope_options;

typedef enum sn_scope_verdict {
    SN_SCOPE_IN,
    SN_SCOPE_NOT_HTTP,
    SN_SCOPE_TOO_LONG,
    SN_SCOPE_OTHER_HOST,
    SN_SCOPE_PARENT, /* with no_parent: above the folders of the seeds */
    SN_SCOPE_TOO_DEEP,
    SN_SCOPE_REPEATS,
    SN_SCOPE_EXCLUDED,
    SN_SCOPE_NOT_INCLUDED
} sn_scope_verdict;

typedef struct sn_scope sn_scope;

/* Creates a scope; the options are copied. NULL: an expression is invalid, domains are not
 * supported by this build, or out of memory; `message`, of `room` bytes, contains the reason. */
sn_scope *sn_scope_create(const sn_scope_options *options, char *message, size_t room);
void sn_scope_destroy(sn_scope *scope);

/* Adds the host or domain of a seed. False: not an http or https URL, or out of memory. Seeds
 * themselves are not checked against the other options unless the caller does. */
bool sn_scope_add_seed(sn_scope *scope, const char *url, size_t len);

/* Whether the URL is in scope; otherwise the first reason against it. Linear in the URL, except for
 * the expressions. */
sn_scope_verdict sn_scope_check(const sn_scope *scope, const char *url, size_t len);

#endif
