/* Out of memory while a page is parsed: the crawl ends with a message, and the page is not treated
 * as one without links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/html/links.h"

static sn_links *create_nothing(const sn_links_options *options)
{
    (void)options;
    return NULL;
}

static void *allocate_nothing(size_t size)
{
    (void)size;
    return NULL;
}

/* Includes the source, with a failing allocator. */
#define sn_links_create create_nothing
#define malloc allocate_nothing
#include "crawl/page.c"
#undef malloc
#undef sn_links_create

#include "test_engine.h"

static void stops_without_memory(void **state)
{
    (void)state;
    sn_crawl_options options;
    sn_crawl_result result = {0};
    seen_error error = {0};
    static const sn_job_kind kinds[] = {SN_JOB_PAGE, SN_JOB_SITEMAP};
    for (size_t i = 0; i < 2; i++) {
        sn_engine *e = make_engine(&options, &result, &error);
        sn_job job = {.engine = e, .kind = kinds[i]};
        sn_transfer t = {.user = &job, .status = 200, .type = "text/html"};
        sn_job_reset(&job);
        assert_false(sn_page_body(&t, "<a href=x>", 10));
        /* As reported by the transfer that was aborted because of it. */
        t.truncated = true;
        sn_page_over(&t);
        assert_int_equal(sn_page_arrived(e, &t), SEEN_ERR_MEMORY);
        sn_digest_destroy(job.digest);
        free_engine(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stops_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
