/* A table of tag lines in the heap, for tests of the rules alone: one thread, grown by hand. */
#ifndef TEST_TAGS_H
#define TEST_TAGS_H

#include "test_trust.h"

#include "filter/tags.h"

#include <math.h>

typedef struct table {
    sn_tags_shape shape;
    const sn_tags_kernel *kernel;
    sn_tags_part *part[SN_TAGS_PARTS];
    unsigned step[SN_TAGS_PARTS];
    uint64_t grown;
} table;

static sn_tags_part *part_new(const sn_tags_shape *s, uint64_t homes)
{
    sn_tags_part *part = calloc(1, sizeof *part);
    uint64_t words = sn_tags_stash_words(s, homes), bytes = sn_tags_bytes(homes, words);
    assert_true(sn_tags_valid(s->extra, homes, words));
    part->lines = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(part->lines, 0, bytes);
    part->stash = (uint64_t *)(void *)(part->lines + bytes - 8 * words);
    part->homes = homes;
    part->stash_words = words;
    part->limit = sn_tags_limit(s, homes);
    part->level = sn_tags_level(homes);
    part->counts = calloc(2, 8);
    return part;
}

static void part_free(sn_tags_part *part)
{
    free(part->lines);
    free(part->counts);
    free(part);
}

static void table_init(table *t, unsigned extra, unsigned step, const sn_tags_kernel *kernel)
{
    *t = (table){.shape = sn_tags_shape_of(extra), .kernel = kernel};
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        t->step[p] = step;
        t->part[p] = part_new(&t->shape, sn_tags_homes_at(p, step));
    }
}

static void table_free(table *t)
{
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++)
        part_free(t->part[p]);
}

static void table_grow(table *t, unsigned p)
{
    for (;;) {
        sn_tags_part *old = t->part[p];
        uint64_t homes = sn_tags_homes_at(p, ++t->step[p]);
        if (homes == old->homes)
            continue;
        sn_tags_part *part = part_new(&t->shape, homes);
        if (sn_tags_rewrite(&t->shape, old, part)) {
            t->part[p] = part;
            part_free(old);
            t->grown++;
            return;
        }
        part_free(part);
    }
}

static bool part_due(const sn_tags_part *part)
{
    return part->counts[0] >= part->limit || part->counts[1] * 2 > part->stash_words;
}

/* At most SN_TAGS_BATCH keys. */
static void table_add(table *t, const seen_hash *h, size_t count, seen_answer *answers)
{
    static uint16_t order[SN_TAGS_PARTS][SN_TAGS_BATCH];
    size_t held[SN_TAGS_PARTS] = {0};
    for (size_t i = 0; i < count; i++) {
        unsigned p = sn_tags_part_of(h[i]);
        order[p][held[p]++] = (uint16_t)i;
    }
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        while (held[p] > 0) {
            held[p] = t->kernel->add(&t->shape, t->part[p], h, order[p], held[p], answers);
            if (held[p] > 0)
                table_grow(t, p);
        }
        if (part_due(t->part[p]))
            table_grow(t, p);
    }
}

static void table_check(table *t, const seen_hash *h, size_t count, seen_answer *answers)
{
    for (size_t at = 0; at < count; at += SN_TAGS_LOOKUP) {
        size_t n = count - at < SN_TAGS_LOOKUP ? count - at : SN_TAGS_LOOKUP;
        t->kernel->check(&t->shape, t->part, h + at, n, answers + at);
    }
}

static double table_rate(table *t, double *keys)
{
    double rate = 0;
    *keys = 0;
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        sn_tags_tally tally = sn_tags_measure(&t->shape, t->part[p]);
        assert_true(tally.tags == (double)t->part[p]->counts[0]);
        rate += tally.rate / SN_TAGS_PARTS;
        *keys += tally.keys;
    }
    return rate;
}

#endif
