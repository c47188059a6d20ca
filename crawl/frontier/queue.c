/* Many queues in one file. */
#include "crawl/frontier/queue.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "base/tempfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sn_queues {
    int folder;
    int fd;
    uint32_t blocks; /* used so far; block 0 is never used */
    uint32_t free;   /* first block of the free list; its `next` is the one after it */
};

sn_queues *sn_queues_create(int folder)
{
    sn_queues *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->folder = folder;
    q->fd = -1;
    q->blocks = 1;
    return q;
}

void sn_queues_destroy(sn_queues *q)
{
    if (!q)
        return;
    if (q->fd >= 0)
        close(q->fd);
    free(q);
}

static uint64_t offset_of(uint32_t block)
{
    return (uint64_t)block * sizeof(sn_queue_block);
}

static seen_status take_block(sn_queues *q, uint32_t *block, seen_error *error)
{
    if (q->fd < 0) {
        q->fd = sn_tempfile_open(q->folder, NULL);
        if (q->fd < 0)
            return sn_error_cannot_in(error, errno, q->folder, "create",
                                      "the temporary file of the queues");
    }
    if (q->free == 0) {
        *block = q->blocks++;
        return SEEN_OK;
    }
    uint32_t next;
    if (sn_io_read_some(q->fd, &next, sizeof next, offset_of(q->free)) != (ssize_t)sizeof next)
        return sn_error_cannot_in(error, errno, q->folder, "read",
                                  "the temporary file of the queues");
    *block = q->free;
    q->free = next;
    return SEEN_OK;
}

/* Appends the full tail to the blocks in the file. */
static seen_status spill(sn_queues *q, sn_queue *queue, seen_error *error)
{
    uint32_t block = 0;
    seen_status status = take_block(q, &block, error);
    if (status != SEEN_OK)
        return status;
    queue->tail->next = 0;
    if (!sn_io_write(q->fd, queue->tail, sizeof *queue->tail, offset_of(block)) ||
        (queue->first != 0 && !sn_io_write(q->fd, &block, sizeof block, offset_of(queue->last))))
        return sn_error_cannot_in(error, errno, q->folder, "write",
                                  "the temporary file of the queues");
    if (queue->first == 0)
        queue->first = block;
    queue->last = block;
    queue->tail->start = queue->tail->end = 0;
    return SEEN_OK;
}

static sn_queue_block *new_block(void)
{
    sn_queue_block *block = malloc(sizeof *block);
    if (block)
        memset(block, 0, sizeof *block);
    return block;
}

seen_status sn_queue_push(sn_queues *q, sn_queue *queue, sn_frontier_place place, seen_error *error)
{
    if (!queue->head && !(queue->head = new_block()))
        return sn_error_memory(error);
    sn_queue_block *block = queue->tail;
    if (!block) {
        block = queue->head;
        if (block->end == SN_BLOCK_PLACES) {
            if (!(block = new_block()))
                return sn_error_memory(error);
            queue->tail = block;
        }
    } else if (block->end == SN_BLOCK_PLACES) {
        seen_status status = spill(q, queue, error);
        if (status != SEEN_OK)
            return status;
    }
    block->places[block->end++] = place;
    queue->count++;
    return SEEN_OK;
}

/* Fills an empty head from the file, or uses the tail. */
static seen_status refill(sn_queues *q, sn_queue *queue, seen_error *error)
{
    if (queue->first == 0) {
        free(queue->head);
        queue->head = queue->tail;
        queue->tail = NULL;
        return SEEN_OK;
    }
    uint32_t block = queue->first;
    if (sn_io_read_some(q->fd, queue->head, sizeof *queue->head, offset_of(block)) !=
            (ssize_t)sizeof *queue->head ||
        !sn_io_write(q->fd, &q->free, sizeof q->free, offset_of(block)))
        return sn_error_cannot_in(error, errno, q->folder, "read",
                                  "the temporary file of the queues");
    q->free = block;
    queue->first = queue->head->next;
    return SEEN_OK;
}

void sn_queue_drop(sn_queues *q, sn_queue *queue)
{
    /* Adds its blocks in the file to the free list; if that fails they are not reused. */
    if (queue->first != 0 && sn_io_write(q->fd, &q->free, sizeof q->free, offset_of(queue->last)))
        q->free = queue->first;
    sn_queue_clear(queue);
}

seen_status sn_queue_pop(sn_queues *q, sn_queue *queue, sn_frontier_place *place, bool *got,
                         seen_error *error)
{
    *got = false;
    if (queue->count == 0)
        return SEEN_OK;
    if (queue->head->start == queue->head->end) {
        seen_status status = refill(q, queue, error);
        if (status != SEEN_OK)
            return status;
    }
    *place = queue->head->places[queue->head->start++];
    *got = true;
    if (--queue->count == 0)
        sn_queue_clear(queue);
    return SEEN_OK;
}

void sn_queue_clear(sn_queue *queue)
{
    free(queue->head);
    free(queue->tail);
    *queue = (sn_queue){0};
}
