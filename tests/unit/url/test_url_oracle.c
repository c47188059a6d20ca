/* The parser compared with another WHATWG URL parser, that of Node.js, over random URLs and over
 * every character in a host. Skipped if there is no node. SEEN_ORACLE_COUNT sets how many,
 * SEEN_SEED which ones. SEEN_ORACLE_SHOW also prints the differences with a known reason.
 * Needs: idn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idn2.h>

#include "test_url.h"
#include "tests/sanitized.h"
#include "url/url.h"

#ifndef TEST_SOURCE_DIR
#define TEST_SOURCE_DIR "tests"
#endif

enum { OUT_MAX = SEEN_URL_BOUND(RANDOM_URL_MAX, RANDOM_URL_MAX), BAD_SHOWN = 20 };

typedef struct sample {
    char url[RANDOM_URL_MAX], base[RANDOM_URL_MAX];
    size_t url_len, base_len;
    bool has_base;
} sample;

/* In addition to the kinds of random URLs: every single character in a host. */
enum { EVERY_CHARACTER = 1u << 8, FIRST_CHARACTER = 0xa0, LAST_CHARACTER = 0x323af };

/* The URL of the character number i. Surrogates and private use characters become U+4E00. */
static sample character_sample(size_t i)
{
    sample s = {.has_base = false};
    unsigned c = FIRST_CHARACTER + (unsigned)i;
    if (c >= 0xd800 && c < 0xf900)
        c = 0x4e00;
    s.url_len =
        (size_t)(c < 0x800 ? sprintf(s.url, "http://a%c%cb.com/", 0xc0 | c >> 6, 0x80 | (c & 63))
                 : c < 0x10000
                     ? sprintf(s.url, "http://a%c%c%cb.com/", 0xe0 | c >> 12, 0x80 | (c >> 6 & 63),
                               0x80 | (c & 63))
                     : sprintf(s.url, "http://a%c%c%c%cb.com/", 0xf0 | c >> 18,
                               0x80 | (c >> 12 & 63), 0x80 | (c >> 6 & 63), 0x80 | (c & 63)));
    return s;
}

static sample next_sample(unsigned kinds, size_t i)
{
    if (kinds == EVERY_CHARACTER)
        return character_sample(i);
    sample s = {.has_base = random_below(2) == 0};
    s.url_len = random_url(s.url, kinds);
    if (s.has_base)
        s.base_len = random_url(s.base, kinds);
    return s;
}

static void write_hex(FILE *file, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        fprintf(file, "%02x", (unsigned char)text[i]);
}

static void write_sample(FILE *file, const sample *s)
{
    if (s->url_len == 0)
        fputc('-', file);
    write_hex(file, s->url, s->url_len);
    fputc(' ', file);
    if (!s->has_base || s->base_len == 0)
        fputc(s->has_base ? '.' : '-', file);
    write_hex(file, s->base, s->base_len);
    fputc('\n', file);
}

/* Our result in the format of the oracle. */
static void our_answer(const sample *s, char *answer)
{
    char out[OUT_MAX];
    size_t len = 0;
    seen_url_result result = seen_url_canonical(s->url, s->url_len, s->has_base ? s->base : NULL,
                                                s->base_len, NULL, out, sizeof out, &len);
    if (result != SEEN_URL_OK) {
        strcpy(answer, result == SEEN_URL_OTHER_SCHEME ? "other" : "invalid");
        return;
    }
    for (size_t i = 0; i < len; i++)
        sprintf(answer + 2 * i, "%02x", (unsigned char)out[i]);
    answer[2 * len] = '\0';
}

static void show_text(const char *label, const char *text, size_t len)
{
    printf("  %s ", label);
    for (size_t i = 0; i < len; i++)
        printf((unsigned char)text[i] > ' ' && text[i] != '\\' && text[i] < 0x7f ? "%c" : "\\x%02x",
               (unsigned char)text[i]);
    printf("\n");
}

static void show_hex(const char *label, const char *hex)
{
    printf("  %s ", label);
    if (strcmp(hex, "other") == 0 || strcmp(hex, "invalid") == 0) {
        printf("%s\n", hex);
        return;
    }
    for (unsigned c; sscanf(hex, "%2x", &c) == 1; hex += 2)
        putchar((int)c);
    printf("\n");
}

/* Accepted reasons to refuse a URL that the oracle accepts (docs/url.md); no other difference is
 * allowed. */
static const char *const REASONS[] = {
    "punctuation", /* libidn2 refuses ASCII punctuation next to non-ASCII characters */
    "hyphens",     /* and hyphens at the ends of such a label or in its third and fourth position */
    "symbol",      /* and a symbol together with a character that is mapped or ignored */
    "jamo",        /* and a Hangul letter that is mapped to a part of a syllable */
    "direction",   /* Node.js does not check the first and the last character of a label */
    "a-label",     /* and accepts an xn-- label that decodes to ASCII only (xn--a-) */
    "version",     /* the character is not in libidn2's tables, which are of Unicode 12 */
};
enum { REASON_COUNT = sizeof REASONS / sizeof *REASONS, VERSION = REASON_COUNT - 1 };

/* Whether a character of a sample is not in libidn2's tables. */
static bool is_unknown(const sample *s)
{
    char host[8] = {0}, *answer = NULL;
    memcpy(host, s->url + strlen("http://"), s->url_len - strlen("http://") - strlen(".com/"));
    int rc = idn2_to_ascii_8z(host, &answer, IDN2_NO_TR46 | IDN2_NFC_INPUT);
    idn2_free(answer);
    return rc == IDN2_UNASSIGNED;
}

/* Whether there is a reason for us to refuse a sample; counts the first one. */
static bool is_explained(const sample *s, unsigned kinds, const char *reasons,
                         size_t counts[REASON_COUNT])
{
    if (kinds == EVERY_CHARACTER && is_unknown(s)) {
        counts[VERSION]++;
        return true;
    }
    for (size_t i = 0; i < REASON_COUNT; i++)
        if (strstr(reasons, REASONS[i])) {
            counts[i]++;
            return true;
        }
    return false;
}

static char *write_samples(char *path, size_t count, unsigned kinds)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    for (size_t i = 0; i < count; i++) {
        sample s = next_sample(kinds, i);
        write_sample(file, &s);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

static void show_difference(const sample *s, const char *ours, const char *theirs,
                            const char *reasons)
{
    show_text("url   ", s->url, s->url_len);
    if (s->has_base)
        show_text("base  ", s->base, s->base_len);
    show_hex("ours  ", ours);
    show_hex("theirs", theirs);
    printf("  reasons %s\n", reasons);
}

/* Runs the oracle over `count` samples; returns how many answers differ without a reason. `counts`
 * receives the number of differences for each reason. */
static size_t compare_all(size_t count, unsigned kinds, size_t counts[REASON_COUNT])
{
    char command[1024], input[] = "/tmp/seen-url-XXXXXX";
    static char ours[2 * OUT_MAX + 2], theirs[2 * OUT_MAX + 128];
    uint64_t seed = random_state;
    size_t bad = 0;
    write_samples(input, count, kinds);

    random_state = seed;
    snprintf(command, sizeof command, "node '%s/oracle/url_node.js' < %s", TEST_SOURCE_DIR, input);
    FILE *oracle = popen(command, "r");
    assert_non_null(oracle);
    for (size_t i = 0; i < count; i++) {
        sample s = next_sample(kinds, i);
        our_answer(&s, ours);
        assert_non_null(fgets(theirs, sizeof theirs, oracle));
        theirs[strcspn(theirs, "\n")] = '\0';
        char *reasons = strchr(theirs, ' ');
        assert_non_null(reasons);
        *reasons++ = '\0';
        if (strcmp(ours, theirs) == 0)
            continue;
        bool explained = strcmp(ours, "invalid") == 0 && is_explained(&s, kinds, reasons, counts);
        bad += !explained;
        if (explained ? getenv("SEEN_ORACLE_SHOW") != NULL : bad <= BAD_SHOWN)
            show_difference(&s, ours, theirs, reasons);
    }
    assert_int_equal(pclose(oracle), 0);
    unlink(input);
    return bad;
}

static size_t sample_count(void)
{
    const char *given = getenv("SEEN_ORACLE_COUNT");
    return given ? strtoul(given, NULL, 10) : SANITIZED ? 10000 : 100000;
}

static void agrees_on_ascii(void **state)
{
    (void)state;
    size_t counts[REASON_COUNT] = {0};
    random_start("agrees_on_ascii");
    assert_int_equal(compare_all(sample_count(), RANDOM_ASCII, counts), 0);
    for (size_t i = 0; i < REASON_COUNT; i++)
        assert_int_equal(counts[i], 0);
}

static void print_reasons(size_t count, const size_t counts[REASON_COUNT])
{
    printf("refused only by us, of %zu:", count);
    for (size_t i = 0; i < REASON_COUNT; i++)
        printf(" %s %zu", REASONS[i], counts[i]);
    printf("\n");
}

static void agrees_on_unicode(void **state)
{
    (void)state;
    size_t counts[REASON_COUNT] = {0};
    random_start("agrees_on_unicode");
    assert_int_equal(compare_all(sample_count(), RANDOM_UNICODE, counts), 0);
    print_reasons(sample_count(), counts);
}

static void agrees_on_every_character(void **state)
{
    (void)state;
    size_t counts[REASON_COUNT] = {0},
           count = SANITIZED ? 0x3400 : LAST_CHARACTER - FIRST_CHARACTER + 1;
    assert_int_equal(compare_all(count, EVERY_CHARACTER, counts), 0);
    print_reasons(count, counts);
}

int main(void)
{
    if (system("node --version > /dev/null 2>&1") != 0) {
        printf("skipped: there is no node to compare with\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_on_ascii),
        cmocka_unit_test(agrees_on_unicode),
        cmocka_unit_test(agrees_on_every_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
