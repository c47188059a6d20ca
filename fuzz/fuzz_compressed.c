/* Compressed input: any bytes are decompressed or refused with a message, with the same result in
 * pieces of any size; and compressing and decompressing returns the original.
 * Needs: compression.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream/io/encode.h"
#include "stream/io/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 18 };

static void need(bool truth)
{
    if (!truth)
        abort();
}

/* Both files are created once; large blocks are not returned to the system each time. */
static int make_file(int which, const void *data, size_t size)
{
    static int made[2] = {-1, -1};
    int *fd = &made[which];
    if (*fd < 0) {
        *fd = memfd_create("data", MFD_CLOEXEC);
        mallopt(M_MMAP_THRESHOLD, 16 << 20);
        mallopt(M_TRIM_THRESHOLD, 64 << 20);
    }
    need(*fd >= 0 && ftruncate(*fd, 0) == 0 && lseek(*fd, 0, SEEK_SET) == 0);
    need(write(*fd, data, size) == (ssize_t)size);
    return *fd;
}

/* Reads up to MOST bytes in pieces; *length is the number of bytes read. */
static seen_status read_back(int fd, size_t piece, char *to, size_t *length)
{
    static const char *const standard[] = {"-"};
    sn_input *input;
    seen_error error = {0};
    need(dup2(fd, STDIN_FILENO) == STDIN_FILENO && lseek(fd, 0, SEEK_SET) == 0);
    seen_status status = sn_input_open(standard, 1, NULL, &input, &error);
    need(status == SEEN_OK);
    size_t at = 0;
    while (at < MOST) {
        size_t got, room = MOST - at < piece ? MOST - at : piece;
        status = sn_input_read(input, to + at, room, &got, &error);
        need(status == SEEN_OK || error.message[0]);
        if (status != SEEN_OK || !got)
            break;
        at += got;
    }
    sn_input_close(input);
    *length = at;
    return status;
}

static void check_any_bytes(const uint8_t *data, size_t size, char *one, char *two)
{
    int fd = make_file(0, data, size);
    size_t first, second;
    seen_status a = read_back(fd, MOST, one, &first);
    seen_status b = read_back(fd, 1 + size % 97, two, &second);
    /* With damaged data, slightly more or fewer bytes may be returned before the error. */
    size_t common = first < second ? first : second;
    need(memcmp(one, two, common) == 0);
    if (first < MOST && second < MOST)
        need((a == SEEN_OK) == (b == SEEN_OK));
    if (a == SEEN_OK && b == SEEN_OK)
        need(first == second);
}

static seen_status gather(void *context, const void *bytes, size_t length, seen_error *error)
{
    (void)error;
    need(write(*(int *)context, bytes, length) == (ssize_t)length);
    return SEEN_OK;
}

static void check_round_trip(const char *name, const uint8_t *data, size_t size, char *to)
{
    int fd = make_file(1, "", 0);
    sn_encoder *encoder;
    need(sn_encoder_open(name, gather, &fd, &encoder, NULL) == SEEN_OK && encoder);
    size_t half = size / 3;
    need(sn_encoder_write(encoder, data, half, NULL) == SEEN_OK);
    need(sn_encoder_write(encoder, data + half, size - half, NULL) == SEEN_OK);
    need(sn_encoder_finish(encoder, NULL) == SEEN_OK);
    sn_encoder_close(encoder);
    size_t length;
    need(read_back(fd, 1000, to, &length) == SEEN_OK);
    need(length == size && memcmp(to, data, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char one[MOST], two[MOST];
    if (size >= MOST)
        return 0;
    check_any_bytes(data, size, one, two);
    /* Creating an encoder takes longer than everything else. */
    if (size % 8 < 2)
        check_round_trip(size % 2 ? "x.gz" : "x.zst", data, size, one);
    return 0;
}
