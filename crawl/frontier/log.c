/* Segments of the log, and writing batches to them. */
#include "crawl/frontier/log_internal.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "base/memory.h"
#include "base/tempfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

uint32_t sn_log_frame_crc(const uint8_t *frame, size_t payload)
{
    return (uint32_t)crc32(0, frame + 4, (uInt)(payload + 4));
}

void sn_log_frame_head(uint8_t *frame, unsigned type, size_t payload)
{
    sn_store32(frame + 4, (uint32_t)payload << 8 | type);
    sn_store32(frame, sn_log_frame_crc(frame, payload));
}

long sn_log_frame_check(const uint8_t *frame, size_t len, unsigned type)
{
    if (len < FRAME_HEAD)
        return -1;
    uint32_t head = sn_load32(frame + 4);
    size_t payload = head >> 8;
    if ((type != 0 && (head & 0xff) != type) || payload > len - FRAME_HEAD)
        return -1;
    return sn_load32(frame) == sn_log_frame_crc(frame, payload) ? (long)payload : -1;
}

void sn_log_segment_name(uint32_t id, char name[32])
{
    snprintf(name, 32, "frontier.%06u", id);
}

seen_status sn_log_damaged(sn_log *f, size_t segment, uint64_t at, seen_error *error)
{
    char path[SN_ERROR_FOLDER];
    return sn_error_set(error, SEEN_ERR_FORMAT,
                        "frontier.%06u in %s is damaged at byte %llu: restore the folder from a "
                        "backup, or start a new crawl in another one",
                        f->first_id + (uint32_t)segment, sn_error_folder(f->options.folder, path),
                        (unsigned long long)at);
}

seen_status sn_log_segment_push(sn_log *f, sn_log_segment segment, seen_error *error)
{
    if (f->count == f->room) {
        sn_log_segment *more = sn_memory_grow(f->segments, &f->room, f->count + 1, sizeof *more);
        if (!more)
            return sn_error_memory(error);
        f->segments = more;
    }
    f->segments[f->count++] = segment;
    return SEEN_OK;
}

seen_status sn_log_segment_add(sn_log *f, seen_error *error)
{
    char name[32];
    sn_log_segment_name(f->first_id + (uint32_t)f->count, name);
    bool named = f->options.folder >= 0;
    int fd = named ? openat(f->options.folder, name,
                            O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)
                   : sn_tempfile_open(-1, NULL);
    if (fd < 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "create", name);
    uint8_t head[SEGMENT_HEAD] = {0};
    memcpy(head, SEGMENT_MAGIC, 8);
    sn_store32(head + 8, f->first_id + (uint32_t)f->count);
    sn_store64(head + 16, f->next_ordinal);
    sn_store32(head + 28, (uint32_t)crc32(0, head, 28));
    sn_log_segment segment = {fd, f->next_ordinal, SEGMENT_HEAD, 0, false};
    seen_status status = SEEN_OK;
    if (!sn_io_write(fd, head, sizeof head, 0) ||
        (named && (fsync(fd) != 0 || fsync(f->options.folder) != 0)))
        status = sn_error_cannot_in(error, errno, f->options.folder, "write", name);
    else
        status = sn_log_segment_push(f, segment, error);
    if (status != SEEN_OK)
        close(fd);
    return status;
}

sn_log *sn_log_new(const sn_log_options *options)
{
    sn_log *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->options = *options;
    if (f->options.segment_size == 0)
        f->options.segment_size = 256u << 20;
    f->first_id = 1;
    f->done_fd = -1;
    f->reader.at = SEGMENT_HEAD;
    f->chunk_at = UINT64_MAX;
    f->buffer = malloc(READ_BUFFER);
    if (!f->buffer) {
        free(f);
        return NULL;
    }
    return f;
}

static void remove_old(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (strncmp(entry->d_name, "frontier.", 9) == 0)
            unlinkat(folder, entry->d_name, 0);
    closedir(dir);
}

seen_status sn_log_open_done(sn_log *f, bool fresh, seen_error *error)
{
    if (f->options.folder < 0)
        return SEEN_OK;
    int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (fresh ? O_TRUNC : 0);
    f->done_fd = openat(f->options.folder, "done", flags, 0600);
    return f->done_fd < 0 ? sn_error_cannot_in(error, errno, f->options.folder, "open", "done")
                          : SEEN_OK;
}

seen_status sn_log_create(const sn_log_options *options, sn_log **frontier, seen_error *error)
{
    sn_log *f = sn_log_new(options);
    if (!f)
        return sn_error_memory(error);
    if (options->folder >= 0)
        remove_old(options->folder);
    seen_status status = sn_log_open_done(f, true, error);
    if (status == SEEN_OK)
        status = sn_log_segment_add(f, error);
    if (status != SEEN_OK) {
        sn_log_close(f);
        return status;
    }
    *frontier = f;
    return SEEN_OK;
}

void sn_log_close(sn_log *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++)
        if (f->segments[i].fd >= 0)
            close(f->segments[i].fd);
    if (f->done_fd >= 0)
        close(f->done_fd);
    free(f->segments);
    free(f->batch);
    free(f->buffer);
    free(f->urls.bytes);
    free(f->pages.bytes);
    free(f->done);
    free(f);
}

/* ---- A batch ---- */

static uint8_t *reserve(sn_log *f, size_t len)
{
    size_t need = f->batch_len + len + (f->batch_len == 0 ? FRAME_HEAD + BATCH_HEAD : 0);
    if (need > f->batch_room) {
        uint8_t *more = sn_memory_grow(f->batch, &f->batch_room, need, 1);
        if (!more)
            return NULL;
        f->batch = more;
    }
    if (f->batch_len == 0)
        f->batch_len = FRAME_HEAD + BATCH_HEAD;
    uint8_t *frame = f->batch + f->batch_len;
    f->batch_len += len;
    return frame;
}

seen_status sn_log_put_page(sn_log *f, const char *url, size_t len, seen_error *error)
{
    uint8_t *frame = reserve(f, FRAME_HEAD + len);
    if (!frame)
        return sn_error_memory(error);
    if (len > 0)
        memcpy(frame + FRAME_HEAD, url, len);
    sn_log_frame_head(frame, FRAME_PAGE, len);
    f->page_at = (size_t)(frame - f->batch);
    return SEEN_OK;
}

seen_status sn_log_put(sn_log *f, const sn_frontier_record *record, seen_error *error)
{
    uint8_t *frame = reserve(f, FRAME_HEAD + URL_HEAD + record->len);
    if (!frame)
        return sn_error_memory(error);
    uint8_t *payload = frame + FRAME_HEAD;
    sn_store32(payload, (uint32_t)((size_t)(frame - f->batch) - f->page_at));
    sn_store16(payload + 4, record->depth);
    payload[6] = record->hops;
    payload[7] = record->kind;
    memcpy(payload + URL_HEAD, record->url, record->len);
    sn_log_frame_head(frame, FRAME_URL, URL_HEAD + record->len);
    f->batch_urls++;
    return SEEN_OK;
}

size_t sn_log_batch(const sn_log *f, size_t *bytes)
{
    if (bytes)
        *bytes = f->batch_len;
    return f->batch_urls;
}

/* The last answers of a file are synced before the next file is created, so that only the newest
 * file can be incomplete. */
static seen_status roll(sn_log *f, seen_error *error)
{
    sn_log_segment *last = &f->segments[f->count - 1];
    if (last->size < f->options.segment_size)
        return SEEN_OK;
    if (f->options.folder >= 0 && fdatasync(last->fd) != 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "sync", "the frontier");
    return sn_log_segment_add(f, error);
}

seen_status sn_log_write(sn_log *f, seen_error *error)
{
    seen_status status = roll(f, error);
    if (status != SEEN_OK)
        return status;
    uint8_t *payload = f->batch + FRAME_HEAD;
    sn_store32(payload, (uint32_t)f->batch_urls);
    sn_store32(payload + 4, (uint32_t)(f->batch_len - FRAME_HEAD - BATCH_HEAD));
    sn_store64(payload + 8, f->next_ordinal);
    sn_log_frame_head(f->batch, FRAME_BATCH, BATCH_HEAD);
    sn_log_segment *last = &f->segments[f->count - 1];
    if (!sn_io_write(last->fd, f->batch, f->batch_len, last->size))
        return sn_error_cannot_in(error, errno, f->options.folder, "write", "the frontier");
    if (f->options.folder >= 0 && fdatasync(last->fd) != 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "sync", "the frontier");
    f->written = true;
    return SEEN_OK;
}

sn_frontier_place sn_log_place(const sn_log *f, size_t i, size_t offset)
{
    uint64_t segment = f->first_id + f->count - 1;
    return (sn_frontier_place){segment << 40 | (f->segments[f->count - 1].size + offset),
                               f->next_ordinal + i};
}

seen_status sn_log_answer(sn_log *f, const seen_answer *answers, seen_error *error)
{
    uint8_t frame[FRAME_HEAD + ANSWERS_HEAD + SN_BATCH_URLS / 8] = {0};
    uint8_t *payload = frame + FRAME_HEAD;
    size_t len = ANSWERS_HEAD + (f->batch_urls + 7) / 8;
    uint64_t fresh = 0;
    sn_store64(payload, f->next_ordinal);
    sn_store32(payload + 8, (uint32_t)f->batch_urls);
    for (size_t i = 0; i < f->batch_urls; i++) {
        if (answers[i] == SEEN_NEW)
            fresh++;
        else
            payload[ANSWERS_HEAD + i / 8] |= (uint8_t)(1u << i % 8);
    }
    sn_log_frame_head(frame, FRAME_ANSWERS, len);
    sn_log_segment *last = &f->segments[f->count - 1];
    if (!sn_io_write(last->fd, frame, FRAME_HEAD + len, last->size + f->batch_len))
        return sn_error_cannot_in(error, errno, f->options.folder, "write", "the frontier");
    last->size += f->batch_len + FRAME_HEAD + len;
    f->next_ordinal += f->batch_urls;
    f->waiting += fresh;
    f->batch_len = 0;
    f->batch_urls = 0;
    f->written = false;
    return SEEN_OK;
}
