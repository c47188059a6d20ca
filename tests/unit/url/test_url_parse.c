/* The parser against the vectors of tests/data/url. */
#include "test_url_vectors.h"

static bool check_line(const field *f)
{
    char out[SEEN_URL_BOUND(FIELD_MAX, FIELD_MAX)];
    size_t len = 0;
    bool no_base = field_is(&f[1], "-"), empty_base = field_is(&f[1], ".");
    seen_url_result result =
        seen_url_canonical(f[0].text, f[0].len, no_base ? NULL : f[1].text,
                           empty_base ? 0 : f[1].len, NULL, out, sizeof out, &len);
    return is_expected(result, out, len, &f[2]);
}

static void hand_made(void **state)
{
    (void)state;
    check_vectors("parse.tsv", 3, 450, check_line);
}

static void made_by_node(void **state)
{
    (void)state;
    check_vectors("node.tsv", 3, 1000, check_line);
}

static void international(void **state)
{
    (void)state;
    if (!has_idn()) {
        printf("skipped: this build has no IDN\n");
        skip();
    }
    check_vectors("idn.tsv", 3, 65, check_line);
}

/* A path of "a/" and "../" over and over is linear, not quadratic, in its length. */
static void long_paths(void **state)
{
    (void)state;
    enum { TIMES = 200000 };
    size_t len = 9 + 5 * TIMES, out_len = 0, capacity = SEEN_URL_BOUND(len, 0);
    char *url = malloc(len), *out = malloc(capacity);
    memcpy(url, "http://h/", 9);
    for (size_t i = 0; i < TIMES; i++)
        memcpy(url + 9 + 5 * i, "a/../", 5);
    assert_int_equal(seen_url_canonical(url, len, NULL, 0, NULL, out, capacity, &out_len), 0);
    assert_int_equal(out_len, 9);

    for (size_t i = 0; i < TIMES; i++)
        memcpy(url + 9 + 5 * i, i < TIMES / 2 ? "aaaa/" : "/../.", 5);
    assert_int_equal(seen_url_canonical(url, len, NULL, 0, NULL, out, capacity, &out_len), 0);
    free(url);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_made),
        cmocka_unit_test(made_by_node),
        cmocka_unit_test(international),
        cmocka_unit_test(long_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
