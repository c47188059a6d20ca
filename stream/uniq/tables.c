/* The tables of exact uniq. */
#include "stream/uniq/tables.h"

#include "stream/exact/split.h"

/* Below this many bytes a table is not split. */
#define LANE_MIN ((uint64_t)2 << 20)

unsigned sn_uniq_tables_choose(uint64_t limit, unsigned threads)
{
    unsigned lanes = 1;
    while (lanes < SN_DEFERRED_LANES && lanes < 2 * threads && limit / (2 * lanes) >= LANE_MIN)
        lanes *= 2;
    return lanes;
}

seen_status sn_uniq_tables_open(sn_uniq_tables *lanes, uint64_t limit, unsigned threads,
                                uint64_t expected, seen_error *error)
{
    unsigned wanted = sn_uniq_tables_choose(limit, threads);
    seen_status status = SEEN_OK;
    lanes->expected = expected;
    for (; lanes->count < wanted && status == SEEN_OK; lanes->count++)
        status = sn_table_open(limit / wanted, expected / wanted, &lanes->lane[lanes->count].table,
                               error);
    return status;
}

void sn_uniq_tables_close(sn_uniq_tables *lanes)
{
    for (unsigned i = 0; i < lanes->count; i++)
        sn_table_close(lanes->lane[i].table);
    lanes->count = 0;
}

uint64_t sn_uniq_tables_bytes(const sn_uniq_tables *lanes)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < lanes->count; i++)
        bytes += lanes->lane[i].table ? sn_table_bytes(lanes->lane[i].table) : 0;
    return bytes;
}

void sn_uniq_tables_add(sn_uniq_table *lane, const seen_hash *hashes, size_t count,
                        seen_answer *answers)
{
    size_t decided = lane->full ? 0 : sn_table_add(lane->table, hashes, count, answers);
    if (decided == count)
        return;
    lane->full = true;
    sn_table_check(lane->table, hashes + decided, count - decided, answers + decided);
    for (size_t i = decided; i < count; i++)
        if (answers[i] == SEEN_NEW)
            answers[i] = SEEN_UNKNOWN;
}

void sn_uniq_tables_lookup(sn_uniq_tables *lanes, sn_block *block, unsigned number)
{
    sn_uniq_table *lane = &lanes->lane[number];
    sn_share part = sn_split_share(block, lanes->count, number);
    sn_uniq_tables_add(lane, part.hash, part.count, part.answer);
    if (!lane->full && lanes->expected) {
        uint64_t likely = sn_forecast_add(&lane->forecast, part.answer, part.count,
                                          (double)lanes->expected / lanes->count);
        if (likely)
            sn_table_expect(lane->table, likely);
    }
    sn_split_return(&part, block);
}
