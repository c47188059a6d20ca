/* A set of 128-bit hashes in a mapped temporary file. */
#include "crawl/frontier/exactset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/tempfile.h"

#define FIRST_SLOTS ((uint64_t)1 << 16)

struct sn_exactset {
    int folder;
    seen_hash *slots; /* {0, 0}: empty */
    uint64_t mask, count;
    bool zero; /* the hash {0, 0} itself is in the set */
};

static seen_hash *map_slots(int folder, uint64_t slots, seen_error *error)
{
    size_t bytes = (size_t)slots * sizeof(seen_hash);
    int fd = sn_tempfile_open(folder, NULL);
    void *map = MAP_FAILED;
    /* Space is reserved, so that a full disk is an error here and not SIGBUS later. */
    if (fd >= 0 && (errno = posix_fallocate(fd, 0, (off_t)bytes)) == 0)
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        sn_error_cannot_in(error, errno, folder, "make", "the table of exact keys");
    if (fd >= 0)
        close(fd);
    return map == MAP_FAILED ? NULL : map;
}

seen_status sn_exactset_create(int folder, sn_exactset **exact, seen_error *error)
{
    sn_exactset *e = calloc(1, sizeof *e);
    if (e == NULL)
        return sn_error_memory(error);
    e->folder = folder;
    e->mask = FIRST_SLOTS - 1;
    e->slots = map_slots(folder, FIRST_SLOTS, error);
    if (e->slots == NULL) {
        free(e);
        return SEEN_ERR_IO;
    }
    *exact = e;
    return SEEN_OK;
}

void sn_exactset_destroy(sn_exactset *e)
{
    if (e == NULL)
        return;
    munmap(e->slots, (size_t)(e->mask + 1) * sizeof *e->slots);
    free(e);
}

/* The slot of a hash, or the empty slot for it. */
static seen_hash *find(seen_hash *slots, uint64_t mask, seen_hash hash)
{
    uint64_t at = hash.lo & mask;
    while ((slots[at].lo != 0 || slots[at].hi != 0) &&
           (slots[at].lo != hash.lo || slots[at].hi != hash.hi))
        at = (at + 1) & mask;
    return &slots[at];
}

static bool is_zero(seen_hash hash)
{
    return hash.lo == 0 && hash.hi == 0;
}

static seen_status grow(sn_exactset *e, seen_error *error)
{
    uint64_t mask = e->mask * 2 + 1;
    seen_hash *slots = map_slots(e->folder, mask + 1, error);
    if (slots == NULL)
        return SEEN_ERR_IO;
    for (uint64_t i = 0; i <= e->mask; i++)
        if (!is_zero(e->slots[i]))
            *find(slots, mask, e->slots[i]) = e->slots[i];
    munmap(e->slots, (size_t)(e->mask + 1) * sizeof *e->slots);
    e->slots = slots;
    e->mask = mask;
    return SEEN_OK;
}

seen_status sn_exactset_add(sn_exactset *e, const seen_hash *hashes, size_t count,
                            seen_answer *answers, seen_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (e->count * 4 >= (e->mask + 1) * 3) {
            seen_status status = grow(e, error);
            if (status != SEEN_OK)
                return status;
        }
        bool known = e->zero;
        if (is_zero(hashes[i])) {
            e->zero = true;
        } else {
            seen_hash *slot = find(e->slots, e->mask, hashes[i]);
            known = !is_zero(*slot);
            *slot = hashes[i];
        }
        e->count += !known;
        answers[i] = known ? SEEN_BEFORE : SEEN_NEW;
    }
    return SEEN_OK;
}

void sn_exactset_check(const sn_exactset *e, const seen_hash *hashes, size_t count,
                       seen_answer *answers)
{
    for (size_t i = 0; i < count; i++) {
        bool known = is_zero(hashes[i]) ? e->zero : !is_zero(*find(e->slots, e->mask, hashes[i]));
        answers[i] = known ? SEEN_BEFORE : SEEN_NEW;
    }
}

uint64_t sn_exactset_count(const sn_exactset *e)
{
    return e->count;
}

uint64_t sn_exactset_bytes(const sn_exactset *e)
{
    return (e->mask + 1) * sizeof *e->slots;
}
