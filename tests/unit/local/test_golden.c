/* Golden files of every format version, never edited: they open, answer, and can be recreated bit
 * for bit.
 *
 * tests/golden/NAME.seen is a filter, NAME.keys its keys, one per line, NAME.mistakes the numbers i
 * for which the absent key "stranger i" is a false positive. Created once by this program with
 * SEEN_GOLDEN=NAME; a later format gets files of its own. */
#include "test_trust.h"

#include "base/clock.h"

typedef struct golden {
    const char *name;
    seen_kind kind;
    seen_growth growth;
    seen_hash_kind hash;
    uint64_t capacity, bits;
    double rate;
    uint32_t hashes, generations;
    uint64_t seconds;
    unsigned keys, rotations;
} golden;

static const golden FILES[] = {
    {"v1-bloom-fixed", SEEN_BLOOM, SEEN_FIXED, SEEN_XXH3, 300, 0, 0.01, 0, 0, 0, 300, 0},
    {"v1-bloom-strict", SEEN_BLOOM, SEEN_FIXED, SEEN_XXH3, 100, 0, 1e-9, 0, 0, 0, 100, 0},
    {"v1-bloom-classic", SEEN_BLOOM, SEEN_FIXED, SEEN_SIPHASH, 0, 8192, 0, 5, 0, 0, 400, 0},
    {"v1-bloom-growing", SEEN_BLOOM, SEEN_GROWING, SEEN_XXH3, 50, 0, 0.01, 0, 0, 0, 200, 0},
    {"v1-bloom-window", SEEN_BLOOM, SEEN_WINDOW, SEEN_XXH3, 120, 0, 0.01, 0, 4, 0, 300, 0},
    {"v1-bloom-window-time", SEEN_BLOOM, SEEN_WINDOW, SEEN_SIPHASH, 100, 0, 0.02, 0, 3, 3600, 90,
     1},
    {"v1-counting-fixed", SEEN_COUNTING, SEEN_FIXED, SEEN_XXH3, 100, 0, 0.01, 0, 0, 0, 100, 0},
    {"v1-counting-growing", SEEN_COUNTING, SEEN_GROWING, SEEN_XXH3, 40, 0, 0.05, 0, 0, 0, 90, 0},
    {"v2-bloom-growing", SEEN_BLOOM, SEEN_GROWING, SEEN_SIPHASH, 50, 0, 0.01, 0, 0, 0, 500, 0},
    /* Many partitions have grown; full lines, overflow lines, stashes. */
    {"v2-bloom-grown", SEEN_BLOOM, SEEN_GROWING, SEEN_XXH3, 1, 0, 1e-6, 0, 0, 0, 33000, 0},
};

enum { ABSENT_KEYS = 3000 };

static uint64_t golden_clock(void)
{
    return 1600000000;
}

/* Bytes above 0x7f, an empty key, long keys. */
static size_t make_key(const golden *g, unsigned i, char *key)
{
    if (i == 0)
        return 0;
    if (g->keys > 1000)
        return (size_t)sprintf(key, "%u", i);
    size_t n = (size_t)sprintf(key, "https://example.org/%s/\xc3\xa4\xff/%u?q=", g->name, i);
    for (unsigned j = 0; i % 16 == 0 && j < i; j++)
        key[n++] = (char)('a' + (i + j) % 26);
    return n;
}

static void fill(const golden *g, seen_set *set)
{
    char key[600];
    for (unsigned i = 0; i < g->keys; i++) {
        if (g->rotations && i == g->keys / 2)
            OK(seen_rotate(set, error));
        OK(seen_add(set, key, make_key(g, i, key), NULL, error));
    }
    for (unsigned i = 0; g->kind == SEEN_COUNTING && i < g->keys; i += 3)
        OK(seen_remove(set, key, make_key(g, i, key), NULL, error));
}

static seen_set *make(const golden *g, const char *where)
{
    seen_options options = {.size = sizeof options,
                            .kind = g->kind,
                            .growth = g->growth,
                            .hash = g->hash,
                            .when_full = SEEN_FULL_GO_ON,
                            .capacity = g->capacity,
                            .error_rate = g->rate,
                            .bits = g->bits,
                            .hashes = g->hashes,
                            .seed_given = true,
                            .seed = {0x0123456789abcdefu, 0xfedcba9876543210u},
                            .generations = g->generations,
                            .window_seconds = g->seconds};
    seen_set *set = NULL;
    OK(seen_create(where, &options, 0, &set, error));
    fill(g, set);
    return set;
}

static bool kept(const golden *g, unsigned i)
{
    return g->kind == SEEN_COUNTING ? i % 3 != 0
                                    : g->growth != SEEN_WINDOW || g->seconds || i >= g->keys - 120;
}

static const char *golden_path(const golden *g, const char *end)
{
    static char path[4][600];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/golden/%s.%s", TEST_SOURCE_DIR, g->name, end);
    return p;
}

/* The numbers of the absent keys that are false positives, one per line. */
static void list_false_positives(seen_set *set, FILE *out)
{
    for (unsigned i = 0; i < ABSENT_KEYS; i++) {
        char key[40];
        seen_answer answer = SEEN_UNKNOWN;
        OK(seen_check(set, key, (size_t)sprintf(key, "stranger %u", i), &answer, error));
        if (answer == SEEN_BEFORE)
            fprintf(out, "%u\n", i);
    }
}

static void write_golden(const golden *g)
{
    seen_set *set = make(g, golden_path(g, "seen"));
    FILE *false_positives = fopen(golden_path(g, "mistakes"), "wb");
    FILE *keys = fopen(golden_path(g, "keys"), "wb");
    assert_true(keys && false_positives);
    list_false_positives(set, false_positives);
    char key[600];
    for (unsigned i = 0; i < g->keys; i++)
        if (kept(g, i)) {
            fwrite(key, 1, make_key(g, i, key), keys);
            fputc('\n', keys);
        }
    assert_int_equal(fclose(keys), 0);
    assert_int_equal(fclose(false_positives), 0);
    seen_close(set);
}

static bool have_hash(const golden *g)
{
    seen_hasher hasher;
    return seen_hasher_random(g->hash, &hasher, NULL) == SEEN_OK;
}

static void test_open(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof FILES / sizeof *FILES; f++) {
        const golden *g = &FILES[f];
        seen_set *set = NULL;
        if (!have_hash(g))
            continue;
        OK(seen_open(golden_path(g, "seen"), NULL, SEEN_READ_ONLY, &set, error));
        FILE *keys = fopen(golden_path(g, "keys"), "rb");
        assert_non_null(keys);
        char *line = NULL;
        size_t room = 0, count = 0;
        for (ssize_t n; (n = getline(&line, &room, keys)) > 0; count++) {
            seen_answer answer = SEEN_UNKNOWN;
            OK(seen_check(set, line, (size_t)n - 1, &answer, error));
            assert_int_equal(answer, SEEN_BEFORE);
        }
        free(line);
        fclose(keys);
        assert_true(count >= 60);
        char *found = NULL;
        size_t length, want;
        FILE *list = open_memstream(&found, &length);
        list_false_positives(set, list);
        fclose(list);
        unsigned char *frozen = file_bytes(golden_path(g, "mistakes"), &want);
        assert_int_equal(length, want);
        assert_memory_equal(found, frozen, want);
        free(found);
        free(frozen);
        seen_close(set);
    }
}

/* Created with seen_create_like from the golden file, so that changes of the planner have no effect
 * here; only the later layers of a growing set are planned. */
static void test_make_again(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof FILES / sizeof *FILES; f++) {
        const golden *g = &FILES[f];
        seen_set *old = NULL, *set = NULL;
        if (!have_hash(g))
            continue;
        OK(seen_open(golden_path(g, "seen"), NULL, SEEN_READ_ONLY, &old, error));
        OK(seen_create_like(at("again"), old, NULL, 0, &set, error));
        fill(g, set);
        seen_info was = {.size = sizeof was}, is = {.size = sizeof is};
        OK(seen_get_shape(old, &was, error));
        OK(seen_get_shape(set, &is, error));
        seen_close(old);
        seen_close(set);
        size_t size, want;
        unsigned char *again = file_bytes(at("again"), &size);
        unsigned char *frozen = file_bytes(golden_path(g, "seen"), &want);
        bool otherwise =
            is.bytes != was.bytes || is.hashes != was.hashes || is.capacity != was.capacity;
        if (g->growth == SEEN_GROWING && otherwise) {
            printf("%s: this planner grows otherwise\n", g->name);
        } else {
            assert_int_equal(size, want);
            for (size_t i = 0; i < size; i++)
                if (again[i] != frozen[i])
                    fail_msg("%s: byte %zu", g->name, i);
        }
        free(again);
        free(frozen);
        unlink(at("again"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_make_again),
    };
    sn_clock_now = golden_clock;
    if (getenv("SEEN_GOLDEN"))
        for (size_t f = 0; f < sizeof FILES / sizeof *FILES; f++)
            if (strstr(FILES[f].name, getenv("SEEN_GOLDEN")))
                write_golden(&FILES[f]);
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
