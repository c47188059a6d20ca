/* The tables of `uniq --exact`.
 *
 * Asking is most of the work, and of equal lines the first must win, so that two threads may not
 * ask one table as they please. Each table is asked in input order, but there are several, each for
 * a share of the hashes: while one thread takes a block through the second, another takes the next
 * block through the first (split.h). */
#include <math.h>
#include <stdlib.h>

#include "stream/exact/split.h"
#include "stream/uniq/exact.h"

/* Below this many bytes a table is too small to be cut. */
#define LANE_MIN ((uint64_t)2 << 20)

static unsigned choose_lanes(uint64_t limit, unsigned threads)
{
    unsigned lanes = 1;
    while (lanes < SN_EXACT_LANES && lanes < threads && limit / (2 * lanes) >= LANE_MIN)
        lanes *= 2;
    return lanes;
}

seen_status sn_lanes_open(sn_uniq_exact *way, uint64_t limit, unsigned threads, seen_error *error)
{
    way->lanes = choose_lanes(limit, threads);
    seen_status status = SEEN_OK;
    for (unsigned i = 0; i < way->lanes && status == SEEN_OK; i++)
        status = sn_table_open(limit / way->lanes, way->expected / way->lanes, &way->lane[i].table,
                               error);
    return status;
}

void sn_lanes_close(sn_uniq_exact *way)
{
    for (unsigned i = 0; i < way->lanes; i++)
        sn_table_close(way->lane[i].table);
}

uint64_t sn_lanes_count(const sn_uniq_exact *way)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < way->lanes; i++)
        count += sn_table_count(way->lane[i].table);
    return count;
}

uint64_t sn_lanes_bytes(const sn_uniq_exact *way)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < way->lanes; i++)
        bytes += way->lane[i].table ? sn_table_bytes(way->lane[i].table) : 0;
    return bytes;
}

/* ---- Asking --------------------------------------------------------------------------------- */

size_t sn_lanes_add(sn_exact_lane *lane, const seen_hash *hashes, size_t count,
                    seen_answer *answers)
{
    /* A key that found no room once is never added, or its second time would look like its
     * first. */
    size_t decided = lane->full ? 0 : sn_table_add(lane->table, hashes, count, answers);
    if (decided == count)
        return count;
    lane->full = true;
    sn_table_check(lane->table, hashes + decided, count - decided, answers + decided);
    for (size_t i = decided; i < count; i++)
        if (answers[i] == SEEN_NEW)
            answers[i] = SEEN_UNKNOWN;
    return decided;
}

static void mark_repeats(sn_table *table, const sn_share *part)
{
    seen_hash again[SN_EXACT_BATCH];
    size_t n = 0;
    for (size_t i = 0; i < part->count; i++) {
        if (part->answer[i] == SEEN_BEFORE)
            again[n++] = part->hash[i];
        if (n == SN_EXACT_BATCH || (i + 1 == part->count && n)) {
            sn_table_mark(table, SN_EXACT_REPEATED, -1, again, n);
            n = 0;
        }
    }
}

/* How many different lines will there be? In most lists new ones become rarer: of n lines about n^b
 * are different, and then b is the share of new ones just now by their share so far. Where they do
 * not, b is 1, and the lines to come are as new as the last ones. */
static void foresee(const sn_uniq_exact *way, sn_exact_lane *lane, const sn_share *part)
{
    size_t fresh = 0;
    for (size_t i = 0; i < part->count; i++)
        fresh += part->answer[i] == SEEN_NEW;
    lane->asked += part->count;
    lane->fresh += fresh;
    /* Over about the last tenth of what was asked. */
    double now = (double)fresh / (double)(part->count + 1);
    double weight = 10.0 * (double)part->count / (double)(lane->asked + 1);
    lane->recent += (now - lane->recent) * (weight < 1 ? weight : 1);
    double expected = (double)way->expected / way->lanes, asked = (double)lane->asked;
    if (expected <= asked || !lane->fresh)
        return;
    double so_far = (double)lane->fresh, b = lane->recent * asked / so_far;
    double likely =
        b < 1 ? so_far * pow(expected / asked, b) : so_far + (expected - asked) * lane->recent;
    sn_table_foresee(lane->table, (uint64_t)likely);
}

seen_status sn_lanes_hash(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    seen_status status = sn_uniq_hash(context, block, error);
    const sn_uniq_exact *way = u->way;
    return status == SEEN_OK ? sn_split_block(block, way->lanes, error) : status;
}

seen_status sn_lanes_ask(void *context, sn_block *block, unsigned number, seen_error *error)
{
    (void)error;
    const sn_uniq *u = context;
    sn_uniq_exact *way = u->way;
    sn_exact_lane *lane = &way->lane[number];
    sn_share part = sn_split_share(block, way->lanes, number);
    sn_lanes_add(lane, part.hash, part.count, part.answer);
    if (way->singles)
        mark_repeats(lane->table, &part);
    if (!lane->full && way->expected)
        foresee(way, lane, &part);
    sn_split_hand_back(&part, block);
    return SEEN_OK;
}

seen_status sn_lanes_ask_marks(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    const sn_uniq_exact *way = u->way;
    seen_status status = sn_lanes_hash(context, block, error);
    for (unsigned i = 0; i < way->lanes && status == SEEN_OK; i++) {
        const sn_table *table = way->lane[i].table;
        sn_share part = sn_split_share(block, way->lanes, i);
        sn_table_check_marked(table, SN_EXACT_REPEATED, part.hash, part.count, part.answer);
        /* Waiting lines are not in the table, so they have no mark either. */
        seen_answer there[SN_EXACT_BATCH];
        for (size_t at = 0; way->lane[i].full && at < part.count; at += SN_EXACT_BATCH) {
            size_t count = part.count - at < SN_EXACT_BATCH ? part.count - at : SN_EXACT_BATCH;
            sn_table_check(table, part.hash + at, count, there);
            for (size_t k = 0; k < count; k++)
                if (there[k] == SEEN_NEW)
                    part.answer[at + k] = SEEN_BEFORE;
        }
        sn_split_hand_back(&part, block);
    }
    return status;
}
