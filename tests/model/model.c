/* Long random sequences of operations, compared with a simple set after each step.
 *
 *     model [STEPS]         default 30,000 for each kind, growth and store
 *
 * SEEN_SEED repeats a run; SEEN_MODEL_URL=redis://host/NAME adds that store. The model knows how
 * often each key was added and not removed, and, for windows, after which rotation it was last
 * added. No key that must be present may be missing; false positives may occur at the given error
 * rate. */
#include "seen.h"

#include "binomial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 4000, BATCH = 64, GENERATIONS = 5, COPIES = 3 };

typedef enum store { HEAP, MAPPED, URL } store;

typedef struct model {
    seen_kind kind;
    seen_growth growth;
    store place;
    char path[COPIES][400]; /* paths of the copies; the first is in use */
    seen_set *set, *second; /* second: another handle on the same file, or NULL */
    uint16_t count[KEYS];   /* bloom: 0 or 1 */
    uint64_t turn[KEYS];    /* window: rotations before the last addition */
    uint64_t rotations, step;
    uint64_t absent_keys, false_positives;
    uint64_t random;
    char last[100];
} model;

static uint64_t first_seed;

static uint64_t mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t below(model *m, uint64_t n)
{
    m->random += 0x9e3779b97f4a7c15u;
    return mix64(m->random) % n;
}

static const char *name_of(const model *m)
{
    static const char *const KIND[] = {"bloom", "counting"},
                             *const GROWTH[] = {"fixed", "growing", "window"},
                             *const STORE[] = {"heap", "file", "redis"};
    static char name[64];
    snprintf(name, sizeof name, "%s %s %s", KIND[m->kind], GROWTH[m->growth], STORE[m->place]);
    return name;
}

__attribute__((format(printf, 2, 3), noreturn)) static void broken(const model *m,
                                                                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "BROKEN %s, step %llu, after %s: ", name_of(m), (unsigned long long)m->step,
            m->last);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nrepeat with SEEN_SEED=%llu\n", (unsigned long long)first_seed);
    va_end(args);
    exit(1);
}

static void must(const model *m, seen_status status, const seen_error *e)
{
    if (status != SEEN_OK)
        broken(m, "%s", e->message);
}

static size_t key_text(uint64_t i, char *key)
{
    return (size_t)sprintf(key, "key %llu", (unsigned long long)i);
}

static const char *where(const model *m)
{
    return m->place == HEAP ? NULL : m->path[0];
}

static seen_options options_of(const model *m)
{
    return (seen_options){.size = sizeof(seen_options),
                          .kind = m->kind,
                          .growth = m->growth,
                          .when_full = SEEN_FULL_GO_ON,
                          .capacity = m->growth == SEEN_GROWING  ? 100
                                      : m->growth == SEEN_WINDOW ? 20 * KEYS
                                                                 : KEYS,
                          .error_rate = 0.01,
                          .seed_given = true,
                          .seed = {first_seed, 99},
                          .generations = m->growth == SEEN_WINDOW ? GENERATIONS : 0,
                          .renew = true};
}

/* Whether a key must be present. A rotation drops the generation that was the newest GENERATIONS
 * rotations ago; the window is so large that it does not rotate by itself. */
static bool owed(const model *m, uint64_t i)
{
    return m->count[i] && (m->growth != SEEN_WINDOW || m->rotations - m->turn[i] < GENERATIONS);
}

static seen_set *any(model *m)
{
    return m->second && below(m, 2) ? m->second : m->set;
}

/* ---- operations ---- */

static void added(model *m, uint64_t i, seen_answer answer)
{
    if (answer == SEEN_NEW && owed(m, i))
        broken(m, "key %llu was added before and reported as new", (unsigned long long)i);
    if (answer > SEEN_BEFORE)
        broken(m, "no answer for key %llu", (unsigned long long)i);
    if (m->kind == SEEN_COUNTING)
        m->count[i]++;
    else
        m->count[i] = 1;
    m->turn[i] = m->rotations;
}

static void add_one(model *m)
{
    uint64_t i = below(m, KEYS);
    char key[40];
    seen_error e;
    seen_answer answer = SEEN_UNKNOWN;
    must(m, seen_add(any(m), key, key_text(i, key), &answer, &e), &e);
    added(m, i, answer);
}

static void add_many(model *m)
{
    seen_key keys[BATCH] = {0};
    char text[BATCH][40];
    uint64_t number[BATCH];
    seen_answer answers[BATCH];
    size_t n = below(m, BATCH + 1);
    seen_error e;
    uint64_t from = below(m, KEYS);
    for (size_t i = 0; i < n; i++) {
        number[i] = below(m, 8) ? (from + i) % KEYS : below(m, KEYS);
        keys[i] = (seen_key){text[i], key_text(number[i], text[i])};
    }
    must(m, seen_add_many(any(m), keys, n, answers, &e), &e);
    for (size_t i = 0; i < n; i++)
        added(m, number[i], answers[i]);
}

static void remove_some(model *m)
{
    seen_key keys[BATCH];
    char text[BATCH][40];
    uint64_t number[BATCH];
    seen_answer answers[BATCH];
    size_t n = 0;
    seen_error e;
    for (size_t try = 0; try < BATCH; try++) {
        uint64_t i = below(m, KEYS);
        bool twice = false;
        for (size_t j = 0; j < n; j++)
            twice |= number[j] == i;
        if (!m->count[i] || twice)
            continue;
        number[n] = i;
        keys[n] = (seen_key){text[n], key_text(i, text[n])};
        n++;
    }
    must(m, seen_remove_many(any(m), keys, n, answers, &e), &e);
    for (size_t i = 0; i < n; i++) {
        if (answers[i] != SEEN_BEFORE)
            broken(m, "key %llu could not be removed", (unsigned long long)number[i]);
        m->count[number[i]]--;
    }
}

static void check_some(model *m)
{
    seen_error e;
    for (int n = 0; n < 20; n++) {
        uint64_t i = below(m, KEYS);
        char key[40];
        seen_answer answer = SEEN_UNKNOWN;
        must(m, seen_check(any(m), key, key_text(i, key), &answer, &e), &e);
        if (owed(m, i) && answer != SEEN_BEFORE)
            broken(m, "key %llu is missing", (unsigned long long)i);
    }
    for (int n = 0; n < 20; n++) {
        uint64_t i = KEYS + below(m, UINT64_C(1) << 40);
        char key[40];
        seen_answer answer = SEEN_UNKNOWN;
        must(m, seen_check(any(m), key, key_text(i, key), &answer, &e), &e);
        m->absent_keys++;
        m->false_positives += answer == SEEN_BEFORE;
    }
}

static void check_all(model *m)
{
    static seen_key keys[KEYS];
    static char text[KEYS][24];
    static seen_answer answers[KEYS];
    seen_error e;
    for (uint64_t i = 0; i < KEYS; i++)
        keys[i] = (seen_key){text[i], key_text(i, text[i])};
    must(m, seen_check_many(any(m), keys, KEYS, answers, &e), &e);
    for (uint64_t i = 0; i < KEYS; i++)
        if (owed(m, i) && answers[i] != SEEN_BEFORE)
            broken(m, "key %llu is missing", (unsigned long long)i);
}

static void open_again(model *m)
{
    seen_error e;
    if (m->place == HEAP)
        return;
    seen_set **handle = m->second && below(m, 2) ? &m->second : &m->set;
    if (below(m, 2))
        must(m, seen_close_checked(*handle, &e), &e);
    else
        seen_close(*handle);
    must(m, seen_open(where(m), NULL, 0, handle, &e), &e);
}

/* Opens or closes a second handle. */
static void second_handle(model *m)
{
    seen_error e;
    if (m->place == HEAP)
        return;
    if (m->second) {
        seen_close(m->second);
        m->second = NULL;
    } else {
        must(m, seen_open(where(m), NULL, 0, &m->second, &e), &e);
    }
}

static void rotate(model *m)
{
    seen_error e;
    must(m, seen_rotate(any(m), &e), &e);
    m->rotations++;
}

/* Moves the set to a copy of it, bit for bit, in another file. */
static void copy(model *m)
{
    seen_error e;
    if (m->place != MAPPED)
        return;
    must(m, seen_copy(any(m), m->path[1], below(m, 2) ? SEEN_REPLACE : 0, NULL, &e), &e);
    seen_close(m->set);
    seen_close(m->second);
    m->second = NULL;
    must(m, seen_drop(m->path[0], NULL, &e), &e);
    char swap[sizeof m->path[0]];
    memcpy(swap, m->path[0], sizeof swap);
    memcpy(m->path[0], m->path[1], sizeof swap);
    memcpy(m->path[1], swap, sizeof swap);
    must(m, seen_open(where(m), NULL, 0, &m->set, &e), &e);
}

/* Adds some keys to a compatible set and merges it. */
static void merge(model *m)
{
    seen_error e;
    seen_set *sibling = NULL;
    if (m->growth == SEEN_GROWING)
        return; /* refused once it has grown: the first layers are full */
    must(m, seen_create_like(NULL, m->set, NULL, 0, &sibling, &e), &e);
    uint64_t from = below(m, KEYS), n = below(m, 200);
    for (uint64_t i = 0; i < n; i++) {
        char key[40];
        uint64_t k = (from + i) % KEYS;
        must(m, seen_add(sibling, key, key_text(k, key), NULL, &e), &e);
        m->count[k] = (uint16_t)(m->kind == SEEN_COUNTING ? m->count[k] + 1 : 1);
        m->turn[k] = m->rotations;
    }
    must(m, seen_merge(any(m), sibling, &e), &e);
    seen_close(sibling);
}

static void look(model *m)
{
    seen_error e;
    seen_info info = {.size = sizeof info};
    must(m, seen_get_info(any(m), &info, &e), &e);
    double distinct = 0;
    for (uint64_t i = 0; i < KEYS; i++)
        distinct += owed(m, i);
    if (m->growth == SEEN_FIXED && m->kind == SEEN_BLOOM &&
        fabs(info.keys_estimated - distinct) > 0.06 * distinct + 20)
        broken(m, "%.0f keys are estimated to be %.0f", distinct, info.keys_estimated);
    if (info.kind != m->kind || info.growth != m->growth || !(info.error_rate_now <= 1))
        broken(m, "the info is wrong");
}

static void sync_it(model *m)
{
    seen_error e;
    must(m, seen_sync(any(m), &e), &e);
}

static void step(model *m)
{
    static const struct {
        const char *name;
        void (*run)(model *);
        unsigned weight;
    } OPS[] = {{"add", add_one, 300},      {"add_many", add_many, 150},
               {"check", check_some, 200}, {"remove", remove_some, 60},
               {"reopen", open_again, 6},  {"second handle", second_handle, 4},
               {"rotate", rotate, 5},      {"copy", copy, 3},
               {"merge", merge, 4},        {"info", look, 10},
               {"sync", sync_it, 10}};
    for (;;) {
        unsigned pick = (unsigned)below(m, 752), i = 0;
        while (pick >= OPS[i].weight)
            pick -= OPS[i++].weight;
        if ((OPS[i].run == remove_some && m->kind != SEEN_COUNTING) ||
            (OPS[i].run == rotate && m->growth != SEEN_WINDOW))
            continue;
        OPS[i].run(m);
        snprintf(m->last, sizeof m->last, "%s", OPS[i].name);
        break;
    }
    if (m->step % 500 == 499)
        check_all(m);
}

static void run(seen_kind kind, seen_growth growth, store place, const char *folder, uint64_t steps)
{
    static model m;
    memset(&m, 0, sizeof m);
    m.kind = kind;
    m.growth = growth;
    m.place = place;
    m.random = first_seed + (uint64_t)kind * 100 + (uint64_t)growth * 10 + (uint64_t)place;
    strcpy(m.last, "create");
    for (int i = 0; i < COPIES; i++)
        snprintf(m.path[i], sizeof m.path[i], place == URL ? "%s-%d" : "%s/set-%d", folder, i);
    seen_options options = options_of(&m);
    seen_error e;
    must(&m, seen_create(where(&m), &options, place == URL ? SEEN_REPLACE : 0, &m.set, &e), &e);
    for (m.step = 0; m.step < steps; m.step++)
        step(&m);
    check_all(&m);
    /* Saturated counters and remains of removed keys stay: a counting set may be fuller. */
    double bound = growth == SEEN_FIXED && kind == SEEN_BLOOM ? 0.0105 : 0.02;
    if (!believable((double)m.absent_keys, (double)m.false_positives, 0, bound))
        broken(&m, "%llu of %llu strangers are mistaken", (unsigned long long)m.false_positives,
               (unsigned long long)m.absent_keys);
    printf("%-26s %llu steps, %llu of %llu strangers mistaken\n", name_of(&m),
           (unsigned long long)steps, (unsigned long long)m.false_positives,
           (unsigned long long)m.absent_keys);
    seen_close(m.second);
    seen_close(m.set);
    if (place != HEAP)
        must(&m, seen_drop(m.path[0], NULL, &e), &e);
}

int main(int argc, char **argv)
{
    uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 0) : 30000;
    const char *given = getenv("SEEN_SEED"), *url = getenv("SEEN_MODEL_URL");
    first_seed = given ? (uint64_t)strtoull(given, NULL, 0)
                       : ((uint64_t)time(NULL) << 20 ^ (uint64_t)getpid());
    printf("SEEN_SEED=%llu\n", (unsigned long long)first_seed);
    char folder[] = "/dev/shm/seen-model.XXXXXX", other[] = "/tmp/seen-model.XXXXXX";
    char *made = mkdtemp(folder);
    if (!made && !(made = mkdtemp(other)))
        return 2;
    for (int place = HEAP; place <= (url ? URL : MAPPED); place++)
        for (int kind = 0; kind < 2; kind++)
            for (int growth = 0; growth < (kind ? 2 : 3); growth++)
                run((seen_kind)kind, (seen_growth)growth, (store)place, place == URL ? url : made,
                    place == URL ? steps / 20 : steps);
    if (rmdir(made) != 0) {
        fprintf(stderr, "something was left in %s\n", made);
        return 1;
    }
    return 0;
}
