/* Helpers for tests of sets in files. */
#ifndef TEST_FILE_H
#define TEST_FILE_H

#include "test_trust.h"

#include <fcntl.h>

enum { MANY = 3000 };

static seen_hash batch[MANY];
static seen_answer reported[MANY];

static UNUSED seen_set *create(const char *name, seen_options options, unsigned flags)
{
    seen_set *set = NULL;
    OK(seen_create(at(name), &options, flags, &set, error));
    return set;
}

static UNUSED seen_set *open_set(const char *name, unsigned flags)
{
    seen_set *set = NULL;
    OK(seen_open(at(name), NULL, flags, &set, error));
    return set;
}

static UNUSED void add_range(seen_set *set, uint64_t first, size_t count)
{
    hashes_from(first, count, batch);
    OK(seen_add_hashes(set, batch, count, NULL, error));
}

static UNUSED size_t count_there(seen_set *set, uint64_t first, size_t count)
{
    size_t n = 0;
    hashes_from(first, count, batch);
    OK(seen_check_hashes(set, batch, count, reported, error));
    for (size_t i = 0; i < count; i++)
        n += reported[i] == SEEN_BEFORE;
    return n;
}

static UNUSED void drop(const char *name)
{
    OK(seen_drop(at(name), NULL, error));
    assert_int_equal(scratch_count(), 0);
}

static UNUSED void write_at(const char *name, const void *data, size_t len, off_t where)
{
    int fd = open(at(name), O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, data, len, where), (ssize_t)len);
    close(fd);
}

#endif
