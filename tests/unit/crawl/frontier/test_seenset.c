/* The crawler's seen-set: the same answers from memory, a file, a shared file and the exact set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/frontier/exactset.h"
#include "crawl/frontier/seenset.h"

static char folder[] = "/tmp/seen-seenset.XXXXXX";
static char path[64];

static void fill(sn_seenset *set, unsigned from, unsigned to, seen_answer want)
{
    seen_error error;
    seen_hasher hasher = sn_seenset_hasher(set);
    for (unsigned i = from; i < to; i += 100) {
        seen_hash hashes[100];
        seen_answer answers[100];
        char url[40];
        for (unsigned k = 0; k < 100; k++) {
            int n = snprintf(url, sizeof url, "http://host/%u", i + k);
            hashes[k] = seen_hash_key(&hasher, url, (size_t)n);
        }
        assert_int_equal(sn_seenset_check(set, hashes, 100, answers, &error), SEEN_OK);
        for (unsigned k = 0; k < 100; k++)
            assert_int_equal(answers[k], want);
        assert_int_equal(sn_seenset_add(set, hashes, 100, answers, &error), SEEN_OK);
        for (unsigned k = 0; k < 100; k++)
            assert_int_equal(answers[k], want);
    }
}

static sn_seenset *open_seenset(sn_seenset_options options)
{
    sn_seenset *set;
    seen_error error;
    options.error_rate = 1e-9;
    options.folder = -1;
    if (sn_seenset_open(&options, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    return set;
}

static void answers(void **state)
{
    seen_error error;
    sn_seenset_info info;
    (void)state;
    sn_seenset *set = open_seenset((sn_seenset_options){0});
    fill(set, 0, 20000, SEEN_NEW);
    fill(set, 0, 20000, SEEN_BEFORE);
    assert_int_equal(sn_seenset_get_info(set, &info, &error), SEEN_OK);
    assert_true(info.fill > 0 && info.error_rate < 1e-8 && info.bytes > 20000);
    sn_seenset_close(set);

    set = open_seenset((sn_seenset_options){.exact = true});
    fill(set, 0, 100000, SEEN_NEW);
    fill(set, 0, 100000, SEEN_BEFORE);
    assert_int_equal(sn_seenset_get_info(set, &info, &error), SEEN_OK);
    assert_true(info.fill < 0);
    sn_seenset_close(set);
}

static void lives_in_a_file(void **state)
{
    seen_error error;
    sn_seenset *set;
    sn_seenset_options own = {.where = path, .own = true, .fresh = true};
    (void)state;
    set = open_seenset(own);
    fill(set, 0, 1000, SEEN_NEW);
    assert_int_equal(sn_seenset_sync(set, &error), SEEN_OK);
    sn_seenset_close(set);
    own.fresh = false;
    set = open_seenset(own);
    fill(set, 0, 1000, SEEN_BEFORE);
    sn_seenset_close(set);
    own.fresh = true;
    set = open_seenset(own);
    fill(set, 0, 1000, SEEN_NEW);
    sn_seenset_close(set);
    unlink(path);
    own.fresh = false;
    assert_int_equal(sn_seenset_open(&own, &set, &error), SEEN_ERR_NOT_FOUND);
}

static void is_shared(void **state)
{
    sn_seenset_options shared = {.where = path}, fresh = {.where = path, .fresh = true};
    seen_error error;
    (void)state;
    unlink(path);
    sn_seenset *one = NULL, *two = NULL;
    assert_int_equal(sn_seenset_open(&shared, &one, &error), SEEN_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, "cannot resume without its seen-set"));
    one = open_seenset(fresh);
    two = open_seenset(shared);
    fill(one, 0, 1000, SEEN_NEW);
    fill(two, 0, 1000, SEEN_BEFORE);
    fill(two, 1000, 2000, SEEN_NEW);
    fill(one, 1000, 2000, SEEN_BEFORE);
    sn_seenset_close(one);
    one = open_seenset(fresh);
    fill(one, 0, 2000, SEEN_BEFORE);
    sn_seenset_close(one);
    sn_seenset_close(two);
}

static int run_seenset(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(lives_in_a_file),
        cmocka_unit_test(is_shared),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/filter", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}

/* ---- exactset ---- */

/* Exact set: every hash is new once, through several growths. */

static seen_hash hash_of(uint64_t i)
{
    /* Many share their low bits, to exercise probing. */
    return (seen_hash){i / 4 * UINT64_C(0x9e3779b97f4a7c15), i};
}

static void is_new_once(void **state)
{
    enum { N = 200000 };
    sn_exactset *exact;
    seen_error error;
    (void)state;
    assert_int_equal(sn_exactset_create(-1, &exact, &error), SEEN_OK);
    for (uint64_t i = 0; i < N; i += 2) {
        seen_hash both[3] = {hash_of(i), hash_of(i + 1), hash_of(i)};
        seen_answer answers[3];
        sn_exactset_check(exact, both, 3, answers);
        for (int k = 0; k < 3; k++)
            assert_int_equal(answers[k], SEEN_NEW);
        assert_int_equal(sn_exactset_add(exact, both, 3, answers, &error), SEEN_OK);
        assert_int_equal(answers[0], SEEN_NEW);
        assert_int_equal(answers[1], SEEN_NEW);
        assert_int_equal(answers[2], SEEN_BEFORE);
    }
    assert_true(sn_exactset_bytes(exact) >= N * 16 && sn_exactset_bytes(exact) <= N * 64);
    for (uint64_t i = 0; i < 2 * N; i++) {
        seen_hash hash = hash_of(i);
        seen_answer answer;
        sn_exactset_check(exact, &hash, 1, &answer);
        assert_int_equal(answer, i < N ? SEEN_BEFORE : SEEN_NEW);
    }
    sn_exactset_destroy(exact);
}

static int run_exactset(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_new_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_seenset(), run_exactset()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
