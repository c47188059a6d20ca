/* Many queues of places, with only their ends in memory.
 *
 *     pop <- [head] <- block <- block <- block <- [tail] <- push
 *             memory   '----- one file for all -----'   memory
 *
 * A host may have ten URLs or ten million; its queue takes at most two blocks of 1 KiB in memory.
 * Blocks that were read are reused. The file has no name: after a restart the queues are rebuilt
 * from the frontier. */
#ifndef SN_CRAWL_FRONTIER_QUEUE_H
#define SN_CRAWL_FRONTIER_QUEUE_H

#include "crawl/frontier/log.h"

#include <stdbool.h>
#include <stdint.h>

#define SN_BLOCK_PLACES 63

typedef struct sn_queue_block {
    uint32_t next; /* in the file, of the block after this one */
    uint32_t start, end;
    uint32_t unused;
    sn_frontier_place places[SN_BLOCK_PLACES];
} sn_queue_block;

typedef struct sn_queue {
    uint64_t count;
    sn_queue_block *head, *tail; /* tail NULL: everything is in head */
    uint32_t first, last;        /* blocks in the file between them; first 0: none */
} sn_queue;

typedef struct sn_queues sn_queues;

/* `folder`: of the file; -1: the temporary folder. The file is created when first needed. */
sn_queues *sn_queues_create(int folder);
void sn_queues_destroy(sn_queues *queues);

/* A queue is initialized to zero. */
seen_status sn_queue_push(sn_queues *queues, sn_queue *queue, sn_frontier_place place,
                          seen_error *error);
/* *got is false if it is empty. */
seen_status sn_queue_pop(sn_queues *queues, sn_queue *queue, sn_frontier_place *place, bool *got,
                         seen_error *error);
/* Drops all places. */
void sn_queue_drop(sn_queues *queues, sn_queue *queue);
/* Frees the memory of an unused or empty queue. */
void sn_queue_clear(sn_queue *queue);

#endif
