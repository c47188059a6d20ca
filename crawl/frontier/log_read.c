/* Reads the log in order, and single URLs by place. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "crawl/frontier/log_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads bytes of a segment through the buffer; *got is less than `len` only at its end. */
static seen_status peek(sn_log *f, uint64_t at, size_t len, const uint8_t **bytes, size_t *got,
                        seen_error *error)
{
    *bytes = f->buffer;
    *got = 0;
    bool inside = f->buffer_segment == f->reader.segment && at >= f->buffer_at &&
                  at + len <= f->buffer_at + f->buffer_len;
    if (!inside) {
        const sn_log_segment *segment = &f->segments[f->reader.segment];
        size_t want = READ_BUFFER;
        if (segment->size - at < want)
            want = (size_t)(segment->size - at);
        ssize_t n = sn_io_read_some(segment->fd, f->buffer, want, at);
        if (n < 0)
            return sn_error_cannot_in(error, errno, f->options.folder, "read", "the frontier");
        f->buffer_segment = f->reader.segment;
        f->buffer_at = at;
        f->buffer_len = (size_t)n;
    }
    *bytes = f->buffer + (at - f->buffer_at);
    *got = f->buffer_len - (size_t)(at - f->buffer_at);
    return SEEN_OK;
}

/* One whole, verified frame. Frames are far smaller than the buffer. */
static seen_status frame_at(sn_log *f, uint64_t at, const uint8_t **frame, size_t *payload,
                            seen_error *error)
{
    size_t got;
    seen_status status = peek(f, at, FRAME_HEAD, frame, &got, error);
    if (status != SEEN_OK)
        return status;
    size_t len = got < FRAME_HEAD ? 0 : sn_load32(*frame + 4) >> 8;
    if (got >= FRAME_HEAD && len + FRAME_HEAD > got) {
        status = peek(f, at, FRAME_HEAD + len, frame, &got, error);
        if (status != SEEN_OK)
            return status;
    }
    long n = sn_log_frame_check(*frame, got, 0);
    if (n < 0)
        return sn_log_damaged(f, f->reader.segment, at, error);
    *payload = (size_t)n;
    return SEEN_OK;
}

/* Reads the ANSWERS of a batch and seeks to the first frame inside it. */
static seen_status enter_batch(sn_log *f, seen_error *error)
{
    const uint8_t *frame;
    size_t payload = 0;
    uint64_t at = f->reader.at;
    seen_status status = frame_at(f, at, &frame, &payload, error);
    if (status != SEEN_OK)
        return status;
    if ((sn_load32(frame + 4) & 0xff) != FRAME_BATCH || payload != BATCH_HEAD)
        return sn_log_damaged(f, f->reader.segment, at, error);
    uint32_t count = sn_load32(frame + FRAME_HEAD);
    uint32_t bytes = sn_load32(frame + FRAME_HEAD + 4);
    uint64_t first = sn_load64(frame + FRAME_HEAD + 8);
    at += FRAME_HEAD + BATCH_HEAD;
    if (count > SN_BATCH_URLS || at + bytes > f->segments[f->reader.segment].size)
        return sn_log_damaged(f, f->reader.segment, f->reader.at, error);

    size_t bitmap = (count + 7) / 8;
    uint8_t answers[FRAME_HEAD + ANSWERS_HEAD + SN_BATCH_URLS / 8];
    ssize_t n = sn_io_read_some(f->segments[f->reader.segment].fd, answers,
                                FRAME_HEAD + ANSWERS_HEAD + bitmap, at + bytes);
    if (n < 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "read", "the frontier");
    if (sn_log_frame_check(answers, (size_t)n, FRAME_ANSWERS) != (long)(ANSWERS_HEAD + bitmap) ||
        sn_load64(answers + FRAME_HEAD) != first)
        return sn_log_damaged(f, f->reader.segment, at + bytes, error);
    memcpy(f->reader.answers, answers + FRAME_HEAD + ANSWERS_HEAD, bitmap);
    f->reader.answers_first = first;
    f->reader.answers_len = FRAME_HEAD + ANSWERS_HEAD + bitmap;
    f->reader.ordinal = first;
    f->reader.at = at;
    f->reader.batch_left = bytes;
    return SEEN_OK;
}

static bool is_void(const sn_log *f, uint64_t ordinal)
{
    uint64_t i = ordinal - f->reader.answers_first;
    return i >= SN_BATCH_URLS || (f->reader.answers[i / 8] >> i % 8 & 1) != 0;
}

static void read_url(const sn_log *f, const uint8_t *payload, size_t len,
                     sn_frontier_record *record)
{
    *record = (sn_frontier_record){.url = (const char *)payload + URL_HEAD,
                                   .len = len - URL_HEAD,
                                   .depth = sn_load16(payload + 4),
                                   .hops = payload[6],
                                   .kind = payload[7]};
    record->place.at = (uint64_t)(f->first_id + f->reader.segment) << 40 | f->reader.at;
    record->place.ordinal = f->reader.ordinal;
}

/* Advances by one frame of a batch; *got if it is a URL that is neither void nor done. */
static seen_status step(sn_log *f, sn_frontier_record *record, bool *got, seen_error *error)
{
    const uint8_t *frame;
    size_t payload = 0;
    sn_log_reader *r = &f->reader;
    seen_status status = frame_at(f, r->at, &frame, &payload, error);
    if (status != SEEN_OK)
        return status;
    uint64_t whole = FRAME_HEAD + payload;
    if (whole > r->batch_left)
        return sn_log_damaged(f, r->segment, r->at, error);
    if ((sn_load32(frame + 4) & 0xff) == FRAME_URL) {
        if (payload <= URL_HEAD)
            return sn_log_damaged(f, r->segment, r->at, error);
        bool done = is_void(f, r->ordinal);
        if (!done) {
            status = sn_log_is_done(f, r->ordinal, &done, error);
            if (status != SEEN_OK)
                return status;
        }
        *got = !done;
        if (*got)
            read_url(f, frame + FRAME_HEAD, payload, record);
        r->ordinal++;
    }
    r->at += whole;
    r->batch_left -= whole;
    if (r->batch_left == 0)
        r->at += r->answers_len;
    return SEEN_OK;
}

seen_status sn_log_next(sn_log *f, sn_frontier_record *record, bool *got, seen_error *error)
{
    sn_log_reader *r = &f->reader;
    *got = false;
    while (!*got) {
        seen_status status = SEEN_OK;
        if (r->batch_left > 0) {
            status = step(f, record, got, error);
        } else if (r->at < f->segments[r->segment].size) {
            status = enter_batch(f, error);
        } else if (r->segment + 1 < f->count) {
            f->segments[r->segment++].passed = true;
            r->at = SEGMENT_HEAD;
        } else {
            return SEEN_OK;
        }
        if (status != SEEN_OK)
            return status;
    }
    f->segments[r->segment].undone++;
    return SEEN_OK;
}

void sn_log_take(sn_log *f, sn_frontier_place place)
{
    f->segments[(size_t)(place.at >> 40) - f->first_id].undone++;
}

void sn_log_passed(sn_log *f, sn_frontier_place place)
{
    f->segments[(size_t)(place.at >> 40) - f->first_id].undone--;
}

static seen_status move_window(sn_log *f, sn_log_window *w, size_t segment, uint64_t offset,
                               size_t want, seen_error *error)
{
    w->len = 0;
    if (want > w->room) {
        uint8_t *more = realloc(w->bytes, want);
        if (!more)
            return sn_error_memory(error);
        w->bytes = more;
        w->room = want;
    }
    ssize_t n = sn_io_read_some(f->segments[segment].fd, w->bytes, want, offset);
    if (n < 0)
        return sn_error_cannot_in(error, errno, f->options.folder, "read", "the frontier");
    w->place = (uint64_t)(f->first_id + segment) << 40 | offset;
    w->len = (size_t)n;
    return SEEN_OK;
}

/* How much of a frame is in a window, and its length according to its header; 0: none of it. */
static size_t look(const sn_log_window *w, uint64_t place, const uint8_t **frame, size_t *whole)
{
    *whole = FRAME_HEAD;
    if (place < w->place || place - w->place >= w->len)
        return 0;
    size_t skip = (size_t)(place - w->place);
    *frame = w->bytes + skip;
    if (w->len - skip >= FRAME_HEAD)
        *whole += sn_load32(*frame + 4) >> 8;
    return w->len - skip;
}

/* Reads a frame at any place through a window: URLs are mostly loaded in log order, and many share
 * the same page frame. */
static seen_status fetch_frame(sn_log *f, sn_log_window *w, size_t segment, uint64_t offset,
                               unsigned type, const uint8_t **payload, size_t *len,
                               seen_error *error)
{
    uint64_t place = (uint64_t)(f->first_id + segment) << 40 | offset;
    const uint8_t *frame = NULL;
    size_t whole, got = look(w, place, &frame, &whole);
    /* The length is known only after its header was read. */
    for (int turn = 0; turn < 2 && got < whole && whole <= FRAME_MAX; turn++) {
        seen_status status =
            move_window(f, w, segment, offset, whole > WINDOW ? whole : WINDOW, error);
        if (status != SEEN_OK)
            return status;
        got = look(w, place, &frame, &whole);
    }
    long n = got == 0 ? -1 : sn_log_frame_check(frame, got, type);
    if (n < 0)
        return sn_log_damaged(f, segment, offset, error);
    *payload = frame + FRAME_HEAD;
    *len = (size_t)n;
    return SEEN_OK;
}

seen_status sn_log_load(sn_log *f, sn_frontier_place place, sn_frontier_record *record,
                        seen_error *error)
{
    size_t segment = (size_t)(place.at >> 40) - f->first_id;
    uint64_t offset = place.at & ((UINT64_C(1) << 40) - 1);
    if (segment >= f->count)
        return sn_log_damaged(f, segment, offset, error);
    const uint8_t *url = NULL, *parent = NULL;
    size_t len = 0, parent_len = 0;
    seen_status status = fetch_frame(f, &f->urls, segment, offset, FRAME_URL, &url, &len, error);
    if (status != SEEN_OK)
        return status;
    uint32_t back = len <= URL_HEAD ? 0 : sn_load32(url);
    if (len <= URL_HEAD || back > offset)
        return sn_log_damaged(f, segment, offset, error);
    status =
        fetch_frame(f, &f->pages, segment, offset - back, FRAME_PAGE, &parent, &parent_len, error);
    if (status != SEEN_OK)
        return status;
    *record = (sn_frontier_record){.url = (const char *)url + URL_HEAD,
                                   .len = len - URL_HEAD,
                                   .parent = (const char *)parent,
                                   .parent_len = parent_len,
                                   .depth = sn_load16(url + 4),
                                   .hops = url[6],
                                   .kind = url[7],
                                   .place = place};
    return SEEN_OK;
}
