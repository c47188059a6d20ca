/* Tracks which URLs of the log are done.
 *
 *     done() --> list since the last checkpoint --> the checkpoint's own file --> bitmap `done`
 *
 * The list is part of the checkpoint, and only the contents of a durable checkpoint enter the
 * bitmap, so that bitmap and counters are always consistent. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "base/memory.h"
#include "crawl/frontier/log_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static seen_status load_chunk(sn_log *f, uint64_t at, seen_error *error)
{
    if (f->chunk_at == at)
        return SEEN_OK;
    ssize_t n = sn_io_read_some(f->done_fd, f->chunk, DONE_CHUNK, at);
    if (n < 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "read", "done");
    memset(f->chunk + n, 0, DONE_CHUNK - (size_t)n);
    f->chunk_at = at;
    return SEEN_OK;
}

seen_status sn_log_is_done(sn_log *f, uint64_t ordinal, bool *done, seen_error *error)
{
    *done = false;
    if (ordinal >= f->done_limit)
        return SEEN_OK;
    uint64_t byte = ordinal / 8;
    seen_status status = load_chunk(f, byte - byte % DONE_CHUNK, error);
    if (status == SEEN_OK)
        *done = (f->chunk[byte % DONE_CHUNK] >> ordinal % 8 & 1) != 0;
    return status;
}

static int by_ordinal(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

seen_status sn_log_apply_done(sn_log *f, const uint64_t *ordinals, size_t count, seen_error *error)
{
    if (f->done_fd < 0 || count == 0)
        return SEEN_OK;
    for (size_t i = 0; i < count;) {
        uint64_t byte = ordinals[i] / 8;
        uint64_t at = byte - byte % DONE_CHUNK;
        seen_status status = load_chunk(f, at, error);
        if (status != SEEN_OK)
            return status;
        for (; i < count && ordinals[i] / 8 - at < DONE_CHUNK; i++)
            f->chunk[ordinals[i] / 8 - at] |= (uint8_t)(1u << ordinals[i] % 8);
        if (!sn_io_write(f->done_fd, f->chunk, DONE_CHUNK, at))
            return sn_error_cannot_in(error, errno, f->options.folder, "write", "done");
    }
    if (fdatasync(f->done_fd) != 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "sync", "done");
    return SEEN_OK;
}

/* The segment that contains an ordinal. */
static sn_log_segment *segment_of(sn_log *f, uint64_t ordinal)
{
    size_t low = 0, high = f->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (f->segments[middle].first_ordinal <= ordinal)
            low = middle;
        else
            high = middle;
    }
    return &f->segments[low];
}

seen_status sn_log_done(sn_log *f, uint64_t ordinal, seen_error *error)
{
    if (f->options.folder >= 0) {
        if (f->done_count == f->done_room) {
            uint64_t *more =
                sn_memory_grow(f->done, &f->done_room, f->done_count + 1, sizeof *more);
            if (!more)
                return sn_error_memory(error);
            f->done = more;
        }
        f->done[f->done_count++] = ordinal;
    }
    segment_of(f, ordinal)->undone--;
    f->waiting--;
    return SEEN_OK;
}

uint64_t sn_log_waiting(const sn_log *f)
{
    return f->waiting;
}

void sn_log_set_waiting(sn_log *f, uint64_t waiting)
{
    f->waiting = waiting;
}

seen_status sn_log_sync(sn_log *f, seen_error *error)
{
    if (f->options.folder >= 0 && fdatasync(f->segments[f->count - 1].fd) != 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "sync", "the frontier");
    return SEEN_OK;
}

/* The number of oldest segments that are no longer needed. */
static size_t finished(const sn_log *f)
{
    size_t gone = 0;
    while (!f->options.keep && gone + 1 < f->count && f->segments[gone].passed &&
           f->segments[gone].undone == 0)
        gone++;
    return gone;
}

sn_log_mark sn_log_get_mark(const sn_log *f)
{
    return (sn_log_mark){.first_segment = f->first_id + (uint32_t)finished(f),
                         .last_segment = f->first_id + (uint32_t)f->count - 1,
                         .end = f->segments[f->count - 1].size,
                         .next_ordinal = f->next_ordinal,
                         .done = f->done,
                         .done_count = f->done_count};
}

/* Deletes segments that the checkpoint no longer refers to. */
static void delete_finished(sn_log *f)
{
    size_t gone = finished(f);
    if (gone == 0)
        return;
    for (size_t i = 0; i < gone; i++) {
        char name[32];
        sn_log_segment_name(f->first_id + (uint32_t)i, name);
        if (f->options.folder >= 0)
            unlinkat(f->options.folder, name, 0);
        close(f->segments[i].fd);
    }
    memmove(f->segments, f->segments + gone, (f->count - gone) * sizeof *f->segments);
    f->count -= gone;
    f->first_id += (uint32_t)gone;
    f->reader.segment -= gone;
    f->buffer_len = 0;
}

seen_status sn_log_settle(sn_log *f, seen_error *error)
{
    if (f->done_count > 1)
        qsort(f->done, f->done_count, sizeof *f->done, by_ordinal);
    seen_status status = sn_log_apply_done(f, f->done, f->done_count, error);
    if (status != SEEN_OK)
        return status;
    f->done_count = 0;
    delete_finished(f);
    return SEEN_OK;
}
