/* The URLs to fetch, as an append-only log on disk.
 *
 *     segment   [header] [batch] [batch] ...                        frontier.000001, ...
 *     batch     BATCH  PAGE URL URL ...  PAGE URL ...  ANSWERS
 *     frame     crc32, length and type, payload
 *
 * A batch is written (and made durable) first, then its URLs are added to the seen-set, then
 * ANSWERS says which of them were not new and are void. PAGE is the page on which the URLs behind
 * it were found. A URL's ordinal is its number in the log.
 *
 * The log is read once, in order. A URL read is under way until it is done; what is done is kept as
 * a bitmap by ordinal, which is written only after a checkpoint that names the same ordinals is
 * durable. A segment whose URLs are all done is deleted.
 *
 * docs/crawl.md has the format. One thread. */
#ifndef CRAWL_FRONTIER_H
#define CRAWL_FRONTIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

/* SN_KIND_MOVED is always void: a page that was found before is the target of a redirection. */
enum { SN_KIND_PAGE = 0, SN_KIND_SITEMAP = 1, SN_KIND_MOVED = 2 };

#define SN_BATCH_URLS 4096
#define SN_BATCH_BYTES (4u << 20)
#define SN_FRONTIER_URL_MAX 65535

/* A reference to a URL in the log: what queues are made of. */
typedef struct sn_place {
    uint64_t at; /* segment << 40 | offset */
    uint64_t ordinal;
} sn_place;

typedef struct sn_frontier_record {
    const char *url; /* valid until the next call on the frontier */
    size_t len;
    const char *parent; /* sn_frontier_load only; empty for a start URL */
    size_t parent_len;
    uint16_t depth;
    uint8_t hops; /* redirections in a row that led here */
    uint8_t kind; /* SN_KIND_... */
    sn_place place;
} sn_frontier_record;

/* Where a checkpoint stands. */
typedef struct sn_frontier_mark {
    uint32_t first_segment, last_segment;
    uint64_t end; /* offset in the last segment */
    uint64_t next_ordinal;
    const uint64_t *done; /* ordinals since the last checkpoint */
    size_t done_count;
} sn_frontier_mark;

typedef struct sn_frontier_options {
    int folder;            /* descriptor of the state folder; -1: unnamed temporary files */
    uint64_t segment_size; /* 0: 256 MiB */
    bool keep;             /* keep finished segments */
} sn_frontier_options;

typedef struct sn_frontier sn_frontier;

/* Starts an empty log; files of an earlier one in the folder are removed. */
seen_status sn_frontier_create(const sn_frontier_options *options, sn_frontier **frontier,
                               seen_error *error);

/* Receives a batch of the log again. answers[i] is what was written, or with `unanswered` to be
 * filled. */
typedef seen_status sn_frontier_replay(void *user, const sn_frontier_record *records, size_t count,
                                       bool unanswered, seen_answer *answers, seen_error *error);

/* Opens the log of a checkpoint. What was written after it is replayed; a batch that was cut short
 * at the end is dropped.
 *   all     replay from the first segment on */
seen_status sn_frontier_open(const sn_frontier_options *options, const sn_frontier_mark *mark,
                             bool all, sn_frontier_replay *replay, void *user,
                             sn_frontier **frontier, seen_error *error);

void sn_frontier_close(sn_frontier *frontier);

/* ---- Writing: put pages and URLs, write, answer ---- */

/* The page on which the URLs put after it were found; NULL, 0 for start URLs. */
seen_status sn_frontier_put_page(sn_frontier *frontier, const char *url, size_t len,
                                 seen_error *error);
/* Adds one URL to the batch. Only url, len, depth, hops and kind are looked at. */
seen_status sn_frontier_put(sn_frontier *frontier, const sn_frontier_record *record,
                            seen_error *error);
/* URLs in the batch, and its bytes: write before SN_BATCH_URLS or SN_BATCH_BYTES are reached. */
size_t sn_frontier_batch(const sn_frontier *frontier, size_t *bytes);
/* Writes the batch; with a folder it is durable on return. */
seen_status sn_frontier_write(sn_frontier *frontier, seen_error *error);
/* Completes the batch, which can be read from then on. One answer per URL, in order; those that are
 * not SEEN_NEW are void. */
seen_status sn_frontier_answer(sn_frontier *frontier, const seen_answer *answers,
                               seen_error *error);

/* ---- Reading ---- */

/* The next URL that is neither void nor done; *got is false at the end. */
seen_status sn_frontier_next(sn_frontier *frontier, sn_frontier_record *record, bool *got,
                             seen_error *error);
/* Looks at a URL that is not done; *taken: it is given out as if by sn_frontier_next, which a void
 * one never is. */
typedef seen_status sn_frontier_visit(void *user, const sn_frontier_record *record, bool is_void,
                                      bool *taken);
/* Visits the URLs that sn_frontier_next has not come to, until a million of them have been taken.
 * It passes over those. */
seen_status sn_frontier_ahead(sn_frontier *frontier, sn_frontier_visit *visit, void *user,
                              seen_error *error);
/* Any URL that was given out and that is not done. */
seen_status sn_frontier_load(sn_frontier *frontier, sn_place place, sn_frontier_record *record,
                             seen_error *error);

/* ---- Done ---- */

seen_status sn_frontier_done(sn_frontier *frontier, uint64_t ordinal, seen_error *error);
/* URLs found and not done. */
uint64_t sn_frontier_waiting(const sn_frontier *frontier);
/* sn_frontier_open counts what was found after the checkpoint; the rest the checkpoint knows. */
void sn_frontier_set_waiting(sn_frontier *frontier, uint64_t waiting);

/* Everything written is durable on return: before a checkpoint names it. */
seen_status sn_frontier_sync(sn_frontier *frontier, seen_error *error);
/* What a checkpoint has to say. Valid until the next call. */
sn_frontier_mark sn_frontier_get_mark(const sn_frontier *frontier);
/* The checkpoint is durable: moves what is done to the bitmap and deletes finished segments. */
seen_status sn_frontier_settle(sn_frontier *frontier, seen_error *error);

#endif
