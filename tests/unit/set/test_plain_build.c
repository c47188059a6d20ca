/* A build without SipHash or Redis refuses to create and to open sets that need them. */
#include "test_trust.h"

#include "hash/hash.h"

static bool lacks_sip;

static bool supported(seen_hash_kind kind)
{
    return !lacks_sip && sn_hash_supported(kind);
}

/* Includes the sources, configured like that build. */
#undef SEEN_WITH_REDIS
#define sn_hash_supported supported
#include "local/file.c"
#include "set/calls.c"
#include "set/stores.c"
#undef sn_hash_supported

static void test_no_siphash(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 100, 0.01);
    options.hash = SEEN_SIPHASH;
    seen_set *set = NULL;
    if (!sn_hash_supported(SEEN_SIPHASH)) {
        FAILS(SEEN_ERR_UNSUPPORTED, seen_create(NULL, &options, 0, &set, error));
        return;
    }
    char path[] = "/tmp/seen-sip.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    OK(seen_create(path, &options, SEEN_REPLACE, &set, error));
    seen_close(set);
    lacks_sip = true;
    FAILS(SEEN_ERR_UNSUPPORTED, seen_create(NULL, &options, 0, &set, error));
    FAILS(SEEN_ERR_UNSUPPORTED, seen_open(path, NULL, 0, &set, error));
    lacks_sip = false;
    OK(seen_open(path, NULL, 0, &set, error));
    seen_close(set);
    assert_int_equal(unlink(path), 0);
}

static void test_no_redis(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 100, 0.01);
    seen_set *set = NULL;
    FAILS(SEEN_ERR_UNSUPPORTED, seen_create("redis://localhost/x", &options, 0, &set, error));
    FAILS(SEEN_ERR_UNSUPPORTED, seen_open("redis://localhost/x", NULL, 0, &set, error));
    assert_null(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_siphash),
                                       cmocka_unit_test(test_no_redis)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
