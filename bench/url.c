/* The time to canonicalize a URL, compared with libcurl's URL API in the same run.
 *
 *     gcc -O2 -D_GNU_SOURCE -DSEEN_WITH_IDN=1 -Iinclude -Isrc bench/url.c src/url/\*.c \
 *         -o /tmp/bench-url -lcurl -lidn2 && /tmp/bench-url
 *
 * (without the backslash before the star). Best of several rounds; libcurl parses and prints the
 * URL again, which is its closest equivalent of a canonical form. */
#include "url/url.h"
#include "seen.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TIMES = 400000, ROUNDS = 40 };

static double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static size_t with_seen(const char *url, size_t len, const char *base, uint32_t flags)
{
    char out[2048];
    size_t out_len = 0;
    seen_url_options options = {.size = sizeof options, .flags = flags};
    if (seen_url_canonical(url, len, base, base ? strlen(base) : 0, flags ? &options : NULL, out,
                           sizeof out, &out_len) != SEEN_URL_OK)
        return 0;
    return out_len + (unsigned char)out[out_len - 1];
}

static size_t with_curl(const char *url, size_t len, const char *base, uint32_t flags)
{
    char *out = NULL;
    size_t out_len = 0;
    CURLU *handle = curl_url();
    (void)len;
    (void)flags;
    if (base)
        curl_url_set(handle, CURLUPART_URL, base, 0);
    if (curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(handle, CURLUPART_URL, &out, CURLU_NO_DEFAULT_PORT) == CURLUE_OK)
        out_len = strlen(out);
    curl_free(out);
    curl_url_cleanup(handle);
    return out_len;
}

typedef size_t way(const char *, size_t, const char *, uint32_t);

static double measure(way *run, const char *url, const char *base, uint32_t flags)
{
    double best = 1e30;
    size_t len = strlen(url);
    volatile size_t sink = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = nanoseconds();
        for (int i = 0; i < TIMES / ROUNDS; i++)
            sink = sink + run(url, len, base, flags);
        double took = (nanoseconds() - start) / (TIMES / ROUNDS);
        best = took < best ? took : best;
    }
    return best;
}

int main(void)
{
    static const char base[] = "https://www.example.org/docs/guide/chapter-04/index.html";
    static const struct {
        const char *name, *url, *base;
        uint32_t flags;
    } cases[] = {
        {"canonical, 64 bytes", "https://www.example.org/articles/2023/05/a-title.html?page=12345",
         NULL, 0},
        {"canonical, 32 bytes", "https://www.example.org/a/b.html", NULL, 0},
        {"canonical, fragment", "https://www.example.org/articles/2023/05/a-title.html#section-1",
         NULL, 0},
        {"canonical, escapes", "https://example.org/wiki/%C3%89t%C3%A9_%28saison%29?a=%20b%20c%20d",
         NULL, 0},
        {"upper case, port, dots", "HTTPS://WWW.Example.org:443/articles/./2023/../a%7etitle.html",
         NULL, 0},
        {"relative", "../chapter-05/index.html#top", base, 0},
        {"relative, root", "/search?q=a+b", base, 0},
        {"IPv4", "http://127.0.0.1:8080/index.html", NULL, 0},
        {"all options", "https://www.example.org/a/b/?utm_source=x&id=12&c=3&sid=abc", NULL, 31},
        {"international host",
         "https://b\xc3\xbc"
         "cher.example/a/b.html",
         NULL, 0},
    };
    printf("%-24s %10s %10s %8s\n", "", "seen ns", "curl ns", "ratio");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double ours = measure(with_seen, cases[i].url, cases[i].base, cases[i].flags);
        double theirs = measure(with_curl, cases[i].url, cases[i].base, cases[i].flags);
        printf("%-24s %10.1f %10.1f %8.1f\n", cases[i].name, ours, theirs, theirs / ours);
    }
    return 0;
}
