/* Gzip, deflate, and if their libraries are available brotli and zstd. */
#define ZLIB_CONST
#include "crawl/fetch/unpack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#ifdef SEEN_WITH_BROTLI
#include <brotli/decode.h>
#endif
#ifdef SEEN_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#define PIECE 16384
#define ZSTD_WINDOW_LOG 23 /* 8 MiB, as in RFC 9659 */

/* REFUSED: a known encoding that cannot be decoded, so that the body is not taken for a plain
 * page. */
typedef enum encoding { GZIP, DEFLATE, BROTLI, ZSTD, REFUSED } encoding;

struct sn_unpack_layer {
    encoding kind;
    bool inside;     /* inside a member */
    bool made;       /* this member has produced output */
    bool more;       /* an earlier member has ended */
    bool over;       /* the rest is trailing data */
    uint8_t head[2]; /* of a deflate body, with or without a zlib header */
    size_t head_len;
    z_stream z;
    bool z_used;
#ifdef SEEN_WITH_BROTLI
    BrotliDecoderState *brotli;
#endif
#ifdef SEEN_WITH_ZSTD
    ZSTD_DStream *zstd;
#endif
};

const char *sn_unpack_names(void)
{
    return "gzip, deflate"
#ifdef SEEN_WITH_BROTLI
           ", br"
#endif
#ifdef SEEN_WITH_ZSTD
           ", zstd"
#endif
        ;
}

/* ---- Layers ---- */

static void free_layer(sn_unpack_layer *l)
{
    if (l->z_used)
        inflateEnd(&l->z);
#ifdef SEEN_WITH_BROTLI
    if (l->brotli)
        BrotliDecoderDestroyInstance(l->brotli);
#endif
#ifdef SEEN_WITH_ZSTD
    ZSTD_freeDStream(l->zstd);
#endif
    free(l);
}

void sn_unpack_begin(sn_unpack *u)
{
    while (u->count > 0)
        free_layer(u->layers[--u->count]);
    u->between = 0;
    u->refused = u->unknown = false;
}

/* False: an unknown encoding, which is ignored. */
static bool find_kind(const char *name, size_t len, encoding *found)
{
    static const struct {
        const char *name;
        encoding kind;
    } names[] = {
        {"gzip", GZIP},        {"x-gzip", GZIP},        {"deflate", DEFLATE},
#ifdef SEEN_WITH_BROTLI
        {"br", BROTLI},
#else
        {"br", REFUSED},
#endif
#ifdef SEEN_WITH_ZSTD
        {"zstd", ZSTD},
#else
        {"zstd", REFUSED},
#endif
        {"compress", REFUSED}, {"x-compress", REFUSED},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == len && strncasecmp(names[i].name, name, len) == 0) {
            *found = names[i].kind;
            return true;
        }
    return false;
}

static bool make_decoder(sn_unpack_layer *l)
{
#ifdef SEEN_WITH_BROTLI
    if (l->kind == BROTLI)
        return (l->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL)) != NULL;
#endif
#ifdef SEEN_WITH_ZSTD
    if (l->kind == ZSTD)
        return (l->zstd = ZSTD_createDStream()) != NULL &&
               !ZSTD_isError(ZSTD_DCtx_setParameter(l->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG));
#endif
    if (l->kind == GZIP)
        l->z_used = inflateInit2(&l->z, 15 + 16) == Z_OK;
    return l->kind == DEFLATE || l->z_used; /* deflate: when its first bytes are known */
}

static bool add_layer(sn_unpack *u, encoding kind)
{
    if (kind == REFUSED || u->count == SN_UNPACK_LAYERS) {
        u->refused = true;
        return true;
    }
    sn_unpack_layer *l = calloc(1, sizeof *l);
    if (!l)
        return false;
    l->kind = kind;
    if (!make_decoder(l)) {
        free_layer(l);
        return false;
    }
    u->layers[u->count++] = l;
    return true;
}

bool sn_unpack_header(sn_unpack *u, const char *value, size_t len)
{
    const char *at = value, *end = value + len;
    while (at < end) {
        const char *name = at;
        while (at < end && *at != ',' && *at != ' ' && *at != '\t')
            at++;
        encoding kind;
        size_t name_len = (size_t)(at - name);
        if (name_len > 0 && !find_kind(name, name_len, &kind))
            u->unknown = true;
        else if (name_len > 0 && !add_layer(u, kind))
            return false;
        at += at < end;
    }
    return true;
}

/* ---- Decoding ---- */

static sn_unpack_result pass(sn_unpack *u, size_t above, const uint8_t *bytes, size_t len);

/* After the first, a member that fails before it produces output is treated as trailing data. */
static sn_unpack_result broken(sn_unpack_layer *l)
{
    if (!l->more || l->made)
        return SN_UNPACK_BAD;
    l->over = true;
    l->inside = false;
    return SN_UNPACK_OK;
}

static sn_unpack_result put(sn_unpack *u, size_t at, const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return SN_UNPACK_OK;
    u->layers[at]->made = true;
    return pass(u, at, bytes, len);
}

/* Begins a member, or detects that the rest is trailing data; `first`: its first byte. */
static void begin_part(sn_unpack_layer *l, uint8_t first)
{
    /* zlib would wait for a second byte. */
    if (l->more && l->kind != ZSTD && (l->kind != GZIP || first != 0x1f)) {
        l->over = true;
        return;
    }
    if (l->kind == GZIP && l->more)
        inflateReset(&l->z);
    l->inside = true;
    l->made = false;
}

static void end_part(sn_unpack_layer *l)
{
    l->inside = false;
    l->more = true;
}

static sn_unpack_result inflate_part(sn_unpack *u, size_t at, const uint8_t *bytes, size_t len)
{
    sn_unpack_layer *l = u->layers[at];
    uint8_t out[PIECE];
    l->z.next_in = bytes;
    l->z.avail_in = (uInt)len;
    for (;;) {
        if (!l->inside) {
            if (l->z.avail_in == 0)
                return SN_UNPACK_OK;
            begin_part(l, *l->z.next_in);
            if (l->over)
                return SN_UNPACK_OK;
        }
        l->z.next_out = out;
        l->z.avail_out = sizeof out;
        int status = inflate(&l->z, Z_NO_FLUSH);
        sn_unpack_result result = put(u, at, out, sizeof out - l->z.avail_out);
        if (result != SN_UNPACK_OK)
            return result;
        if (status == Z_STREAM_END)
            end_part(l);
        else if (status == Z_BUF_ERROR || (status == Z_OK && l->z.avail_out > 0))
            return SN_UNPACK_OK; /* it needs more input */
        else if (status == Z_MEM_ERROR)
            return SN_UNPACK_MEMORY;
        else if (status != Z_OK)
            return broken(l);
    }
}

/* "deflate" is the zlib format, but some servers send raw deflate. */
static sn_unpack_result undo_deflate(sn_unpack *u, size_t at, const uint8_t *bytes, size_t len)
{
    sn_unpack_layer *l = u->layers[at];
    if (!l->z_used) {
        while (l->head_len < 2 && len > 0) {
            l->head[l->head_len++] = *bytes++;
            len--;
        }
        l->inside = true;
        if (l->head_len < 2)
            return SN_UNPACK_OK;
        bool wrapped = (l->head[0] & 15) == 8 && (l->head[0] << 8 | l->head[1]) % 31 == 0;
        l->z_used = inflateInit2(&l->z, wrapped ? 15 : -15) == Z_OK;
        if (!l->z_used)
            return SN_UNPACK_MEMORY;
        sn_unpack_result result = inflate_part(u, at, l->head, 2);
        if (result != SN_UNPACK_OK)
            return result;
    }
    return inflate_part(u, at, bytes, len);
}

#ifdef SEEN_WITH_BROTLI
static sn_unpack_result undo_brotli(sn_unpack *u, size_t at, const uint8_t *bytes, size_t len)
{
    sn_unpack_layer *l = u->layers[at];
    uint8_t out[PIECE];
    l->inside = true;
    for (;;) {
        uint8_t *to = out;
        size_t room = sizeof out;
        BrotliDecoderResult status =
            BrotliDecoderDecompressStream(l->brotli, &len, &bytes, &room, &to, NULL);
        sn_unpack_result result = put(u, at, out, sizeof out - room);
        if (result != SN_UNPACK_OK)
            return result;
        if (status == BROTLI_DECODER_RESULT_ERROR)
            return broken(l);
        if (status == BROTLI_DECODER_RESULT_SUCCESS) {
            l->inside = false;
            l->over = true;
        }
        /* It may request more input while it still has output. */
        if (!BrotliDecoderHasMoreOutput(l->brotli))
            return SN_UNPACK_OK;
    }
}
#endif

#ifdef SEEN_WITH_ZSTD
static sn_unpack_result undo_zstd(sn_unpack *u, size_t at, const uint8_t *bytes, size_t len)
{
    sn_unpack_layer *l = u->layers[at];
    uint8_t out[PIECE];
    ZSTD_inBuffer in = {bytes, len, 0};
    for (;;) {
        if (!l->inside) {
            if (in.pos == in.size)
                return SN_UNPACK_OK;
            uint8_t first = bytes[in.pos];
            begin_part(l, first);
            /* Excludes formats older than the standard, which the library also reads. */
            if (first != 0x28 && (first & 0xf0) != 0x50)
                return broken(l);
        }
        ZSTD_outBuffer to = {out, sizeof out, 0};
        size_t status = ZSTD_decompressStream(l->zstd, &to, &in);
        /* The output of a broken frame is not known: only its first bytes can show that it is not a
         * frame. */
        if (ZSTD_isError(status))
            return ZSTD_getErrorCode(status) == ZSTD_error_prefix_unknown ? broken(l)
                                                                          : SN_UNPACK_BAD;
        sn_unpack_result result = put(u, at, out, to.pos);
        if (result != SN_UNPACK_OK)
            return result;
        if (status == 0)
            end_part(l);
        else if (in.pos == in.size && to.pos < to.size)
            return SN_UNPACK_OK; /* it needs more input */
    }
}
#endif

static sn_unpack_result undo(sn_unpack *u, size_t at, const uint8_t *bytes, size_t len)
{
    switch (u->layers[at]->kind) {
    case DEFLATE:
        return undo_deflate(u, at, bytes, len);
#ifdef SEEN_WITH_BROTLI
    case BROTLI:
        return undo_brotli(u, at, bytes, len);
#endif
#ifdef SEEN_WITH_ZSTD
    case ZSTD:
        return undo_zstd(u, at, bytes, len);
#endif
    default:
        return inflate_part(u, at, bytes, len);
    }
}

/* Passes bytes to the next layer, or to the sink. Once that layer has ended, the rest of the layers
 * above it is ignored, valid or not. */
static sn_unpack_result pass(sn_unpack *u, size_t above, const uint8_t *bytes, size_t len)
{
    if (above == 0)
        return u->sink(u->user, (const char *)bytes, len) ? SN_UNPACK_OK : SN_UNPACK_ENOUGH;
    size_t at = above - 1;
    if (above < u->count && (u->between += len) > SN_UNPACK_BETWEEN)
        return SN_UNPACK_BAD;
    sn_unpack_result result = undo(u, at, bytes, len);
    return result == SN_UNPACK_OK && u->layers[at]->over ? SN_UNPACK_OVER : result;
}

sn_unpack_result sn_unpack_feed(sn_unpack *u, const char *bytes, size_t len, sn_unpack_sink *sink,
                                void *user)
{
    if (u->refused)
        return SN_UNPACK_BAD;
    for (size_t i = 0; i < u->count; i++)
        if (u->layers[i]->over)
            return SN_UNPACK_OVER;
    u->sink = sink;
    u->user = user;
    sn_unpack_result result =
        len == 0 ? SN_UNPACK_OK : pass(u, u->count, (const uint8_t *)bytes, len);
    return result == SN_UNPACK_OVER ? SN_UNPACK_OK : result;
}

bool sn_unpack_end(const sn_unpack *u)
{
    /* The state of layers above one that has ended is ignored. */
    for (size_t i = 0; i < u->count && !u->layers[i]->over; i++)
        if (u->layers[i]->inside)
            return false;
    return true;
}
