/* Decodes bodies with a Content-Encoding.
 *
 *     sn_unpack_begin(unpack)                     a response begins
 *     sn_unpack_header(unpack, value, len)        its Content-Encoding, if it has one
 *     sn_unpack_feed(unpack, bytes, len, ...)     --> the sink receives the decoded bytes
 *     sn_unpack_end(unpack)                       is it complete?
 *
 * Not left to libcurl, which accepts a truncated body as complete, fails on trailing data after the
 * compressed data, and refuses invalid encodings ("utf-8"): all on pages that browsers show. Here
 * an unknown encoding is ignored, several members in a row are read as one, and trailing data is
 * ignored.
 *
 * One response at a time; one thread at a time. */
#ifndef SN_CRAWL_FETCH_UNPACK_H
#define SN_CRAWL_FETCH_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#define SN_UNPACK_LAYERS 3 /* maximum number of nested encodings */

/* Bytes that one layer may pass to the next: data compressed twice can expand a thousandfold in
 * between, and produce nothing that the sink could count. */
#define SN_UNPACK_BETWEEN (16 << 20)

typedef enum sn_unpack_result {
    SN_UNPACK_OK,
    SN_UNPACK_ENOUGH, /* the sink returned false */
    SN_UNPACK_OVER,   /* the compressed data had already ended: no more output */
    SN_UNPACK_BAD,    /* invalid, or too much data between two encodings */
    SN_UNPACK_MEMORY
} sn_unpack_result;

/* Receives a piece; false: enough. */
typedef bool sn_unpack_sink(void *user, const char *bytes, size_t len);

typedef struct sn_unpack_layer sn_unpack_layer;

/* Initialized to zero. */
typedef struct sn_unpack {
    sn_unpack_layer *layers[SN_UNPACK_LAYERS]; /* in the order of encoding; the last is decoded
                                                * first */
    size_t count;
    size_t between; /* bytes passed between layers so far */
    bool refused;   /* a known encoding that cannot be decoded, or too many of them */
    bool unknown;   /* an encoding was ignored: it is not decoded */
    sn_unpack_sink *sink;
    void *user;
} sn_unpack;

/* The supported encodings, for Accept-Encoding. */
const char *sn_unpack_names(void);

/* Also frees the memory of the previous response. */
void sn_unpack_begin(sn_unpack *unpack);
/* False: out of memory. */
bool sn_unpack_header(sn_unpack *unpack, const char *value, size_t len);
sn_unpack_result sn_unpack_feed(sn_unpack *unpack, const char *bytes, size_t len,
                                sn_unpack_sink *sink, void *user);
/* False: truncated. An empty body is complete. */
bool sn_unpack_end(const sn_unpack *unpack);

#endif
