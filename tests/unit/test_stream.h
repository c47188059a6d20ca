/* Helpers for tests of the stream engine: random numbers, temporary files, a simple set of
 * lines. */
#ifndef TEST_STREAM_H
#define TEST_STREAM_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "seen.h"

static uint64_t test_seed;

/* The seed is printed, and taken from SEED if that is set, so that a failure can be reproduced. */
static inline void seed_from_environment(void)
{
    const char *given = getenv("SEED");
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    test_seed = given ? strtoull(given, NULL, 10) : (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec;
    print_message("SEED=%llu\n", (unsigned long long)test_seed);
}

static inline uint64_t random_next(void)
{
    uint64_t x = test_seed += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline size_t random_below(size_t n)
{
    return (size_t)(random_next() % n);
}

static char scratch_dir[256];

static inline int scratch_begin(void **state)
{
    (void)state;
    /* In memory if possible, because the many fsyncs are not what is tested. */
    const char *tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
    snprintf(scratch_dir, sizeof scratch_dir, "%s/seen-unit.XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(scratch_dir) ? 0 : -1;
}

static inline int scratch_end(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_dir);
    return system(command);
}

static inline const char *scratch(const char *name)
{
    static char path[4][600];
    static unsigned turn;
    char *to = path[turn++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", scratch_dir, name);
    return to;
}

static inline void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* To be freed by the caller; NUL-terminated. */
static inline char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t room = 1 << 16, got = 0;
    char *bytes = malloc(room + 1);
    for (size_t part; (part = fread(bytes + got, 1, room - got, file)) > 0;) {
        got += part;
        if (got == room)
            bytes = realloc(bytes, (room *= 2) + 1);
    }
    fclose(file);
    bytes[got] = '\0';
    *length = got;
    return bytes;
}

static inline void assert_file_is(const char *path, const void *bytes, size_t length)
{
    size_t got;
    char *there = read_file(path, &got);
    assert_int_equal(got, length);
    if (length)
        assert_memory_equal(there, bytes, length);
    free(there);
}

/* Lines of random lengths from few letters, so that they repeat; sometimes the last one has no
 * newline. */
static inline char *random_text(size_t lines, size_t longest, size_t *length)
{
    char *text = malloc(lines * (longest + 1) + 1);
    size_t at = 0;
    for (size_t i = 0; i < lines; i++) {
        size_t len = random_below(8) ? random_below(4) : random_below(longest + 1);
        for (size_t k = 0; k < len; k++)
            text[at++] = "ab\r\0\xff"[random_below(5)];
        text[at++] = '\n';
    }
    if (at && random_below(2))
        at--;
    *length = at;
    return text;
}

#endif
