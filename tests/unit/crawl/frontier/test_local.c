/* The frontier of one process: durable before seen; levels; limits; restarts. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/frontier/host_pages.h"
#include "crawl/frontier/local.h"

static char path[] = "/tmp/seen-local.XXXXXX";
static seen_error error;

static sn_frontier *open_local(sn_frontier_local_options options)
{
    sn_frontier *f = NULL;
    options.error_rate = 1e-6;
    options.capacity = 1000;
    if (sn_frontier_local_open(&options, &f, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    return f;
}

static sn_frontier_link link_to(const sn_frontier *f, const char *url, uint16_t depth, uint8_t kind)
{
    return (sn_frontier_link){.hash = sn_frontier_hash(f, url, strlen(url), kind),
                              .url = url,
                              .len = (uint32_t)strlen(url),
                              .parent = "http://p.example/",
                              .parent_len = 17,
                              .depth = depth,
                              .kind = kind};
}

static seen_status offer(sn_frontier *f, const char *url, uint16_t depth, uint8_t kind,
                         uint8_t flags)
{
    sn_frontier_link link = link_to(f, url, depth, kind);
    link.flags = flags;
    return f->class->offer(f, &link, 1, &error);
}

/* Takes the next URL, which must be this one; NULL: none. */
static sn_frontier_place take(sn_frontier *f, bool idle, sn_frontier_next want, const char *url)
{
    sn_frontier_record record = {0};
    sn_frontier_next next;
    assert_int_equal(f->class->peek(f, idle, &record, &next, &error), SEEN_OK);
    assert_int_equal(next, want);
    if (url == NULL)
        return record.place;
    assert_int_equal(record.len, strlen(url));
    assert_memory_equal(record.url, url, record.len);
    f->class->take(f);
    sn_frontier_record loaded;
    assert_int_equal(f->class->load(f, record.place, &loaded, &error), SEEN_OK);
    assert_memory_equal(loaded.url, url, loaded.len);
    assert_memory_equal(loaded.parent, "http://p.example/", 17);
    return record.place;
}

static void done(sn_frontier *f, sn_frontier_place place, const char *url, bool counts)
{
    sn_frontier_record record = {.url = url, .len = strlen(url), .place = place};
    sn_frontier_done what = {.record = &record, .counts = counts};
    assert_int_equal(f->class->done(f, &what, &error), SEEN_OK);
}

static void hands_out_in_order_once(void **state)
{
    (void)state;
    sn_frontier *f = open_local((sn_frontier_local_options){.folder = -1});
    sn_frontier_link links[3] = {link_to(f, "http://a.example/", 0, SN_KIND_PAGE),
                                 link_to(f, "http://a.example/b", 0, SN_KIND_PAGE),
                                 link_to(f, "http://a.example/", 0, SN_KIND_PAGE)};
    take(f, true, SN_NEXT_END, NULL);
    assert_int_equal(f->class->offer(f, links, 3, &error), SEEN_OK);
    assert_int_equal(f->found, 2);
    take(f, true, SN_NEXT_URL, "http://a.example/");
    /* A URL that was returned and not taken is returned again. */
    take(f, false, SN_NEXT_URL, NULL);
    take(f, false, SN_NEXT_URL, "http://a.example/b");
    take(f, false, SN_NEXT_END, NULL);
    assert_int_equal(f->class->offer(f, links, 3, &error), SEEN_OK);
    assert_int_equal(f->found, 2);
    take(f, false, SN_NEXT_END, NULL);
    assert_int_equal(offer(f, "http://a.example/b", 0, SN_KIND_PAGE, SN_OFFER_AGAIN), SEEN_OK);
    assert_int_equal(f->found, 2);
    take(f, false, SN_NEXT_URL, "http://a.example/b");
    f->class->close(f);
}

/* If the set were written first, a URL could be marked as seen but not stored: lost to this crawl
 * and to all that share the set. */
static void adds_only_what_the_log_has(void **state)
{
    struct rlimit before, none;
    (void)state;
    sn_frontier *f = open_local((sn_frontier_local_options){.folder = -1});
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    seen_status status = offer(f, "http://a.example/", 0, SN_KIND_PAGE, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, SEEN_ERR_SPACE);
    assert_int_equal(f->found, 0);
    f->class->close(f);
}

static void finishes_a_level_before_the_next(void **state)
{
    (void)state;
    sn_frontier *f = open_local((sn_frontier_local_options){.folder = -1, .levels = true});
    assert_int_equal(offer(f, "http://a.example/0", 0, SN_KIND_PAGE, 0), SEEN_OK);
    assert_int_equal(offer(f, "http://a.example/1", 1, SN_KIND_PAGE, 0), SEEN_OK);
    assert_int_equal(offer(f, "http://a.example/2", 0, SN_KIND_PAGE, 0), SEEN_OK);
    take(f, true, SN_NEXT_URL, "http://a.example/0");
    take(f, false, SN_NEXT_URL, "http://a.example/2");
    take(f, false, SN_NEXT_WAIT, NULL);
    take(f, false, SN_NEXT_WAIT, NULL);
    /* A redirect leads to a page of the same depth, which comes before the next level. */
    assert_int_equal(offer(f, "http://a.example/3", 0, SN_KIND_PAGE, 0), SEEN_OK);
    take(f, false, SN_NEXT_URL, "http://a.example/3");
    take(f, false, SN_NEXT_WAIT, NULL);
    take(f, true, SN_NEXT_URL, "http://a.example/1");
    assert_int_equal(offer(f, "http://a.example/4", 2, SN_KIND_PAGE, 0), SEEN_OK);
    assert_int_equal(offer(f, "http://a.example/5", 1, SN_KIND_PAGE, 0), SEEN_OK);
    take(f, false, SN_NEXT_URL, "http://a.example/5");
    take(f, true, SN_NEXT_URL, "http://a.example/4");
    take(f, true, SN_NEXT_END, NULL);
    f->class->close(f);
}

/* Whether this URL, found as this kind, enters the frontier. */
static bool enters(sn_frontier *f, const char *url, uint8_t kind, uint8_t flags)
{
    sn_frontier_record record;
    sn_frontier_next next;
    assert_int_equal(offer(f, url, 0, kind, flags), SEEN_OK);
    assert_int_equal(f->class->peek(f, true, &record, &next, &error), SEEN_OK);
    if (next == SN_NEXT_URL) {
        assert_int_equal(record.kind, kind);
        f->class->take(f);
    }
    return next == SN_NEXT_URL;
}

/* A page may turn out to be a sitemap, which lists URLs that only it has; but a URL that was read
 * as a sitemap is not a page. */
static void reads_a_page_as_a_sitemap(void **state)
{
    static const char *const url = "http://a.example/map.xml";
    (void)state;
    sn_frontier *f = open_local((sn_frontier_local_options){.folder = -1});
    assert_true(enters(f, url, SN_KIND_PAGE, 0));
    assert_false(enters(f, url, SN_KIND_SITEMAP, SN_OFFER_UNLESS_PAGE));
    assert_true(enters(f, url, SN_KIND_SITEMAP, 0));
    assert_false(enters(f, url, SN_KIND_SITEMAP, 0));
    assert_false(enters(f, url, SN_KIND_PAGE, 0));
    assert_true(enters(f, "http://a.example/b.xml", SN_KIND_SITEMAP, SN_OFFER_UNLESS_PAGE));
    assert_false(enters(f, "http://a.example/b.xml", SN_KIND_PAGE, 0));
    /* Found as a page earlier in the same batch. */
    sn_frontier_link links[2] = {link_to(f, "http://c.example/", 0, SN_KIND_PAGE),
                                 link_to(f, "http://c.example/", 0, SN_KIND_SITEMAP)};
    links[1].flags = SN_OFFER_UNLESS_PAGE;
    assert_int_equal(f->class->offer(f, links, 2, &error), SEEN_OK);
    take(f, true, SN_NEXT_URL, "http://c.example/");
    take(f, true, SN_NEXT_END, NULL);
    f->class->close(f);
}

static void settle(sn_frontier *f, bool synced)
{
    sn_crawl_counts counts = {.pages = 7};
    sn_frontier_progress progress = {.counts = &counts, .out_length = {5}, .out_path = {9}};
    assert_int_equal(f->class->settle(f, &progress, synced, &error), SEEN_OK);
}

static sn_frontier *reopen(int folder, sn_checkpoint *checkpoint, sn_frontier_local_options options)
{
    assert_int_equal(sn_checkpoint_read(folder, checkpoint, &error), SEEN_OK);
    options.folder = folder;
    options.path = path;
    options.checkpoint = checkpoint;
    sn_frontier *f = open_local(options);
    sn_checkpoint_free(checkpoint);
    return f;
}

static void flip_boot(int folder)
{
    uint8_t byte;
    int fd = openat(folder, "progress", O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, 12), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, 12), 1);
    close(fd);
}

/* Pages done before the checkpoint stay done, others are returned again; counters and scope are
 * restored. */
static void resumes(void **state)
{
    static const char *const url[] = {"http://a.example/0", "http://a.example/1",
                                      "http://a.example/2"};
    sn_frontier_local_options options = {.path = path, .max_pages = 2, .host_pages = true};
    sn_frontier_host host;
    sn_frontier_info info;
    sn_checkpoint checkpoint;
    sn_frontier_place place[3];
    (void)state;
    int folder = options.folder = open(path, O_RDONLY | O_DIRECTORY);
    sn_frontier *f = open_local(options);
    settle(f, true);
    assert_true(sn_frontier_local_empty(f));
    assert_int_equal(f->class->add_seed(f, "http://a.example/", 17, &error), SEEN_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(offer(f, url[i], 0, SN_KIND_PAGE, 0), SEEN_OK);
    for (int i = 0; i < 3; i++)
        place[i] = take(f, true, SN_NEXT_URL, url[i]);
    f->class->started(f);
    assert_int_equal(f->class->permit(f), SN_PERMIT_YES);
    f->class->started(f);
    assert_int_equal(f->class->permit(f), SN_PERMIT_LIMIT);
    done(f, place[1], url[1], true);
    settle(f, true);
    /* Another page is done after the last progress record: it is unknown after a crash. */
    done(f, place[0], url[0], true);
    settle(f, false);
    done(f, place[2], url[2], true);
    f->class->close(f);
    /* Progress records of another boot are ignored. */
    flip_boot(folder);
    f = reopen(folder, &checkpoint, options);
    assert_int_equal(checkpoint.counts.pages, 7);
    assert_false(sn_frontier_local_empty(f));
    assert_string_equal(sn_frontier_local_seeds(f), "http://a.example/\n");
    assert_int_equal(f->class->permit(f), SN_PERMIT_YES);
    f->class->host_begin(f, url[0], 16, &host);
    assert_int_equal(host.pages, 1);
    f->class->get_info(f, true, &info);
    assert_int_equal(info.waiting, 2);
    take(f, true, SN_NEXT_URL, url[0]);
    take(f, true, SN_NEXT_URL, url[2]);
    take(f, true, SN_NEXT_END, NULL);
    f->class->close(f);

    flip_boot(folder);
    f = reopen(folder, &checkpoint, options);
    assert_int_equal(f->class->permit(f), SN_PERMIT_LIMIT);
    f->class->host_begin(f, url[0], 16, &host);
    assert_int_equal(host.pages, 2);
    take(f, true, SN_NEXT_URL, url[2]);
    take(f, true, SN_NEXT_END, NULL);
    f->class->close(f);
    close(folder);
}

static int run_local(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_out_in_order_once),
        cmocka_unit_test(adds_only_what_the_log_has),
        cmocka_unit_test(finishes_a_level_before_the_next),
        cmocka_unit_test(reads_a_page_as_a_sitemap),
        cmocka_unit_test(resumes),
    };
    if (mkdtemp(path) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", path);
    return system(command) != 0 || failed;
}

/* ---- host_pages ---- */

/* Page counts per host: counted, stored, loaded. */

static void counts_and_comes_back(void **state)
{
    sn_host_pages *tally = sn_host_pages_create();
    (void)state;
    for (uint64_t i = 0; i < 5000; i++)
        for (uint64_t k = 0; k < i % 3; k++)
            assert_true(sn_host_pages_add(tally, i << 32, k + 1));
    size_t size = sn_host_pages_size(tally);
    assert_int_equal(size, 16 * (5000 - 1667));
    uint8_t *bytes = malloc(size);
    sn_host_pages_store(tally, bytes);
    sn_host_pages *other = sn_host_pages_create();
    assert_true(sn_host_pages_load(other, bytes, size));
    for (uint64_t i = 0; i < 6000; i++) {
        uint64_t want = i >= 5000 ? 0 : i % 3 == 2 ? 3 : i % 3;
        assert_int_equal(sn_host_pages_get(tally, i << 32), want);
        assert_int_equal(sn_host_pages_get(other, i << 32), want);
    }
    free(bytes);
    sn_host_pages_destroy(tally);
    sn_host_pages_destroy(other);
}

/* An entry decremented to zero keeps its slot, so that entries behind it are still found. */
static void takes_back(void **state)
{
    sn_host_pages *tally = sn_host_pages_create();
    (void)state;
    assert_true(sn_host_pages_add(tally, 1, 1));
    assert_true(sn_host_pages_add(tally, 1 + (UINT64_C(1) << 32), 5));
    assert_true(sn_host_pages_add(tally, 1 + (UINT64_C(2) << 32), 7));
    sn_host_pages_take(tally, 1);
    sn_host_pages_take(tally, 1);
    sn_host_pages_take(tally, 1 + (UINT64_C(1) << 32));
    sn_host_pages_take(tally, 99);
    uint8_t bytes[3 * 16];
    assert_int_equal(sn_host_pages_size(tally), sizeof bytes);
    sn_host_pages_store(tally, bytes);
    sn_host_pages *other = sn_host_pages_create();
    assert_true(sn_host_pages_load(other, bytes, sizeof bytes));
    for (int i = 0; i < 2; i++) {
        const sn_host_pages *t = i == 0 ? tally : other;
        assert_int_equal(sn_host_pages_get(t, 1), 0);
        assert_int_equal(sn_host_pages_get(t, 1 + (UINT64_C(1) << 32)), 4);
        assert_int_equal(sn_host_pages_get(t, 1 + (UINT64_C(2) << 32)), 7);
        assert_int_equal(sn_host_pages_get(t, 99), 0);
    }
    assert_true(sn_host_pages_add(tally, 1, 2));
    assert_int_equal(sn_host_pages_get(tally, 1), 2);
    sn_host_pages_destroy(tally);
    sn_host_pages_destroy(other);
}

static int run_host_pages(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_and_comes_back),
                                       cmocka_unit_test(takes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_local(), run_host_pages()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
