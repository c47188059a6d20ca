/* Estimates the number of lines from file sizes and samples.
 *
 * Samples are read at evenly spaced offsets, because the lines at the beginning of a file (a
 * header, the shortest lines of a sorted list) may differ from the rest. Only the beginning of a
 * compressed file can be sampled; its compression ratio gives the total size. Each file is
 * estimated separately, because small files say nothing about the lines of a large one. Of very
 * many files a subset is sampled: the files at the midpoints of equal slices of all bytes, each
 * standing for its slices. */
#include "base/error.h"
#include "stream/io/decode.h"
#include "stream/io/input.h"
#include "stream/io/input_inside.h"
#include "stream/io/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SAMPLES = 16, SAMPLE = 16 << 10, FILES_MAX = 16 };
/* How much of the beginning of a compressed file is read; more if it is highly repetitive. */
enum { UNPACKED = 1 << 20, UNPACKED_MAX = 16 << 20, PACKED = 64 << 10 };
/* Text usually compresses to a tenth, rarely below this ratio; a higher ratio means repetition. */
#define SHRINKS 32.0

typedef struct sample {
    uint64_t stored;   /* sampled bytes, as stored on disk */
    uint64_t unpacked; /* the same after decompression */
    uint64_t lines;    /* line ends in them */
    bool compressed;
} sample;

static void sample_plain(int fd, off_t begin, uint64_t size, char terminator, uint8_t *buffer,
                         sample *sum)
{
    bool whole = size <= (uint64_t)SAMPLES * SAMPLE;
    uint64_t places = whole ? (size + SAMPLE - 1) / SAMPLE : SAMPLES;
    for (uint64_t i = 0; i < places; i++) {
        /* In the middle of equal slices. */
        uint64_t at = whole ? i * SAMPLE : size / SAMPLES * i + (size / SAMPLES - SAMPLE) / 2;
        ssize_t got = pread(fd, buffer, SAMPLE, begin + (off_t)at);
        if (got <= 0)
            break;
        sum->stored += (uint64_t)got;
        sum->unpacked += (uint64_t)got;
        sum->lines += sn_lines_count((const char *)buffer, (size_t)got, terminator);
    }
}

/* Decompresses the beginning. Errors are ignored here; reading the file will report them. */
static void sample_packed(int fd, off_t begin, const sn_codec *codec, char terminator,
                          uint8_t *buffer, sample *sum)
{
    sn_decoder *decoder;
    uint8_t *to = malloc(SAMPLE);
    if (!to || sn_decoder_open(codec, "", &decoder, NULL) != SEEN_OK) {
        free(to);
        return;
    }
    uint64_t unpacked = 0, stored = 0;
    size_t have = 0, at = 0;
    sum->compressed = true;
    while (unpacked < UNPACKED || (stored < PACKED && unpacked < UNPACKED_MAX)) {
        if (at == have) {
            ssize_t got = pread(fd, buffer, SAMPLE, begin + (off_t)stored);
            if (got <= 0)
                break;
            have = (size_t)got;
            at = 0;
        }
        size_t used, made;
        if (sn_decoder_step(decoder, buffer + at, have - at, &used, false, to, SAMPLE, &made,
                            NULL) != SEEN_OK)
            break;
        at += used;
        stored += used;
        unpacked += made;
        sum->lines += sn_lines_count((const char *)to, made, terminator);
    }
    sum->stored += stored;
    sum->unpacked += unpacked;
    sn_decoder_close(decoder);
    free(to);
}

static void sample_file(int fd, off_t begin, uint64_t size, char terminator, uint8_t *buffer,
                        sample *sum)
{
    ssize_t got = pread(fd, buffer, SAMPLE, begin);
    if (got <= 0)
        return;
    bool undecided;
    const sn_codec *codec = sn_decode_detect(buffer, (size_t)got, &undecided);
    if (codec)
        sample_packed(fd, begin, codec, terminator, buffer, sum);
    else
        sample_plain(fd, begin, size, terminator, buffer, sum);
}

/* The weight of a file of `here` bytes that follows `before` bytes, of `size` in total; 0 if it is
 * not sampled. */
static double weigh(uint64_t before, uint64_t here, uint64_t size, size_t count)
{
    if (count <= FILES_MAX)
        return (double)here;
    double piece = (double)size / FILES_MAX;
    double first = floor((double)before / piece + 0.5);
    return piece * (floor((double)(before + here) / piece + 0.5) - first);
}

seen_status sn_input_estimate(sn_input *input, char terminator, uint64_t *lines, uint64_t *bytes,
                              seen_error *error)
{
    *lines = *bytes = UINT64_MAX;
    uint64_t size = sn_input_size(input), before = 0;
    if (size == UINT64_MAX || size == 0)
        return SEEN_OK;
    uint8_t *buffer = malloc(SAMPLE);
    if (!buffer)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a sample of the input");
    double weights = 0, all_lines = 0, all_bytes = 0;
    size_t count = sn_input_count(input);
    for (size_t i = 0; i < count; i++) {
        off_t begin;
        sample it = {0};
        uint64_t here = sn_input_sample_size(input, i, &begin);
        double weight = weigh(before, here, size, count);
        int fd = weight > 0 ? sn_input_sample_open(input, i) : -1;
        before += here;
        if (fd < 0)
            continue;
        sample_file(fd, begin, here, terminator, buffer, &it);
        sn_input_sample_close(input, i, fd);
        sn_input_note_compressed(input, it.compressed);
        if (!it.stored)
            continue;
        weights += weight;
        all_lines += weight * (double)it.lines / (double)it.stored;
        all_bytes += weight * (double)it.unpacked / (double)it.stored;
    }
    free(buffer);
    if (!(weights > 0))
        return SEEN_OK;
    *bytes = (uint64_t)(all_bytes * (double)size / weights);
    *lines = (uint64_t)(all_lines * (double)size / weights) + count;
    return SEEN_OK;
}

uint64_t sn_input_room(const sn_input *input, uint64_t lines, uint64_t bytes, bool grows)
{
    if (lines == UINT64_MAX)
        return 0;
    double room = (double)lines, most = SHRINKS * (double)sn_input_size(input);
    if (grows && (double)bytes > most)
        room *= most / (double)bytes;
    /* Samples of ordinary files estimate the number of lines within one or two percent. */
    return (uint64_t)(room + room / 32) + 1024;
}

/* ---- Page cache ----------------------------------------------------------------------------- */

/* Reads single bytes at several offsets, but only those that need no disk access. */
static void look_at_cache(const sn_input *input, size_t file, double *looked, double *cached)
{
    enum { PLACES = 16 };
    off_t begin;
    uint64_t size = sn_input_sample_size(input, file, &begin);
    int fd = size ? sn_input_sample_open(input, file) : -1;
    for (uint64_t i = 0; fd >= 0 && i < PLACES; i++) {
        char byte;
        struct iovec to = {&byte, 1};
        off_t at = begin + (off_t)(size / PLACES * i + size / PLACES / 2);
        *looked += (double)size / PLACES;
        if (preadv2(fd, &to, 1, at, RWF_NOWAIT) == 1)
            *cached += (double)size / PLACES;
    }
    sn_input_sample_close(input, file, fd);
}

double sn_input_cached(const sn_input *input)
{
    double looked = 0, cached = 0;
    for (size_t i = 0; i < sn_input_count(input); i++)
        look_at_cache(input, i, &looked, &cached);
    return looked > 0 ? cached / looked : 0;
}
