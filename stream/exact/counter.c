/* The exact table with counts: the code of table.c, with four entries per cache line.
 *
 * An entry counts up to 2^24. Each overflow is recorded in a separate carry list. A hash needs
 * sixteen million lines for one overflow, so there are few carries in any input. */
#define SN_TABLE_COUNTS 1

/* Renames everything declared in table.h. */
#define sn_table sn_counter
#define sn_table_add sn_counter_add
#define sn_table_add_any sn_counter_add_any
#define sn_table_bytes sn_counter_bytes
#define sn_table_check sn_counter_check
#define sn_table_check_marked sn_counter_check_marked
#define sn_table_clear sn_counter_clear
#define sn_table_clear_mark sn_counter_clear_mark
#define sn_table_close sn_counter_close
#define sn_table_count sn_counter_count
#define sn_table_empty sn_counter_empty
#define sn_table_expect sn_counter_expect
#define sn_table_grow sn_counter_grow
#define sn_table_grow_shared sn_counter_grow_shared
#define sn_table_list sn_counter_list
#define sn_table_mark sn_counter_mark
#define sn_table_open sn_counter_open
#define sn_table_reserve sn_counter_reserve
#define sn_table_take sn_counter_take

#include "stream/exact/counter.h"

#include "stream/exact/table_add.h"
#include "stream/exact/table_find.h"
#include "stream/exact/table_grow.h"

enum { VISITED = 0, CARRIED = 1, BATCH = 512 };

#define WRAP ((uint32_t)1 << 24)

/* The carry of an entry; NULL if it has none. */
static sn_table_carry *find_carry(const sn_counter *counter, const found *place)
{
    uint64_t high = place->bucket->high[place->slot];
    uint32_t low = place->bucket->low[place->slot];
    for (size_t i = 0; i < counter->carries; i++)
        if (counter->carry[i].high == high && counter->carry[i].low == low)
            return &counter->carry[i];
    return NULL;
}

static void add_carry(sn_counter *counter, const found *place)
{
    sn_table_carry *carry = find_carry(counter, place);
    if (!carry) {
        assert(counter->carries < SN_TABLE_CARRIES);
        carry = &counter->carry[counter->carries++];
        *carry = (sn_table_carry){.high = place->bucket->high[place->slot],
                                  .low = place->bucket->low[place->slot]};
        request carried = {.mark = CARRIED, .need = -1};
        set_mark(&carried, *place);
    }
    carry->times++;
}

static inline uint64_t total_of(const sn_counter *counter, const found *place)
{
    uint64_t count = sn_table_count_of(place->bucket, place->slot);
    const sn_table_carry *carry = has_mark(*place, CARRIED) ? find_carry(counter, place) : NULL;
    return carry ? count + carry->times * WRAP : count;
}

static inline void visit_raise(const request *r, size_t i, found place)
{
    if (!place.bucket) {
        r->answers[i] = SEEN_UNKNOWN;
        return;
    }
    uint32_t count = sn_table_count_of(place.bucket, place.slot) + 1;
    r->answers[i] = count == 1 && !has_mark(place, CARRIED) ? SEEN_NEW : SEEN_BEFORE;
    if (count == WRAP) {
        count = 0;
        add_carry(r->table, &place);
    }
    sn_table_set_count(place.bucket, place.slot, count);
}

void sn_counter_raise(sn_counter *counter, const seen_hash *hashes, size_t count,
                      seen_answer *answers)
{
    request r = {.answers = answers, .table = counter};
    for (size_t at = 0; at < count; at += BATCH) {
        size_t n = count - at < BATCH ? count - at : BATCH;
        /* Entries are added with a count of 0 and found again while they are in the cache. */
        if (!is_full(counter))
            sn_counter_add(counter, hashes + at, n, answers + at);
        r.answers = answers + at;
        search(counter, hashes + at, n, &r, visit_raise);
    }
}

static inline void visit_count(const request *r, size_t i, found place)
{
    r->counts[i] = place.bucket ? total_of(r->table, &place) : 0;
    if (!place.bucket)
        r->answers[i] = SEEN_UNKNOWN;
    else
        r->answers[i] = set_mark(r, place) ? SEEN_NEW : SEEN_BEFORE;
}

void sn_counter_visit(sn_counter *counter, const seen_hash *hashes, size_t count, uint64_t *counts,
                      seen_answer *answers)
{
    request r = {
        .mark = VISITED, .need = -1, .answers = answers, .table = counter, .counts = counts};
    search(counter, hashes, count, &r, visit_count);
}

static inline void visit_lower(const request *r, size_t i, found place)
{
    if (!place.bucket) {
        r->answers[i] = SEEN_UNKNOWN;
        return;
    }
    uint64_t left = total_of(r->table, &place) - 1;
    sn_table_carry *carry = has_mark(place, CARRIED) ? find_carry(r->table, &place) : NULL;
    if (carry)
        carry->times = left / WRAP;
    sn_table_set_count(place.bucket, place.slot, (uint32_t)(left % WRAP));
    r->answers[i] = left ? SEEN_BEFORE : SEEN_NEW;
}

void sn_counter_lower(sn_counter *counter, const seen_hash *hashes, size_t count,
                      seen_answer *answers)
{
    request r = {.answers = answers, .table = counter};
    search(counter, hashes, count, &r, visit_lower);
}

size_t sn_counter_list_counts(const sn_counter *counter, uint64_t *cursor, uint64_t *counts,
                              size_t room)
{
    size_t made = 0, group = *cursor % SN_TABLE_GROUPS;
    uint64_t at = *cursor / SN_TABLE_GROUPS;
    for (; group < SN_TABLE_GROUPS; group++, at = 0)
        for (; at < buckets_on(counter, group); at++) {
            found place = {.bucket = &counter->group[group].bucket[at]};
            uint32_t state = atomic_load_explicit(&place.bucket->state, memory_order_relaxed);
            if (made + SN_TABLE_SLOTS > room) {
                *cursor = at * SN_TABLE_GROUPS + group;
                return made;
            }
            for (; place.slot < (state & SN_TABLE_COUNT_MASK); place.slot++)
                counts[made++] = total_of(counter, &place);
        }
    *cursor = UINT64_MAX; /* the last group, behind its end */
    return made;
}
