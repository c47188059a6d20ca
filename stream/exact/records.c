/* Hashes with line numbers. */
#include "stream/exact/records.h"

#include "base/error.h"

#include <stdlib.h>

seen_status sn_records_open(sn_records *records, const char *dir, uint64_t expected,
                            seen_error *error)
{
    *records = (sn_records){0};
    return sn_temp_open(dir, expected, &records->temp, error);
}

void sn_records_close(sn_records *records)
{
    sn_temp_close(records->temp);
    free(records->epochs);
    *records = (sn_records){0};
}

static seen_status begin_epoch(sn_records *records, uint64_t upper, seen_error *error)
{
    sn_records_epoch *epochs =
        realloc(records->epochs, (records->epoch_count + 1) * sizeof *epochs);
    if (!epochs)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for the numbers of lines");
    records->epochs = epochs;
    epochs[records->epoch_count++] = (sn_records_epoch){records->count, upper};
    return SEEN_OK;
}

seen_status sn_records_add(sn_records *records, seen_hash hash, uint64_t number, seen_error *error)
{
    uint64_t upper = number >> 32;
    if (!records->epoch_count || records->epochs[records->epoch_count - 1].upper != upper) {
        seen_status status = begin_epoch(records, upper, error);
        if (status != SEEN_OK)
            return status;
    }
    hash.lo = (hash.lo & 0xffffffff00000000u) | (uint32_t)number;
    records->count++;
    return sn_temp_write(records->temp, &hash, sizeof hash, error);
}

seen_status sn_records_flush(sn_records *records, seen_error *error)
{
    return sn_temp_flush(records->temp, error);
}

seen_status sn_records_read(sn_records *records, uint64_t first, seen_hash *hashes, size_t room,
                            size_t *got, uint64_t *base, seen_error *error)
{
    *got = 0;
    *base = 0;
    if (first >= records->count)
        return SEEN_OK;
    size_t epoch = records->epoch_count - 1;
    uint64_t end = records->count;
    while (records->epochs[epoch].first > first)
        end = records->epochs[epoch--].first;
    *base = records->epochs[epoch].upper << 32;
    if (room > end - first)
        room = (size_t)(end - first);
    size_t bytes;
    seen_status status = sn_temp_read(records->temp, first * sizeof *hashes, hashes,
                                      room * sizeof *hashes, &bytes, error);
    if (status != SEEN_OK)
        return status;
    *got = bytes / sizeof *hashes;
    if (*got < room)
        return sn_error_set(error, SEEN_ERR_IO, "a temporary file in %s became shorter",
                            sn_temp_dir(records->temp));
    return SEEN_OK;
}
