/* Decompression: gzip, zstd, xz, bzip2, lz4.
 *
 * Each codec is a table row: its magic bytes, and functions to open, step and close the library's
 * stream. A file may consist of several frames (gzip members, the output of pzstd and pbzip2, `cat
 * a.gz b.gz`); the loop over frames is common to all codecs. Zero padding is accepted wherever the
 * format's own tool accepts it: after the last frame (gzip), or in multiples of four after any
 * frame (xz). */
#include "stream/io/decode.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#ifdef SEEN_WITH_COMPRESSION
#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>
#endif

typedef enum step_result {
    STEP_ON,    /* continue */
    STEP_END,   /* a frame is complete */
    STEP_BAD,   /* damaged */
    STEP_MEMORY /* out of memory, or above the memory limit */
} step_result;

typedef enum padding {
    NONE,
    TAIL, /* zero padding after the last frame */
    FOURS /* zero padding in multiples of four after any frame */
} padding;

struct sn_codec {
    const char *name;
    uint8_t magic[10];
    size_t magic_length;
    padding padding;
    bool (*open)(sn_decoder *d);
    bool (*reset)(sn_decoder *d); /* before the second and later frames */
    step_result (*step)(sn_decoder *d, const uint8_t *in, size_t length, size_t *used, uint8_t *to,
                        size_t room, size_t *made);
    void (*close)(sn_decoder *d);
};

struct sn_decoder {
    const sn_codec *codec;
    const char *name;
    bool inside;      /* a frame has begun and not ended */
    size_t zeros;     /* length of the zero padding so far */
    uint8_t head[10]; /* of a later frame, collected until its codec is known */
    size_t head_length;
    size_t fed; /* bytes of this frame consumed by the library (zstd) */
    union {
        void *any;
#ifdef SEEN_WITH_COMPRESSION
        z_stream gzip;
        ZSTD_DStream *zstd;
        lzma_stream xz;
        bz_stream bzip2;
        LZ4F_dctx *lz4;
#endif
    } u;
};

#ifdef SEEN_WITH_COMPRESSION
/* Libraries use unsigned int for lengths. */
static unsigned clip(size_t length)
{
    return length > 1u << 30 ? 1u << 30 : (unsigned)length;
}

static bool gzip_open(sn_decoder *d)
{
    d->u.gzip = (z_stream){0};
    return inflateInit2(&d->u.gzip, 15 + 16) == Z_OK;
}

static bool gzip_reset(sn_decoder *d)
{
    return inflateReset(&d->u.gzip) == Z_OK;
}

static step_result gzip_step(sn_decoder *d, const uint8_t *in, size_t length, size_t *used,
                             uint8_t *to, size_t room, size_t *made)
{
    z_stream *z = &d->u.gzip;
    z->next_in = (z_const Bytef *)(uintptr_t)in;
    z->avail_in = clip(length);
    z->next_out = to;
    z->avail_out = clip(room);
    unsigned had_in = z->avail_in, had_out = z->avail_out;
    int code = inflate(z, Z_NO_FLUSH);
    *used = had_in - z->avail_in;
    *made = had_out - z->avail_out;
    if (code == Z_STREAM_END)
        return STEP_END;
    if (code == Z_MEM_ERROR)
        return STEP_MEMORY;
    return code == Z_OK || code == Z_BUF_ERROR ? STEP_ON : STEP_BAD;
}

static void gzip_close(sn_decoder *d)
{
    inflateEnd(&d->u.gzip);
}

static bool zstd_open(sn_decoder *d)
{
    d->u.zstd = ZSTD_createDStream();
    return d->u.zstd && !ZSTD_isError(ZSTD_initDStream(d->u.zstd));
}

static bool zstd_reset(sn_decoder *d)
{
    d->fed = 0;
    return !ZSTD_isError(ZSTD_DCtx_reset(d->u.zstd, ZSTD_reset_session_only));
}

static step_result zstd_step(sn_decoder *d, const uint8_t *in, size_t length, size_t *used,
                             uint8_t *to, size_t room, size_t *made)
{
    enum { HEADER_MAX = 18 };
    ZSTD_inBuffer source = {in, 0, 0};
    ZSTD_outBuffer target = {to, room, 0};
    size_t code;
    /* The header is passed byte by byte up to its end. If it arrived in pieces and the output has
     * room for the whole content, the library would take data that looks like a frame behind the
     * first piece for the frame itself and accept a damaged file. */
    do {
        size_t before = source.pos;
        source.size = d->fed < HEADER_MAX && before < length ? before + 1 : length;
        code = ZSTD_decompressStream(d->u.zstd, &target, &source);
        d->fed += source.pos - before;
    } while (!ZSTD_isError(code) && code && source.pos == source.size && source.size < length);
    *used = source.pos;
    *made = target.pos;
    if (ZSTD_isError(code))
        return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation ||
                       ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge
                   ? STEP_MEMORY
                   : STEP_BAD;
    return code == 0 ? STEP_END : STEP_ON;
}

static void zstd_close(sn_decoder *d)
{
    ZSTD_freeDStream(d->u.zstd);
}

/* `xz -9` needs 65 MiB. A file that needs more than this limit is refused. */
#define XZ_MEMORY_MAX (256ull << 20)

static bool xz_reset(sn_decoder *d)
{
    return lzma_stream_decoder(&d->u.xz, XZ_MEMORY_MAX, 0) == LZMA_OK;
}

static bool xz_open(sn_decoder *d)
{
    d->u.xz = (lzma_stream)LZMA_STREAM_INIT;
    return xz_reset(d);
}

static step_result xz_step(sn_decoder *d, const uint8_t *in, size_t length, size_t *used,
                           uint8_t *to, size_t room, size_t *made)
{
    lzma_stream *xz = &d->u.xz;
    xz->next_in = in;
    xz->avail_in = length;
    xz->next_out = to;
    xz->avail_out = room;
    lzma_ret code = lzma_code(xz, LZMA_RUN);
    *used = length - xz->avail_in;
    *made = room - xz->avail_out;
    if (code == LZMA_STREAM_END)
        return STEP_END;
    if (code == LZMA_MEM_ERROR || code == LZMA_MEMLIMIT_ERROR)
        return STEP_MEMORY;
    return code == LZMA_OK || code == LZMA_BUF_ERROR ? STEP_ON : STEP_BAD;
}

static void xz_close(sn_decoder *d)
{
    lzma_end(&d->u.xz);
}

static bool bzip2_open(sn_decoder *d)
{
    d->u.bzip2 = (bz_stream){0};
    return BZ2_bzDecompressInit(&d->u.bzip2, 0, 0) == BZ_OK;
}

static void bzip2_close(sn_decoder *d)
{
    BZ2_bzDecompressEnd(&d->u.bzip2);
}

static bool bzip2_reset(sn_decoder *d)
{
    bzip2_close(d);
    return bzip2_open(d);
}

static step_result bzip2_step(sn_decoder *d, const uint8_t *in, size_t length, size_t *used,
                              uint8_t *to, size_t room, size_t *made)
{
    bz_stream *bz = &d->u.bzip2;
    bz->next_in = (char *)(uintptr_t)in;
    bz->avail_in = clip(length);
    bz->next_out = (char *)to;
    bz->avail_out = clip(room);
    unsigned had_in = bz->avail_in, had_out = bz->avail_out;
    int code = BZ2_bzDecompress(bz);
    *used = had_in - bz->avail_in;
    *made = had_out - bz->avail_out;
    if (code == BZ_STREAM_END)
        return STEP_END;
    if (code == BZ_MEM_ERROR)
        return STEP_MEMORY;
    return code == BZ_OK ? STEP_ON : STEP_BAD;
}

static bool lz4_open(sn_decoder *d)
{
    return !LZ4F_isError(LZ4F_createDecompressionContext(&d->u.lz4, LZ4F_VERSION));
}

static bool lz4_reset(sn_decoder *d)
{
    LZ4F_resetDecompressionContext(d->u.lz4);
    return true;
}

static step_result lz4_step(sn_decoder *d, const uint8_t *in, size_t length, size_t *used,
                            uint8_t *to, size_t room, size_t *made)
{
    *used = length;
    *made = room;
    size_t code = LZ4F_decompress(d->u.lz4, to, made, in, used, NULL);
    if (LZ4F_isError(code)) {
        *used = *made = 0;
        return STEP_BAD;
    }
    return code == 0 ? STEP_END : STEP_ON;
}

static void lz4_close(sn_decoder *d)
{
    LZ4F_freeDecompressionContext(d->u.lz4);
}
#else
/* Codecs not compiled in are still detected, so that a compressed file is refused instead of being
 * read as lines. */
#define gzip_open NULL
#define gzip_reset NULL
#define gzip_step NULL
#define gzip_close NULL
#define zstd_open NULL
#define zstd_reset NULL
#define zstd_step NULL
#define zstd_close NULL
#define xz_open NULL
#define xz_reset NULL
#define xz_step NULL
#define xz_close NULL
#define bzip2_open NULL
#define bzip2_reset NULL
#define bzip2_step NULL
#define bzip2_close NULL
#define lz4_open NULL
#define lz4_reset NULL
#define lz4_step NULL
#define lz4_close NULL
#endif

/* In bzip2's magic the digit at [3] is 1 to 9; in a skippable frame's the low half of [0] is free.
 * The three letters of bzip2 could also begin a text, so the magic of the first block is required
 * too. */
enum { ROW_GZIP, ROW_ZSTD, ROW_XZ, ROW_BZIP2, ROW_BZIP2_EMPTY, ROW_LZ4, ROW_SKIPPABLE, ROWS };

static const sn_codec codecs[ROWS] = {
    [ROW_GZIP] =
        {"gzip", {0x1f, 0x8b, 0x08}, 3, TAIL, gzip_open, gzip_reset, gzip_step, gzip_close},
    [ROW_ZSTD] =
        {"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, NONE, zstd_open, zstd_reset, zstd_step, zstd_close},
    [ROW_XZ] =
        {"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6, FOURS, xz_open, xz_reset, xz_step, xz_close},
    [ROW_BZIP2] = {"bzip2",
                   {'B', 'Z', 'h', '9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59},
                   10,
                   NONE,
                   bzip2_open,
                   bzip2_reset,
                   bzip2_step,
                   bzip2_close},
    [ROW_BZIP2_EMPTY] = {"bzip2",
                         {'B', 'Z', 'h', '9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90},
                         10,
                         NONE,
                         bzip2_open,
                         bzip2_reset,
                         bzip2_step,
                         bzip2_close},
    [ROW_LZ4] =
        {"lz4", {0x04, 0x22, 0x4d, 0x18}, 4, NONE, lz4_open, lz4_reset, lz4_step, lz4_close},
    [ROW_SKIPPABLE] =
        {"zstd", {0x50, 0x2a, 0x4d, 0x18}, 4, NONE, zstd_open, zstd_reset, zstd_step, zstd_close},
};

static bool byte_fits(int row, size_t i, uint8_t byte)
{
    if (i == 3 && (row == ROW_BZIP2 || row == ROW_BZIP2_EMPTY))
        return byte >= '1' && byte <= '9';
    if (i == 0 && row == ROW_SKIPPABLE)
        return (byte & 0xf0) == 0x50;
    return codecs[row].magic[i] == byte;
}

const sn_codec *sn_decode_detect(const uint8_t *head, size_t length, bool *undecided)
{
    *undecided = false;
    for (int row = 0; row < ROWS; row++) {
        size_t i = 0;
        while (i < length && i < codecs[row].magic_length && byte_fits(row, i, head[i]))
            i++;
        if (i == codecs[row].magic_length)
            return &codecs[row];
        if (i == length)
            *undecided = true;
    }
    return NULL;
}

seen_status sn_decoder_open(const sn_codec *codec, const char *name, sn_decoder **decoder,
                            seen_error *error)
{
    if (!codec->open)
        return sn_error_set(
            error, SEEN_ERR_UNSUPPORTED,
            "%s is compressed with %s, which this build does not support; decompress "
            "it first",
            name, codec->name);
    sn_decoder *d = calloc(1, sizeof *d);
    if (!d || !codec->open(d)) {
        free(d);
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory to decompress %s", name);
    }
    d->codec = codec;
    d->name = name;
    d->inside = true;
    *decoder = d;
    return SEEN_OK;
}

void sn_decoder_close(sn_decoder *decoder)
{
    if (!decoder)
        return;
    decoder->codec->close(decoder);
    free(decoder);
}

static seen_status fail_bad(const sn_decoder *d, step_result result, seen_error *error)
{
    if (result == STEP_MEMORY)
        return sn_error_set(error, SEEN_ERR_MEMORY,
                            "%s: decompressing this %s file needs too much memory; decompress it "
                            "with another tool and pipe it in",
                            d->name, d->codec->name);
    return sn_error_set(error, SEEN_ERR_FORMAT,
                        "%s: the compressed data (%s) is damaged; download or create it again",
                        d->name, d->codec->name);
}

static seen_status fail_behind(const sn_decoder *d, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_FORMAT,
                        "%s: unexpected data after the compressed data (%s); remove it, or "
                        "decompress the file first",
                        d->name, d->codec->name);
}

static bool same_family(const sn_decoder *d, const sn_codec *codec)
{
    return codec == d->codec || codec == &codecs[ROW_SKIPPABLE] ||
           strcmp(codec->name, d->codec->name) == 0;
}

static bool end_may_follow(const sn_decoder *d)
{
    return d->codec->padding != FOURS || d->zeros % 4 == 0;
}

static bool frame_may_follow(const sn_decoder *d)
{
    return d->codec->padding == TAIL ? d->zeros == 0 : end_may_follow(d);
}

/* Between two frames: collects the head of the next frame and identifies it. *begins is set if a
 * frame begins with d->head. */
static seen_status between_frames(sn_decoder *d, const uint8_t *in, size_t length, size_t *used,
                                  bool last, bool *begins, seen_error *error)
{
    *begins = false;
    while (*used < length) {
        uint8_t byte = in[*used];
        if (!d->head_length && byte == 0 && d->codec->padding != NONE) {
            d->zeros++;
            ++*used;
            continue;
        }
        if (!frame_may_follow(d))
            return fail_behind(d, error);
        d->head[d->head_length++] = byte;
        ++*used;
        bool undecided;
        const sn_codec *codec = sn_decode_detect(d->head, d->head_length, &undecided);
        if (codec && same_family(d, codec)) {
            *begins = true;
            return SEEN_OK;
        }
        if (codec || !undecided)
            return fail_behind(d, error);
    }
    return last && (d->head_length || !end_may_follow(d)) ? fail_behind(d, error) : SEEN_OK;
}

static seen_status run_step(sn_decoder *d, const uint8_t *in, size_t length, size_t *used,
                            uint8_t *to, size_t room, size_t *made, seen_error *error)
{
    step_result result = d->codec->step(d, in, length, used, to, room, made);
    if (result == STEP_BAD || result == STEP_MEMORY)
        return fail_bad(d, result, error);
    if (result == STEP_END)
        d->inside = false;
    return SEEN_OK;
}

seen_status sn_decoder_step(sn_decoder *d, const uint8_t *in, size_t length, size_t *used,
                            bool last, uint8_t *to, size_t room, size_t *made, seen_error *error)
{
    *used = *made = 0;
    seen_status status;
    if (!d->inside) {
        bool begins;
        status = between_frames(d, in, length, used, last, &begins, error);
        if (status != SEEN_OK || !begins)
            return status;
        if (!d->codec->reset)
            return fail_behind(d, error);
        if (!d->codec->reset(d))
            return fail_bad(d, STEP_MEMORY, error);
        d->inside = true;
        d->zeros = 0;
    }
    if (d->head_length) {
        size_t taken;
        status = run_step(d, d->head, d->head_length, &taken, to, room, made, error);
        if (status != SEEN_OK)
            return status;
        memmove(d->head, d->head + taken, d->head_length - taken);
        d->head_length -= taken;
        if (d->head_length || *made || !d->inside)
            return SEEN_OK;
    }
    size_t more, got;
    status = run_step(d, in + *used, length - *used, &more, to, room, &got, error);
    if (status != SEEN_OK)
        return status;
    *used += more;
    *made += got;
    if (*used || *made || !d->inside)
        return SEEN_OK;
    if (length)
        return fail_bad(d, STEP_BAD, error);
    if (last)
        return sn_error_set(error, SEEN_ERR_FORMAT,
                            "%s: the compressed data (%s) ends too early; download or create it "
                            "again",
                            d->name, d->codec->name);
    return SEEN_OK;
}
