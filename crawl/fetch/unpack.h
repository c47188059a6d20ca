/* Bodies without their Content-Encoding.
 *
 *     sn_unpack_begin(unpack)                     an answer begins
 *     sn_unpack_header(unpack, value, len)        its Content-Encoding, if it has one
 *     sn_unpack_feed(unpack, bytes, len, ...)     --> the sink gets what they stand for
 *     sn_unpack_end(unpack)                       was that all of it?
 *
 * Not left to libcurl, which takes a body that was cut short for a whole one, fails on whatever
 * stands behind the end of the compressed data, and refuses encodings that are none ("utf-8"):
 * pages that browsers show. Here an encoding that is not known is passed over, several parts in a
 * row are read as one, and what is behind the last of them is left out.
 *
 * One answer at a time; one thread at a time. */
#ifndef CRAWL_UNPACK_H
#define CRAWL_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#define SN_UNPACK_LAYERS 3 /* encodings on top of each other */

/* Bytes that one of them may give to the next: what is packed twice can be a thousand times as long
 * as what came, and be nothing at all for all that the sink gets to count. */
#define SN_UNPACK_BETWEEN (16 << 20)

typedef enum sn_unpack_result {
    SN_UNPACK_OK,
    SN_UNPACK_ENOUGH, /* the sink said so */
    SN_UNPACK_OVER,   /* the compressed data had ended before: nothing more can come */
    SN_UNPACK_BAD,    /* cannot be read, or is too much between two encodings */
    SN_UNPACK_MEMORY
} sn_unpack_result;

/* Receives a piece; false: enough. */
typedef bool sn_unpack_sink(void *user, const char *bytes, size_t len);

typedef struct sn_unpack_layer sn_unpack_layer;

/* Born zeroed. */
typedef struct sn_unpack {
    sn_unpack_layer *layers[SN_UNPACK_LAYERS]; /* as they were put on; the last comes off first */
    size_t count;
    size_t between; /* bytes given by one to the next so far */
    bool refused;   /* an encoding that is known and cannot be undone, or too many of them */
    bool unknown;   /* an encoding was passed over: it is not undone */
    sn_unpack_sink *sink;
    void *user;
} sn_unpack;

/* What can be read, as Accept-Encoding has it. */
const char *sn_unpack_names(void);

/* Also frees what the answer before took. */
void sn_unpack_begin(sn_unpack *unpack);
/* False: no memory. */
bool sn_unpack_header(sn_unpack *unpack, const char *value, size_t len);
sn_unpack_result sn_unpack_feed(sn_unpack *unpack, const char *bytes, size_t len,
                                sn_unpack_sink *sink, void *user);
/* False: something is missing at the end. A body of no bytes is whole. */
bool sn_unpack_end(const sn_unpack *unpack);

#endif
