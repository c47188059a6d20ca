/* Parsing -k. */
#include "stream/record/spec.h"
#include "test_stream.h"

static void columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t parts;
        sn_columns want[3];
    } good[] = {
        {"2", 1, {{2, 2}}},
        {"2,5", 2, {{2, 2}, {5, 5}}},
        {"3-", 1, {{3, SN_COLUMN_LAST}}},
        {"2-4,7-,1", 3, {{2, 4}, {7, SN_COLUMN_LAST}, {1, 1}}},
        {"-3", 1, {{1, 3}}},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        sn_record_spec spec = {.kind = SN_RECORD_LINES};
        assert_int_equal(sn_spec_add(&spec, good[i].text, NULL), SEEN_OK);
        assert_int_equal(spec.parts, good[i].parts);
        for (size_t p = 0; p < spec.parts; p++)
            assert_memory_equal(&spec.part[p].columns, &good[i].want[p], sizeof(sn_columns));
        sn_spec_free(&spec);
    }
    static const char *const bad[] = {"",    "0", "a",   "2,",          ",2",
                                      "4-2", "-", "1.5", "99999999999", "2--3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sn_record_spec spec = {.kind = SN_RECORD_LINES};
        seen_error error = {0};
        if (sn_spec_add(&spec, bad[i], &error) == SEEN_OK)
            fail_msg("-k %s was taken", bad[i]);
        assert_true(error.message[0]);
        sn_spec_free(&spec);
    }
}

static void names(void **state)
{
    (void)state;
    const seen_key header[] = {{"id", 2}, {"a,b", 3}, {"2", 1}, {"id", 2}};
    sn_record_spec spec = {.kind = SN_RECORD_CSV, .header = true};
    sn_columns *found = NULL;
    assert_int_equal(sn_spec_add(&spec, "\"a,b\",2,\"2\"", NULL), SEEN_OK);
    assert_int_equal(sn_spec_resolve(&spec, "f", header, 4, &found, NULL), SEEN_OK);
    assert_true(found[0].first == 2 && found[1].first == 2 && found[2].first == 3);
    free(found);
    seen_error error = {0};
    assert_int_equal(sn_spec_add(&spec, "id", NULL), SEEN_OK);
    assert_int_equal(sn_spec_resolve(&spec, "f", header, 4, &found, &error), SEEN_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "2 columns"));
    assert_int_equal(sn_spec_resolve(&spec, "f", header, 0, &found, &error), SEEN_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "no column"));
    sn_spec_free(&spec);
    sn_record_spec plain = {.kind = SN_RECORD_CSV};
    assert_int_equal(sn_spec_add(&plain, "id", &error), SEEN_ERR_ARGUMENT);
    sn_spec_free(&plain);
}

static void paths(void **state)
{
    (void)state;
    sn_record_spec spec = {.kind = SN_RECORD_JSON};
    assert_int_equal(sn_spec_add(&spec, "user.id,\"a.b\".0", NULL), SEEN_OK);
    assert_int_equal(spec.parts, 2);
    assert_int_equal(spec.part[0].steps, 2);
    assert_string_equal(spec.part[0].step[1].name, "id");
    assert_string_equal(spec.part[1].step[0].name, "a.b");
    assert_int_equal(spec.part[1].step[1].index, 0);
    assert_false(sn_spec_is_single(&spec));
    static const char *const bad[] = {"", "a.", ".a", "a..b", "\"a", "\"a\"b", "a,,b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sn_spec_add(&spec, bad[i], NULL), SEEN_ERR_ARGUMENT);
    while (spec.parts < SN_KEY_PARTS)
        assert_int_equal(sn_spec_add(&spec, "x", NULL), SEEN_OK);
    assert_int_equal(sn_spec_add(&spec, "x", NULL), SEEN_ERR_ARGUMENT);
    sn_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns),
        cmocka_unit_test(names),
        cmocka_unit_test(paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
