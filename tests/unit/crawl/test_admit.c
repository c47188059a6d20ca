/* From links to the frontier: durable first, then seen. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "crawl/engine.h"
#include "test_engine.h"

static const char *const urls[] = {"http://a.example/", "http://a.example/b", "http://c.example/"};
enum { URLS = 3 };

typedef struct rig {
    sn_engine *engine;
    sn_crawl_options options;
    sn_crawl_result result;
    seen_error error;
    seen_hash hashes[URLS];
} rig;

static void make(rig *r)
{
    *r = (rig){0};
    sn_engine *e = make_engine(&r->options, &r->result, &r->error);
    r->engine = e;
    sn_frontier_options frontier = {.folder = -1};
    assert_int_equal(sn_frontier_create(&frontier, &e->frontier, &r->error), SEEN_OK);
    sn_admit_begin(e);
    for (size_t i = 0; i < URLS; i++) {
        size_t len = strlen(urls[i]);
        r->hashes[i] = sn_known_hash(e->known, urls[i], len);
        assert_int_equal(sn_admit(e, NULL, urls[i], len, r->hashes[i], 0, 0, SN_KIND_PAGE),
                         SEEN_OK);
    }
}

static void destroy(rig *r)
{
    sn_frontier_close(r->engine->frontier);
    sn_known_close(r->engine->known);
    free(r->engine->arena);
    free(r->engine);
}

static void expect_answers(rig *r, seen_answer answer)
{
    seen_answer answers[URLS];
    assert_int_equal(sn_known_check(r->engine->known, r->hashes, URLS, answers, &r->error),
                     SEEN_OK);
    for (size_t i = 0; i < URLS; i++)
        assert_int_equal(answers[i], answer);
}

static void commits_in_order(void **state)
{
    rig r;
    (void)state;
    make(&r);
    expect_answers(&r, SEEN_NEW);
    assert_int_equal(sn_admit_commit(r.engine), SEEN_OK);
    expect_answers(&r, SEEN_BEFORE);
    assert_int_equal(r.engine->counts.found, URLS);
    for (size_t i = 0; i <= URLS; i++) {
        sn_frontier_record record;
        bool got;
        assert_int_equal(sn_frontier_next(r.engine->frontier, &record, &got, &r.error), SEEN_OK);
        assert_int_equal(got, i < URLS);
        if (got)
            assert_memory_equal(record.url, urls[i], record.len);
    }
    destroy(&r);
}

/* Were the set told first, a URL would be seen and nowhere to be fetched from: lost to this crawl
 * and to all that share the set. */
static void tells_the_set_only_what_the_frontier_has(void **state)
{
    rig r;
    struct rlimit before, none;
    (void)state;
    make(&r);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    seen_status status = sn_admit_commit(r.engine);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, SEEN_ERR_SPACE);
    expect_answers(&r, SEEN_NEW);
    assert_int_equal(r.engine->counts.found, 0);
    destroy(&r);
}

/* Does this URL, met as this kind, enter the frontier? */
static bool enters(rig *r, const char *url, uint8_t kind)
{
    sn_engine *e = r->engine;
    sn_frontier_record record;
    bool got;
    size_t len = strlen(url);
    sn_admit_begin(e);
    assert_int_equal(sn_admit(e, NULL, url, len, sn_admit_hash(e, url, len, kind), 0, 0, kind),
                     SEEN_OK);
    assert_int_equal(sn_admit_commit(e), SEEN_OK);
    assert_int_equal(sn_frontier_next(e->frontier, &record, &got, &r->error), SEEN_OK);
    if (got)
        assert_int_equal(record.kind, kind);
    return got;
}

/* A page may turn out to be a sitemap, which lists URLs that only it has; but what was read as a
 * sitemap is no page. The same holds for what the log of an earlier run says. */
static void reads_a_page_as_a_sitemap(void **state)
{
    static const char *const url = "http://a.example/map.xml", *const old = "http://a.example/old";
    rig r;
    (void)state;
    make(&r);
    r.engine->candidate_count = 0;
    assert_true(enters(&r, url, SN_KIND_PAGE));
    assert_true(enters(&r, url, SN_KIND_SITEMAP));
    assert_false(enters(&r, url, SN_KIND_SITEMAP));
    assert_false(enters(&r, url, SN_KIND_PAGE));
    assert_true(enters(&r, "http://a.example/b.xml", SN_KIND_SITEMAP));
    assert_false(enters(&r, "http://a.example/b.xml", SN_KIND_PAGE));
    sn_frontier_record record = {.url = old, .len = strlen(old), .kind = SN_KIND_SITEMAP};
    seen_answer answer = SEEN_NEW;
    assert_int_equal(sn_admit_replay(r.engine, &record, 1, false, &answer, &r.error), SEEN_OK);
    assert_false(enters(&r, old, SN_KIND_SITEMAP));
    assert_false(enters(&r, old, SN_KIND_PAGE));
    destroy(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commits_in_order),
        cmocka_unit_test(tells_the_set_only_what_the_frontier_has),
        cmocka_unit_test(reads_a_page_as_a_sitemap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
