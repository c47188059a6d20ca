/* Tag lines: no key is lost over many doublings, for any kernel, rate and size; the rate is the sum
 * of the cells; full partitions report it. */
#include "test_trust.h"
#include <math.h>

#include "filter/tags.h"

/* A table of tag lines on the heap, for tests of the algorithm alone: one thread, grown
 * manually. */

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
        t->part[p] = part_new(&t->shape, sn_tags_homes_at(&t->shape, p, step));
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
        uint64_t homes = sn_tags_homes_at(&t->shape, p, ++t->step[p]);
        if (homes == old->homes)
            continue;
        sn_tags_part *part = part_new(&t->shape, homes);
        if (t->kernel->rewrite(&t->shape, old, part)) {
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

enum {
    MANY = 4096,
    ONE_PARTITION = 1 << 16, /* added to the number of a stream: all keys are of partition 0 */
};

static seen_hash key[MANY];
static seen_answer got[MANY];

/* Key n of a deterministic sequence. */
static seen_hash nth_key(uint64_t stream, uint64_t n)
{
    uint64_t a = sn_stir(n, stream * 0x9e3779b97f4a7c15u), b = sn_stir(a ^ n, 0x2545f4914f6cdd1du);
    seen_hash h = {sn_stir(a, b), sn_stir(b, a + stream)};
    if (stream & ONE_PARTITION)
        h.hi >>= 6;
    return h;
}

static void fill_keys(uint64_t stream, uint64_t from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        key[i] = nth_key(stream, from + i);
}

static uint64_t count_seen(table *t, uint64_t stream, uint64_t keys)
{
    uint64_t seen = 0;
    for (uint64_t at = 0; at < keys; at += MANY) {
        size_t n = keys - at < MANY ? (size_t)(keys - at) : MANY;
        fill_keys(stream, at, n);
        table_check(t, key, n, got);
        for (size_t i = 0; i < n; i++)
            seen += got[i] == SEEN_BEFORE;
    }
    return seen;
}

static uint64_t add_keys(table *t, uint64_t stream, uint64_t keys, size_t batch)
{
    uint64_t new_keys = 0;
    for (uint64_t at = 0; at < keys; at += batch) {
        size_t n = keys - at < batch ? (size_t)(keys - at) : batch;
        fill_keys(stream, at, n);
        table_add(t, key, n, got);
        for (size_t i = 0; i < n; i++)
            new_keys += got[i] == SEEN_NEW;
    }
    return new_keys;
}

/* From the smallest table: many doublings, divided cells, short tags stored twice. */
static void nothing_is_lost(void **state)
{
    (void)state;
    static const unsigned EXTRA[] = {1, 2, 4, 8, 14, 23, 35};
    for (size_t e = 0; e < sizeof EXTRA / sizeof *EXTRA; e++) {
        table t;
        uint64_t keys = EXTRA[e] == 1 ? 3000000 : 400000;
        table_init(&t, EXTRA[e], 0, sn_tags_kernel_best());
        uint64_t new_keys = add_keys(&t, 1, keys, MANY);
        double counted, rate = table_rate(&t, &counted);
        if (t.grown < 64 * t.shape.steps * 3 / 2)
            fail_msg("extra %u: grown %llu times", EXTRA[e], (unsigned long long)t.grown);
        assert_int_equal(count_seen(&t, 1, keys), keys);
        assert_int_equal(add_keys(&t, 1, keys, MANY), 0);
        /* False positives are missing, and divided cells count once. */
        assert_true(fabs(counted - (double)new_keys) <= 0.01 * (double)new_keys + 10);
        double wrong = (double)count_seen(&t, 2, 1000000) / 1e6;
        double deviation = sqrt(rate / 1e6) + 1e-6;
        if (wrong > rate + 5 * deviation || wrong < rate * 0.9 - 5 * deviation)
            fail_msg("extra %u: %g measured, %g from the cells", EXTRA[e], wrong, rate);
        table_free(&t);
    }
}

/* One partition, so that twelve doublings take few keys: the measured rate keeps the promise and is
 * the sum of the cells. */
static void rate_after_twelve_doublings(void **state)
{
    (void)state;
    enum { CHECKS = 4000000 };
    static const double RATE[] = {0.01, 1e-3};
    for (size_t i = 0; i < sizeof RATE / sizeof *RATE; i++) {
        table t;
        table_init(&t, sn_tags_extra_for(RATE[i], 5), 0, sn_tags_kernel_best());
        uint64_t first = t.part[0]->homes, keys = 0;
        for (; t.part[0]->homes < first << 12; keys += MANY) {
            fill_keys(ONE_PARTITION + 1, keys, MANY);
            table_add(&t, key, MANY, got);
        }
        assert_int_equal(count_seen(&t, ONE_PARTITION + 1, keys), keys);
        double cells = sn_tags_measure(&t.shape, t.part[0]).rate;
        double wrong = (double)count_seen(&t, ONE_PARTITION + 2, CHECKS) / CHECKS;
        double deviation = sqrt(cells / CHECKS);
        if (wrong > 1.05 * RATE[i] || fabs(wrong - cells) > 0.05 * cells + 5 * deviation)
            fail_msg("promised %g, measured %g, from the cells %g", RATE[i], wrong, cells);
        table_free(&t);
    }
}

/* Present and absent keys mixed, in batches that end at every place of a group: key by key the same
 * answers, and no present key is missing. */
static void answers_agree(table *a, table *b, uint64_t present, uint64_t absent, uint64_t keys)
{
    static seen_answer wanted[MANY];
    for (size_t count = 1; count < 200; count++) {
        for (size_t i = 0; i < count; i++)
            key[i] = nth_key(i * count % 3 ? present : absent, (i + 977 * count) % keys);
        table_check(a, key, count, wanted);
        table_check(b, key, count, got);
        assert_memory_equal(wanted, got, count);
        for (size_t i = 0; i < count; i++)
            assert_true(got[i] == SEEN_BEFORE || i * count % 3 == 0);
    }
}

/* All kernels write the same bytes and give the same answers as the definition. */
static void kernels_agree(void **state)
{
    (void)state;
    const sn_tags_kernel *list[4];
    size_t kernels = sn_tags_kernel_list(list);
    static const unsigned EXTRA[] = {1, 3, 4, 14, 16, 30, 40}; /* 40: tags that need the tail */
    for (size_t k = 1; k < kernels; k++)
        for (size_t e = 0; e < sizeof EXTRA / sizeof *EXTRA; e++) {
            table a, b;
            unsigned step = EXTRA[e] < 40 ? 3 : 14;
            table_init(&a, EXTRA[e], step, list[0]);
            table_init(&b, EXTRA[e], step, list[k]);
            assert_int_equal(add_keys(&a, 7, 120000, 1000), add_keys(&b, 7, 120000, 1000));
            for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
                assert_int_equal(a.part[p]->homes, b.part[p]->homes);
                assert_memory_equal(a.part[p]->lines, b.part[p]->lines,
                                    sn_tags_bytes(a.part[p]->homes, a.part[p]->stash_words));
            }
            assert_true(EXTRA[e] < 40 || a.part[0]->level + a.shape.width > 64);
            assert_int_equal(count_seen(&a, 7, 120000), 120000);
            assert_int_equal(count_seen(&b, 7, 120000), 120000);
            assert_int_equal(count_seen(&a, 9, 200000), count_seen(&b, 9, 200000));
            answers_agree(&a, &b, 7, 9, 120000);
            table_free(&a);
            table_free(&b);
        }
}

/* One key at a time and in batches: the same bytes and answers. Twice in one batch: new the first
 * time only. */
static void batches_agree(void **state)
{
    (void)state;
    table a, b;
    table_init(&a, 1, 8, sn_tags_kernel_best());
    table_init(&b, 1, 8, sn_tags_kernel_best());
    assert_int_equal(add_keys(&a, 3, 100000, 1), add_keys(&b, 3, 100000, 777));
    assert_int_equal(count_seen(&a, 3, 100000), 100000);
    assert_int_equal(count_seen(&b, 3, 100000), 100000);
    for (size_t i = 0; i < MANY; i++)
        key[i] = nth_key(4, i / 2);
    table_add(&a, key, MANY, got);
    for (size_t i = 1; i < MANY; i += 2)
        assert_int_equal(got[i], SEEN_BEFORE);
    table_free(&a);
    table_free(&b);
}

/* A batch whose keys are all in one tiny partition: it reports that it is full, and loses none. */
static void full_partitions_report_it(void **state)
{
    (void)state;
    table t;
    table_init(&t, 1, 0, sn_tags_kernel_best());
    for (int round = 0; round < 20; round++) {
        fill_keys(5, (uint64_t)round * MANY, MANY);
        for (size_t i = 0; i < MANY; i++)
            key[i].hi >>= 6; /* partition 0 */
        table_add(&t, key, MANY, got);
        table_check(&t, key, MANY, got);
        for (size_t i = 0; i < MANY; i++)
            assert_int_equal(got[i], SEEN_BEFORE);
    }
    assert_true(t.part[0]->homes > 64 && t.part[1]->homes == 32);
    table_free(&t);
}

typedef struct target {
    table *t;
    unsigned p;
} target;

static bool copy_cell(void *context, const sn_tags_cell *cell, uint64_t first, uint64_t last)
{
    target *to = context;
    while (part_due(to->t->part[to->p]) ||
           !sn_tags_add_cell(&to->t->shape, to->t->part[to->p], cell, first, last))
        table_grow(to->t, to->p);
    return true;
}

static void merge(table *into, table *from)
{
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        target to = {into, p};
        while (into->part[p]->level < from->part[p]->level) /* otherwise tags would be truncated */
            table_grow(into, p);
        assert_true(sn_tags_walk(&from->shape, from->part[p], copy_cell, &to));
    }
}

/* Merging tables of any size, in both directions. */
static void merges_lose_nothing(void **state)
{
    (void)state;
    static const unsigned EXTRA[] = {1, 9, 33};
    for (size_t e = 0; e < sizeof EXTRA / sizeof *EXTRA; e++)
        for (int way = 0; way < 2; way++) {
            table a, b;
            double mine, theirs, both, n;
            table_init(&a, EXTRA[e], 1, sn_tags_kernel_best());
            table_init(&b, EXTRA[e], 4, sn_tags_kernel_best());
            add_keys(&a, 11, 150000, MANY);
            add_keys(&b, 12, 9000, MANY);
            table *into = way ? &b : &a, *from = way ? &a : &b;
            mine = table_rate(into, &n);
            theirs = table_rate(from, &n);
            merge(into, from);
            assert_int_equal(count_seen(into, 11, 150000), 150000);
            assert_int_equal(count_seen(into, 12, 9000), 9000);
            both = table_rate(into, &n);
            assert_true(both <= (mine + theirs) * 1.0001);
            uint64_t grown = into->grown;
            merge(into, from); /* all present: nothing changes */
            assert_int_equal(into->grown, grown);
            assert_true(table_rate(into, &n) == both);
            table_free(&a);
            table_free(&b);
        }
}

/* The tags of a partition in a form that can be sorted: cell and line. */
typedef struct tag {
    uint64_t start[2], first, bits;
} tag;

typedef struct tag_list {
    tag *tags;
    size_t count;
} tag_list;

static bool collect(void *context, const sn_tags_cell *cell, uint64_t first, uint64_t last)
{
    tag_list *list = context;
    (void)last;
    list->tags[list->count++] =
        (tag){{(uint64_t)(cell->start >> 64), (uint64_t)cell->start}, first, cell->bits};
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(tag));
}

/* A cell that a boundary between lines divides is stored on both sides; the copies must not
 * multiply when later sizes join and divide it again. */
static void growth_repeats_no_tag(void **state)
{
    (void)state;
    enum { KEYS = 100000, STEPS = 16 };
    static const unsigned EXTRA[] = {1, 4, 14};
    tag_list list = {.tags = malloc(KEYS * sizeof(tag))};
    for (size_t e = 0; e < sizeof EXTRA / sizeof *EXTRA; e++) {
        table t;
        table_init(&t, EXTRA[e], 0, sn_tags_kernel_best());
        add_keys(&t, 31, KEYS, MANY);
        for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
            for (unsigned i = 0; i < STEPS; i++)
                table_grow(&t, p);
            list.count = 0;
            assert_true(t.part[p]->counts[0] < KEYS);
            assert_true(sn_tags_walk(&t.shape, t.part[p], collect, &list));
            qsort(list.tags, list.count, sizeof(tag), by_bytes);
            for (size_t i = 1; i < list.count; i++)
                assert_int_not_equal(by_bytes(&list.tags[i - 1], &list.tags[i]), 0);
        }
        assert_int_equal(count_seen(&t, 31, KEYS), KEYS);
        table_free(&t);
    }
    free(list.tags);
}

/* Planning: the rate at 10^12 keys, increasing sizes, the lowest level of the code. */
static void sizes_hold(void **state)
{
    (void)state;
    static const double RATE[] = {0.3, 0.01, 1e-3, 1e-6, 1e-9, 1e-12};
    for (size_t i = 0; i < sizeof RATE / sizeof *RATE; i++) {
        unsigned extra = sn_tags_extra_for(RATE[i], 9);
        sn_tags_shape s = sn_tags_shape_of(extra);
        double rate = 0, keys = 0;
        for (unsigned level = 9; keys < 1e12; level++) {
            double more = (double)sn_tags_limit(&s, UINT64_C(2) << level) * (level == 9 ? 1 : 0.5);
            keys += more * SN_TAGS_PARTS;
            rate += more * exp2(-(double)(level + s.width - 1));
        }
        assert_true(extra >= 1 && rate <= RATE[i] * 1.05);
        assert_true(extra == 1 || rate > RATE[i] / 4);
    }
    assert_int_equal(sn_tags_extra_for(1e-15, 9), 0);
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++)
        for (unsigned step = 0; step < 60; step++) {
            sn_tags_shape s = sn_tags_shape_of(1 + step % 30);
            uint64_t homes = sn_tags_homes_at(&s, p, step);
            assert_true(sn_tags_valid(s.extra, homes, sn_tags_stash_words(&s, homes)));
            assert_true(homes <= sn_tags_homes_at(&s, p, step + 1));
        }
    assert_false(sn_tags_valid(1, 64 * 32 + 32, 64));
    assert_false(sn_tags_valid(1, 33, 64));
    assert_false(sn_tags_valid(41, 64, 64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),     cmocka_unit_test(kernels_agree),
        cmocka_unit_test(batches_agree),       cmocka_unit_test(full_partitions_report_it),
        cmocka_unit_test(merges_lose_nothing), cmocka_unit_test(growth_repeats_no_tag),
        cmocka_unit_test(sizes_hold),          cmocka_unit_test(rate_after_twelve_doublings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
