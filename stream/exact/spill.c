/* Records split into parts, in one temporary file.
 *
 *     file    | chunk of part 3 | chunk of part 0 | chunk of part 3 | …
 *     part 3    offset, count, base;  offset, count, base;  …               in memory
 *
 * One file, because many files growing in parallel fragment the disk, and each would need a buffer
 * and a descriptor. */
#include "stream/exact/spill.h"

#include "base/error.h"
#include "base/memory.h"
#include "stream/exact/table.h"
#include "stream/io/temp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_MIN = 64, CHUNK_MAX = 1 << 14 };

typedef struct chunk {
    uint64_t offset;
    uint64_t base;
    uint32_t count;
} chunk;

typedef struct part {
    seen_hash *buffer; /* NULL until the first record */
    size_t held;
    uint64_t base; /* number of the first buffered record */
    uint64_t count;
    chunk *chunks;
    size_t chunk_count, chunk_room;
} part;

struct sn_spill {
    sn_temp *temp;
    size_t chunk_records;
    unsigned parts;
    part part[];
};

seen_status sn_spill_open(const char *dir, unsigned parts, uint64_t memory, uint64_t expected,
                          sn_spill **spill, seen_error *error)
{
    assert(parts > 0 && parts <= SN_SPILL_PARTS_MAX);
    sn_spill *made = calloc(1, sizeof *made + parts * sizeof *made->part);
    if (!made)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for temporary files");
    made->parts = parts;
    uint64_t records = memory / parts / sizeof(seen_hash);
    made->chunk_records = records < CHUNK_MIN   ? CHUNK_MIN
                          : records > CHUNK_MAX ? CHUNK_MAX
                                                : (size_t)records;
    seen_status status = sn_temp_open(dir, expected, &made->temp, error);
    if (status != SEEN_OK) {
        free(made);
        return status;
    }
    *spill = made;
    return SEEN_OK;
}

void sn_spill_close(sn_spill *spill)
{
    if (!spill)
        return;
    for (unsigned i = 0; i < spill->parts; i++) {
        free(spill->part[i].buffer);
        free(spill->part[i].chunks);
    }
    sn_temp_close(spill->temp);
    free(spill);
}

static seen_status no_memory(seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for the buffers of temporary files");
}

/* Writes the buffer of a part as one chunk. */
static seen_status put_away(sn_spill *spill, part *p, seen_error *error)
{
    if (!p->held)
        return SEEN_OK;
    if (p->chunk_count == p->chunk_room) {
        chunk *chunks =
            sn_memory_grow(p->chunks, &p->chunk_room, p->chunk_count + 1, sizeof *chunks);
        if (!chunks)
            return no_memory(error);
        p->chunks = chunks;
    }
    p->chunks[p->chunk_count] = (chunk){sn_temp_length(spill->temp), p->base, (uint32_t)p->held};
    seen_status status = sn_temp_write(spill->temp, p->buffer, p->held * sizeof *p->buffer, error);
    if (status != SEEN_OK)
        return status;
    p->chunk_count++;
    p->held = 0;
    return SEEN_OK;
}

seen_status sn_spill_add(sn_spill *spill, seen_hash hash, uint64_t number, seen_error *error)
{
    part *p = &spill->part[(uint64_t)sn_table_unused(hash) * spill->parts >> 32];
    if (!p->buffer && !(p->buffer = malloc(spill->chunk_records * sizeof *p->buffer)))
        return no_memory(error);
    if (p->held && (number - p->base > UINT32_MAX || p->held == spill->chunk_records)) {
        seen_status status = put_away(spill, p, error);
        if (status != SEEN_OK)
            return status;
    }
    if (!p->held)
        p->base = number;
    hash.lo = (hash.lo & ~(uint64_t)UINT32_MAX) | (number - p->base);
    p->buffer[p->held++] = hash;
    p->count++;
    return SEEN_OK;
}

seen_status sn_spill_finish(sn_spill *spill, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (unsigned i = 0; i < spill->parts && status == SEEN_OK; i++) {
        status = put_away(spill, &spill->part[i], error);
        free(spill->part[i].buffer);
        spill->part[i].buffer = NULL;
    }
    return status == SEEN_OK ? sn_temp_flush(spill->temp, error) : status;
}

size_t sn_spill_chunks(const sn_spill *spill, unsigned number)
{
    return spill->part[number].chunk_count;
}

size_t sn_spill_chunk_records(const sn_spill *spill)
{
    return spill->chunk_records;
}

seen_status sn_spill_read(sn_spill *spill, unsigned number, size_t index, seen_hash *hashes,
                          size_t *count, uint64_t *base, seen_error *error)
{
    const chunk *c = &spill->part[number].chunks[index];
    size_t got, bytes = c->count * sizeof *hashes;
    seen_status status = sn_temp_read(spill->temp, c->offset, hashes, bytes, &got, error);
    if (status != SEEN_OK)
        return status;
    if (got < bytes)
        return sn_error_set(error, SEEN_ERR_IO, "a temporary file in %s became shorter",
                            sn_temp_dir(spill->temp));
    *count = c->count;
    *base = c->base;
    return SEEN_OK;
}

uint64_t sn_spill_count(const sn_spill *spill, unsigned number)
{
    return spill->part[number].count;
}

uint64_t sn_spill_bytes(const sn_spill *spill)
{
    return sn_temp_length(spill->temp);
}
