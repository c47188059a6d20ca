/* One number per line, in a temporary file.
 *
 * A range of lines is a part of the spill. A record stores the value in the upper half of the hash,
 * and the line's position in its range above the bits that select the part. */
#include "stream/exact/notes.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { RANGE = 1 << 18 };
#define BUFFERS ((uint64_t)4 << 20)

seen_status sn_notes_open(sn_notes *notes, uint64_t lines, const char *dir, seen_error *error)
{
    *notes = (sn_notes){.range = RANGE};
    if (lines / RANGE >= SN_SPILL_PARTS_MAX)
        notes->range = lines / SN_SPILL_PARTS_MAX + 1;
    notes->ranges = (unsigned)(lines / notes->range + 1);
    notes->value = malloc(notes->range * sizeof *notes->value);
    if (!notes->value)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for notes about %llu lines",
                            (unsigned long long)lines);
    seen_status status = sn_spill_open(dir, notes->ranges, BUFFERS, 0, &notes->spill, error);
    if (status != SEEN_OK) {
        free(notes->value);
        *notes = (sn_notes){0};
        return status;
    }
    pthread_mutex_init(&notes->lock, NULL);
    return SEEN_OK;
}

void sn_notes_close(sn_notes *notes)
{
    if (!notes->spill)
        return;
    pthread_mutex_destroy(&notes->lock);
    sn_spill_close(notes->spill);
    free(notes->value);
    *notes = (sn_notes){0};
}

seen_status sn_notes_add(sn_notes *notes, uint64_t line, uint64_t value, seen_error *error)
{
    uint64_t part = line / notes->range, place = line % notes->range;
    uint64_t chooses = ((part << 32) + notes->ranges - 1) / notes->ranges;
    seen_hash record = {.hi = value, .lo = place << 32 | chooses};
    pthread_mutex_lock(&notes->lock);
    seen_status status = sn_spill_add(notes->spill, record, 0, error);
    pthread_mutex_unlock(&notes->lock);
    return status;
}

seen_status sn_notes_finish(sn_notes *notes, seen_error *error)
{
    return sn_spill_finish(notes->spill, error);
}

static seen_status load(sn_notes *notes, unsigned part, seen_error *error)
{
    seen_hash *records = malloc(sn_spill_chunk_records(notes->spill) * sizeof *records);
    if (!records)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for notes about lines");
    memset(notes->value, 0, notes->range * sizeof *notes->value);
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < sn_spill_chunks(notes->spill, part) && status == SEEN_OK; i++) {
        size_t count = 0;
        uint64_t base;
        status = sn_spill_read(notes->spill, part, i, records, &count, &base, error);
        for (size_t k = 0; status == SEEN_OK && k < count; k++)
            notes->value[records[k].lo >> 32] = records[k].hi;
    }
    free(records);
    notes->loaded = status == SEEN_OK ? (uint64_t)part + 1 : 0;
    return status;
}

seen_status sn_notes_get(sn_notes *notes, uint64_t line, uint64_t *value, seen_error *error)
{
    uint64_t part = line / notes->range;
    if (notes->loaded != part + 1) {
        seen_status status = load(notes, (unsigned)part, error);
        if (status != SEEN_OK)
            return status;
    }
    *value = notes->value[line % notes->range];
    return SEEN_OK;
}

uint64_t sn_notes_bytes(const sn_notes *notes)
{
    return notes->spill ? sn_spill_bytes(notes->spill) : 0;
}
