/* The counter compared with a simple model: an array of counts. */
#include "stream/exact/counter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 20000, LINES = 300000, BATCH = 777 };

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

static uint32_t sequence[LINES];

static void make_sequence(void)
{
    for (uint32_t i = 0; i < LINES; i++) {
        uint64_t x = stir(i * 77 + 5);
        sequence[i] = (uint32_t)(x % KEYS * (x >> 40 & 1)); /* every second one is key 0 */
    }
}

static void counts_up_and_down(void **state)
{
    (void)state;
    static uint64_t model[KEYS], counts[BATCH];
    seen_hash hashes[BATCH];
    seen_answer answers[BATCH];
    sn_counter *counter = NULL;
    assert_int_equal(sn_counter_open(4 << 20, 0, &counter, NULL), SEEN_OK);
    for (int round = 0; round < 2; round++) {
        memset(model, 0, sizeof model);
        size_t distinct = 0;
        for (size_t at = 0, n; at < LINES; at += n) {
            n = LINES - at < BATCH ? LINES - at : BATCH;
            for (size_t i = 0; i < n; i++)
                hashes[i] = hash_of(sequence[at + i]);
            sn_counter_raise(counter, hashes, n, answers);
            for (size_t i = 0; i < n; i++) {
                uint64_t before = model[sequence[at + i]]++;
                distinct += !before;
                assert_int_equal(answers[i], before ? SEEN_BEFORE : SEEN_NEW);
            }
        }
        assert_int_equal(sn_counter_count(counter), distinct);
        static bool visited[KEYS];
        memset(visited, 0, sizeof visited);
        for (size_t i = 0; i < LINES; i++) {
            seen_hash hash = hash_of(sequence[i]);
            sn_counter_visit(counter, &hash, 1, counts, answers);
            assert_int_equal(counts[0], model[sequence[i]]);
            assert_int_equal(answers[0], visited[sequence[i]] ? SEEN_BEFORE : SEEN_NEW);
            visited[sequence[i]] = true;
        }
        uint64_t cursor = 0, sum = 0, listed = 0;
        for (size_t n; (n = sn_counter_list_counts(counter, &cursor, counts, BATCH)); listed += n)
            for (size_t i = 0; i < n; i++)
                sum += counts[i];
        assert_int_equal(sum, LINES);
        assert_int_equal(listed, distinct);
        for (size_t i = 0; i < LINES; i++) {
            seen_hash hash = hash_of(sequence[i]);
            sn_counter_lower(counter, &hash, 1, answers);
            assert_int_equal(answers[0], --model[sequence[i]] ? SEEN_BEFORE : SEEN_NEW);
        }
        seen_hash absent = hash_of(KEYS + 1);
        sn_counter_visit(counter, &absent, 1, counts, answers);
        assert_int_equal(answers[0], SEEN_UNKNOWN);
        assert_int_equal(counts[0], 0);
        sn_counter_empty(counter);
        assert_int_equal(sn_counter_count(counter), 0);
    }
    sn_counter_close(counter);
}

/* A full counter counts the keys that it holds, and no others. */
static void full(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    sn_counter *counter = NULL;
    uint64_t held = 0, count;
    assert_int_equal(sn_counter_open(256 << 10, 0, &counter, NULL), SEEN_OK);
    static seen_answer first[MANY];
    for (uint64_t i = 0; i < MANY; i++) {
        seen_hash hash = hash_of(i);
        sn_counter_raise(counter, &hash, 1, &first[i]);
        held += first[i] == SEEN_NEW;
    }
    assert_true(held > 1000 && held < MANY);
    assert_true(sn_counter_bytes(counter) <= 256 << 10);
    assert_int_equal(sn_counter_count(counter), held);
    for (uint64_t i = 0; i < MANY; i++) {
        seen_hash hash = hash_of(i);
        seen_answer again;
        sn_counter_raise(counter, &hash, 1, &again);
        assert_int_equal(again, first[i] == SEEN_NEW ? SEEN_BEFORE : SEEN_UNKNOWN);
        sn_counter_visit(counter, &hash, 1, &count, &again);
        assert_int_equal(count, first[i] == SEEN_NEW ? 2 : 0);
    }
    sn_counter_close(counter);
}

/* More than 2^24 of one key, with others next to it. */
static void carries(void **state)
{
    (void)state;
    enum { BLOCK = 4096 };
    const uint64_t wanted = ((uint64_t)1 << 25) + 5;
    sn_counter *counter = NULL;
    static seen_hash hashes[BLOCK];
    static seen_answer answers[BLOCK];
    uint64_t count;
    assert_int_equal(sn_counter_open(1 << 20, 0, &counter, NULL), SEEN_OK);
    for (size_t i = 0; i < BLOCK; i++)
        hashes[i] = hash_of(1);
    for (uint64_t done = 0, n; done < wanted; done += n) {
        n = wanted - done < BLOCK ? wanted - done : BLOCK;
        sn_counter_raise(counter, hashes, (size_t)n, answers);
        assert_int_equal(answers[n - 1], SEEN_BEFORE);
    }
    for (uint64_t key = 2; key < 3000; key++) { /* it is moved as the table grows */
        seen_hash other = hash_of(key);
        sn_counter_raise(counter, &other, 1, answers);
    }
    sn_counter_visit(counter, hashes, 1, &count, answers);
    assert_int_equal(count, wanted);
    for (uint64_t i = 0; i < 10; i++)
        sn_counter_lower(counter, hashes, 1, answers);
    sn_counter_visit(counter, hashes, 1, &count, answers);
    assert_int_equal(count, wanted - 10);
    sn_counter_close(counter);
}

int main(void)
{
    make_sequence();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_up_and_down),
        cmocka_unit_test(full),
        cmocka_unit_test(carries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
