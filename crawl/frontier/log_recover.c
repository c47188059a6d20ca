/* Opens a log after a stop or a crash.
 *
 * Up to the checkpoint's mark the log must be intact. After it follow the batches that were written
 * later; all of them are replayed into the seen-set, because of a set in a file only what the
 * checkpoint synced is certain to be on disk. The last batch may be torn (dropped: its URLs were
 * not added to the set, since that happens after the sync) or without answers (requested again). */
#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "crawl/frontier/log_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

typedef struct recovery {
    sn_log *f;
    sn_log_replay *replay;
    void *user;
    uint64_t marked; /* the first ordinal after the checkpoint */
    uint8_t *bytes;  /* one batch and its answers */
    size_t room;
    sn_frontier_record records[SN_BATCH_URLS];
    seen_answer answers[SN_BATCH_URLS];
} recovery;

/* The state of the batch at an offset. */
typedef enum found { FOUND_WHOLE, FOUND_UNANSWERED, FOUND_TORN, FOUND_ERROR } found;

static found read_error(const recovery *r, seen_error *error)
{
    sn_error_cannot_in(error, errno, r->f->options.folder, "read", "the frontier");
    return FOUND_ERROR;
}

/* Parses the frames of a batch; false if one is invalid. */
static bool parse_batch(recovery *r, size_t len, size_t count, uint64_t first)
{
    size_t urls = 0;
    for (size_t at = 0; at < len;) {
        long payload = sn_log_frame_check(r->bytes + at, len - at, 0);
        if (payload < 0)
            return false;
        if ((sn_load32(r->bytes + at + 4) & 0xff) == FRAME_URL) {
            const uint8_t *p = r->bytes + at + FRAME_HEAD;
            if (urls == count || payload <= URL_HEAD)
                return false;
            r->records[urls] = (sn_frontier_record){.url = (const char *)p + URL_HEAD,
                                                    .len = (size_t)payload - URL_HEAD,
                                                    .depth = sn_load16(p + 4),
                                                    .hops = p[6],
                                                    .kind = p[7],
                                                    .place = {0, first + urls}};
            urls++;
        }
        at += FRAME_HEAD + (size_t)payload;
    }
    return urls == count;
}

/* Reads the batch at an offset into r; *next is set to the offset after it, including answers. */
static found read_batch(recovery *r, int fd, uint64_t at, uint64_t *next, size_t *count,
                        seen_error *error)
{
    uint8_t head[FRAME_HEAD + BATCH_HEAD];
    ssize_t n = sn_io_read_some(fd, head, sizeof head, at);
    if (n < 0)
        return read_error(r, error);
    if (sn_log_frame_check(head, (size_t)n, FRAME_BATCH) != BATCH_HEAD)
        return FOUND_TORN;
    *count = sn_load32(head + FRAME_HEAD);
    size_t len = sn_load32(head + FRAME_HEAD + 4);
    if (*count > SN_BATCH_URLS || len > 2 * SN_BATCH_BYTES)
        return FOUND_TORN;
    size_t bitmap = (*count + 7) / 8;
    size_t whole = len + FRAME_HEAD + ANSWERS_HEAD + bitmap;
    if (!r->bytes || whole > r->room) {
        free(r->bytes);
        r->room = 0;
        r->bytes = malloc(whole);
        if (!r->bytes) {
            sn_error_memory(error);
            return FOUND_ERROR;
        }
        r->room = whole;
    }
    n = sn_io_read_some(fd, r->bytes, whole, at + sizeof head);
    if (n < 0)
        return read_error(r, error);
    uint64_t first = sn_load64(head + FRAME_HEAD + 8);
    if ((size_t)n < len || first != r->f->next_ordinal || !parse_batch(r, len, *count, first))
        return FOUND_TORN;
    const uint8_t *answers = r->bytes + len;
    *next = at + sizeof head + len;
    if (sn_log_frame_check(answers, (size_t)n - len, FRAME_ANSWERS) !=
        (long)(ANSWERS_HEAD + bitmap))
        return FOUND_UNANSWERED;
    answers += FRAME_HEAD + ANSWERS_HEAD;
    for (size_t i = 0; i < *count; i++)
        r->answers[i] = (answers[i / 8] >> i % 8 & 1) != 0 ? SEEN_BEFORE : SEEN_NEW;
    *next += FRAME_HEAD + ANSWERS_HEAD + bitmap;
    return FOUND_WHOLE;
}

/* Requests the answers of the last batch and appends them. */
static seen_status complete(recovery *r, sn_log_segment *segment, uint64_t at, uint64_t end,
                            size_t count, seen_error *error)
{
    sn_log *f = r->f;
    seen_status status = r->replay(r->user, r->records, count, true, r->answers, error);
    if (status != SEEN_OK)
        return status;
    segment->size = at;
    f->batch_len = (size_t)(end - at);
    f->batch_urls = count;
    return sn_log_answer(f, r->answers, error);
}

/* Processes a segment from `at` on, and truncates a torn end. */
static seen_status replay_segment(recovery *r, size_t index, uint64_t at, seen_error *error)
{
    sn_log *f = r->f;
    sn_log_segment *segment = &f->segments[index];
    struct stat about;
    if (fstat(segment->fd, &about) != 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "look at", "the frontier");
    bool last = index + 1 == f->count;
    while (at < (uint64_t)about.st_size) {
        uint64_t next = at;
        size_t count = 0;
        found what = read_batch(r, segment->fd, at, &next, &count, error);
        if (what == FOUND_ERROR)
            return SEEN_ERR_IO;
        if (what != FOUND_WHOLE && !last)
            return sn_log_damaged(f, index, at, error);
        if (what == FOUND_TORN)
            break;
        if (what == FOUND_UNANSWERED)
            return ftruncate(segment->fd, (off_t)next) != 0
                       ? sn_error_cannot_in(error, errno, f->options.folder, "truncate",
                                            "the frontier")
                       : complete(r, segment, at, next, count, error);
        seen_status status = r->replay(r->user, r->records, count, false, r->answers, error);
        if (status != SEEN_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            f->waiting += r->answers[i] == SEEN_NEW && f->next_ordinal + i >= r->marked;
        f->next_ordinal += count;
        at = next;
    }
    segment->size = at;
    if (at < (uint64_t)about.st_size && ftruncate(segment->fd, (off_t)at) != 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "truncate", "the frontier");
    return SEEN_OK;
}

/* Opens one segment: SEEN_ERR_NOT_FOUND if there is none, SEEN_ERR_FORMAT for a bad header. */
static seen_status open_segment(sn_log *f, seen_error *error)
{
    char name[32];
    uint32_t id = f->first_id + (uint32_t)f->count;
    sn_log_segment_name(id, name);
    int fd = openat(f->options.folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "open", name);
    uint8_t head[SEGMENT_HEAD];
    struct stat about;
    seen_status status = SEEN_OK;
    ssize_t n = sn_io_read_some(fd, head, sizeof head, 0);
    if (n < 0 || fstat(fd, &about) != 0)
        status = sn_error_cannot_in(error, errno, f->options.folder, "read", name);
    else if (n != SEGMENT_HEAD || memcmp(head, SEGMENT_MAGIC, 8) != 0 ||
             sn_load32(head + 28) != (uint32_t)crc32(0, head, 28) || sn_load32(head + 8) != id)
        status = sn_log_damaged(f, f->count, 0, error);
    else
        status = sn_log_segment_push(
            f, (sn_log_segment){fd, sn_load64(head + 16), (uint64_t)about.st_size, 0, false},
            error);
    if (status != SEEN_OK)
        close(fd);
    return status;
}

static seen_status open_segments(sn_log *f, const sn_log_mark *mark, seen_error *error)
{
    f->first_id = mark->first_segment;
    char old[32];
    for (uint32_t id = mark->first_segment - 1; id > 0; id--) {
        sn_log_segment_name(id, old);
        if (unlinkat(f->options.folder, old, 0) != 0)
            break;
    }
    for (uint32_t id = mark->first_segment;; id++) {
        seen_status status = open_segment(f, error);
        if (status == SEEN_OK)
            continue;
        if (id <= mark->last_segment)
            return status;
        if (status == SEEN_ERR_NOT_FOUND)
            break;
        if (status != SEEN_ERR_FORMAT)
            return status;
        /* A segment that was being created contains nothing. */
        char name[32];
        sn_log_segment_name(id, name);
        if (unlinkat(f->options.folder, name, 0) != 0)
            return sn_error_cannot_in(error, errno, f->options.folder, "remove", name);
        break;
    }
    size_t last = mark->last_segment - mark->first_segment;
    if (f->segments[last].size < mark->end)
        return sn_log_damaged(f, last, f->segments[last].size, error);
    return SEEN_OK;
}

static seen_status recover(sn_log *f, const sn_log_mark *mark, bool all, sn_log_replay *replay,
                           void *user, seen_error *error)
{
    recovery *r = calloc(1, sizeof *r);
    if (!r)
        return sn_error_memory(error);
    r->f = f;
    r->replay = replay;
    r->user = user;
    r->marked = mark->next_ordinal;
    seen_status status = open_segments(f, mark, error);
    size_t i = all ? 0 : mark->last_segment - mark->first_segment;
    if (status == SEEN_OK)
        f->next_ordinal = all ? f->segments[0].first_ordinal : mark->next_ordinal;
    for (uint64_t at = all ? SEGMENT_HEAD : mark->end; status == SEEN_OK && i < f->count;
         i++, at = SEGMENT_HEAD)
        status = replay_segment(r, i, at, error);
    free(r->bytes);
    free(r);
    return status;
}

seen_status sn_log_open(const sn_log_options *options, const sn_log_mark *mark, bool all,
                        sn_log_replay *replay, void *user, sn_log **frontier, seen_error *error)
{
    char path[SN_ERROR_FOLDER];
    if (mark->first_segment == 0 || mark->last_segment < mark->first_segment ||
        mark->end < SEGMENT_HEAD)
        return sn_error_set(error, SEEN_ERR_FORMAT,
                            "the checkpoint in %s names no frontier: restore the folder from a "
                            "copy, or start a new crawl in another one",
                            sn_error_folder(options->folder, path));
    sn_log *f = sn_log_new(options);
    if (!f)
        return sn_error_memory(error);
    seen_status status = sn_log_open_done(f, false, error);
    if (status == SEEN_OK)
        status = sn_log_apply_done(f, mark->done, mark->done_count, error);
    if (status == SEEN_OK)
        status = recover(f, mark, all, replay, user, error);
    if (status != SEEN_OK) {
        sn_log_close(f);
        return status;
    }
    f->done_limit = mark->next_ordinal;
    *frontier = f;
    return SEEN_OK;
}
