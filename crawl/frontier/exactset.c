/* A set of 128-bit hashes in a mapped temporary file. */
#include "crawl/frontier/exactset.h"

#include "base/error.h"
#include "base/hashset.h"
#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_SLOTS = 1 << 16 };

struct sn_exactset {
    int folder;
    sn_hashset set; /* at most 3/4 full */
};

static seen_hash *map_slots(int folder, size_t slots, seen_error *error)
{
    size_t bytes = slots * sizeof(seen_hash);
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
    if (!e)
        return sn_error_memory(error);
    e->folder = folder;
    seen_hash *slots = map_slots(folder, FIRST_SLOTS, error);
    if (!slots) {
        free(e);
        return SEEN_ERR_IO;
    }
    sn_hashset_move(&e->set, slots, FIRST_SLOTS);
    *exact = e;
    return SEEN_OK;
}

void sn_exactset_destroy(sn_exactset *e)
{
    if (!e)
        return;
    munmap(e->set.slots, sn_exactset_bytes(e));
    free(e);
}

static seen_status grow(sn_exactset *e, seen_error *error)
{
    size_t slots = 2 * (e->set.mask + 1), bytes = sn_exactset_bytes(e);
    seen_hash *old = e->set.slots, *memory = map_slots(e->folder, slots, error);
    if (!memory)
        return SEEN_ERR_IO;
    sn_hashset_move(&e->set, memory, slots);
    munmap(old, bytes);
    return SEEN_OK;
}

seen_status sn_exactset_add(sn_exactset *e, const seen_hash *hashes, size_t count,
                            seen_answer *answers, seen_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (e->set.count * 4 >= (e->set.mask + 1) * 3) {
            seen_status status = grow(e, error);
            if (status != SEEN_OK)
                return status;
        }
        answers[i] = sn_hashset_add(&e->set, hashes[i]) ? SEEN_NEW : SEEN_BEFORE;
    }
    return SEEN_OK;
}

void sn_exactset_check(const sn_exactset *e, const seen_hash *hashes, size_t count,
                       seen_answer *answers)
{
    for (size_t i = 0; i < count; i++)
        answers[i] = sn_hashset_has(&e->set, hashes[i]) ? SEEN_BEFORE : SEEN_NEW;
}

uint64_t sn_exactset_bytes(const sn_exactset *e)
{
    return (e->set.mask + 1) * sizeof *e->set.slots;
}
