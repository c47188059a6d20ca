/* An engine with a temporary frontier and nothing else, for tests of admitting links. */
#ifndef TEST_ENGINE_H
#define TEST_ENGINE_H

#include <stdlib.h>

#include "crawl/engine.h"
#include "crawl/frontier/local.h"

static sn_engine *make_engine(sn_crawl_options *options, sn_crawl_result *result, seen_error *error)
{
    sn_engine *e = calloc(1, sizeof *e);
    assert_non_null(e);
    sn_crawl_defaults(options);
    e->options = options;
    e->result = result;
    e->error = error;
    sn_frontier_local_options local = {.folder = -1, .error_rate = 1e-6, .capacity = 1000};
    sn_intake *in = &e->intake;
    in->options = options;
    in->counts = &e->counts;
    in->error = error;
    in->url_options.size = sizeof in->url_options;
    assert_int_equal(sn_frontier_local_open(&local, &in->frontier, error), SEEN_OK);
    in->link_cache = sn_link_cache_create();
    assert_non_null(in->link_cache);
    return e;
}

static void free_engine(sn_engine *e)
{
    e->intake.frontier->class->close(e->intake.frontier);
    sn_admit_free(&e->intake);
    sn_follower_free(&e->follower);
    free(e);
}

#endif
