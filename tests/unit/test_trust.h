/* Helpers for tests of the library: random numbers, keys, temporary folders, statuses. */
#ifndef TEST_TRUST_H
#define TEST_TRUST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "seen.h"
#include "set/layers.h"
#include "set/store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

/* A call that must succeed; its message is printed if it does not. The call uses `error`. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        seen_error said_ = {0}, *error = &said_;                                                   \
        seen_status got_ = (call);                                                                 \
        (void)error;                                                                               \
        if (got_ != SEEN_OK)                                                                       \
            fail_msg("%s: %s (%s)", #call, said_.message, seen_status_text(got_));                 \
    } while (0)

/* A call that must fail with this status and a message. */
#define FAILS(status_, call)                                                                       \
    do {                                                                                           \
        seen_error said_ = {0}, *error = &said_;                                                   \
        seen_status got_ = (call);                                                                 \
        if (got_ != (status_))                                                                     \
            fail_msg("%s: %s, not %s (%s)", #call, seen_status_text(got_),                         \
                     seen_status_text(status_), said_.message);                                    \
        assert_int_equal(error->status, status_);                                                  \
        assert_true(strlen(said_.message) > 10);                                                   \
    } while (0)

typedef struct rng {
    uint64_t state;
} rng;

static UNUSED uint64_t mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static UNUSED uint64_t rng_next(rng *r)
{
    r->state += 0x9e3779b97f4a7c15u;
    return mix64(r->state);
}

static UNUSED uint64_t rng_below(rng *r, uint64_t n)
{
    return rng_next(r) % n;
}

/* A seed from SEEN_SEED, or from the clock; printed, so that a run can be repeated. */
static UNUSED uint64_t test_seed(void)
{
    const char *given = getenv("SEEN_SEED");
    static uint64_t seed;
    if (seed == 0) {
        seed = given ? strtoull(given, NULL, 0) : ((uint64_t)getpid() << 20 ^ (uint64_t)time(NULL));
        printf("SEEN_SEED=%llu\n", (unsigned long long)seed);
    }
    return seed;
}

/* The hash of key number i: as good as a real one. */
static UNUSED seen_hash hash_of(uint64_t i)
{
    return (seen_hash){.lo = mix64(i * 2 + 1), .hi = mix64(~(i * 2))};
}

static UNUSED void hashes_from(uint64_t first, size_t count, seen_hash *h)
{
    for (size_t i = 0; i < count; i++)
        h[i] = hash_of(first + i);
}

static UNUSED seen_options plain_options(seen_kind kind, seen_growth growth, uint64_t capacity,
                                         double rate)
{
    return (seen_options){.size = sizeof(seen_options),
                          .kind = kind,
                          .growth = growth,
                          .capacity = capacity,
                          .error_rate = rate,
                          .seed_given = true,
                          .seed = {12345, 67890}};
}

/* ---- scratch folders ---- */

static char scratch_path[256];

static UNUSED const char *scratch(void)
{
    /* In memory if there is such a folder: syncing costs nothing there. The tests of crashes use
     * the disk. */
    const char *base = getenv("TMPDIR");
    if (!base)
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(scratch_path, sizeof scratch_path, "%s/seen-unit.XXXXXX", base);
    if (!mkdtemp(scratch_path)) {
        perror(scratch_path);
        exit(1);
    }
    return scratch_path;
}

/* The number of entries in the temporary folder. */
static UNUSED int scratch_count(void)
{
    int count = 0;
    DIR *dir = opendir(scratch_path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

static UNUSED void scratch_remove(void)
{
    DIR *dir = opendir(scratch_path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", scratch_path, entry->d_name);
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
            unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(scratch_path);
}

static UNUSED int scratch_setup(void **state)
{
    *state = (void *)(uintptr_t)scratch();
    return 0;
}

static UNUSED int scratch_teardown(void **state)
{
    (void)state;
    scratch_remove();
    return 0;
}

/* A path in the temporary folder; a few of them are valid at a time. */
static UNUSED const char *at(const char *name)
{
    static char path[8][600];
    static unsigned turn;
    char *p = path[turn++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", scratch_path, name);
    return p;
}

/* The bytes of a file, to be freed by the caller. */
static UNUSED unsigned char *file_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = malloc(*size + 1);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

static UNUSED void file_put(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static UNUSED bool is_there(seen_set *set, seen_hash h)
{
    seen_answer answer = SEEN_UNKNOWN;
    OK(seen_check_hashes(set, &h, 1, &answer, error));
    return answer == SEEN_BEFORE;
}

static UNUSED seen_answer add_key(seen_set *set, uint64_t i)
{
    seen_hash h = hash_of(i);
    seen_answer answer = SEEN_UNKNOWN;
    OK(seen_add_hashes(set, &h, 1, &answer, error));
    return answer;
}

/* A growing set of layers, as earlier versions made them. NULL: in memory. */
static UNUSED seen_set *layered_create(const char *where, const seen_options *options)
{
    sn_image image;
    seen_set *set = NULL;
    OK(sn_layers_begin(options, &image, error));
    memcpy(image.seed, options->seed, sizeof image.seed);
    if (where)
        OK(sn_file_create(where, &image, 0, &set, error));
    else
        OK(sn_heap_create(&image, &set, error));
    return set;
}

#endif
