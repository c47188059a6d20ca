/* Parsing and printing numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/cli.h"

#include <string.h>

static void counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        {"0", 0},
        {"1", 1},
        {"007", 7},
        {"5e9", 5000000000},
        {"5E9", 5000000000},
        {"5e+9", 5000000000},
        {"100M", 100000000},
        {"100m", 100000000},
        {"20k", 20000},
        {"1.5G", 1500000000},
        {"0.5k", 500},
        {".5k", 500},
        {"1.k", 1000},
        {"12.50e1", 125},
        {"1000e-3", 1},
        {"0e999999999", 0},
        {"0.000", 0},
        {"1T", 1000000000000},
        {"18446744073709551615", UINT64_MAX},
        {"9007199254740993", 9007199254740993}, /* not representable as a double */
        {"0.00000000000000000000000000000001e32", 1},
        {"1,000,000", 1000000},
        {"1_000_000", 1000000},
        {"1_0", 10},
        {"12,345.5k", 12345500},
        {"5B", 5000000000},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t value = 99;
        sn_number_error why;
        if (!sn_number_parse_count(good[i].text, &value, &why))
            fail_msg("%s: %s", good[i].text, why.text);
        assert_int_equal(value, good[i].value);
    }
}

static void bad_counts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part; /* expected in the message */
    } bad[] = {
        {"", "not a number"},
        {" 5", "not a number"},
        {"-1", "negative"},
        {"-0", "negative"},
        {"+5", "not a number"},
        {"NaN", "not a number"},
        {"inf", "not a number"},
        {"0x10", "not a count"},
        {"1e400", "too large"},
        {"1e999999999999", "too large"},
        {"18446744073709551616", "too many digits"},
        {"1e30", "too large"},
        {"20000000T", "too large"},
        {"1.5", "not a whole number"},
        {"1e-3", "not a whole number"},
        {"5x", "not a count"},
        {"5 M", "not a count"},
        {"5GiB", "not a count"},
        {"5e", "not a count"},
        {"1%", "not a count"},
        {".", "not a number"},
        {"1..2", "not a count"},
        {"1,5", "not a count"}, /* a decimal comma? */
        {"1,0000", "not a count"},
        {",100", "not a number"},
        {"1__0", "not a count"},
        {"1_", "not a count"},
        {"1.0,000", "not a count"},
        {"1/1000", "not a count"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t value = 99;
        sn_number_error why = {""};
        if (sn_number_parse_count(bad[i].text, &value, &why))
            fail_msg("'%s' was taken as %llu", bad[i].text, (unsigned long long)value);
        if (!strstr(why.text, bad[i].part))
            fail_msg("'%s' was refused with: %s", bad[i].text, why.text);
        assert_int_equal(value, 99);
    }
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        {"64", 64},
        {"64B", 64},
        {"64K", 65536},
        {"64KiB", 65536},
        {"64KB", 64000},
        {"4GiB", UINT64_C(4) << 30},
        {"4G", UINT64_C(4) << 30},
        {"4GB", 4000000000},
        {"120MB", 120000000},
        {"1.5GiB", UINT64_C(3) << 29},
        {"0.1GiB", 107374182}, /* rounded down */
        {"1TiB", UINT64_C(1) << 40},
        {"1e3KB", 1000000},
        {"1.234567890123GiB", 1325607178}, /* needs more than 64 bits internally */
    };
    uint64_t value;
    sn_number_error why;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!sn_number_parse_size(good[i].text, &value, &why))
            fail_msg("%s: %s", good[i].text, why.text);
        assert_int_equal(value, good[i].value);
    }
    assert_false(sn_number_parse_size("4QiB", &value, &why));
    assert_false(sn_number_parse_size("-4G", &value, &why));
    assert_false(sn_number_parse_size("1e30", &value, &why));
    assert_false(sn_number_parse_size("99999999TiB", &value, &why));
}

static void rates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0.01", 0.01},  {"1%", 0.01},     {"1e-6", 1e-6},    {".5", 0.5},
                {"0.1%", 0.001}, {"99.9%", 0.999}, {"1/1000", 0.001}, {"1/1,000,000", 1e-6}};
    static const char *const bad[] = {"0",      "1",   "100%",  "-0.1", "1e-400", "nan", "inf",
                                      "0x1p-3", "1%%", "1e5",   "",     "0.01x",  "1/0", "1/",
                                      "/5",     "2/1", "1/2/3", "1%/2", "1/10%"};
    double value;
    sn_number_error why;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(sn_number_parse_rate(good[i].text, &value, &why));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (sn_number_parse_rate(bad[i], &value, &why))
            fail_msg("%s was taken as the rate %g", bad[i], value);
    /* A share may be 0 or 1. */
    static const struct {
        const char *text;
        double value;
    } shares[] = {{"0", 0}, {"1", 1}, {"100%", 1}, {"0%", 0}, {"2.5%", 0.025}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        assert_true(sn_number_parse_share(shares[i].text, &value, &why));
        assert_true(value == shares[i].value);
    }
    static const char *const none[] = {"101%", "1.1", "-1%", "nan", "50%x", "", "1e999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (sn_number_parse_share(none[i], &value, &why))
            fail_msg("%s was taken as the share %g", none[i], value);
}

static void durations(void **state)
{
    (void)state;
    uint64_t ms;
    sn_number_error why;
    assert_true(sn_number_parse_duration("30d", &ms, &why) && ms == UINT64_C(30) * 86400000);
    assert_true(sn_number_parse_duration("500ms", &ms, &why) && ms == 500);
    assert_true(sn_number_parse_duration("2", &ms, &why) && ms == 2000);
    assert_true(sn_number_parse_duration("1.5s", &ms, &why) && ms == 1500);
    assert_true(sn_number_parse_duration("2w", &ms, &why) && ms == UINT64_C(14) * 86400000);
    assert_true(sn_number_parse_duration("5m", &ms, &why) && ms == 300000);
    assert_false(sn_number_parse_duration("5y", &ms, &why));
    assert_false(sn_number_parse_duration("1e30d", &ms, &why));
    assert_false(sn_number_parse_duration("-1s", &ms, &why));
}

static void characters(void **state)
{
    (void)state;
    int c;
    sn_number_error why;
    assert_true(sn_number_parse_char(",", &c, &why) && c == ',');
    assert_true(sn_number_parse_char("\\t", &c, &why) && c == '\t');
    assert_true(sn_number_parse_char("\\0", &c, &why) && c == 0);
    assert_true(sn_number_parse_char("\\\\", &c, &why) && c == '\\');
    assert_true(sn_number_parse_char("\\x1F", &c, &why) && c == 0x1f);
    assert_true(sn_number_parse_char("\xff", &c, &why) && c == 0xff);
    assert_false(sn_number_parse_char("", &c, &why));
    assert_false(sn_number_parse_char("ab", &c, &why));
    assert_false(sn_number_parse_char("\\q", &c, &why));
    assert_false(sn_number_parse_char("\\x1", &c, &why));
    assert_false(sn_number_parse_char("\\xgg", &c, &why));
}

static void seeds(void **state)
{
    (void)state;
    sn_args_seed seed;
    sn_number_error why;
    assert_true(sn_number_parse_seed("42", &seed, &why));
    assert_true(seed.given && seed.word[0] == 42 && seed.word[1] == 0);
    assert_true(sn_number_parse_seed("0123456789abcdefFEDCBA9876543210", &seed, &why));
    assert_true(seed.word[1] == 0x0123456789abcdef && seed.word[0] == 0xfedcba9876543210);
    assert_false(sn_number_parse_seed("0123456789abcdefFEDCBA987654321g", &seed, &why));
    assert_false(sn_number_parse_seed("-1", &seed, &why));
}

/* A formatted option value parses to the same value. */
static void there_and_back(void **state)
{
    (void)state;
    char text[SN_TEXT];
    sn_number_error why;
    uint64_t x = 1, back;
    for (int i = 0; i < 20000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint64_t value = x >> (i % 60);
        if (i % 3 == 0)
            value = value / 1000000 * 1000000;
        if (i % 5 == 0)
            value &= ~UINT64_C(0xfffff);
        assert_true(sn_number_parse_count(sn_show_short(text, value), &back, &why));
        assert_int_equal(back, value);
        assert_true(sn_number_parse_size(sn_show_short_size(text, value), &back, &why));
        assert_int_equal(back, value);
    }
    static const double rates[] = {0.5, 0.1, 0.01, 0.03, 1e-3, 1e-4, 2.5e-5, 1e-6, 1e-18, 0.999};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        double rate;
        assert_true(sn_number_parse_rate(sn_show_short_rate(text, rates[i]), &rate, &why));
        assert_true(rate == rates[i]);
    }
    assert_string_equal(sn_show_short_rate(text, 1e-4), "1e-4");
    assert_string_equal(sn_show_short(text, 5000000000), "5e9");
    assert_string_equal(sn_show_short_size(text, UINT64_C(4) << 30), "4GiB");
}

static void shown(void **state)
{
    (void)state;
    char text[SN_TEXT];
    assert_string_equal(sn_show_count(text, 0), "0");
    assert_string_equal(sn_show_count(text, 999), "999");
    assert_string_equal(sn_show_count(text, 1234567), "1,234,567");
    assert_string_equal(sn_show_words(text, 12345), "12,345");
    assert_string_equal(sn_show_words(text, 5e9), "5 billion");
    assert_string_equal(sn_show_words(text, 1.25e9), "1.25 billion");
    assert_string_equal(sn_show_words(text, 999999), "1 million");
    assert_string_equal(sn_show_words(text, 1e12), "1 trillion");
    assert_string_equal(sn_show_size(text, 0), "0 bytes");
    assert_string_equal(sn_show_size(text, 1), "1 byte");
    assert_string_equal(sn_show_size(text, 64), "64 bytes");
    assert_string_equal(sn_show_size(text, 1024), "1.00 KiB");
    assert_string_equal(sn_show_size(text, 4294967296), "4.00 GiB");
    assert_string_equal(sn_show_rate(text, 0.01), "1%");
    assert_string_equal(sn_show_rate(text, 1e-6), "1e-6");
    assert_string_equal(sn_show_rate(text, 9.2049e-5), "9.2e-5");
    assert_string_equal(sn_show_rate(text, 1.3e-28), "below 1e-15");
    assert_string_equal(sn_show_rate(text, 0), "0");
    assert_string_equal(sn_show_number_of(text, 1, "line"), "1 line");
    assert_string_equal(sn_show_number_of(text, 0, "line"), "0 lines");
    assert_string_equal(sn_show_number_of(text, 2000, "line"), "2,000 lines");
    assert_string_equal(sn_show_expected(text, 1.3e-28), "fewer than 0.01");
    assert_string_equal(sn_show_expected(text, 0.021), "about 0.02");
    assert_string_equal(sn_show_expected(text, 2.5), "about 2.5");
    assert_string_equal(sn_show_expected(text, 1234567), "about 1.23 million");
    assert_string_equal(sn_show_seconds(text, 0.25), "0.2 s");
    assert_string_equal(sn_show_seconds(text, 125), "2m05s");
    assert_string_equal(sn_show_seconds(text, 59.9), "1m00s");
    assert_string_equal(sn_show_seconds(text, 7500), "2h05m");
    assert_string_equal(sn_show_seconds(text, 30 * 86400.0), "30 days");
    assert_string_equal(sn_show_seconds(text, 1e300), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts), cmocka_unit_test(bad_counts),     cmocka_unit_test(sizes),
        cmocka_unit_test(rates),  cmocka_unit_test(durations),      cmocka_unit_test(characters),
        cmocka_unit_test(seeds),  cmocka_unit_test(there_and_back), cmocka_unit_test(shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
