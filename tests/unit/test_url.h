/* Reads the vectors of tests/data/url: lines of tab-separated fields with the escapes \\ \t \n \r
 * \xHH; a line that begins with "# " is a comment. */
#ifndef TEST_URL_H
#define TEST_URL_H

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

/* Copies a field up to the tab or the end of the line; returns the position after it. */
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

/* Calls check(fields) for every line of tests/data/url/NAME, and reports the line if it returns
 * false. There must be at least `least` lines. */
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

/* The canonical form of a string, as a string in a static buffer; NULL if it is refused. */
static inline const char *canon(const char *url, const seen_url_options *options)
{
    static char out[8192];
    size_t len = 0;
    if (seen_url_canonical(url, strlen(url), NULL, 0, options, out, sizeof out - 1, &len))
        return NULL;
    out[len] = '\0';
    return out;
}

/* A build without libidn2 accepts an invalid A-label. */
static inline bool has_idn(void)
{
    return canon("http://xn--a/", NULL) == NULL;
}

/* ---- random URLs: pieces that matter to a URL parser, glued together and damaged ---- */

enum { RANDOM_URL_MAX = 1024 };

/* What the URLs may contain. */
enum {
    RANDOM_ASCII = 0,
    RANDOM_UNICODE = 1, /* also UTF-8, escaped UTF-8 and xn-- */
    RANDOM_BYTES = 2    /* also bytes that are not UTF-8 */
};

static uint64_t random_state;

static inline uint64_t random_next(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline size_t random_below(size_t limit)
{
    return (size_t)(random_next() % limit);
}

/* The seed is SEEN_SEED of the environment, or fixed, and is printed so that a run can be
 * repeated. */
static inline void random_start(const char *name)
{
    const char *given = getenv("SEEN_SEED");
    random_state = given ? strtoull(given, NULL, 0) : 20240607u;
    printf("%s: SEEN_SEED=%llu\n", name, (unsigned long long)random_state);
}

#define RANDOM_PICK(array) ((array)[random_below(sizeof(array) / sizeof *(array))])

static const char *const RANDOM_FRONTS[] = {
    "http://",  "https://", "http://",   "https://", "HTTP://", "http:",     "https:",
    "http:/",   "hTTps:",   "http:\\\\", "//",       "/",       "\\",        "",
    "",         "?",        "#",         "./",       "../",     "ht\ttp://", " http://",
    "mailto:",  "ftp://",   "a:",        "http",     "http///", "https:\\/", "javascript:",
    "http:\n/", "1http://", "//\\",      ":",        "http::",  "http://u@", "http://u:p@",
};

static const char *const RANDOM_HOSTS[] = {
    "example.com",
    "EXAMPLE.com",
    "www.example.org",
    "www.www.com",
    "a",
    "127.0.0.1",
    "0x7f.1",
    "0177.0.0.01",
    "1.2.3.4.5",
    "256.1",
    "4294967295",
    "4294967296",
    "0x",
    "0xffffffff.",
    "1..2",
    "[::1]",
    "[1::2:3]",
    "[::1.2.3.4]",
    "[1:2:3:4:5:6:7:8]",
    "[0:0:1:0:0:0:1:0]",
    "[::1",
    "::1]",
    "[1:2:3:4:5:6:1.2.3.4]",
    "ex%61mple.com",
    "a%2eb",
    "a%00b",
    "a b",
    "a_b",
    "a.b.",
    "..",
    ".",
    "",
    "a%",
    "r3---sn-x.example",
    "09",
    "1.0x",
    "0.0.0.0x100",
    "www.a.b.",
};

/* Bytes that end an authority. */
static const char *const RANDOM_ENDS[] = {"/", "/", "/", "\\", "?", ":80/", ":8080/", "/a/"};

static const char *const RANDOM_PIECES[] = {
    "/",
    "/",
    "/",
    "/",
    "\\",
    ".",
    "..",
    "%2e",
    "%2E",
    ".%2e",
    "%2e%2E",
    "?",
    "?",
    "&",
    "&",
    "=",
    "#",
    "@",
    ":",
    "80",
    "443",
    "8080",
    "65536",
    "00080",
    "%",
    "%%",
    "%41",
    "%7e",
    "%7E",
    "%2f",
    "%2F",
    "%25",
    "%252e",
    "%%32%65",
    "%zz",
    "%4",
    "%3",
    "%32",
    "%61",
    "%20",
    "a",
    "b",
    "c",
    "Z",
    "5",
    "-",
    "_",
    "~",
    "+",
    " ",
    "\t",
    "\n",
    "\r",
    "'",
    "\"",
    "<",
    ">",
    "`",
    "{",
    "}",
    "|",
    "^",
    "[",
    "]",
    "\x01",
    "\x7f",
    "!",
    "$",
    "(",
    "*",
    ",",
    ";",
    "utm_source=x",
    "utm_=",
    "gclid=1",
    "fbclid",
    "PHPSESSID=ab",
    "sid=1",
    ";jsessionid=AB12",
    ";JSESSIONID=1",
    "..;sid=1",
    ".;sid",
    ";v=1",
    "www.",
    "index.html",
    "//",
    "/./",
    "/../",
    "name=",
};

/* Not U+1E9E: its mapping in a host depends on the version of Unicode. */
static const char *const RANDOM_UNICODES[] = {
    "\u00e9",       "\u00c9",     "\u00df",    "\u3002", "\uff11\uff12\uff17",
    "\u4f8b\u3048", "%C3%A9",     "%e2%98%83", "\u2603", "xn--zca",
    "XN--",         "xn--a",      "\u00ad",    "\u200d", "\u0301",
    "\u05d0",       "\U0001f4a9", "\ufeff",    "\u0660", "\ufdfa",
    "b\u00fccher",  "\u212a",     "\ufffd",
};

static inline void random_append(char *url, size_t *len, const char *text)
{
    size_t text_len = strlen(text);
    if (*len + text_len > RANDOM_URL_MAX)
        return;
    memcpy(url + *len, text, text_len);
    *len += text_len;
}

/* Fills url, RANDOM_URL_MAX bytes, and returns its length. */
static inline size_t random_url(char *url, unsigned kinds)
{
    size_t len = 0;
    if (random_below(2) == 0)
        random_append(url, &len, random_below(2) ? "http://" : "https://");
    else if (random_below(8) > 0)
        random_append(url, &len, RANDOM_PICK(RANDOM_FRONTS));
    if (random_below(4) > 0)
        random_append(url, &len, RANDOM_PICK(RANDOM_HOSTS));
    if ((kinds & RANDOM_UNICODE) && random_below(3) == 0)
        random_append(url, &len, RANDOM_PICK(RANDOM_UNICODES));
    if (random_below(4) > 0)
        random_append(url, &len, RANDOM_PICK(RANDOM_ENDS));
    for (size_t count = random_below(random_below(30) == 0 ? 60 : 14); count > 0; count--) {
        if ((kinds & RANDOM_UNICODE) && random_below(8) == 0)
            random_append(url, &len, RANDOM_PICK(RANDOM_UNICODES));
        else
            random_append(url, &len, RANDOM_PICK(RANDOM_PIECES));
    }
    if ((kinds & RANDOM_BYTES) && len > 0) {
        for (size_t count = random_below(4); count > 0; count--)
            url[random_below(len)] = (char)random_next();
    } else if (!(kinds & RANDOM_UNICODE) && len > 0 && random_below(4) == 0) {
        url[random_below(len)] = (char)random_below(0x80);
    }
    return len;
}

#endif
