/* "Did you mean …?": the nearest word by edit distance; a swap of neighbours is one edit. */
#include "cli/cli.h"

#include <string.h>

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Damerau's distance, restricted: three rows of the table are enough. Words of at most LONGEST. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

const char *sn_suggest_word(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t len = strlen(word), best_distance = SIZE_MAX;
    if (len == 0 || len > LONGEST)
        return NULL;
    for (; *words; words++) {
        size_t other = strlen(*words);
        if (other > LONGEST)
            continue;
        /* A prefix of a word is a good guess however long the rest is. */
        bool begins = len >= 3 && other > len && !memcmp(word, *words, len);
        size_t d = begins ? 1 : distance(word, len, *words, other);
        if (d < best_distance && d <= 1 + least(len, other) / 4) {
            best_distance = d;
            best = *words;
        }
    }
    return best;
}
