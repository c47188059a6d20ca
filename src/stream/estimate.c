/* How many lines will there be? From sizes, and from samples at several places.
 *
 * Samples are read at evenly spaced offsets, because the lines at the front of a file (a header,
 * the shortest of a sorted list) are not like the rest. For a compressed file the front is all that
 * can be looked at; how far it shrank says how many bytes there are. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream/decode.h"
#include "stream/fail.h"
#include "stream/input.h"
#include "stream/input_inside.h"
#include "stream/lines.h"

enum { SAMPLES = 16, SAMPLE = 16 << 10, FILES_MAX = 16, UNPACKED = 1 << 20 };

typedef struct sample {
    uint64_t stored;   /* bytes looked at, as they are on the disk */
    uint64_t unpacked; /* what they are after decompression */
    uint64_t lines;    /* how many lines end in them */
    bool compressed;
} sample;

static void sample_plain(int fd, off_t begin, uint64_t size, char terminator, uint8_t *buffer,
                         sample *sum)
{
    bool whole = size <= (uint64_t)SAMPLES * SAMPLE;
    uint64_t places = whole ? (size + SAMPLE - 1) / SAMPLE : SAMPLES;
    for (uint64_t i = 0; i < places; i++) {
        /* In the middle of each of equal pieces. */
        uint64_t at = whole ? i * SAMPLE : size / SAMPLES * i + (size / SAMPLES - SAMPLE) / 2;
        ssize_t got = pread(fd, buffer, SAMPLE, begin + (off_t)at);
        if (got <= 0)
            break;
        sum->stored += (uint64_t)got;
        sum->unpacked += (uint64_t)got;
        sum->lines += sn_lines_count((const char *)buffer, (size_t)got, terminator);
    }
}

/* Decompresses the front. What is wrong with the file will be said when it is read. */
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
    while (unpacked < UNPACKED) {
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

seen_status sn_input_estimate(sn_input *input, char terminator, uint64_t *lines, uint64_t *bytes,
                              seen_error *error)
{
    *lines = *bytes = UINT64_MAX;
    uint64_t size = sn_input_size(input);
    if (size == UINT64_MAX || size == 0)
        return SEEN_OK;
    uint8_t *buffer = malloc(SAMPLE);
    if (!buffer)
        return sn_stream_fail(error, SEEN_ERR_MEMORY, "no memory for a sample of the input");
    sample sum = {0};
    size_t count = sn_input_count(input);
    size_t step = count > FILES_MAX ? count / FILES_MAX : 1;
    for (size_t i = 0; i < count; i += step) {
        off_t begin;
        uint64_t here;
        int fd = sn_input_sample_open(input, i, &begin, &here);
        if (fd < 0)
            continue;
        sample_file(fd, begin, here, terminator, buffer, &sum);
        sn_input_sample_close(input, i, fd);
    }
    free(buffer);
    sn_input_note_compressed(input, sum.compressed);
    if (!sum.stored)
        return SEEN_OK;
    double scale = (double)size / (double)sum.stored;
    *bytes = (uint64_t)((double)sum.unpacked * scale);
    *lines = (uint64_t)((double)sum.lines * scale) + count;
    return SEEN_OK;
}
