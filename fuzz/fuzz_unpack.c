/* Bodies with a Content-Encoding: the same bytes and the same result however they are split; and
 * encoding and decoding returns the original, complete or known to be truncated.
 *
 * The first byte selects the encodings, the second how the body is split. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "crawl/fetch/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 18 };

typedef struct outcome {
    char *bytes;
    size_t len;
    sn_unpack_result result; /* OK, ENOUGH or BAD */
    bool whole;
} outcome;

static bool collect(void *user, const char *bytes, size_t len)
{
    outcome *o = user;
    assert(len > 0);
    size_t room = MOST - o->len < len ? MOST - o->len : len;
    memcpy(o->bytes + o->len, bytes, room);
    o->len += room;
    return o->len < MOST;
}

/* Each piece in a separate allocation, so that reads beyond it are detected. */
static void unpack(const char *names, const uint8_t *body, size_t len, size_t piece, outcome *o)
{
    static sn_unpack u;
    sn_unpack_begin(&u);
    assert(sn_unpack_header(&u, names, strlen(names)));
    o->len = 0;
    o->result = SN_UNPACK_OK;
    for (size_t at = 0; at < len && o->result == SN_UNPACK_OK; at += piece) {
        size_t n = len - at < piece ? len - at : piece;
        char *copy = malloc(n);
        assert(copy != NULL);
        memcpy(copy, body + at, n);
        o->result = sn_unpack_feed(&u, copy, n, collect, o);
        free(copy);
    }
    assert(o->result != SN_UNPACK_MEMORY);
    if (o->result == SN_UNPACK_OVER)
        o->result = SN_UNPACK_OK;
    o->whole = o->result == SN_UNPACK_OK && sn_unpack_end(&u);
    sn_unpack_begin(&u);
}

static void check_pieces(const char *names, const uint8_t *body, size_t len, size_t piece,
                         outcome *a, outcome *b)
{
    unpack(names, body, len, len, a);
    unpack(names, body, len, piece, b);
    /* With damaged data, slightly more or fewer bytes may be returned before the error. */
    assert(memcmp(a->bytes, b->bytes, a->len < b->len ? a->len : b->len) == 0);
    if (a->len == MOST || b->len == MOST)
        return;
    /* libzstd itself parses a complete frame by other rules than one in pieces: it does not detect
     * all broken ones in both modes. */
    if (strstr(names, "zstd") == NULL)
        assert(a->result == b->result);
    if (a->result == SN_UNPACK_OK && b->result == SN_UNPACK_OK)
        assert(a->len == b->len && a->whole == b->whole);
}

/* The zlib format: with its own header, raw, or with a gzip header. */
static size_t pack(int window, const uint8_t *data, size_t size, uint8_t *to, size_t room)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)size};
    assert(deflateInit2(&z, 1, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_out = to;
    z.avail_out = (uInt)room;
    assert(deflate(&z, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static void check_round_trip(const uint8_t *data, size_t size, size_t piece, outcome *o)
{
    static const struct {
        const char *name;
        int window;
    } ways[] = {{"gzip", 31}, {"deflate", 15}, {"Deflate", -15}};
    size_t way = size % 3, room = size + size / 8 + 256;
    uint8_t *packed = malloc(room);
    assert(packed != NULL);
    size_t len = pack(ways[way].window, data, size, packed, room - 1);
    packed[len] = 0; /* trailing data that is not a member */
    unpack(ways[way].name, packed, len + piece % 2, piece, o);
    assert(o->whole && o->len == size && memcmp(o->bytes, data, size) == 0);
    unpack(ways[way].name, packed, len - 1, piece, o);
    assert(!o->whole && o->len <= size && memcmp(o->bytes, data, o->len) == 0);
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"gzip",       "deflate", "br",        "zstd",
                                        "gzip, zstd", "br,gzip", "x-gzip\t,", "utf-8, deflate"};
    static char one[MOST], two[MOST];
    outcome a = {.bytes = one}, b = {.bytes = two};
    if (size < 3 || size > MOST / 2)
        return 0;
    const char *name = names[data[0] % (sizeof names / sizeof names[0])];
    size_t piece = 1 + data[1];
    check_pieces(name, data + 2, size - 2, piece, &a, &b);
    check_round_trip(data + 2, size - 2, piece, &a);
    return 0;
}
