/* Writes URL-like lines of about 64 bytes, deterministic for given arguments, at more than a
 * gigabyte per second.
 *
 *     gen LINES DUPLICATES% SEED [COMMON% OTHER-SEED]
 *
 * A line is a new one, or with the given probability a copy of an earlier one, chosen uniformly.
 * The text of new line number i depends only on the seed and i. With COMMON%, that share of the new
 * lines are those of a run with OTHER-SEED (and 0% duplicates) at the same number. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 256, WORD_MAX = 32, LINE_MAX_BYTES = 160, BUFFER = 1 << 20 };

typedef struct word {
    char text[WORD_MAX];
    size_t length;
} word;

static word hosts[WORDS], paths[WORDS];
static char hex[256][2];

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void make_words(void)
{
    static const char *const tops[] = {"com", "org", "net", "de", "co.uk", "info", "io", "fr"};
    static const char *const names[] = {"news",  "shop",   "blog", "archive",
                                        "forum", "travel", "wiki", "photos"};
    static const char *const parts[] = {"articles", "category", "tag",   "products",
                                        "2024/07",  "item",     "users", "en/docs"};
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < 256; i++) {
        hex[i][0] = digits[i >> 4];
        hex[i][1] = digits[i & 15];
        hosts[i].length = (size_t)snprintf(hosts[i].text, WORD_MAX, "https://www.%s%u.%s/",
                                           names[i % 8], i, tops[i / 8 % 8]);
        paths[i].length = (size_t)snprintf(paths[i].text, WORD_MAX, "%s/%.*s-", parts[i % 8],
                                           (int)(i / 16 % 16), "some-long-slug-x");
    }
}

/* Appends the text of new line number i; returns the end. Copies more than needed: the buffer has
 * room for that. */
static char *put_line(char *to, uint64_t seed, uint64_t i)
{
    uint64_t id = mix(i + seed * 0x9e3779b97f4a7c15u);
    uint64_t shape = id * 0xd6e8feb86659fd93u;
    const word *host = &hosts[shape >> 56], *path = &paths[shape >> 48 & 255];
    memcpy(to, host->text, WORD_MAX);
    to += host->length;
    memcpy(to, path->text, WORD_MAX);
    to += path->length;
    for (int byte = 0; byte < 8; byte++) {
        memcpy(to, hex[id >> 56], 2);
        to += 2;
        id <<= 8;
    }
    /* Varying lengths, so that nothing can depend on a fixed one. */
    memcpy(to, ".html?page=1", 12);
    to += shape & 1 ? 12 : 5;
    *to++ = '\n';
    return to;
}

static int put_all(const char *bytes, size_t length)
{
    while (length) {
        ssize_t put = write(STDOUT_FILENO, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes += put;
        length -= (size_t)put;
    }
    return 0;
}

static uint64_t number(const char *text)
{
    return (uint64_t)strtod(text, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 6) {
        fprintf(stderr, "usage: gen LINES DUPLICATES%% SEED [COMMON%% OTHER-SEED]\n");
        return 2;
    }
    uint64_t lines = number(argv[1]), seed = number(argv[3]);
    uint64_t duplicates = (uint64_t)(strtod(argv[2], NULL) / 100 * 4294967296.0);
    uint64_t common = argc == 6 ? (uint64_t)(strtod(argv[4], NULL) / 100 * 4294967296.0) : 0;
    uint64_t other = argc == 6 ? number(argv[5]) : 0;
    char *buffer = malloc(BUFFER + LINE_MAX_BYTES);
    if (!buffer)
        return 2;
    make_words();
    char *to = buffer;
    uint64_t fresh = 0;
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t dice = mix(i ^ seed << 32 ^ 0x5851f42d4c957f2du);
        uint64_t which = fresh;
        if (fresh && (dice & 0xffffffffu) < duplicates)
            which = (uint64_t)(__extension__((unsigned __int128)mix(dice) * fresh) >> 64);
        else
            fresh++;
        uint64_t from = seed;
        if (common && (mix(which + 77) & 0xffffffffu) < common)
            from = other;
        to = put_line(to, from, which);
        if (to - buffer >= BUFFER) {
            if (put_all(buffer, (size_t)(to - buffer)) != 0) {
                perror("gen");
                return 2;
            }
            to = buffer;
        }
    }
    if (put_all(buffer, (size_t)(to - buffer)) != 0) {
        perror("gen");
        return 2;
    }
    free(buffer);
    return 0;
}
