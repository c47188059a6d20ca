/* An engine with a seen-set in memory and nothing else, for tests of what admits. */
#ifndef TEST_ENGINE_H
#define TEST_ENGINE_H

#include <stdlib.h>

#include "crawl/engine.h"

static sn_engine *make_engine(sn_crawl_options *options, sn_crawl_result *result, seen_error *error)
{
    sn_engine *e = calloc(1, sizeof *e);
    assert_non_null(e);
    sn_crawl_defaults(options);
    e->options = options;
    e->result = result;
    e->error = error;
    sn_known_options known = {.folder = -1, .error_rate = 1e-6, .capacity = 1000, .fresh = true};
    assert_int_equal(sn_known_open(&known, &e->known, error), SEEN_OK);
    return e;
}

#endif
