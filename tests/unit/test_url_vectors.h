/* Reads the vectors of tests/data/url: lines of fields with a tab between them, in which \\ \t \n
 * \r \xHH stand for bytes; a line that begins with "# " is a comment. */
#ifndef TEST_URL_VECTORS_H
#define TEST_URL_VECTORS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "url/url.h"

#ifndef TEST_SOURCE_DIR
#define TEST_SOURCE_DIR "tests"
#endif

enum { FIELD_MAX = 1024, FIELDS_MAX = 4 };

typedef struct field {
    char text[FIELD_MAX];
    size_t len;
} field;

/* Copies a field up to the tab or the end of the line; returns what is behind it. */
static inline const char *read_field(const char *line, field *f)
{
    for (f->len = 0; *line && *line != '\t' && *line != '\n'; line++) {
        assert_true(f->len < FIELD_MAX);
        char c = *line;
        if (c == '\\') {
            c = *++line;
            if (c == 'x') {
                char hex[3] = {line[1], line[2], 0};
                c = (char)strtoul(hex, NULL, 16);
                line += 2;
            } else {
                c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
            }
        }
        f->text[f->len++] = c;
    }
    return *line == '\t' ? line + 1 : line;
}

static inline bool field_is(const field *f, const char *text)
{
    return f->len == strlen(text) && memcmp(f->text, text, f->len) == 0;
}

/* Calls check(fields) for every line of tests/data/url/NAME, which names the line if it returns
 * false. At least `least` lines must be there. */
static inline void check_vectors(const char *name, int field_count, size_t least,
                                 bool (*check)(const field *))
{
    char path[1024], line[4 * FIELD_MAX];
    field fields[FIELDS_MAX];
    size_t count = 0, bad = 0;
    snprintf(path, sizeof path, "%s/data/url/%s", TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "# ", 2) == 0)
            continue;
        const char *rest = line;
        for (int i = 0; i < field_count; i++)
            rest = read_field(rest, &fields[i]);
        count++;
        if (!check(fields)) {
            printf("%s: wrong: %s", name, line);
            bad++;
        }
    }
    fclose(file);
    printf("%s: %zu vectors\n", name, count);
    assert_true(count >= least);
    assert_int_equal(bad, 0);
}

static inline bool is_expected(seen_url_result result, const char *out, size_t len,
                               const field *expected)
{
    if (field_is(expected, "!invalid"))
        return result == SEEN_URL_INVALID;
    if (field_is(expected, "!other"))
        return result == SEEN_URL_OTHER_SCHEME;
    bool same = result == SEEN_URL_OK && len == expected->len && !memcmp(out, expected->text, len);
    if (!same)
        printf("  got %.*s (result %d)\n", (int)len, out, result);
    return same;
}

/* The canonical form of a string, as a string in a static buffer; NULL where it is refused. */
static inline const char *canon(const char *url, const seen_url_options *options)
{
    static char out[8192];
    size_t len = 0;
    if (seen_url_canonical(url, strlen(url), NULL, 0, options, out, sizeof out - 1, &len))
        return NULL;
    out[len] = '\0';
    return out;
}

/* A build without libidn2 believes an A-label that is none. */
static inline bool has_idn(void)
{
    return canon("http://xn--a/", NULL) == NULL;
}

#endif
