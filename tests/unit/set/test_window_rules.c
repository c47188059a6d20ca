/* The two modes of a window, by time and by count, in memory, in a file and in Redis: the same
 * answers on random schedules, equal to those of a model that stores the keys.
 * Needs: redis.
 */
#include "base/clock.h"
#include "seen.h"
#include "tests/redis/rig.h"

enum { KEYS = 60, GENERATIONS = 4, STEPS = 300, BATCH = 12, WINDOW = 3000 };

static uint64_t fake_now = 1000000;
static uint64_t read_fake(void)
{
    return fake_now;
}

/* A generation: the keys that were added to it. */
typedef struct generation {
    uint64_t born;
    bool has[KEYS];
} generation;

typedef struct model {
    bool renew;
    generation of[GENERATIONS]; /* the current one first */
    unsigned count;
} model;

static bool alive(const model *m, unsigned i)
{
    uint64_t span = WINDOW / (GENERATIONS - 1), end = m->of[i].born + span;
    if (i > 0 && m->of[i - 1].born < end)
        end = m->of[i - 1].born;
    return fake_now <= end + WINDOW;
}

static void rotate(model *m)
{
    memmove(m->of + 1, m->of, sizeof *m->of * (GENERATIONS - 1));
    m->count += m->count < GENERATIONS;
    m->of[0] = (generation){.born = fake_now};
}

static seen_answer add(model *m, unsigned key)
{
    bool older = false;
    if (fake_now >= m->of[0].born + WINDOW / (GENERATIONS - 1))
        rotate(m);
    for (unsigned i = 1; i < m->count; i++)
        older |= m->of[i].has[key] && alive(m, i);
    bool there = older || m->of[0].has[key];
    if (!older || m->renew)
        m->of[0].has[key] = true;
    return there ? SEEN_BEFORE : SEEN_NEW;
}

static void must(seen_status status, const seen_error *error)
{
    if (status != SEEN_OK)
        fail_msg("%s", error->message);
}

static void run(bool renew, unsigned seed)
{
    enum { STORES = 3 };
    seen_set *set[STORES];
    seen_error error = {0};
    char file[96], redis[96];
    model m = {.renew = renew, .count = 1, .of = {{.born = fake_now}}};
    seen_options o = {.size = sizeof o,
                      .growth = SEEN_WINDOW,
                      .capacity = 3000,
                      .error_rate = 1e-9,
                      .generations = GENERATIONS,
                      .window_seconds = WINDOW,
                      .renew = renew};
    snprintf(file, sizeof file, "%s/rules.seen", server.folder);
    snprintf(redis, sizeof redis, "%s/rules", server.url);
    must(seen_create(NULL, &o, 0, &set[0], &error), &error);
    must(seen_create(file, &o, SEEN_REPLACE, &set[1], &error), &error);
    must(seen_create(redis, &o, SEEN_REPLACE, &set[2], &error), &error);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned number[BATCH], n = 1 + (unsigned)rand_r(&seed) % BATCH;
        seen_key keys[BATCH];
        seen_answer expected[BATCH];
        fake_now += (unsigned)rand_r(&seed) % (rand_r(&seed) % 20 ? 200 : 4000);
        for (unsigned i = 0; i < n; i++) {
            number[i] = (unsigned)rand_r(&seed) % KEYS;
            keys[i] = (seen_key){&number[i], sizeof number[i]};
            expected[i] = add(&m, number[i]);
        }
        for (unsigned s = 0; s < STORES; s++) {
            seen_answer answers[BATCH];
            must(seen_add_many(set[s], keys, n, answers, &error), &error);
            for (unsigned i = 0; i < n; i++)
                if (answers[i] != expected[i])
                    fail_msg("store %u, step %u, key %u: %d, not %d", s, step, number[i],
                             (int)answers[i], (int)expected[i]);
        }
        /* Handles are closed and opened; the mode is stored with the set. */
        for (unsigned s = 1; s < STORES && rand_r(&seed) % 50 == 0; s++) {
            seen_info info = {.size = sizeof info};
            seen_close(set[s]);
            must(seen_open(s == 1 ? file : redis, NULL, 0, &set[s], &error), &error);
            must(seen_get_shape(set[s], &info, &error), &error);
            assert_int_equal(info.renew, renew);
        }
    }
    for (unsigned s = 0; s < STORES; s++)
        seen_close(set[s]);
}

static void test_rules(void **state)
{
    (void)state;
    const char *given = getenv("SEEN_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)time(NULL);
    printf("SEEN_SEED=%u\n", seed);
    uint64_t (*real)(void) = sn_clock_now;
    sn_clock_now = read_fake;
    for (unsigned i = 0; i < 4; i++)
        run(i % 2, seed + i);
    sn_clock_now = real;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules)};
    return RIG_RUN(tests);
}
