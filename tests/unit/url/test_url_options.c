/* The options, one by one and together, against the vectors of tests/data/url/options.tsv. */
#include "test_url_vectors.h"

static uint32_t read_flags(const field *f)
{
    static const struct {
        char letter;
        uint32_t flag;
    } names[] = {
        {'o', SEEN_URL_SORT_QUERY}, {'t', SEEN_URL_DROP_TRACKING}, {'s', SEEN_URL_DROP_SESSION},
        {'w', SEEN_URL_DROP_WWW},   {'/', SEEN_URL_DROP_SLASH},    {'h', SEEN_URL_ANY_SCHEME},
        {'n', SEEN_URL_NO_VALUES},  {'i', SEEN_URL_SIMILAR},
    };
    uint32_t flags = 0;
    for (size_t i = 0; i < f->len; i++) {
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            flags |= f->text[i] == names[j].letter ? names[j].flag : 0;
    }
    return flags;
}

/* flags, names to drop with commas between them, url, canonical form */
static bool check_line(const field *f)
{
    char out[SEEN_URL_BOUND(FIELD_MAX, 0)], names[FIELD_MAX + 1];
    const char *drop[16];
    size_t len = 0;
    seen_url_options options = {.size = sizeof options, .flags = read_flags(&f[0]), .drop = drop};
    memcpy(names, f[1].text, f[1].len);
    names[f[1].len] = '\0';
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
        drop[options.drop_count++] = name;
    seen_url_result result =
        seen_url_canonical(f[2].text, f[2].len, NULL, 0, &options, out, sizeof out, &len);
    return is_expected(result, out, len, &f[3]);
}

static void vectors(void **state)
{
    (void)state;
    check_vectors("options.tsv", 4, 80, check_line);
}

static void sizes(void **state)
{
    (void)state;
    const char *const drop[] = {NULL, "a"};
    seen_url_options options = {.size = sizeof options, .drop = drop, .drop_count = 2};
    assert_string_equal(canon("http://h/?a=1&b", &options), "http://h/?b");
    /* A caller that was built before `drop` existed. */
    options.size = offsetof(seen_url_options, drop);
    options.flags = SEEN_URL_DROP_SLASH;
    assert_string_equal(canon("http://h/x/?a=1&b", &options), "http://h/x?a=1&b");
    options.size = 0;
    assert_string_equal(canon("http://h/x/?a=1&b", &options), "http://h/x/?a=1&b");
    options = (seen_url_options){.size = sizeof options, .drop_count = 3};
    assert_string_equal(canon("http://h/x/?a=1&b", &options), "http://h/x/?a=1&b");
    /* A caller that was built later, with more fields and flags. */
    struct {
        seen_url_options options;
        uint64_t more;
    } later = {.options = {.size = sizeof later, .flags = 0x80000000u | SEEN_URL_DROP_SLASH}};
    assert_string_equal(canon("http://h/x/?b", &later.options), "http://h/x?b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors), cmocka_unit_test(sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
