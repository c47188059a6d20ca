/* Sorting in place against a plain stable insertion sort, and its time on hostile queries. */
#include "test_url_random.h"
#include "test_url_vectors.h"

#include <time.h>

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

/* Hundreds of thousands of parameters in the orders that hurt a careless sort: seconds, not hours,
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_as_simply),
        cmocka_unit_test(hostile_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
