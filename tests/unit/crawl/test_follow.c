/* The links of a page: their targets, duplicates, and which are offered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/engine.h"
#include "test_engine.h"

typedef struct rig {
    sn_engine *engine;
    sn_crawl_options options;
    sn_crawl_result result;
    seen_error error;
    sn_job job;
    char url[64];
} rig;

static void nothing(void *user, const sn_html_link *link)
{
    (void)user;
    (void)link;
}

static void make(rig *r, const char *url)
{
    *r = (rig){0};
    sn_engine *e = make_engine(&r->options, &r->result, &r->error);
    r->engine = e;
    char message[100];
    e->intake.scope =
        sn_scope_create(&(sn_scope_options){.kind = SN_SCOPE_ALL}, message, sizeof message);
    assert_non_null(e->intake.scope);
    strcpy(r->url, url);
    r->job = (sn_job){.engine = e, .url = r->url, .url_len = strlen(url)};
    r->job.links = sn_links_create(&(sn_links_options){.sink = nothing});
    assert_non_null(r->job.links);
}

static void destroy(rig *r)
{
    sn_hrefs_free(&r->job.hrefs);
    sn_follow_urls_free(&r->job.urls);
    sn_links_destroy(r->job.links);
    free_engine(r->engine);
}

static void add(rig *r, const char *href, bool nofollow)
{
    assert_int_equal(
        sn_hrefs_add(&r->job.hrefs, &r->engine->hasher, href, strlen(href), nofollow, 100),
        SN_HREFS_KEPT);
}

static void set_base(rig *r, const char *base)
{
    r->job.has_base = true;
    r->job.base_len = (uint32_t)strlen(base);
    assert_true(sn_hrefs_put(&r->job.hrefs, base, r->job.base_len, &r->job.base_at));
}

static void follow(rig *r)
{
    /* Reading replaces each link by its target. */
    sn_href as_written[16];
    size_t count = r->job.hrefs.len;
    assert_true(count <= 16);
    memcpy(as_written, r->job.hrefs.list, count * sizeof *as_written);
    sn_follow_urls_reset(&r->job.urls);
    assert_true(sn_follow_read(&r->job, &r->engine->follower));
    bool nofollow = sn_links_end(r->job.links)->nofollow;
    assert_int_equal(sn_follow_admit(r->engine, &r->job, nofollow), SEEN_OK);
    memcpy(r->job.hrefs.list, as_written, count * sizeof *as_written);
}

static void expect(const rig *r, size_t at, const char *url)
{
    const sn_frontier_link *c = &r->engine->intake.links[at];
    assert_true(at < r->engine->intake.count);
    assert_int_equal(c->len, strlen(url));
    assert_memory_equal(c->url, url, c->len);
    seen_hash hash = sn_frontier_hash(r->engine->intake.frontier, url, c->len, SN_KIND_PAGE);
    assert_memory_equal(&c->hash, &hash, sizeof hash);
    assert_int_equal(c->depth, r->job.depth + 1);
}

static void takes_in_each_once(void **state)
{
    static const char *const hrefs[] = {"b.html",
                                        "./b.html",
                                        "../d/",
                                        "",
                                        "http://user:pw@c.example/",
                                        "mailto:x",
                                        "http://a.example/x/page"};
    rig r;
    (void)state;
    make(&r, "http://a.example/x/page");
    for (size_t i = 0; i < sizeof hrefs / sizeof hrefs[0]; i++)
        add(&r, hrefs[i], false);
    follow(&r);
    assert_int_equal(r.job.found, 3);
    assert_int_equal(r.engine->intake.count, 3);
    expect(&r, 0, "http://a.example/x/b.html");
    expect(&r, 1, "http://a.example/d/");
    expect(&r, 2, "http://c.example/");
    /* The next page has the same links. */
    r.job.found = 0;
    follow(&r);
    assert_int_equal(r.job.found, 3);
    assert_int_equal(r.engine->intake.count, 3);
    destroy(&r);
}

static void obeys_nofollow_and_depth(void **state)
{
    rig r;
    (void)state;
    make(&r, "http://a.example/");
    add(&r, "b", true);
    add(&r, "./b", false);
    add(&r, "c", true);
    follow(&r);
    assert_int_equal(r.job.found, 2);
    assert_int_equal(r.engine->intake.count, 1);
    expect(&r, 0, "http://a.example/b");
    r.options.follow_nofollow = true;
    r.options.max_depth = 0;
    follow(&r);
    assert_int_equal(r.engine->intake.count, 1);
    /* Links beyond the depth limit were not cached as known. */
    r.options.max_depth = 1;
    follow(&r);
    assert_int_equal(r.engine->intake.count, 2);
    expect(&r, 1, "http://a.example/c");
    destroy(&r);
}

/* With a <base> even an empty link leads to another page; an invalid URL is ignored. */
static void heeds_the_base(void **state)
{
    rig r;
    (void)state;
    make(&r, "http://a.example/x/");
    set_base(&r, "/y/z");
    add(&r, "b", false);
    add(&r, "", false);
    follow(&r);
    expect(&r, 0, "http://a.example/y/b");
    expect(&r, 1, "http://a.example/y/z");
    sn_hrefs_reset(&r.job.hrefs);
    set_base(&r, "http://[");
    add(&r, "b", false);
    follow(&r);
    assert_int_equal(r.engine->intake.count, 3);
    expect(&r, 2, "http://a.example/x/b");
    destroy(&r);
}

/* URL options are not applied to the base, whose slash is needed to resolve links. */
static void keeps_the_base_whole(void **state)
{
    rig r;
    (void)state;
    make(&r, "http://a.example/");
    r.engine->intake.url_options.flags = SEEN_URL_DROP_SLASH;
    set_base(&r, "/y/");
    add(&r, "b/", false);
    follow(&r);
    assert_int_equal(r.engine->intake.count, 1);
    expect(&r, 0, "http://a.example/y/b");
    destroy(&r);
}

/* If the base is lost, only absolute links are resolved. */
static void follows_only_whole_links_without_it(void **state)
{
    rig r;
    (void)state;
    make(&r, "http://a.example/x/");
    r.job.base_lost = true;
    add(&r, "b", false);
    add(&r, "/b", false);
    add(&r, "", false);
    add(&r, "http://c.example/d", false);
    follow(&r);
    assert_int_equal(r.job.found, 1);
    assert_int_equal(r.engine->intake.count, 1);
    expect(&r, 0, "http://c.example/d");
    destroy(&r);
}

static int run_follow(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_in_each_once),
        cmocka_unit_test(obeys_nofollow_and_depth),
        cmocka_unit_test(heeds_the_base),
        cmocka_unit_test(keeps_the_base_whole),
        cmocka_unit_test(follows_only_whole_links_without_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- admit ---- */

/* From links to batches for the frontier. */

static const char *const urls[] = {"http://a.example/", "http://a.example/b", "http://c.example/"};
enum { URLS = 3 };

/* Links become one batch, with their pages; the frontier decides which are new. */
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
        assert_int_equal(sn_admit_url(&e->intake, NULL, urls[i], len, 0, 0, SN_KIND_PAGE), SEEN_OK);
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

/* If there are more links than fit into a batch, it is offered in between. */
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

static int run_admit(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offers_a_batch),
        cmocka_unit_test(offers_full_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_follow(), run_admit()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
