/* The crawler's seen-set: the same answers from memory, a file, a shared file and exact keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/known.h"

static char folder[] = "/tmp/seen-known.XXXXXX";
static char path[64];

static void fill(sn_known *known, unsigned from, unsigned to, seen_answer want)
{
    seen_error error;
    for (unsigned i = from; i < to; i += 100) {
        seen_hash hashes[100];
        seen_answer answers[100];
        char url[40];
        for (unsigned k = 0; k < 100; k++) {
            int n = snprintf(url, sizeof url, "http://host/%u", i + k);
            hashes[k] = sn_known_hash(known, url, (size_t)n);
        }
        assert_int_equal(sn_known_check(known, hashes, 100, answers, &error), SEEN_OK);
        for (unsigned k = 0; k < 100; k++)
            assert_int_equal(answers[k], want);
        assert_int_equal(sn_known_add(known, hashes, 100, answers, &error), SEEN_OK);
        for (unsigned k = 0; k < 100; k++)
            assert_int_equal(answers[k], want);
    }
}

static sn_known *open_known(sn_known_options options)
{
    sn_known *known;
    seen_error error;
    options.error_rate = 1e-9;
    options.folder = -1;
    if (sn_known_open(&options, &known, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    return known;
}

static void answers(void **state)
{
    seen_error error;
    sn_known_info info;
    (void)state;
    sn_known *known = open_known((sn_known_options){0});
    fill(known, 0, 20000, SEEN_NEW);
    fill(known, 0, 20000, SEEN_BEFORE);
    assert_int_equal(sn_known_get_info(known, &info, &error), SEEN_OK);
    assert_true(info.fill > 0 && info.error_rate < 1e-8 && info.bytes > 20000);
    sn_known_close(known);

    known = open_known((sn_known_options){.exact = true});
    fill(known, 0, 100000, SEEN_NEW);
    fill(known, 0, 100000, SEEN_BEFORE);
    assert_int_equal(sn_known_get_info(known, &info, &error), SEEN_OK);
    assert_true(info.fill < 0);
    sn_known_close(known);
}

static void lives_in_a_file(void **state)
{
    seen_error error;
    sn_known *known;
    sn_known_options own = {.where = path, .own = true, .fresh = true};
    (void)state;
    known = open_known(own);
    fill(known, 0, 1000, SEEN_NEW);
    assert_int_equal(sn_known_sync(known, &error), SEEN_OK);
    sn_known_close(known);
    own.fresh = false;
    known = open_known(own);
    fill(known, 0, 1000, SEEN_BEFORE);
    sn_known_close(known);
    own.fresh = true;
    known = open_known(own);
    fill(known, 0, 1000, SEEN_NEW);
    sn_known_close(known);
    unlink(path);
    own.fresh = false;
    assert_int_equal(sn_known_open(&own, &known, &error), SEEN_ERR_NOT_FOUND);
}

static void is_shared(void **state)
{
    sn_known_options shared = {.where = path}, fresh = {.where = path, .fresh = true};
    seen_error error;
    (void)state;
    unlink(path);
    sn_known *one = NULL, *two = NULL;
    assert_int_equal(sn_known_open(&shared, &one, &error), SEEN_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, "cannot go on without what it has seen"));
    one = open_known(fresh);
    two = open_known(shared);
    fill(one, 0, 1000, SEEN_NEW);
    fill(two, 0, 1000, SEEN_BEFORE);
    fill(two, 1000, 2000, SEEN_NEW);
    fill(one, 1000, 2000, SEEN_BEFORE);
    sn_known_close(one);
    one = open_known(fresh);
    fill(one, 0, 2000, SEEN_BEFORE);
    sn_known_close(one);
    sn_known_close(two);
}

static void remembers_lately(void **state)
{
    sn_known *known = open_known((sn_known_options){0});
    (void)state;
    seen_hash hash = sn_known_hash(known, "a", 1);
    assert_false(sn_known_lately(known, hash));
    assert_true(sn_known_lately(known, hash));
    seen_hash near = {hash.lo + 1, hash.hi};
    assert_false(sn_known_lately(known, near));
    assert_false(sn_known_lately(known, hash));
    sn_known_close(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(lives_in_a_file),
        cmocka_unit_test(is_shared),
        cmocka_unit_test(remembers_lately),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/filter", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}
