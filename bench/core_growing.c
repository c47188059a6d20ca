/* Growing sets beside fixed ones, and beside the layers that growing sets were before. See core.c.
 *
 * All take turns, a batch at a time, on hashes that are already taken; of each structure the low
 * (10th percentile) of its batches counts, and for additions the whole, growth included. */
#include "core_growing.h"

#include "base/memory.h"
#include "local/tag_set.h"
#include "set/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 1 << 16, SAMPLES = 160, MIB = 1 << 20 };
enum { FIXED, GROWING, LAYERS, SETS };

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void fill(seen_hash *h, uint64_t from, uint64_t salt)
{
    for (uint64_t i = 0; i < BATCH; i++)
        h[i] = (seen_hash){.lo = mix(2 * (from + i) + salt), .hi = mix(2 * (from + i) + 1 + salt)};
}

static void check(seen_status status, const seen_error *error)
{
    if (status == SEEN_OK)
        return;
    fprintf(stderr, "core: %s\n", error->message);
    exit(2);
}

static void make(size_t keys, double rate, bool layers, seen_set *set[SETS])
{
    seen_options o = {.size = sizeof o,
                      .capacity = keys,
                      .error_rate = rate,
                      .when_full = SEEN_FULL_GO_ON,
                      .seed_given = true};
    seen_error error;
    sn_image image;
    check(seen_create(NULL, &o, 0, &set[FIXED], &error), &error);
    o.growth = SEEN_GROWING;
    o.capacity = 0;
    check(seen_create(NULL, &o, 0, &set[GROWING], &error), &error);
    set[LAYERS] = NULL;
    if (!layers)
        return;
    check(sn_layers_begin(&o, &image, &error), &error);
    check(sn_heap_create(&image, &set[LAYERS], &error), &error);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double low(double *times, size_t count)
{
    qsort(times, count, sizeof *times, by_size);
    return times[count / 10] / BATCH * 1e9;
}

typedef struct row {
    double add, hit, miss; /* ns per key */
    double bits, resident; /* as reported; bytes in memory */
} row;

/* Bytes of this process in memory. */
static double resident(void)
{
    unsigned long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &all, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void measure_adds(size_t batches, seen_set *set[SETS], seen_hash *h, seen_answer *answers,
                         row rows[SETS])
{
    seen_error error;
    for (size_t b = 0; b < batches; b++) {
        fill(h, b * BATCH, 1);
        for (int s = 0; s < SETS; s++) {
            double before = resident(), start = cpu();
            if (set[s])
                check(seen_add_hashes(set[s], h, BATCH, answers, &error), &error);
            rows[s].add += (cpu() - start) / (double)(batches * BATCH) * 1e9;
            rows[s].resident += resident() - before;
        }
    }
}

/* Every set must contain every key: returns how many are missing. */
static uint64_t measure_lookups(size_t batches, seen_set *set[SETS], seen_hash *h,
                                seen_answer *answers, row rows[SETS])
{
    static double times[2][SETS][SAMPLES];
    uint64_t missing = 0;
    seen_error error;
    for (size_t i = 0; i < SAMPLES; i++)
        for (int absent = 0; absent < 2; absent++) {
            fill(h, i * 7919 % batches * BATCH, absent ? UINT64_C(1) << 62 : 1);
            for (int s = 0; s < SETS; s++) {
                double start = cpu();
                if (!set[s])
                    continue;
                check(seen_check_hashes(set[s], h, BATCH, answers, &error), &error);
                times[absent][s][i] = cpu() - start;
                for (size_t k = 0; k < BATCH && !absent; k++)
                    missing += answers[k] != SEEN_BEFORE;
            }
        }
    for (int s = 0; s < SETS; s++) {
        rows[s].hit = low(times[0][s], SAMPLES);
        rows[s].miss = low(times[1][s], SAMPLES);
    }
    return missing;
}

/* Uses as much memory as the sets will, and returns it. Memory that a virtual machine has not used
 * before comes from its host, 5 ms for a huge page, and that is not what is measured here. */
static void warm(size_t bytes)
{
    volatile char *memory = sn_memory_map(bytes);
    for (size_t i = 0; memory && i < bytes; i += 4096)
        memory[i] = 1;
    sn_memory_unmap((void *)(uintptr_t)memory, bytes);
}

void core_growing(size_t keys, double rate, bool layers)
{
    enum { BYTES = 24 }; /* of all three sets, per key */
    static const char *const NAME[SETS] = {"fixed", "growing", "layers"};
    seen_set *set[SETS];
    row rows[SETS] = {{0}};
    size_t batches = (keys + BATCH - 1) / BATCH;
    seen_hash *h = malloc(BATCH * sizeof *h);
    seen_answer *answers = malloc(BATCH);
    if (!h || !answers)
        exit(2);
    warm(keys * BYTES);
    make(batches * BATCH, rate, layers, set);
    measure_adds(batches, set, h, answers, rows);
    uint64_t missing = measure_lookups(batches, set, h, answers, rows);
    printf("\n%zu keys, error rate %g, hashes already taken, ns per key\n", batches * BATCH, rate);
    printf("  %-10s %8s %8s %8s %12s %10s   %s\n", "", "add", "present", "absent", "bits/key",
           "rate", "to fixed: add, present, absent");
    for (int s = 0; s < SETS; s++) {
        seen_info info = {.size = sizeof info};
        seen_error error;
        if (!set[s])
            continue;
        check(seen_get_info(set[s], &info, &error), &error);
        rows[s].bits = (double)info.bits;
        printf("  %-10s %8.1f %8.1f %8.1f %12.2f %10.2e   %.2f %.2f %.2f\n", NAME[s], rows[s].add,
               rows[s].hit, rows[s].miss, rows[s].bits / (double)(batches * BATCH),
               info.error_rate_now, rows[s].add / rows[0].add, rows[s].hit / rows[0].hit,
               rows[s].miss / rows[0].miss);
    }
    if (layers)
        printf("  layers to growing: add %.1f, present %.1f, absent %.1f\n",
               rows[LAYERS].add / rows[GROWING].add, rows[LAYERS].hit / rows[GROWING].hit,
               rows[LAYERS].miss / rows[GROWING].miss);
    printf("  growing: longest pause of a writer %.2f ms; %.1f MiB of lines, %.1f in memory; keys "
           "missing: %llu\n",
           (double)sn_tag_set_longest(sn_tag_set_of(set[GROWING])) * 1e-6,
           rows[GROWING].bits / 8 / MIB, rows[GROWING].resident / MIB, (unsigned long long)missing);
    fflush(stdout);
    for (int s = 0; s < SETS; s++)
        seen_close(set[s]);
    free(h);
    free(answers);
}
