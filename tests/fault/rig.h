/* Helpers for fault tests: a temporary folder, keys, random numbers with a seed. */
#ifndef TESTS_FAULT_RIG_H
#define TESTS_FAULT_RIG_H

#include "seen.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char folder[200];
static uint64_t random_state;

static inline void die(const char *what, const char *more)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", what, more);
    exit(1);
}

/* ---- the folder ---- */

static inline void folder_make(const char *base, const char *what)
{
    snprintf(folder, sizeof folder, "%s/seen-%s.XXXXXX", base, what);
    if (!mkdtemp(folder))
        die(folder, "cannot be made");
}

/* A folder in which syncing costs nothing. */
static inline const char *folder_in_memory(void)
{
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

/* A path in the folder; a few of them are valid at a time. */
static inline const char *at(const char *name)
{
    static char path[8][600];
    static unsigned turn;
    char *p = path[turn++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static inline bool is_name(const char *name, const char *part)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && (!part || strstr(name, part));
}

/* The number of entries of the folder that contain `part`; NULL: all of them. */
static inline int folder_count(const char *part)
{
    int count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += is_name(entry->d_name, part);
    if (dir)
        closedir(dir);
    return count;
}

static inline void folder_clear(const char *part)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (is_name(entry->d_name, part))
            unlink(at(entry->d_name));
    if (dir)
        closedir(dir);
}

/* ---- leaks ---- */

static inline int count_descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

/* ---- random numbers ---- */

static inline uint64_t mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t below(uint64_t n)
{
    random_state += 0x9e3779b97f4a7c15u;
    return mix64(random_state) % n;
}

/* From SEEN_SEED, or from the clock; printed, so that a run can be repeated. */
static inline void seed_random(void)
{
    const char *given = getenv("SEEN_SEED");
    random_state = given ? (uint64_t)strtoull(given, NULL, 0)
                         : ((uint64_t)time(NULL) << 20 ^ (uint64_t)getpid());
    printf("SEEN_SEED=%llu\n", (unsigned long long)random_state);
    fflush(stdout);
}

/* ---- sets and keys ---- */

static inline seen_options options_of(seen_kind kind, seen_growth growth, uint64_t capacity)
{
    return (seen_options){.size = sizeof(seen_options),
                          .kind = kind,
                          .growth = growth,
                          .capacity = capacity,
                          .error_rate = 0.001,
                          .when_full = SEEN_FULL_GO_ON,
                          .seed_given = true,
                          .seed = {7, 8}};
}

static inline void must(seen_status status, const seen_error *e)
{
    if (status != SEEN_OK)
        die("a call failed", e->message);
}

static inline seen_hash hash_of(uint64_t i)
{
    return (seen_hash){mix64(i * 2 + 1), mix64(~(i * 2))};
}

/* Adds keys first ... first + count - 1, which must not fail. */
static inline void add_keys(seen_set *set, uint64_t first, uint64_t count)
{
    seen_error e;
    while (count) {
        seen_hash h[64];
        size_t n = count < 64 ? (size_t)count : 64;
        for (size_t i = 0; i < n; i++)
            h[i] = hash_of(first + i);
        must(seen_add_hashes(set, h, n, NULL, &e), &e);
        first += n;
        count -= n;
    }
}

static inline bool is_there(seen_set *set, uint64_t i)
{
    seen_hash h = hash_of(i);
    seen_answer answer = SEEN_UNKNOWN;
    seen_error e;
    must(seen_check_hashes(set, &h, 1, &answer, &e), &e);
    return answer == SEEN_BEFORE;
}

static inline void must_have(seen_set *set, uint64_t first, uint64_t end, const char *what)
{
    for (uint64_t i = first; i < end; i++)
        if (!is_there(set, i))
            die("a key is missing", what);
}

#endif
