/* The parser against another WHATWG URL parser, that of Node.js, over random URLs. Skipped where
 * there is no node. SEEN_ORACLE_COUNT says how many, SEEN_SEED which ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_url_random.h"
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

static sample next_sample(unsigned kinds)
{
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

/* Our answer in the oracle's words. */
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

/* Whether a host may be a matter of IDNA: bytes above 0x7f, as they are or escaped. */
static bool is_beyond_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] > 0x7f ||
            (text[i] == '%' && i + 1 < len && strchr("89abcdefABCDEF", text[i + 1])))
            return true;
    return false;
}

/* Runs the oracle over `count` samples; returns how many answers differ. `refused` counts those
 * that only one of the two refuses although the host is not ASCII: libidn2 and Node.js have
 * different versions of the IDNA tables, and libidn2 is stricter (docs/url.md). */
static size_t compare_all(size_t count, unsigned kinds, size_t *refused)
{
    char command[1024], input[] = "/tmp/seen-url-XXXXXX";
    static char ours[2 * OUT_MAX + 2], theirs[2 * OUT_MAX + 16];
    uint64_t seed = random_state;
    size_t bad = 0;
    int fd = mkstemp(input);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    for (size_t i = 0; i < count; i++) {
        sample s = next_sample(kinds);
        write_sample(file, &s);
    }
    assert_int_equal(fclose(file), 0);

    random_state = seed;
    snprintf(command, sizeof command, "node '%s/oracle/url_node.js' < %s", TEST_SOURCE_DIR, input);
    FILE *oracle = popen(command, "r");
    assert_non_null(oracle);
    for (size_t i = 0; i < count; i++) {
        sample s = next_sample(kinds);
        our_answer(&s, ours);
        assert_non_null(fgets(theirs, sizeof theirs, oracle));
        theirs[strcspn(theirs, "\n")] = '\0';
        if (strcmp(ours, theirs) == 0)
            continue;
        if (kinds != RANDOM_ASCII &&
            (is_beyond_ascii(s.url, s.url_len) || is_beyond_ascii(s.base, s.base_len)) &&
            (strcmp(ours, "invalid") == 0 || strcmp(theirs, "invalid") == 0)) {
            ++*refused;
            if (!getenv("SEEN_ORACLE_SHOW"))
                continue;
        } else {
            bad++;
        }
        if (bad <= BAD_SHOWN) {
            show_text("url   ", s.url, s.url_len);
            if (s.has_base)
                show_text("base  ", s.base, s.base_len);
            show_hex("ours  ", ours);
            show_hex("theirs", theirs);
        }
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
    size_t refused = 0;
    random_start("agrees_on_ascii");
    assert_int_equal(compare_all(sample_count(), RANDOM_ASCII, &refused), 0);
}

static void agrees_on_unicode(void **state)
{
    (void)state;
    size_t refused = 0;
    random_start("agrees_on_unicode");
    assert_int_equal(compare_all(sample_count(), RANDOM_UNICODE, &refused), 0);
    printf("refused by one of the two only: %zu of %zu\n", refused, sample_count());
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
