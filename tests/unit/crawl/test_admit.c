/* From links to batches for the frontier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/engine.h"
#include "test_engine.h"

static const char *const urls[] = {"http://a.example/", "http://a.example/b", "http://c.example/"};
enum { URLS = 3 };

/* Links become one batch, with their pages; the frontier decides what is new. */
static void offers_a_batch(void **state)
{
    sn_crawl_options options;
    sn_crawl_result result = {0};
    seen_error error;
    sn_frontier_record record;
    sn_frontier_next next;
    (void)state;
    sn_engine *e = make_engine(&options, &result, &error);
    sn_frontier *f = e->intake.frontier;
    sn_admit_begin(&e->intake);
    for (size_t i = 0; i < URLS; i++) {
        size_t len = strlen(urls[i]);
        assert_int_equal(sn_admit(&e->intake, NULL, urls[i], len, 0, 0, SN_KIND_PAGE), SEEN_OK);
    }
    assert_int_equal(e->intake.count, URLS);
    assert_int_equal(e->counts.found, 0);
    assert_int_equal(sn_admit_commit(&e->intake), SEEN_OK);
    assert_int_equal(e->counts.found, URLS);
    assert_int_equal(e->intake.count, 0);
    for (size_t i = 0; i < URLS; i++) {
        assert_int_equal(f->class->peek(f, true, &record, &next, &error), SEEN_OK);
        assert_int_equal(next, SN_NEXT_URL);
        assert_memory_equal(record.url, urls[i], record.len);
        f->class->take(f);
    }
    free_engine(e);
}

/* More links than a batch holds are offered in between. */
static void offers_full_batches(void **state)
{
    sn_crawl_options options;
    sn_crawl_result result = {0};
    seen_error error;
    char url[64];
    (void)state;
    sn_engine *e = make_engine(&options, &result, &error);
    for (int i = 0; i < SN_BATCH_URLS + 10; i++) {
        int n = snprintf(url, sizeof url, "http://a.example/%d", i);
        assert_int_equal(sn_admit_any(&e->intake, NULL, url, (size_t)n, 0, 0, SN_KIND_PAGE, 0),
                         SEEN_OK);
    }
    assert_int_equal(e->counts.found, SN_BATCH_URLS);
    assert_int_equal(e->intake.count, 10);
    free_engine(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offers_a_batch),
        cmocka_unit_test(offers_full_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
