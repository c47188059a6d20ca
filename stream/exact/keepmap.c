/* One bit for each line. */
#include "stream/exact/keepmap.h"

#include "base/error.h"
#include "stream/io/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

/* A map of this size is enough for 10^8 lines. */
#define MEMORY_MAX ((uint64_t)12 << 20)

static void *map_file(size_t bytes, const char *dir, seen_error *error)
{
    sn_temp *temp;
    if (sn_temp_open(dir, bytes, &temp, error) != SEEN_OK)
        return NULL;
    void *words = NULL;
    /* Space is reserved, so that a full disk is reported here and not by SIGBUS later. */
    int code = posix_fallocate(sn_temp_fd(temp), 0, (off_t)bytes);
    if (code)
        sn_error_cannot(error, code, "reserve a temporary file in", sn_temp_dir(temp));
    else {
        words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, sn_temp_fd(temp), 0);
        if (words == MAP_FAILED) {
            words = NULL;
            sn_error_cannot(error, errno, "map a temporary file in", sn_temp_dir(temp));
        }
    }
    sn_temp_close(temp); /* the mapping remains valid */
    return words;
}

seen_status sn_keepmap_open(sn_keepmap *map, uint64_t bits, const char *temp_dir, seen_error *error)
{
    seen_error mine = {.status = SEEN_ERR_MEMORY};
    uint64_t bytes = (bits / 64 + 1) * 8;
    void *words;
    if (bytes <= MEMORY_MAX) {
        words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (words == MAP_FAILED)
            return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a map of the lines");
    } else {
        words = map_file(bytes, temp_dir, &mine);
        if (!words) {
            if (error)
                *error = mine;
            return mine.status;
        }
    }
    *map = (sn_keepmap){words, bytes};
    return SEEN_OK;
}

void sn_keepmap_close(sn_keepmap *map)
{
    if (map->words)
        munmap(map->words, map->bytes);
    *map = (sn_keepmap){0};
}
