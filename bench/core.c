/* How fast is the filter core? One command, one table, everything side by side in one run:
 *
 *     build/bench/core [KEYS] [ROUNDS]   (10^8 keys by default; needs 4 GB of memory)
 *     build/bench/core single [KEYS]     one call per key (10^6)
 *     build/bench/core growing [KEYS...] growing sets beside fixed ones (10^6, 10^7, 10^8)
 *     build/bench/core threads [KEYS]    small batches, one thread and two (4 * 10^6)
 *
 * The physical limit is random reads of cache lines over a buffer of the same size, at addresses
 * taken from the same array of hashes, by the best of several prefetch strategies. libbloom
 * (Debian's libbloom-dev) and a hash set (open addressing, 128-bit hash and pointer) do the same
 * work. What is compared takes turns, slice by slice of the keys, and of each slice the best of
 * several rounds counts: a busy moment of the machine hits all alike, and is left out. Figures are
 * nanoseconds per key: of the processor for one thread, on the wall for two; and on the wall also
 * for the one that two are compared with, in slices of the same size. */
#include "core_growing.h"

#include "seen.h"

#include <bloom.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { KEY = 64, BLOCK = 1 << 16 };

static double clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The CPU time of this thread: on a shared machine the wall clock also measures other processes. */
static double now(void)
{
    return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

static double better(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void *big(size_t bytes)
{
    char *p =
        mmap(NULL, bytes + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "core: no memory for %zu MiB; give fewer keys\n", bytes >> 20);
        exit(2);
    }
    p += (2 << 20) - (uintptr_t)p % (2 << 20);
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void check(seen_status status, const seen_error *error)
{
    if (status == SEEN_OK)
        return;
    fprintf(stderr, "core: %s\n", error->message);
    exit(2);
}

static void fill_hashes(seen_hash *h, size_t n, uint64_t salt)
{
    for (size_t i = 0; i < n; i++)
        h[i] = (seen_hash){.lo = mix(2 * i + salt), .hi = mix(2 * i + 1 + salt)};
}

/* ---- the limit ---- */

static uint64_t sink;

static inline uint64_t line_of(seen_hash h, uint64_t lines)
{
    return (uint64_t)(((__extension__(unsigned __int128) h.hi) * lines) >> 64);
}

#define LIMIT(name, hint, ahead)                                                                   \
    static double name(const char *buffer, uint64_t lines, const seen_hash *h, size_t n)           \
    {                                                                                              \
        double start = now();                                                                      \
        uint64_t sum = 0;                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            if ((ahead) && i + (ahead) < n)                                                        \
                __builtin_prefetch(buffer + line_of(h[i + (ahead)], lines) * 64, 0, hint);         \
            sum += *(const volatile uint64_t *)(const void *)(buffer + line_of(h[i], lines) * 64); \
        }                                                                                          \
        sink += sum;                                                                               \
        return now() - start;                                                                      \
    }
LIMIT(limit_plain, 0, 0)
LIMIT(limit_l1, 3, 16)
LIMIT(limit_l1_far, 3, 64)
LIMIT(limit_l2, 2, 32)
LIMIT(limit_l2_far, 2, 64)
LIMIT(limit_l2_farther, 2, 128)

enum { STRATEGIES = 6 };
static double (*const LIMITS[STRATEGIES])(const char *, uint64_t, const seen_hash *, size_t) = {
    limit_plain, limit_l1, limit_l1_far, limit_l2, limit_l2_far, limit_l2_farther};

/* ---- ours, with precomputed hashes ---- */

typedef struct job {
    seen_set *set;
    const seen_hash *h;
    size_t n;
    bool add;
} job;

static void *run_job(void *arg)
{
    job *j = arg;
    static _Thread_local seen_answer answers[BLOCK];
    seen_error error;
    for (size_t at = 0; at < j->n; at += BLOCK) {
        size_t n = j->n - at < BLOCK ? j->n - at : BLOCK;
        check(j->add ? seen_add_hashes(j->set, j->h + at, n, answers, &error)
                     : seen_check_hashes(j->set, j->h + at, n, answers, &error),
              &error);
        sink += answers[0];
    }
    return NULL;
}

static double run(seen_set *set, const seen_hash *h, size_t n, bool add, int threads)
{
    pthread_t thread[16];
    job jobs[16];
    clockid_t clock = threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    double start = clock_of(clock);
    for (int t = 0; t < threads; t++) {
        size_t from = n / (size_t)threads * (size_t)t;
        jobs[t] = (job){set, h + from, n / (size_t)threads, add};
        if (t > 0)
            pthread_create(&thread[t], NULL, run_job, &jobs[t]);
    }
    run_job(&jobs[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(thread[t], NULL);
    return clock_of(clock) - start;
}

static seen_set *make(uint64_t keys, double rate)
{
    seen_options o = {.size = sizeof o,
                      .capacity = keys,
                      .error_rate = rate,
                      .when_full = SEEN_FULL_GO_ON,
                      .seed_given = true};
    seen_error error;
    seen_set *set;
    check(seen_create(NULL, &o, 0, &set, &error), &error);
    return set;
}

/* One thread runs in short parts, most of which end before a context switch; for two threads a
 * slice must outweigh starting them. */
enum { PART = 1 << 16, SLICE = 1 << 22, PARTS_MAX = 1 << 14 };

/* The best time of each part or slice. */
typedef struct timer {
    double best[PARTS_MAX];
    size_t keys;
} timer;

typedef struct slice {
    const seen_hash *h;
    size_t n, number;
} slice;

static bool cut(const seen_hash *h, size_t n, size_t size, size_t number, slice *s)
{
    size_t from = number * size;
    if (from >= n || number == PARTS_MAX)
        return false;
    *s = (slice){h + from, n - from < size ? n - from : size, number};
    return true;
}

static void note(timer *t, const slice *s, double spent)
{
    t->keys += t->best[s->number] == 0 ? s->n : 0;
    t->best[s->number] = better(t->best[s->number], spent);
}

static double nanoseconds(const timer *t)
{
    double sum = 0;
    for (size_t i = 0; i < PARTS_MAX; i++)
        sum += t->best[i];
    return sum / (double)t->keys * 1e9;
}

enum { RATES = 2, CROWDS = 2 }; /* one thread, two threads */

typedef struct timers {
    timer limit[STRATEGIES], add[CROWDS], hit[CROWDS], miss;
    timer add_alone, hit_alone; /* one thread, timed as two are */
} timers;

typedef struct figures {
    double limit, add[CROWDS], hit[CROWDS], miss;
    double add_gain, hit_gain; /* speedup by the second thread */
} figures;

/* Each strategy is at a different position: one that ran right after another would find its lines
 * in the cache. */
static void measure_limits(char *buffer[RATES], const uint64_t lines[RATES],
                           const seen_hash *absent_keys, size_t m, timers t[RATES])
{
    size_t parts = (m + PART - 1) / PART;
    slice s;
    for (size_t i = 0; i < parts; i++)
        for (size_t way = 0; way < STRATEGIES; way++) {
            if (!cut(absent_keys, m, PART, (i + way * parts / STRATEGIES) % parts, &s))
                continue;
            for (int r = 0; r < RATES; r++)
                note(&t[r].limit[way], &s, LIMITS[way](buffer[r], lines[r], s.h, s.n));
        }
}

static void measure_slice(seen_set *set[RATES][CROWDS], const slice *s, bool add, timers t[RATES])
{
    slice part;
    double wall[RATES] = {0};
    for (size_t i = 0; cut(s->h, s->n, PART, i, &part); i++) {
        part.number += s->number * (SLICE / PART);
        for (int r = 0; r < RATES; r++) {
            double start = clock_of(CLOCK_MONOTONIC);
            note(add ? &t[r].add[0] : &t[r].hit[0], &part, run(set[r][0], part.h, part.n, add, 1));
            wall[r] += clock_of(CLOCK_MONOTONIC) - start;
        }
    }
    for (int r = 0; r < RATES; r++) {
        note(add ? &t[r].add_alone : &t[r].hit_alone, s, wall[r]);
        note(add ? &t[r].add[1] : &t[r].hit[1], s, run(set[r][1], s->h, s->n, add, 2));
    }
}

static void measure_round(size_t n, const double rates[RATES], const seen_hash *h,
                          const seen_hash *absent_keys, size_t m, timers t[RATES])
{
    seen_set *set[RATES][CROWDS];
    char *buffer[RATES];
    uint64_t lines[RATES];
    seen_info info = {.size = sizeof info};
    seen_error error;
    slice s;
    for (int r = 0; r < RATES; r++) {
        for (int c = 0; c < CROWDS; c++) {
            set[r][c] = make(n, rates[r]);
            /* Touches every page first: page faults are not the filter's work. */
            run(set[r][c], absent_keys, m < SLICE ? m : SLICE, true, 1);
        }
        check(seen_get_shape(set[r][0], &info, &error), &error);
        lines[r] = info.bytes / 64;
        buffer[r] = big(info.bytes);
        memset(buffer[r], 1, info.bytes);
    }
    measure_limits(buffer, lines, absent_keys, m, t);
    for (size_t i = 0; cut(h, n, SLICE, i, &s); i++)
        measure_slice(set, &s, true, t);
    for (size_t i = 0; cut(h, n, SLICE, i, &s); i++)
        measure_slice(set, &s, false, t);
    for (size_t i = 0; cut(absent_keys, m, PART, i, &s); i++)
        for (int r = 0; r < RATES; r++)
            note(&t[r].miss, &s, run(set[r][0], s.h, s.n, false, 1));
    for (int r = 0; r < RATES; r++) {
        munmap(buffer[r], lines[r] * 64);
        for (int c = 0; c < CROWDS; c++)
            seen_close(set[r][c]);
    }
}

static figures figures_of(const timers *t)
{
    figures f = {.miss = nanoseconds(&t->miss)};
    for (int way = 0; way < STRATEGIES; way++)
        f.limit = better(f.limit, nanoseconds(&t->limit[way]));
    for (int c = 0; c < CROWDS; c++) {
        f.add[c] = nanoseconds(&t->add[c]);
        f.hit[c] = nanoseconds(&t->hit[c]);
    }
    f.add_gain = nanoseconds(&t->add_alone) / f.add[1];
    f.hit_gain = nanoseconds(&t->hit_alone) / f.hit[1];
    return f;
}

static void measure_hashes(size_t n, size_t m, int rounds)
{
    static timers t[RATES];
    static const double rates[RATES] = {0.01, 1e-6};
    seen_hash *h = big(n * sizeof *h), *absent_keys = big(m * sizeof *absent_keys);
    fill_hashes(h, n, 1);
    fill_hashes(absent_keys, m, UINT64_C(1) << 62);
    for (int round = 0; round < rounds; round++)
        measure_round(n, rates, h, absent_keys, m, t);
    munmap(h, n * sizeof *h);
    munmap(absent_keys, m * sizeof *absent_keys);

    const figures f = figures_of(&t[0]), g = figures_of(&t[1]);
    printf("%zu keys, hashes already taken, ns per key (ratio to the limit in brackets)\n", n);
    printf("  %-26s %14s %20s\n", "", "rate 0.01", "rate 1e-6");
    printf("  %-26s %10.2f %24.2f\n", "limit: read a cache line", f.limit, g.limit);
    printf("  %-26s %10.2f (%.2fx) %14.2f (%.2fx)\n", "add", f.add[0], f.add[0] / f.limit, g.add[0],
           g.add[0] / g.limit);
    printf("  %-26s %10.2f (%.2fx) %14.2f (%.2fx)\n", "check, hit", f.hit[0], f.hit[0] / f.limit,
           g.hit[0], g.hit[0] / g.limit);
    printf("  %-26s %10.2f (%.2fx) %14.2f (%.2fx)\n", "check, miss", f.miss, f.miss / f.limit,
           g.miss, g.miss / g.limit);
    printf("  %-26s %10.2f (%.2fx of one) %7.2f (%.2fx of one)\n", "add, two threads", f.add[1],
           f.add_gain, g.add[1], g.add_gain);
    printf("  %-26s %10.2f (%.2fx of one) %7.2f (%.2fx of one)\n", "check, two threads", f.hit[1],
           f.hit_gain, g.hit[1], g.hit_gain);
    printf("  1e-6 against 0.01: add %.2fx, check %.2fx\n", g.add[0] / f.add[0],
           g.hit[0] / f.hit[0]);
}

/* ---- keys of 64 bytes that stream from memory ---- */

static void fill_keys(char *keys, size_t n, uint64_t from)
{
    static const char TEXT[] = "https://www.example.org/articles/0123456789abcdef/page-00000000";
    for (size_t i = 0; i < n; i++) {
        char *k = keys + i * KEY;
        memcpy(k, TEXT, KEY);
        uint64_t x = mix(from + i);
        for (int c = 0; c < 16; c++)
            k[33 + c] = "0123456789abcdef"[x >> (4 * c) & 15];
    }
}

typedef struct slot {
    seen_hash h;
    const char *key;
} slot;

typedef struct table {
    slot *slots;
    size_t mask;
} table;

static bool table_add(table *t, seen_hash h, const char *key, bool add)
{
    for (size_t i = h.lo & t->mask;; i = (i + 1) & t->mask) {
        slot *s = &t->slots[i];
        if (!s->key) {
            if (add)
                *s = (slot){h, key};
            return false;
        }
        if (s->h.lo == h.lo && s->h.hi == h.hi)
            return true;
    }
}

enum { OURS, LIBBLOOM, HASHSET, WAYS };
enum { DO_ADD, DO_HIT, DO_MISS, DEEDS };

typedef struct rivals {
    seen_set *set;
    struct bloom bloom;
    table table;
    seen_key *keys;
    seen_answer *answers;
} rivals;

static double deed(rivals *r, int way, int what, const char *block, size_t n)
{
    seen_error error;
    seen_hasher hasher = {0};
    for (size_t i = 0; i < n; i++)
        r->keys[i] = (seen_key){block + i * KEY, KEY};
    double start = now();
    if (way == OURS)
        check(what == DO_ADD ? seen_add_many(r->set, r->keys, n, r->answers, &error)
                             : seen_check_many(r->set, r->keys, n, r->answers, &error),
              &error);
    for (size_t i = 0; i < n && way == LIBBLOOM; i++)
        sink += (uint64_t)(what == DO_ADD ? bloom_add(&r->bloom, block + i * KEY, KEY)
                                          : bloom_check(&r->bloom, block + i * KEY, KEY));
    for (size_t i = 0; i < n && way == HASHSET; i++)
        sink += table_add(&r->table, seen_hash_key(&hasher, block + i * KEY, KEY), block + i * KEY,
                          what == DO_ADD);
    return now() - start;
}

/* All add all keys: in a nearly empty filter the first bit would decide for an absent key. The slow
 * ones are timed over a sample of the blocks and add the rest afterwards, so that our caches are
 * not full of their lines. "In cache" means that each looks up the keys once before it is timed,
 * because the others have just filled the cache. The hash set takes part if there is memory for
 * it. */
static void measure_keys(size_t n, size_t block, bool in_cache, double out[WAYS][DEEDS])
{
    rivals r = {.set = make(n, 0.01)};
    char *keys = big(block * KEY);
    size_t blocks = n / block, every = blocks > 16 ? blocks / 16 : 1;
    double spent[WAYS][DEEDS] = {{0}};
    size_t done[WAYS][DEEDS] = {{0}};
    r.keys = calloc(block, sizeof *r.keys);
    r.answers = calloc(block, 1);
    if (bloom_init(&r.bloom, (int)n, 0.01) != 0 || !r.keys || !r.answers)
        exit(2);
    if (in_cache) {
        r.table.mask = 1;
        while (r.table.mask < 2 * n)
            r.table.mask *= 2;
        r.table.slots = big(r.table.mask * sizeof(slot));
        r.table.mask--;
    }
    for (int what = 0; what < DEEDS; what++) {
        for (size_t b = 0; b < blocks; b++) {
            bool sample = b % every == 0;
            fill_keys(keys, block, (what == DO_MISS ? n : 0) + b * block);
            for (int way = 0; way < WAYS; way++) {
                if ((way == HASHSET && !in_cache) || (way != OURS && !sample))
                    continue;
                if (in_cache)
                    deed(&r, way, DO_HIT, keys, block);
                spent[way][what] += deed(&r, way, what, keys, block);
                done[way][what] += block;
            }
        }
        for (size_t b = 0; b < blocks && what == DO_ADD; b++)
            if (b % every != 0) {
                fill_keys(keys, block, b * block);
                deed(&r, LIBBLOOM, DO_ADD, keys, block);
            }
    }
    for (int way = 0; way < WAYS; way++)
        for (int what = 0; what < DEEDS; what++)
            if (done[way][what])
                out[way][what] =
                    better(out[way][what], spent[way][what] / (double)done[way][what] * 1e9);
    seen_close(r.set);
    bloom_free(&r.bloom);
    if (in_cache)
        munmap(r.table.slots, (r.table.mask + 1) * sizeof(slot));
    munmap(keys, block * KEY);
    free(r.keys);
    free(r.answers);
}

static void print_keys(const char *title, double t[WAYS][DEEDS])
{
    static const char *const DEED[] = {"add", "check, hit", "check, miss"};
    printf("\n%s: ns per key of 64 bytes, hashing included\n", title);
    printf("  %-14s %10s %10s %10s %16s\n", "", "seen", "libbloom", "hash set", "libbloom/seen");
    for (int what = 0; what < DEEDS; what++)
        printf("  %-14s %10.1f %10.1f %10.1f %15.1fx\n", DEED[what], t[OURS][what],
               t[LIBBLOOM][what], t[HASHSET][what], t[LIBBLOOM][what] / t[OURS][what]);
}

/* ---- one call per key ---- */

enum { ONE_FIXED, ONE_GROWING, ONE_LIBBLOOM, ONES };

static double one_by_one(seen_set *set, struct bloom *bloom, const char *keys, size_t n, bool add)
{
    double start = now();
    for (size_t i = 0; i < n; i++) {
        seen_answer answer = SEEN_UNKNOWN;
        const char *key = keys + i * KEY;
        if (!set)
            answer = (seen_answer)(add ? bloom_add(bloom, key, KEY) : bloom_check(bloom, key, KEY));
        else if (add)
            seen_add(set, key, KEY, &answer, NULL);
        else
            seen_check(set, key, KEY, &answer, NULL);
        sink += answer;
    }
    return (now() - start) / (double)n * 1e9;
}

static void measure_single(size_t n, int rounds)
{
    double best[ONES][DEEDS] = {{0}};
    char *keys = big(2 * n * KEY);
    fill_keys(keys, 2 * n, 0);
    for (int round = 0; round < rounds; round++) {
        struct bloom bloom;
        seen_options o = {.size = sizeof o, .growth = SEEN_GROWING, .error_rate = 0.01};
        seen_error error;
        seen_set *set[ONES] = {make(n, 0.01)};
        check(seen_create(NULL, &o, 0, &set[ONE_GROWING], &error), &error);
        if (bloom_init(&bloom, (int)n, 0.01) != 0)
            exit(2);
        for (int what = 0; what < DEEDS; what++)
            for (int s = 0; s < ONES; s++)
                best[s][what] =
                    better(best[s][what],
                           one_by_one(set[s], &bloom, what == DO_MISS ? keys + n * KEY : keys, n,
                                      what == DO_ADD));
        seen_close(set[ONE_FIXED]);
        seen_close(set[ONE_GROWING]);
        bloom_free(&bloom);
    }
    munmap(keys, 2 * n * KEY);
    static const char *const DEED[] = {"add", "check, hit", "check, miss"};
    printf("\n%zu keys of 64 bytes, one call per key, ns\n", n);
    printf("  %-14s %8s %8s %9s   %s\n", "", "fixed", "growing", "libbloom",
           "libbloom/fixed, /growing");
    for (int what = 0; what < DEEDS; what++)
        printf("  %-14s %8.1f %8.1f %9.1f   %.2fx %.2fx\n", DEED[what], best[ONE_FIXED][what],
               best[ONE_GROWING][what], best[ONE_LIBBLOOM][what],
               best[ONE_LIBBLOOM][what] / best[ONE_FIXED][what],
               best[ONE_LIBBLOOM][what] / best[ONE_GROWING][what]);
}

/* ---- small batches, by several threads ---- */

typedef struct share {
    seen_set *set;
    const seen_hash *h;
    size_t n, batch;
    bool add;
    pthread_barrier_t *start;
    double took;
} share;

static void *run_share(void *arg)
{
    share *s = arg;
    seen_answer answers[BLOCK];
    seen_error error;
    uint64_t sum = 0;
    pthread_barrier_wait(s->start);
    double began = now();
    for (size_t at = 0; at + s->batch <= s->n; at += s->batch) {
        check(s->add ? seen_add_hashes(s->set, s->h + at, s->batch, answers, &error)
                     : seen_check_hashes(s->set, s->h + at, s->batch, answers, &error),
              &error);
        sum += answers[0];
    }
    s->took = now() - began;
    __atomic_fetch_add(&sink, sum, __ATOMIC_RELAXED);
    return NULL;
}

/* Nanoseconds of a processor for a key: threads that do not hinder each other take as much as one.
 */
static double run_shares(seen_set *set, const seen_hash *h, size_t n, size_t batch, bool add,
                         int threads)
{
    pthread_barrier_t start;
    pthread_t thread[2];
    share shares[2];
    size_t each = n / (size_t)threads;
    double took = 0;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int t = 0; t < threads; t++) {
        shares[t] = (share){set, h + each * (size_t)t, each, batch, add, &start, 0};
        if (pthread_create(&thread[t], NULL, run_share, &shares[t]) != 0)
            exit(2);
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(thread[t], NULL);
        took += shares[t].took;
    }
    pthread_barrier_destroy(&start);
    return took / (double)n * 1e9;
}

enum { SIZES = 6, KINDS = 2, ROUNDS = 5 };

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median: of two threads, the best round is one in which they ran one after the other. */
static double median(double times[ROUNDS])
{
    qsort(times, ROUNDS, sizeof *times, by_time);
    return times[ROUNDS / 2];
}

static void measure_threads(size_t n)
{
    static const size_t SIZE[SIZES] = {1, 4, 8, 16, 64, 1024};
    static const char *const KIND[KINDS] = {"fixed", "growing"};
    static double times[KINDS][SIZES][2][2][ROUNDS];
    seen_hash *h = big(n * sizeof *h);
    fill_hashes(h, n, 1);
    for (int i = 0; i < ROUNDS * 2 * SIZES * KINDS; i++) {
        int kind = i % KINDS, size = i / KINDS % SIZES, threads = i / KINDS / SIZES % 2,
            round = i / KINDS / SIZES / 2;
        seen_options o = {.size = sizeof o, .growth = SEEN_GROWING, .error_rate = 0.01};
        seen_error error;
        seen_set *set = NULL;
        if (kind == 0)
            set = make(n, 0.01);
        else
            check(seen_create(NULL, &o, 0, &set, &error), &error);
        for (int look = 0; look < 2; look++)
            times[kind][size][threads][look][round] =
                run_shares(set, h, n, SIZE[size], !look, threads + 1);
        seen_close(set);
    }
    munmap(h, n * sizeof *h);
    printf("\n%zu keys, error rate 0.01, hashes already taken, ns of a processor per key\n", n);
    printf("  %-18s %18s %18s\n", "keys in a batch", "add: 1, 2 threads", "check: 1, 2");
    for (int kind = 0; kind < KINDS; kind++)
        for (int size = 0; size < SIZES; size++)
            printf("  %-8s %9zu %11.1f %6.1f %11.1f %6.1f\n", KIND[kind], SIZE[size],
                   median(times[kind][size][0][0]), median(times[kind][size][1][0]),
                   median(times[kind][size][0][1]), median(times[kind][size][1][1]));
}

static void measure_growing(size_t keys)
{
    static const double RATES_OF[] = {0.01, 1e-3, 1e-6, 1e-9};
    for (size_t r = 0; r < sizeof RATES_OF / sizeof *RATES_OF; r++)
        core_growing(keys, RATES_OF[r], true);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "growing") == 0) {
        for (int i = 2; i < argc; i++)
            measure_growing((size_t)strtod(argv[i], NULL));
        for (size_t keys = 1000000; argc == 2 && keys <= 100000000; keys *= 10)
            measure_growing(keys);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "single") == 0) {
        measure_single(argc > 2 ? (size_t)strtod(argv[2], NULL) : 1000000, 7);
        return sink == 42;
    }
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        measure_threads(argc > 2 ? (size_t)strtod(argv[2], NULL) : 4000000);
        return sink == 42;
    }
    size_t n = argc > 1 ? (size_t)strtod(argv[1], NULL) : 100000000,
           m = n < 10000000 ? n : 10000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    if (n < BLOCK || n / PART >= PARTS_MAX) {
        fprintf(stderr, "usage: core [KEYS] [ROUNDS] | single [KEYS] | growing [KEYS...] | threads "
                        "[KEYS]   (65536 to "
                        "10^9 keys)\n");
        return 2;
    }
    measure_hashes(n, m, rounds);

    double large[WAYS][DEEDS] = {{0}}, small[WAYS][DEEDS] = {{0}};
    for (int r = 0; r < 50; r++)
        measure_keys(100000, 100000, true, small);
    print_keys("100000 keys (in cache)", small);
    for (int r = 0; r < (rounds > 1 ? 2 : 1); r++)
        measure_keys(n, BLOCK, false, large);
    char title[64];
    snprintf(title, sizeof title, "%zu keys", n);
    print_keys(title, large);
    measure_single(1000000, 2 * rounds);
    measure_threads(4000000);
    for (size_t keys = 1000000; keys <= n; keys *= 10)
        measure_growing(keys);
    return sink == 42;
}
