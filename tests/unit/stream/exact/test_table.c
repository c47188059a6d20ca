/* The exact table compared with a simple model: a sorted array of the added keys. */
#include "stream/exact/table.h"
#include "tests/sanitized.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BATCH = 1000 };

static uint64_t stir(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static seen_hash hash_of(uint64_t key)
{
    return (seen_hash){.lo = stir(key * 2 + 1), .hi = stir(~key)};
}

static sn_table *open_table(uint64_t limit, uint64_t expected)
{
    sn_table *table = NULL;
    assert_int_equal(sn_table_open(limit, expected, &table, NULL), SEEN_OK);
    return table;
}

/* Adds keys [first, first + count); all must be decided with this answer. */
static void add_range(sn_table *table, uint64_t first, uint64_t count, seen_answer expect)
{
    seen_hash hashes[BATCH];
    seen_answer answers[BATCH];
    while (count) {
        size_t n = count < BATCH ? (size_t)count : BATCH;
        for (size_t i = 0; i < n; i++)
            hashes[i] = hash_of(first + i);
        assert_int_equal(sn_table_add(table, hashes, n, answers), n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(answers[i], expect);
        first += n;
        count -= n;
    }
}

static void check_range(const sn_table *table, uint64_t first, uint64_t count, seen_answer expect)
{
    for (uint64_t i = 0; i < count; i++) {
        seen_hash hash = hash_of(first + i);
        seen_answer answer = SEEN_UNKNOWN;
        sn_table_check(table, &hash, 1, &answer);
        assert_int_equal(answer, expect);
    }
}

/* Also with the concurrent functions, a full table finds its entries and accepts nothing new. */
static void full_for_any(void **unused)
{
    (void)unused;
    sn_table *table = open_table(1 << 20, 0);
    seen_hash hashes[BATCH];
    seen_answer answers[BATCH];
    uint64_t key = 0;
    for (size_t done = BATCH; done == BATCH; key += done) {
        for (size_t i = 0; i < BATCH; i++)
            hashes[i] = hash_of(key + i);
        done = sn_table_add_any(table, hashes, BATCH, answers);
        assert_true(key < 1000000);
    }
    uint64_t count = sn_table_count(table);
    for (size_t i = 0; i < BATCH; i++)
        hashes[i] = hash_of(i);
    assert_int_equal(sn_table_add_any(table, hashes, BATCH, answers), BATCH);
    for (size_t i = 0; i < BATCH; i++)
        assert_int_equal(answers[i], SEEN_BEFORE);
    hashes[7] = hash_of(~(uint64_t)0);
    assert_int_equal(sn_table_add_any(table, hashes, BATCH, answers), 7);
    assert_int_equal(sn_table_count(table), count);
    sn_table_close(table);
}

static void add_and_check(void **unused)
{
    (void)unused;
    for (uint64_t n = 1; n <= 100000; n = n * 7 + 3) {
        sn_table *table = open_table((uint64_t)64 << 20, n % 2 ? n : 0);
        check_range(table, 0, 10, SEEN_NEW);
        add_range(table, 0, n, SEEN_NEW);
        add_range(table, 0, n, SEEN_BEFORE);
        assert_int_equal(sn_table_count(table), n);
        check_range(table, 0, n, SEEN_BEFORE);
        check_range(table, n, n, SEEN_NEW);
        sn_table_clear(table);
        assert_int_equal(sn_table_count(table), 0);
        check_range(table, 0, 10, SEEN_NEW);
        add_range(table, 0, n, SEEN_NEW);
        sn_table_close(table);
    }
    sn_table_close(NULL);
}

/* Equal hashes in one batch: the first is new, regardless of the queue. */
static void equal_in_one_batch(void **unused)
{
    (void)unused;
    sn_table *table = open_table((uint64_t)64 << 20, 0);
    static seen_hash hashes[BATCH];
    static seen_answer answers[BATCH];
    static unsigned char known[200000];
    memset(known, 0, sizeof known);
    for (uint64_t round = 0; round < 1000; round++) {
        uint64_t keys[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            uint64_t r = stir(round * BATCH + i);
            keys[i] = r % 3 == 0 && i ? keys[i - 1 - (r >> 8) % i] : (r >> 8) % sizeof known;
            hashes[i] = hash_of(keys[i]);
        }
        assert_int_equal(sn_table_add(table, hashes, BATCH, answers), BATCH);
        for (size_t i = 0; i < BATCH; i++) {
            assert_int_equal(answers[i], known[keys[i]] ? SEEN_BEFORE : SEEN_NEW);
            known[keys[i]] = 1;
        }
    }
    sn_table_close(table);
}

/* A key that waits for a part to grow occurs again before and after that: this many keys, all of
 * them again, and so on, at distances of less than a chunk and of several. */
static void equal_across_growth(void **unused)
{
    (void)unused;
    static seen_hash hashes[2 * BATCH];
    static seen_answer answers[2 * BATCH];
    static const size_t distances[] = {1, 2, 17, 63, 64, 65, 100, 128, 500};
    sn_table *table = open_table((uint64_t)64 << 20, 0);
    uint64_t key = 0;
    for (int round = 0; round < 25; round++)
        for (size_t k = 0; k < sizeof distances / sizeof *distances; k++) {
            size_t distance = distances[k], count = BATCH / distance * distance;
            for (size_t i = 0; i < 2 * count; i++)
                hashes[i] = hash_of(key + i / (2 * distance) * distance + i % distance);
            assert_int_equal(sn_table_add(table, hashes, 2 * count, answers), 2 * count);
            for (size_t i = 0; i < 2 * count; i++)
                assert_int_equal(answers[i], i / distance % 2 ? SEEN_BEFORE : SEEN_NEW);
            key += count;
        }
    assert_int_equal(sn_table_count(table), key);
    sn_table_close(table);
}

/* Hashes that differ only in the last of the 96 bits, only in the others, or only in ignored
 * bits. */
static void ninety_six_bits(void **unused)
{
    (void)unused;
    sn_table *table = open_table((uint64_t)16 << 20, 0);
    seen_hash base = {.lo = 0x123456789abcdef0u, .hi = 0};
    seen_answer answer;
    for (unsigned bit = 0; bit < 128; bit++) {
        seen_hash one = base;
        if (bit < 64)
            one.lo ^= (uint64_t)1 << bit;
        else
            one.hi ^= (uint64_t)1 << (bit - 64);
        if (bit == 0) {
            sn_table_add(table, &base, 1, &answer);
            assert_int_equal(answer, SEEN_NEW);
        }
        assert_int_equal(sn_table_add(table, &one, 1, &answer), 1);
        assert_int_equal(answer, bit < 32 ? SEEN_BEFORE : SEEN_NEW);
    }
    seen_hash zero = {0, 0};
    sn_table_check(table, &zero, 1, &answer);
    assert_int_equal(answer, SEEN_NEW);
    sn_table_close(table);
}

static void limit_is_kept(void **unused)
{
    (void)unused;
    static seen_hash hashes[BATCH];
    static seen_answer answers[BATCH];
    for (uint64_t limit = (uint64_t)1 << 20; limit <= (uint64_t)16 << 20; limit *= 4) {
        sn_table *table = open_table(limit, 0);
        uint64_t added = 0;
        for (size_t got = BATCH; got == BATCH; added += got) {
            for (size_t i = 0; i < BATCH; i++)
                hashes[i] = hash_of(added + i);
            got = sn_table_add(table, hashes, BATCH, answers);
            assert_true(sn_table_bytes(table) <= limit);
        }
        assert_true((double)added * (limit > 2 << 20 ? 16.5 : 19) > (double)limit);
        /* Processed keys are present, and no others. */
        assert_int_equal(sn_table_count(table), added);
        check_range(table, 0, added, SEEN_BEFORE);
        check_range(table, added, 3 * BATCH, SEEN_NEW);
        /* The refused key stays refused; present keys are still found. */
        seen_hash refused = hash_of(added);
        assert_int_equal(sn_table_add(table, &refused, 1, answers), 0);
        add_range(table, 0, added, SEEN_BEFORE);
        sn_table_close(table);
    }
}

/* An emptied table has all its capacity and none of its entries, marks or refusals. */
static void empties(void **unused)
{
    (void)unused;
    static seen_hash hashes[BATCH];
    static seen_answer answers[BATCH];
    sn_table *table = open_table((uint64_t)1 << 20, 0);
    uint64_t added = 0;
    sn_table_empty(table);
    for (size_t got = BATCH; got == BATCH; added += got) {
        for (size_t i = 0; i < BATCH; i++)
            hashes[i] = hash_of(added + i);
        got = sn_table_add(table, hashes, BATCH, answers);
        sn_table_mark(table, 2, -1, hashes, got);
    }
    uint64_t bytes = sn_table_bytes(table);
    for (uint64_t first = 0; first <= added; first += added) {
        sn_table_empty(table);
        assert_int_equal(sn_table_count(table), 0);
        check_range(table, 0, 2 * added, SEEN_NEW);
        /* Other keys are distributed slightly less evenly. */
        uint64_t count = first ? added - added / 16 : added;
        add_range(table, first, count, SEEN_NEW);
        add_range(table, first, count, SEEN_BEFORE);
        assert_int_equal(sn_table_count(table), count);
        assert_int_equal(sn_table_bytes(table), bytes);
        for (uint64_t key = first; key < first + count; key++) {
            seen_hash hash = hash_of(key);
            sn_table_check_marked(table, 2, &hash, 1, answers);
            assert_int_equal(answers[0], SEEN_NEW);
        }
    }
    sn_table_close(table);
}

/* A correct forecast needs no more memory than none, and the memory for all entries is allocated
 * from the middle on: nothing is moved any more. It never allocates more than for 3.4 times the
 * current entries. */
static void expects_correctly(void **unused)
{
    (void)unused;
    enum { KEYS = SANITIZED ? 200000 : 1000000, STEP = KEYS / 100 };
    sn_table *table = open_table((uint64_t)64 << 20, KEYS);
    uint64_t in_the_middle = 0;
    for (uint64_t n = STEP; n <= KEYS; n += STEP) {
        sn_table_expect(table, KEYS);
        add_range(table, n - STEP, STEP, SEEN_NEW);
        uint64_t bytes = sn_table_bytes(table);
        assert_true((double)bytes <= 3.4 * 16 * (double)(n + STEP));
        if (n == KEYS / 2)
            in_the_middle = bytes;
    }
    assert_true(sn_table_bytes(table) < (uint64_t)16 * KEYS);
    assert_int_equal(sn_table_bytes(table), in_the_middle);
    check_range(table, 0, KEYS, SEEN_BEFORE);
    check_range(table, KEYS, STEP, SEEN_NEW);
    sn_table_close(table);
}

/* With a forecast memory is allocated in advance, and no longer once the forecast is withdrawn; and
 * with a limit the table holds no fewer entries because of it. */
static void expects(void **unused)
{
    (void)unused;
    enum { KEYS = SANITIZED ? 100000 : 400000, STEP = KEYS / 40 };
    sn_table *plain = open_table((uint64_t)64 << 20, KEYS);
    sn_table *table = open_table((uint64_t)64 << 20, KEYS);
    bool ahead = false;
    for (uint64_t n = STEP; n <= KEYS; n += STEP) {
        sn_table_expect(table, n < KEYS / 4 ? KEYS : n + 1);
        add_range(plain, n - STEP, STEP, SEEN_NEW);
        add_range(table, n - STEP, STEP, SEEN_NEW);
        uint64_t bytes = sn_table_bytes(table);
        assert_true(bytes < (uint64_t)KEYS / 5 * 2 * 16 ||
                    bytes <= sn_table_bytes(plain) + (256 << 10));
        ahead |= bytes > sn_table_bytes(plain) * 5 / 4;
    }
    assert_true(ahead);
    check_range(table, 0, KEYS, SEEN_BEFORE);
    sn_table_close(plain);
    sn_table_close(table);

    uint64_t limit = (uint64_t)4 << 20, added = 0;
    static seen_hash hashes[BATCH];
    static seen_answer answers[BATCH];
    table = open_table(limit, 0);
    sn_table_expect(table, 100 * limit);
    for (size_t got = BATCH; got == BATCH; added += got) {
        for (size_t i = 0; i < BATCH; i++)
            hashes[i] = hash_of(added + i);
        got = sn_table_add(table, hashes, BATCH, answers);
        assert_true(sn_table_bytes(table) <= limit);
    }
    assert_true((double)added * 16.5 > (double)limit);
    sn_table_close(table);
}

/* A batch that ends in the middle: the rest is absent, and marks stay with their entries. */
static void nothing_behind_the_end(void **unused)
{
    (void)unused;
    static seen_hash hashes[BATCH];
    static seen_answer answers[BATCH];
    for (uint64_t seed = 0; seed < 60; seed++) {
        sn_table *table = open_table((uint64_t)150 << 10, 0);
        uint64_t first = seed << 32, added = 0;
        for (size_t got = BATCH; got == BATCH; added += got) {
            for (size_t i = 0; i < BATCH; i++)
                hashes[i] = hash_of(first + added + i);
            got = sn_table_add(table, hashes, BATCH, answers);
            for (uint64_t i = 0; i < got; i += 3)
                sn_table_mark(table, 1, -1, &hashes[i], 1);
        }
        assert_int_equal(sn_table_count(table), added);
        for (uint64_t key = 0; key < added + BATCH; key++) {
            seen_hash hash = hash_of(first + key);
            seen_answer there, mark;
            sn_table_check(table, &hash, 1, &there);
            sn_table_check_marked(table, 1, &hash, 1, &mark);
            assert_int_equal(there, key < added ? SEEN_BEFORE : SEEN_NEW);
            assert_int_equal(mark, key < added && key % BATCH % 3 == 0 ? SEEN_BEFORE : SEEN_NEW);
        }
        sn_table_close(table);
    }
}

static void bytes_per_entry(void **unused)
{
    (void)unused;
    sn_table *table = open_table((uint64_t)1 << 30, 2000000);
    for (uint64_t n = 0; n < 2000000; n += 50000) {
        add_range(table, n, 50000, SEEN_NEW);
        if (n >= 1000000)
            assert_true((double)sn_table_bytes(table) < 16.0 * (double)(n + 50000));
    }
    sn_table_close(table);
}

static bool marked(const sn_table *table, unsigned mark, uint64_t key)
{
    seen_hash hash = hash_of(key);
    seen_answer answer = SEEN_UNKNOWN;
    sn_table_check_marked(table, mark, &hash, 1, &answer);
    return answer == SEEN_BEFORE;
}

static void marks_last(void **unused)
{
    (void)unused;
    enum { KEYS = 40000 };
    sn_table *table = open_table((uint64_t)64 << 20, 0);
    seen_answer answer;
    add_range(table, 0, KEYS / 2, SEEN_NEW);
    for (uint64_t key = 0; key < KEYS; key += 3) {
        seen_hash hash = hash_of(key);
        sn_table_mark(table, 0, -1, &hash, 1);
        sn_table_mark(table, 3, key % 2 ? 0 : 1, &hash, 1);
    }
    /* Growing moves entries; their marks move with them. */
    add_range(table, KEYS / 2, KEYS / 2, SEEN_NEW);
    for (uint64_t key = 0; key < KEYS; key++) {
        bool zero = key < KEYS / 2 && key % 3 == 0;
        assert_int_equal(marked(table, 0, key), zero);
        assert_int_equal(marked(table, 3, key), zero && key % 2);
        assert_false(marked(table, 1, key));
    }
    for (uint64_t key = 0; key < KEYS + 10; key++) {
        seen_hash hash = hash_of(key);
        bool zero = key < KEYS / 2 && key % 3 == 0;
        sn_table_take(table, 1, 0, &hash, 1, &answer);
        assert_int_equal(answer, zero ? SEEN_NEW : SEEN_BEFORE);
        sn_table_take(table, 1, 0, &hash, 1, &answer);
        assert_int_equal(answer, SEEN_BEFORE);
        sn_table_take(table, 2, -1, &hash, 1, &answer);
        assert_int_equal(answer, key < KEYS ? SEEN_NEW : SEEN_BEFORE);
    }
    sn_table_clear_mark(table, 0);
    for (uint64_t key = 0; key < KEYS; key++) {
        assert_false(marked(table, 0, key));
        assert_int_equal(marked(table, 1, key), key < KEYS / 2 && key % 3 == 0);
        assert_true(marked(table, 2, key));
    }
    sn_table_close(table);
}

static int by_hi(const void *a, const void *b)
{
    const seen_hash *x = a, *y = b;
    return x->hi < y->hi ? -1 : x->hi > y->hi;
}

static void lists_all(void **unused)
{
    (void)unused;
    enum { KEYS = 12345 };
    sn_table *table = open_table((uint64_t)64 << 20, 0);
    seen_hash *want = calloc(KEYS, sizeof *want), *have = calloc(KEYS, sizeof *have);
    assert_non_null(want);
    assert_non_null(have);
    add_range(table, 0, KEYS, SEEN_NEW);
    for (uint64_t key = 0; key < KEYS; key++)
        want[key] = sn_table_stored(hash_of(key));
    uint64_t cursor = 0;
    size_t at = 0, got;
    while ((got = sn_table_list(table, &cursor, have + at, KEYS - at < 100 ? KEYS - at : 100)))
        at += got;
    assert_int_equal(at, KEYS);
    qsort(want, KEYS, sizeof *want, by_hi);
    qsort(have, KEYS, sizeof *have, by_hi);
    assert_memory_equal(want, have, KEYS * sizeof *want);
    free(want);
    free(have);
    sn_table_close(table);
}

typedef struct worker {
    sn_table *table;
    uint64_t fresh;
    unsigned number;
} worker;

enum { SHARED_KEYS = 200000, WORKERS = 3 };

/* Every worker adds all keys, in a different order. */
static void *add_shared(void *argument)
{
    worker *w = argument;
    seen_hash hashes[BATCH];
    seen_answer answers[BATCH];
    for (uint64_t at = 0; at < SHARED_KEYS; at += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++)
            hashes[i] = hash_of((at + i + w->number * 777u) * 7919 % SHARED_KEYS);
        if (sn_table_add_any(w->table, hashes, BATCH, answers) != BATCH)
            return NULL;
        for (size_t i = 0; i < BATCH; i++)
            w->fresh += answers[i] == SEEN_NEW;
        sn_table_check(w->table, hashes, 0, answers);
    }
    return NULL;
}

static void *mark_shared(void *argument)
{
    worker *w = argument;
    seen_hash hash[BATCH];
    for (uint64_t at = 0; at < SHARED_KEYS; at += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++)
            hash[i] = hash_of((at + i) * 7919 % SHARED_KEYS);
        sn_table_mark(w->table, w->number, -1, hash, BATCH);
    }
    return NULL;
}

static void several_threads(void **unused)
{
    (void)unused;
    sn_table *table = open_table((uint64_t)64 << 20, 0);
    pthread_t threads[WORKERS];
    worker workers[WORKERS] = {0};
    void *(*jobs[])(void *) = {add_shared, mark_shared};
    for (size_t job = 0; job < 2; job++) {
        for (unsigned i = 0; i < WORKERS; i++) {
            workers[i].table = table;
            workers[i].number = i;
            assert_int_equal(pthread_create(&threads[i], NULL, jobs[job], &workers[i]), 0);
        }
        for (unsigned i = 0; i < WORKERS; i++)
            pthread_join(threads[i], NULL);
    }
    assert_int_equal(workers[0].fresh + workers[1].fresh + workers[2].fresh, SHARED_KEYS);
    assert_int_equal(sn_table_count(table), SHARED_KEYS);
    for (uint64_t key = 0; key < SHARED_KEYS; key += 11)
        for (unsigned mark = 0; mark < SN_TABLE_MARKS; mark++)
            assert_int_equal(marked(table, mark, key), mark < WORKERS);
    sn_table_close(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_for_any),
        cmocka_unit_test(add_and_check),
        cmocka_unit_test(equal_in_one_batch),
        cmocka_unit_test(equal_across_growth),
        cmocka_unit_test(ninety_six_bits),
        cmocka_unit_test(limit_is_kept),
        cmocka_unit_test(empties),
        cmocka_unit_test(expects),
        cmocka_unit_test(expects_correctly),
        cmocka_unit_test(nothing_behind_the_end),
        cmocka_unit_test(bytes_per_entry),
        cmocka_unit_test(marks_last),
        cmocka_unit_test(lists_all),
        cmocka_unit_test(several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
