/* Tag lines: sizes and the stash. See tags.h. */
#include "filter/tags.h"

#include "filter/plan.h"

#include <math.h>
#include <stdlib.h>

/* ---- sizes ---- */

/* A smaller step wastes less memory but moves every key more often: 5.3 times with four steps in a
 * doubling, 2.4 times with two, which take 9% more memory. Around 1% memory counts most, since
 * layers took little less than tag lines do: there are as many tags as slots, so that half of the
 * lines overflow in the end. Lower rates have fewer slots, whose use varies more, and get fewer
 * tags. */
sn_tags_shape sn_tags_shape_of(unsigned extra)
{
    unsigned width = 16 + extra;
    return (sn_tags_shape){.extra = extra,
                           .width = width,
                           .slots = 511 / width,
                           .over_slots = 511 / (width + 5),
                           .least = extra > 6 ? extra : 6,
                           .steps = extra <= 2 ? 4 : 2,
                           .load = extra <= 1 ? 1 : 0.92};
}

uint64_t sn_tags_limit(const sn_tags_shape *shape, uint64_t homes)
{
    return (uint64_t)((double)homes * shape->slots * shape->load);
}

/* Twice the number expected by a Poisson model of the blocks at the limit, plus room for small
 * partitions. */
uint64_t sn_tags_stash_words(const sn_tags_shape *shape, uint64_t homes)
{
    uint64_t words = homes * shape->slots / (shape->extra < 12 ? 384 : 192) + 64;
    return (words + 7) / 8 * 8;
}

uint64_t sn_tags_bytes(uint64_t homes, uint64_t stash_words)
{
    return homes / SN_TAGS_HOMES * SN_TAGS_BLOCK * SN_LINE_BYTES + stash_words * 8;
}

bool sn_tags_valid(unsigned extra, uint64_t homes, uint64_t stash_words)
{
    if (extra < 1 || extra > SN_TAGS_EXTRA_MAX || homes < SN_TAGS_HOMES ||
        homes % SN_TAGS_HOMES != 0 || homes >> SN_TAGS_LEVEL_MAX != 0)
        return false;
    uint64_t power = UINT64_C(1) << sn_tags_level(homes);
    /* Between a power of two and 64/63 of it the largest cell could be at both ends of a line. */
    if (homes > power && (homes - power) * 63 < power)
        return false;
    return stash_words >= 8 && stash_words % 8 == 0 && stash_words <= homes * 32 + 64;
}

/* Keys added while a partition has level k get cells of size 2^-(k + W - 1). A partition takes
 * slots * 2^k keys in each level, and twice as many in its first one. */
unsigned sn_tags_extra_for(double rate, unsigned level)
{
    for (unsigned extra = 1; extra <= SN_TAGS_EXTRA_MAX; extra++) {
        sn_tags_shape shape = sn_tags_shape_of(extra);
        double keys = shape.slots * shape.load;
        double levels = log2((double)SN_PLAN_KEYS_MAX / (SN_TAGS_PARTS * keys)) - level;
        if (keys * fmax(2, 1 + levels) * exp2(1 - (double)shape.width) <= rate)
            return extra;
    }
    return 0;
}

uint64_t sn_tags_homes_at(const sn_tags_shape *shape, unsigned p, unsigned step)
{
    double blocks = round(exp2((step + p / 64.0) / shape->steps));
    double power = exp2(floor(log2(blocks)));
    if (blocks < power * 1.02)
        blocks = power;
    return (uint64_t)blocks * SN_TAGS_HOMES;
}

unsigned sn_tags_step_for(const sn_tags_shape *shape, double keys)
{
    double share = keys / SN_TAGS_PARTS;
    unsigned step = 0;
    share += 5 * sqrt(share);
    while ((double)sn_tags_limit(shape, sn_tags_homes_at(shape, 0, step)) < share)
        step++;
    return step;
}

/* ---- partitions ---- */

sn_tags_part sn_tags_part_in(const sn_tags_shape *shape, char *lines, uint64_t homes,
                             uint64_t stash_words, uint64_t *counts)
{
    return (sn_tags_part){.lines = lines,
                          .stash = (uint64_t *)(void *)(lines + sn_tags_bytes(homes, 0)),
                          .homes = homes,
                          .stash_words = stash_words,
                          .limit = sn_tags_limit(shape, homes),
                          .counts = counts,
                          .level = sn_tags_level(homes)};
}

void sn_tags_part_free(sn_tags_part *part)
{
    free(part->lines);
    free(part->counts);
}

/* ---- the stash ---- */

static uint64_t stash_start(const sn_tags_part *part, uint64_t home)
{
    sn_u128 block = home / SN_TAGS_HOMES;
    return (uint64_t)(block * part->stash_words / (part->homes / SN_TAGS_HOMES));
}

static uint64_t stash_at(const sn_tags_part *part, uint64_t i)
{
    return le64toh(__atomic_load_n(part->stash + i, __ATOMIC_RELAXED));
}

/* Searches for a word that covers x, or equals x; *place is set to the empty word that ended the
 * search. */
static bool stash_find(const sn_tags_part *part, uint64_t home, uint64_t x, bool exact,
                       uint64_t *place)
{
    uint64_t i = stash_start(part, home);
    for (uint64_t n = 0; n < part->stash_words; n++) {
        uint64_t word = stash_at(part, i);
        *place = i;
        if (word == 0)
            return false;
        if (exact ? word == x : ((word ^ x) & ~(word ^ (word - 1))) == 0)
            return true;
        i = i + 1 == part->stash_words ? 0 : i + 1;
    }
    *place = part->stash_words; /* full */
    return false;
}

bool sn_tags_stash_has(const sn_tags_part *part, uint64_t home, uint64_t x)
{
    uint64_t place;
    return stash_find(part, home, x, false, &place);
}

bool sn_tags_stash_has_word(const sn_tags_part *part, uint64_t home, uint64_t word)
{
    uint64_t place;
    return stash_find(part, home, word, true, &place);
}

bool sn_tags_stash_put(const sn_tags_part *part, uint64_t home, uint64_t word)
{
    uint64_t used = __atomic_load_n(&part->counts[1], __ATOMIC_RELAXED), place;
    if (used >= part->stash_words / 4 * 3)
        return false;
    if (stash_find(part, home, word, true, &place))
        return true;
    if (place == part->stash_words)
        return false;
    __atomic_store_n(part->stash + place, htole64(word), __ATOMIC_RELEASE);
    __atomic_store_n(&part->counts[1], used + 1, __ATOMIC_RELAXED);
    return true;
}

uint64_t sn_tags_stash_word(const sn_tags_shape *shape, const sn_tags_part *part, seen_hash h)
{
    unsigned bits = part->level + shape->width - 1;
    uint64_t marker = UINT64_C(1) << (bits > 63 ? 0 : 63 - bits);
    return (sn_tags_position(h) & ~(marker | (marker - 1))) | marker;
}
