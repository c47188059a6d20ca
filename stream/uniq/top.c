/* The lines with the N largest counts. */
#include "stream/uniq/top.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static seen_status no_memory(const sn_top *top, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_MEMORY,
                        "no memory for the %llu largest counts; give a smaller --top",
                        (unsigned long long)top->wanted);
}

/* Doubles a full array; false if out of memory. */
static bool make_room(void **items, size_t *room, size_t needed, size_t each)
{
    void *moved = sn_memory_grow(*items, room, needed, each);
    if (moved)
        *items = moved;
    return moved;
}

seen_status sn_top_open(sn_top *top, uint64_t wanted, seen_error *error)
{
    *top = (sn_top){.wanted = wanted};
    if (wanted > SN_TOP_MAX)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "--top takes at most %d lines", SN_TOP_MAX);
    pthread_mutex_init(&top->lock, NULL);
    return SEEN_OK;
}

void sn_top_close(sn_top *top)
{
    free(top->heap);
    free(top->line);
    free(top->text);
    *top = (sn_top){0};
}

static void sift_down(uint64_t *heap, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1] < heap[child])
            child++;
        if (heap[at] <= heap[child])
            return;
        uint64_t swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

static void sift_up(uint64_t *heap, size_t at)
{
    for (; at && heap[(at - 1) / 2] > heap[at]; at = (at - 1) / 2) {
        uint64_t swap = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = swap;
    }
}

static bool offer_one(sn_top *top, uint64_t count)
{
    if (top->held == top->wanted) {
        if (count > top->heap[0]) {
            top->heap[0] = count;
            sift_down(top->heap, top->held, 0);
        }
        return true;
    }
    if (!make_room((void **)&top->heap, &top->room, top->held + 1, sizeof *top->heap))
        return false;
    top->heap[top->held] = count;
    sift_up(top->heap, top->held++);
    return true;
}

seen_status sn_top_add(sn_top *top, const uint64_t *counts, size_t count, seen_error *error)
{
    bool good = true;
    pthread_mutex_lock(&top->lock);
    for (size_t i = 0; i < count && good; i++)
        good = offer_one(top, counts[i]);
    pthread_mutex_unlock(&top->lock);
    return good ? SEEN_OK : no_memory(top, error);
}

void sn_top_select(sn_top *top)
{
    top->least = top->held ? top->heap[0] : 0;
    top->of_them = 0;
    for (size_t i = 0; i < top->held; i++)
        top->of_them += top->heap[i] == top->least;
}

bool sn_top_takes(sn_top *top, uint64_t count)
{
    if (count != top->least)
        return count > top->least;
    if (!top->of_them)
        return false;
    top->of_them--;
    return true;
}

seen_status sn_top_insert(sn_top *top, uint64_t count, const char *text, size_t length,
                          seen_error *error)
{
    if (!make_room((void **)&top->line, &top->line_room, top->lines + 1, sizeof *top->line) ||
        !make_room((void **)&top->text, &top->text_room, top->length + length, 1))
        return no_memory(top, error);
    top->line[top->lines] = (sn_top_line){count, top->lines, top->length, length};
    memcpy(top->text + top->length, text, length);
    top->lines++;
    top->length += length;
    return SEEN_OK;
}

static int by_count(const void *x, const void *y)
{
    const sn_top_line *a = x, *b = y;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

seen_status sn_top_write(sn_top *top, sn_output *output, seen_error *error)
{
    seen_status status = SEEN_OK;
    if (top->lines)
        qsort(top->line, top->lines, sizeof *top->line, by_count);
    for (size_t i = 0; i < top->lines && status == SEEN_OK; i++)
        status =
            sn_output_write(output, top->text + top->line[i].offset, top->line[i].length, error);
    return status;
}
