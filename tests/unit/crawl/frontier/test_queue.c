/* Queues: many at once, first in first out, with little memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "crawl/frontier/queue.h"

static void keeps_the_order(void **state)
{
    enum { QUEUES = 5, STEPS = 200000 };
    sn_queues *queues = sn_queues_create(-1);
    sn_queue queue[QUEUES] = {{0}};
    uint64_t in[QUEUES] = {0}, out[QUEUES] = {0};
    seen_error error;
    uint32_t random = 12345;
    (void)state;
    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525 + 1013904223;
        unsigned q = random >> 8 & 0xff, i = q % QUEUES;
        /* Filling for a while, then emptying. */
        bool push = (random >> 20 & 7) < (step / 50000 % 2 == 0 ? 5 : 2);
        if (push) {
            sn_place place = {in[i]++, i};
            assert_int_equal(sn_queue_push(queues, &queue[i], place, &error), SEEN_OK);
        } else {
            sn_place place;
            bool got;
            assert_int_equal(sn_queue_pop(queues, &queue[i], &place, &got, &error), SEEN_OK);
            assert_int_equal(got, out[i] < in[i]);
            if (got) {
                assert_int_equal(place.at, out[i]++);
                assert_int_equal(place.ordinal, i);
            }
        }
        assert_int_equal(queue[i].count, in[i] - out[i]);
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        bool got = true;
        while (got) {
            sn_place place;
            assert_int_equal(sn_queue_pop(queues, &queue[i], &place, &got, &error), SEEN_OK);
            if (got)
                assert_int_equal(place.at, out[i]++);
        }
        assert_int_equal(in[i], out[i]);
        assert_null(queue[i].head);
    }
    sn_queues_destroy(queues);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_the_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
