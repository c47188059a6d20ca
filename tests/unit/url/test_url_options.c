/* The options, one by one and together, against the vectors of tests/data/url/options.tsv. */
#include <time.h>

#include "test_url.h"

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

/* flags, names to drop (comma-separated), url, canonical form */
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
    /* A caller compiled before `drop` existed. */
    options.size = offsetof(seen_url_options, drop);
    options.flags = SEEN_URL_DROP_SLASH;
    assert_string_equal(canon("http://h/x/?a=1&b", &options), "http://h/x?a=1&b");
    options.size = 0;
    assert_string_equal(canon("http://h/x/?a=1&b", &options), "http://h/x/?a=1&b");
    options = (seen_url_options){.size = sizeof options, .drop_count = 3};
    assert_string_equal(canon("http://h/x/?a=1&b", &options), "http://h/x/?a=1&b");
    /* A caller compiled later, with more fields and flags. */
    struct {
        seen_url_options options;
        uint64_t more;
    } later = {.options = {.size = sizeof later, .flags = 0x80000000u | SEEN_URL_DROP_SLASH}};
    assert_string_equal(canon("http://h/x/?b", &later.options), "http://h/x?b");
}

static int run_url_options(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors), cmocka_unit_test(sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- url_parse ---- */

/* The parser against the vectors of tests/data/url. */

static bool url_parse_check_line(const field *f)
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
    check_vectors("parse.tsv", 3, 450, url_parse_check_line);
}

static void made_by_node(void **state)
{
    (void)state;
    check_vectors("node.tsv", 3, 1000, url_parse_check_line);
}

static void international(void **state)
{
    (void)state;
    if (!has_idn()) {
        printf("skipped: this build has no IDN\n");
        skip();
    }
    check_vectors("idn.tsv", 3, 65, url_parse_check_line);
}

/* A path of repeated "a/" and "../" takes linear, not quadratic, time. */
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

static int run_url_parse(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_made),
        cmocka_unit_test(made_by_node),
        cmocka_unit_test(international),
        cmocka_unit_test(long_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- url_scan ---- */

/* The fast path: what it must accept, to stay fast, and what it must leave to the parser. */

static void takes(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "http://example.com/",
        "https://a/",
        "https://en.example.org/wiki/A_(b)?action=edit&x=%20y",
        "http://h:8080/a/.b/..c/d.",
        "http://h/%C3%A9?%C3%A9",
        "http://h//",
        "https://r1---x.a.b/",
        "http://a-b.c-d/?",
        "https://h:80/;v=1/@:!$&'()*+,=|[]~",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        char with[256];
        size_t path = 0, len = strlen(urls[i]);
        if (sn_url_scan(urls[i], len, &path) != len)
            fail_msg("declined %s", urls[i]);
        assert_int_equal(urls[i][path], '/');
        snprintf(with, sizeof with, "%s#\x01 %%", urls[i]);
        assert_int_equal(sn_url_scan(with, strlen(with), &path), len);
    }
}

static void leaves(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "",
        "h",
        "http:",
        "http://h",
        "http:///a",
        "HTTP://h/",
        "http://H/",
        "http://h:80/",
        "https://h:443/",
        "http://h:08/",
        "http://h:/a",
        "http://h:65536/",
        "http://h:123456/",
        "http://u@h/",
        "http://h/.",
        "http://h/..",
        "http://h/./a",
        "http://h/a/../b",
        "http://h/..?",
        "http://h/.#",
        "http://h/%2e",
        "http://h/%41",
        "http://h/%c3",
        "http://h/%",
        "http://h/%2",
        "http://h/%4G",
        "http://h/a b",
        "http://h/\\",
        "http://h/^",
        "http://h/?'",
        "http://h/?%",
        "http://h/?%7E",
        "http://h/\t",
        "http://h/ ",
        "http://h/\x80",
        "http://1/",
        "http://a.1/",
        "http://a.0x1/",
        "http://[::1]/",
        "http://a!/",
        "http://a%41/",
        "https://\x80/",
        "httpx://a/bcd",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        size_t path;
        if (sn_url_scan(urls[i], strlen(urls[i]), &path) != 0)
            fail_msg("took %s", urls[i]);
    }
}

static int run_url_scan(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes), cmocka_unit_test(leaves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- url_escape ---- */

/* The table of byte classes compared with the definitions of the standards, and escaping
 * examples. */

static bool among(int c, const char *list)
{
    return c != 0 && strchr(list, c) != NULL;
}

static bool is_alnum(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static void classes(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool c0_control = c < 0x20 || c > 0x7e;
        bool query = c0_control || among(c, " \"#<>");
        bool special_query = query || c == '\'';
        bool path = query || among(c, "?^`{}");
        bool userinfo = path || among(c, "/:;=@[\\]|");
        bool forbidden = c <= 0x20 || c == 0x7f || among(c, "#/:<>?@[\\]^|%");
        unsigned expected = 0;
        expected |= path || among(c, "%/\\") ? 0 : SN_URL_PATH;
        expected |= special_query || c == '%' ? 0 : SN_URL_QUERY;
        expected |= userinfo || c == '%' ? 0 : SN_URL_USER;
        expected |= is_alnum(c) || among(c, "-._~") ? SN_URL_UNRESERVED : 0;
        expected |= among(c, "0123456789abcdefABCDEF") ? SN_URL_HEX : 0;
        expected |= among(c, "\t\n\r") ? SN_URL_SKIP : 0;
        expected |= forbidden || c > 0x7f ? 0 : SN_URL_DOMAIN;
        expected |= (is_alnum(c) && !(c >= 'A' && c <= 'Z')) || c == '_' ? SN_URL_SCAN_HOST : 0;
        if (((expected & SN_URL_PATH) || c == '/') && c != '.')
            expected |= SN_URL_SCAN_PATH;
        assert_int_equal(sn_url_class[c], expected);
    }
}

static void every_escape(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        char in[2][4], out[8], expected[8];
        snprintf(in[0], sizeof in[0], "%%%02x", c);
        snprintf(in[1], sizeof in[1], "%%%02X", c);
        if (sn_url_is((char)c, SN_URL_UNRESERVED))
            snprintf(expected, sizeof expected, "%c", (int)c);
        else
            memcpy(expected, in[1], sizeof in[1]);
        for (int i = 0; i < 2; i++) {
            size_t next = 0;
            sn_url_out o = {out, sizeof out, 0, 0};
            assert_int_equal(sn_url_escape_at(in[i], 3, 0, &next), c);
            assert_int_equal(next, 3);
            assert_int_equal(sn_url_escape_at(in[i], 2, 0, &next), -1);
            assert_true(sn_url_put_escaped(&o, in[i], 3, SN_URL_PATH));
            assert_int_equal(o.len, strlen(expected));
            assert_memory_equal(out, expected, o.len);
        }
    }
}

static void no_room(void **state)
{
    (void)state;
    char out[4] = "....";
    sn_url_out o = {out, 2, 0, 0};
    assert_false(sn_url_put_escaped(&o, "a b", 3, SN_URL_PATH));
    assert_memory_equal(out, "a...", 4);
    assert_true(sn_url_put(&o, 'b'));
    assert_false(sn_url_put(&o, 'c'));
    assert_true(sn_url_put_all(&o, "", 0));
    assert_false(sn_url_put_all(&o, "d", 1));
    assert_memory_equal(out, "ab..", 4);
}

static int run_url_escape(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),
        cmocka_unit_test(every_escape),
        cmocka_unit_test(no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- url_sort ---- */

/* Sorting in place compared with a simple stable insertion sort, and its time on hostile
 * queries. */

enum { PIECES_MAX = 200, TEXT_MAX = 8192 };

static size_t name_len(const char *piece, size_t len)
{
    size_t i = 0;
    while (i < len && piece[i] != '=')
        i++;
    return i;
}

static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t a_name = name_len(a, a_len), b_name = name_len(b, b_len);
    int order = memcmp(a, b, a_name < b_name ? a_name : b_name);
    return order ? order : (a_name > b_name) - (a_name < b_name);
}

/* Writes the pieces of text, sorted, to out. */
static void sort_simply(const char *text, size_t len, char *out)
{
    const char *pieces[PIECES_MAX];
    size_t lens[PIECES_MAX], count = 0;
    for (size_t at = 0; at < len;) {
        size_t end = at + 1;
        while (end < len && text[end] != '&')
            end++;
        size_t i = count++;
        for (; i > 0 && compare(pieces[i - 1], lens[i - 1], text + at + 1, end - at - 1) > 0; i--) {
            pieces[i] = pieces[i - 1];
            lens[i] = lens[i - 1];
        }
        pieces[i] = text + at + 1;
        lens[i] = end - at - 1;
        at = end;
    }
    for (size_t i = 0; i < count; i++) {
        *out++ = '&';
        memcpy(out, pieces[i], lens[i]);
        out += lens[i];
    }
}

static size_t random_pieces(char *text)
{
    size_t len = 0, alphabet = 1 + random_below(4);
    for (size_t count = random_below(PIECES_MAX); count > 0; count--) {
        text[len++] = '&';
        for (size_t n = random_below(3); n > 0; n--)
            text[len++] = (char)('a' + random_below(alphabet));
        if (random_below(2) == 0)
            len += (size_t)sprintf(text + len, "=%zu", count);
        if (random_below(100) == 0)
            for (size_t n = random_below(1000); n > 0 && len < TEXT_MAX - 2000; n--)
                text[len++] = 'x';
    }
    return len;
}

static void sorts_as_simply(void **state)
{
    (void)state;
    static char text[TEXT_MAX], expected[TEXT_MAX];
    random_start("sorts_as_simply");
    for (int i = 0; i < 5000; i++) {
        size_t len = random_pieces(text);
        sort_simply(text, len, expected);
        sn_url_sort(text, len);
        if (memcmp(text, expected, len) != 0)
            fail_msg("round %d\n%.*s\n%.*s", i, (int)len, text, (int)len, expected);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Hundreds of thousands of parameters in the worst orders for a simple sort: seconds, not hours,
 * even under a sanitizer. */
static void hostile_queries(void **state)
{
    (void)state;
    enum { COUNT = 300000, WIDTH = 8 };
    char *text = malloc(COUNT * WIDTH + 1);
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < COUNT; i++) {
            int name = kind == 0 ? i : kind == 1 ? COUNT - i : kind == 2 ? i % 2 : i * 7 % COUNT;
            sprintf(text + i * WIDTH, "&%07d", name);
        }
        double start = seconds();
        sn_url_sort(text, COUNT * WIDTH);
        double took = seconds() - start;
        for (int i = 1; i < COUNT; i++)
            assert_true(memcmp(text + (i - 1) * WIDTH, text + i * WIDTH, WIDTH) <= 0);
        printf("kind %d: %.2f s\n", kind, took);
        assert_true(took < 20);
    }
    free(text);
}

static int run_url_sort(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_as_simply),
        cmocka_unit_test(hostile_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_url_options(), run_url_parse(), run_url_scan(), run_url_escape(),
                    run_url_sort()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
