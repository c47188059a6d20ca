/* Internal interface of the log.
 *
 *     log.c          segments, writing a batch
 *     log_read.c     reading in order and by place
 *     log_done.c     finished URLs: counting, the bitmap, deletion
 *     log_recover.c  opening a log after a stop or a crash */
#ifndef SN_CRAWL_FRONTIER_LOG_INTERNAL_H
#define SN_CRAWL_FRONTIER_LOG_INTERNAL_H

#include "crawl/frontier/log.h"

enum { FRAME_BATCH = 1, FRAME_PAGE = 2, FRAME_URL = 3, FRAME_ANSWERS = 4 };

#define FRAME_HEAD 8    /* crc32, length << 8 | type */
#define BATCH_HEAD 16   /* count, bytes of the frames up to ANSWERS, first ordinal */
#define URL_HEAD 8      /* distance back to its PAGE, depth, hops, kind */
#define ANSWERS_HEAD 12 /* first ordinal, count */
#define SEGMENT_HEAD 32
#define FRAME_MAX (FRAME_HEAD + URL_HEAD + SN_FRONTIER_URL_MAX) /* of a URL or a page */
#define SEGMENT_MAGIC "seenfr1\n"

#define READ_BUFFER (256u << 10)
#define DONE_CHUNK 4096u
#define WINDOW 4096u

typedef struct sn_log_segment {
    int fd;
    uint64_t first_ordinal;
    uint64_t size;   /* of what can be read */
    uint64_t undone; /* taken and not done */
    bool passed;     /* read to its end */
} sn_log_segment;

/* A cached range of a segment. */
typedef struct sn_log_window {
    uint64_t place; /* id of the segment << 40 | offset */
    size_t len, room;
    uint8_t *bytes;
} sn_log_window;

/* The position of the sequential reader. */
typedef struct sn_log_reader {
    size_t segment;
    uint64_t at;
    uint64_t batch_left;  /* bytes of the batch before its ANSWERS */
    uint64_t answers_len; /* of that frame */
    uint64_t ordinal;
    uint64_t answers_first;
    uint8_t answers[SN_BATCH_URLS / 8];
} sn_log_reader;

struct sn_log {
    sn_log_options options;
    uint32_t first_id; /* of segments[0] */
    sn_log_segment *segments;
    size_t count, room;
    uint64_t next_ordinal;
    uint64_t waiting;

    /* The batch being built. */
    uint8_t *batch;
    size_t batch_len, batch_room;
    size_t batch_urls;
    size_t page_at; /* offset of the latest PAGE frame in the batch */
    bool written;   /* waiting for its answers */

    /* Sequential reading. */
    sn_log_reader reader;
    uint8_t *buffer;
    size_t buffer_segment;
    uint64_t buffer_at;
    size_t buffer_len;

    /* Random access. */
    sn_log_window urls, pages;

    /* Done. */
    int done_fd;
    uint64_t done_limit; /* only ordinals below may be in the bitmap */
    uint64_t *done;
    size_t done_count, done_room;
    uint8_t chunk[DONE_CHUNK];
    uint64_t chunk_at; /* offset in the bitmap; UINT64_MAX: none */
};

uint32_t sn_log_frame_crc(const uint8_t *frame, size_t payload);
void sn_log_frame_head(uint8_t *frame, unsigned type, size_t payload);
/* Payload length of a valid frame of this type in `len` bytes, or -1. type 0: any. */
long sn_log_frame_check(const uint8_t *frame, size_t len, unsigned type);

void sn_log_segment_name(uint32_t id, char name[32]);
seen_status sn_log_segment_add(sn_log *f, seen_error *error);
seen_status sn_log_segment_push(sn_log *f, sn_log_segment segment, seen_error *error);
seen_status sn_log_damaged(sn_log *f, size_t segment, uint64_t at, seen_error *error);
sn_log *sn_log_new(const sn_log_options *options);
seen_status sn_log_open_done(sn_log *f, bool fresh, seen_error *error);
seen_status sn_log_is_done(sn_log *f, uint64_t ordinal, bool *done, seen_error *error);
seen_status sn_log_apply_done(sn_log *f, const uint64_t *ordinals, size_t count, seen_error *error);

#endif
