/* Compression of outputs: gzip and zstd. */
#include "stream/io/encode.h"

#include "base/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum format { FORMAT_NONE, FORMAT_GZIP, FORMAT_ZSTD, FORMAT_OTHER } format;

/* Other compression suffixes are refused: a plain file under such a name would fail only when it is
 * decompressed. */
static format format_of(const char *name)
{
    static const struct {
        const char *end;
        format format;
    } ends[] = {{".gz", FORMAT_GZIP},
                {".zst", FORMAT_ZSTD},
                {".xz", FORMAT_OTHER},
                {".bz2", FORMAT_OTHER},
                {".lz4", FORMAT_OTHER}};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i].end);
        if (len > end && memcmp(name + len - end, ends[i].end, end) == 0)
            return ends[i].format;
    }
    return FORMAT_NONE;
}

#ifdef SEEN_WITH_COMPRESSION
#include <zlib.h>
#include <zstd.h>

enum { ROOM = 128 << 10 };

struct sn_encoder {
    format format;
    sn_encode_sink *sink;
    void *context;
    bool opened;
    z_stream gzip;
    ZSTD_CStream *zstd;
    uint8_t to[ROOM];
};

seen_status sn_encoder_open(const char *name, sn_encode_sink *sink, void *context,
                            sn_encoder **encoder, seen_error *error)
{
    *encoder = NULL;
    format wanted = format_of(name);
    if (wanted == FORMAT_NONE)
        return SEEN_OK;
    if (wanted == FORMAT_OTHER)
        return sn_error_set(error, SEEN_ERR_UNSUPPORTED,
                            "cannot write %s: only .gz and .zst are supported; for other formats "
                            "write to a pipe",
                            name);
    sn_encoder *e = calloc(1, sizeof *e);
    if (e) {
        e->format = wanted;
        e->sink = sink;
        e->context = context;
        if (wanted == FORMAT_GZIP)
            e->opened = deflateInit2(&e->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                                     Z_DEFAULT_STRATEGY) == Z_OK;
        else
            e->opened = (e->zstd = ZSTD_createCStream()) != NULL;
    }
    if (!e || !e->opened) {
        sn_encoder_close(e);
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory to compress %s", name);
    }
    if (wanted == FORMAT_ZSTD)
        ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_checksumFlag, 1);
    *encoder = e;
    return SEEN_OK;
}

static seen_status run_gzip(sn_encoder *e, const void *bytes, size_t length, bool last,
                            seen_error *error)
{
    const uint8_t *from = bytes;
    do {
        unsigned part = length > 1u << 30 ? 1u << 30 : (unsigned)length;
        e->gzip.next_in = (z_const Bytef *)(uintptr_t)from;
        e->gzip.avail_in = part;
        from += part;
        length -= part;
        do {
            e->gzip.next_out = e->to;
            e->gzip.avail_out = ROOM;
            deflate(&e->gzip, last && !length ? Z_FINISH : Z_NO_FLUSH);
            size_t made = ROOM - e->gzip.avail_out;
            seen_status status = made ? e->sink(e->context, e->to, made, error) : SEEN_OK;
            if (status != SEEN_OK)
                return status;
        } while (e->gzip.avail_out == 0);
    } while (length);
    return SEEN_OK;
}

static seen_status run_zstd(sn_encoder *e, const void *bytes, size_t length, bool last,
                            seen_error *error)
{
    ZSTD_inBuffer from = {bytes, length, 0};
    bool done;
    do {
        ZSTD_outBuffer to = {e->to, ROOM, 0};
        size_t left =
            ZSTD_compressStream2(e->zstd, &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return sn_error_set(error, SEEN_ERR_IO, "cannot compress: %s", ZSTD_getErrorName(left));
        seen_status status = to.pos ? e->sink(e->context, e->to, to.pos, error) : SEEN_OK;
        if (status != SEEN_OK)
            return status;
        done = last ? left == 0 : from.pos == from.size;
    } while (!done);
    return SEEN_OK;
}

static seen_status run(sn_encoder *e, const void *bytes, size_t length, bool last,
                       seen_error *error)
{
    return e->format == FORMAT_GZIP ? run_gzip(e, bytes, length, last, error)
                                    : run_zstd(e, bytes, length, last, error);
}

seen_status sn_encoder_write(sn_encoder *encoder, const void *bytes, size_t length,
                             seen_error *error)
{
    return length ? run(encoder, bytes, length, false, error) : SEEN_OK;
}

seen_status sn_encoder_finish(sn_encoder *encoder, seen_error *error)
{
    return run(encoder, "", 0, true, error);
}

void sn_encoder_close(sn_encoder *encoder)
{
    if (!encoder)
        return;
    if (encoder->format == FORMAT_GZIP && encoder->opened)
        deflateEnd(&encoder->gzip);
    ZSTD_freeCStream(encoder->zstd);
    free(encoder);
}
#else
struct sn_encoder {
    char none;
};

seen_status sn_encoder_open(const char *name, sn_encode_sink *sink, void *context,
                            sn_encoder **encoder, seen_error *error)
{
    (void)sink, (void)context;
    *encoder = NULL;
    if (format_of(name) == FORMAT_NONE)
        return SEEN_OK;
    return sn_error_set(error, SEEN_ERR_UNSUPPORTED,
                        "cannot write %s: this build does not support compression", name);
}

seen_status sn_encoder_write(sn_encoder *encoder, const void *bytes, size_t length,
                             seen_error *error)
{
    (void)encoder, (void)bytes, (void)length;
    return sn_error_set(error, SEEN_ERR_UNSUPPORTED, "this build does not support compression");
}

seen_status sn_encoder_finish(sn_encoder *encoder, seen_error *error)
{
    return sn_encoder_write(encoder, NULL, 0, error);
}

void sn_encoder_close(sn_encoder *encoder)
{
    (void)encoder;
}
#endif
