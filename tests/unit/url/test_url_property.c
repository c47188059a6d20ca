/* Properties of every URL, tested on random ones, with every combination of options. A failure
 * prints the URL; SEEN_SEED reproduces a run and SEEN_COUNT makes it longer. */
#include "test_url.h"

enum { OUT_MAX = SEEN_URL_BOUND(RANDOM_URL_MAX, RANDOM_URL_MAX), ALL_FLAGS = 255, TRIED = 32 };

static const char *const DROPS[] = {"a", "b*", "name", NULL, ""};

static seen_url_options some_options(uint32_t flags)
{
    seen_url_options options = {.size = sizeof options, .flags = flags};
    if (random_below(4) == 0) {
        options.drop = DROPS;
        options.drop_count = sizeof DROPS / sizeof *DROPS;
    }
    return options;
}

static void show(const char *label, const char *text, size_t len)
{
    printf("  %s ", label);
    for (size_t i = 0; i < len; i++)
        printf((unsigned char)text[i] > ' ' && text[i] < 0x7f ? "%c" : "\\x%02x",
               (unsigned char)text[i]);
    printf("\n");
}

static bool is_printable(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    }
    return true;
}

/* The canonical form of `out`, on `base`, must be `out`. */
static bool is_fixed(const char *out, size_t len, const char *base, size_t base_len,
                     const seen_url_options *options)
{
    static char again[3 * OUT_MAX + OUT_MAX];
    size_t again_len = 0;
    seen_url_result result =
        seen_url_canonical(out, len, base, base_len, options, again, sizeof again, &again_len);
    bool same = result == SEEN_URL_OK && again_len == len && memcmp(again, out, len) == 0;
    if (!same && result == SEEN_URL_OK)
        show("again", again, again_len);
    return same;
}

static bool holds(const char *url, size_t len, const char *base, size_t base_len, uint32_t flags)
{
    static char out[OUT_MAX];
    size_t out_len = 0;
    seen_url_options options = some_options(flags);
    seen_url_result result =
        seen_url_canonical(url, len, base, base_len, &options, out, sizeof out, &out_len);
    if (result != SEEN_URL_OK)
        return result == SEEN_URL_INVALID || result == SEEN_URL_OTHER_SCHEME;
    seen_url_parts parts;
    bool good = is_printable(out, out_len) && out_len <= SEEN_URL_BOUND(len, base_len) &&
                seen_url_split(out, out_len, &parts) == SEEN_URL_OK && !memchr(out, '#', out_len) &&
                is_fixed(out, out_len, NULL, 0, &options) &&
                is_fixed(out, out_len, base, base_len, &options) &&
                is_fixed(out, out_len, url, len, NULL);
    if (!good)
        show("out  ", out, out_len);
    return good;
}

static void canonical_stays(void **state)
{
    (void)state;
    const char *given = getenv("SEEN_COUNT");
    size_t count = given ? strtoul(given, NULL, 10) : 30000, accepted = 0;
    static char url[RANDOM_URL_MAX], base[RANDOM_URL_MAX];
    random_start("canonical_stays");
    for (size_t i = 0; i < count; i++) {
        unsigned kinds = (unsigned)random_below(4);
        size_t len = random_url(url, kinds), base_len = random_url(base, kinds);
        bool has_base = random_below(2) == 0;
        for (uint32_t tried = 0; tried < TRIED; tried++) {
            uint32_t flags = tried ? (uint32_t)random_below(ALL_FLAGS + 1) : 0;
            bool good = holds(url, len, has_base ? base : NULL, has_base ? base_len : 0, flags);
            if (!good) {
                show("url  ", url, len);
                show("base ", base, has_base ? base_len : 0);
                printf("  flags %u, round %zu\n", flags, i);
            }
            assert_true(good);
        }
        size_t ignored;
        char out[OUT_MAX];
        accepted += seen_url_canonical(url, len, NULL, 0, NULL, out, sizeof out, &ignored) == 0;
    }
    /* If most were refused, the test would not be meaningful. */
    printf("%zu of %zu accepted without a base\n", accepted, count);
    assert_true(accepted > count / 5);
}

/* The scan may decline, but if it accepts, the parser must agree: a leading space forces the
 * parser. */
static void scan_is_parse(void **state)
{
    (void)state;
    static char url[1 + RANDOM_URL_MAX], slow[OUT_MAX];
    size_t taken = 0;
    random_start("scan_is_parse");
    for (size_t i = 0; i < 200000; i++) {
        size_t len = random_url(url + 1, (unsigned)random_below(2)), path, slow_len = 0;
        url[0] = ' ';
        /* Mostly on canonical URLs, as others hardly reach the scan. */
        if (random_below(4) > 0 &&
            seen_url_canonical(url, len + 1, NULL, 0, NULL, slow, sizeof slow, &slow_len) == 0 &&
            slow_len <= RANDOM_URL_MAX)
            memcpy(url + 1, slow, len = slow_len);
        size_t fast_len = sn_url_scan(url + 1, len, &path);
        if (fast_len == 0)
            continue;
        taken++;
        seen_url_result result =
            seen_url_canonical(url, len + 1, NULL, 0, NULL, slow, sizeof slow, &slow_len);
        if (result != SEEN_URL_OK || slow_len != fast_len || memcmp(slow, url + 1, fast_len) != 0)
            show("url", url + 1, len);
        assert_int_equal(result, SEEN_URL_OK);
        assert_int_equal(slow_len, fast_len);
        assert_memory_equal(slow, url + 1, fast_len);
    }
    printf("%zu taken by the scan\n", taken);
    assert_true(taken > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_stays),
        cmocka_unit_test(scan_is_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
