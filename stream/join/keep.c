/* One bit per line of A. */
#include "stream/join/keep.h"

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOTES_MEMORY ((uint64_t)4 << 20)

seen_status sn_keep_open(sn_keep *keep, uint64_t lines, uint64_t memory, const char *dir,
                         seen_error *error)
{
    *keep = (sn_keep){.lines = lines};
    uint64_t bytes = (lines / 64 + 1) * 8, most = memory < 4096 ? 4096 : memory / 8 * 8;
    keep->ranges = 1;
    if (bytes > most) {
        most = most > 2 * NOTES_MEMORY ? most - NOTES_MEMORY : most / 2 / 8 * 8;
        uint64_t ranges = (bytes + most - 1) / most;
        if (ranges > SN_SPILL_PARTS_MAX) {
            ranges = SN_SPILL_PARTS_MAX;
            most = (bytes / ranges / 8 + 1) * 8;
        }
        keep->ranges = (unsigned)ranges;
        bytes = most;
        seen_status status = sn_spill_open(dir, keep->ranges, NOTES_MEMORY, 0, &keep->notes, error);
        if (status != SEEN_OK)
            return status;
    }
    keep->range = bytes * 8;
    keep->bytes = bytes;
    void *words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED) {
        sn_keep_close(keep);
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a map of %llu lines",
                            (unsigned long long)lines);
    }
    keep->words = words;
    return SEEN_OK;
}

void sn_keep_close(sn_keep *keep)
{
    if (keep->words)
        munmap(keep->words, keep->bytes);
    sn_spill_close(keep->notes);
    *keep = (sn_keep){0};
}

static inline void set_bit(sn_keep *keep, uint64_t bit)
{
    keep->words[bit >> 6] |= (uint64_t)1 << (bit & 63);
}

seen_status sn_keep_set(sn_keep *keep, uint64_t line, seen_error *error)
{
    assert(line < keep->lines);
    if (!keep->notes) {
        set_bit(keep, line);
        return SEEN_OK;
    }
    /* The spill selects the part by hash; this hash selects the part of the line's range. */
    uint64_t part = line / keep->range;
    seen_hash at = {.lo = ((part << 32) + keep->ranges - 1) / keep->ranges, .hi = 0};
    return sn_spill_add(keep->notes, at, line, error);
}

seen_status sn_keep_finish(sn_keep *keep, seen_error *error)
{
    return keep->notes ? sn_spill_finish(keep->notes, error) : SEEN_OK;
}

static seen_status load(sn_keep *keep, uint64_t number, seen_error *error)
{
    size_t room = sn_spill_chunk_records(keep->notes);
    seen_hash *records = malloc(room * sizeof *records);
    if (!records)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a map of lines");
    memset(keep->words, 0, keep->bytes);
    seen_status status = SEEN_OK;
    size_t chunks = sn_spill_chunks(keep->notes, (unsigned)number);
    for (size_t i = 0; i < chunks && status == SEEN_OK; i++) {
        size_t count = 0;
        uint64_t base = 0;
        status = sn_spill_read(keep->notes, (unsigned)number, i, records, &count, &base, error);
        for (size_t k = 0; status == SEEN_OK && k < count; k++)
            set_bit(keep, base + (uint32_t)records[k].lo - number * keep->range);
    }
    free(records);
    keep->loaded = number + 1;
    return status;
}

seen_status sn_keep_get(sn_keep *keep, uint64_t first, size_t count, seen_answer *answers,
                        seen_error *error)
{
    for (size_t i = 0; i < count;) {
        uint64_t line = first + i, number = line / keep->range;
        assert(line < keep->lines);
        if (keep->notes && keep->loaded != number + 1) {
            seen_status status = load(keep, number, error);
            if (status != SEEN_OK)
                return status;
        }
        uint64_t bit = line - number * keep->range, left = keep->range - bit;
        size_t n = count - i < left ? count - i : (size_t)left;
        for (size_t k = 0; k < n; k++, bit++)
            answers[i + k] = (seen_answer)(keep->words[bit >> 6] >> (bit & 63) & 1);
        i += n;
    }
    return SEEN_OK;
}

uint64_t sn_keep_temporary(const sn_keep *keep)
{
    return keep->notes ? sn_spill_bytes(keep->notes) : 0;
}
