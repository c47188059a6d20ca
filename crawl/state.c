/* The state folder.
 *
 *     lock          held by the crawler that uses the folder
 *     settings      the options that the crawl was started with
 *     seeds         the URLs whose hosts are in scope
 *     checkpoint    one consistent state: counters, lengths, the end of the log, what was done
 *     frontier.N    the log of URLs            done        bitmap by ordinal
 *     seen.filter   the seen-set               failed      pages that were given up
 *
 * A checkpoint is the last thing written: everything that it names is durable before it replaces
 * the one before. docs/crawl.md has its format. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "crawl/engine.h"

#define MAGIC "seenckp1"
#define COUNTS 13
#define FIXED (8 + 8 * (COUNTS + 3 + 3 + 2 * SN_OUT_COUNT + 4 + 2))
#define CHECKPOINT_MAX ((size_t)1 << 30)

/* A folder with files in it and no lock of ours belongs to somebody else. */
static bool is_ours(int dir)
{
    struct stat about;
    if (fstatat(dir, "lock", &about, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (list == NULL) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    bool empty = true;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    closedir(list);
    return empty;
}

seen_status sn_state_lock(const char *path, int *folder, int *lock, seen_error *error)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return sn_error_cannot(error, errno, "create the state folder", path);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return sn_error_cannot(error, errno, "open the state folder", path);
    if (!is_ours(dir)) {
        close(dir);
        return sn_error_set(error, SEEN_ERR_EXISTS,
                            "%s has files in it that are not of a crawl: name another folder",
                            path);
    }
    int fd = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    seen_status status = SEEN_OK;
    if (fd < 0)
        status = sn_error_cannot(error, errno, "open the lock of", path);
    else if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        status = errno == EWOULDBLOCK
                     ? sn_error_set(error, SEEN_ERR_EXISTS,
                                    "another crawler uses the state folder %s: wait for it, or "
                                    "give this one a folder of its own",
                                    path)
                     : sn_error_cannot(error, errno, "lock", path);
    if (status != SEEN_OK) {
        if (fd >= 0)
            close(fd);
        close(dir);
        return status;
    }
    *folder = dir;
    *lock = fd;
    return SEEN_OK;
}

uint64_t sn_state_path_hash(const char *path)
{
    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    seen_hasher plain = {.kind = SEEN_XXH3};
    return seen_hash_key(&plain, path, strlen(path)).lo | 1;
}

seen_status sn_state_replace(int folder, const char *name, const void *bytes, size_t len,
                             seen_error *error)
{
    const char *temporary = "replace.tmp";
    unlinkat(folder, temporary, 0);
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return sn_error_cannot_in(error, errno, folder, "write", name);
    bool ok = sn_io_write(fd, bytes, len, 0) && fsync(fd) == 0;
    seen_status status = ok ? SEEN_OK : sn_error_cannot_in(error, errno, folder, "write", name);
    close(fd);
    if (ok && (renameat(folder, temporary, folder, name) != 0 || fsync(folder) != 0))
        status = sn_error_cannot_in(error, errno, folder, "replace", name);
    return status;
}

seen_status sn_state_slurp(int folder, const char *name, size_t max, void **bytes, size_t *len,
                           seen_error *error)
{
    *bytes = NULL;
    *len = 0;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat about;
    char path[SN_ERROR_FOLDER];
    if (fd < 0)
        return sn_error_cannot_in(error, errno, folder, "open", name);
    seen_status status = SEEN_OK;
    char *memory = NULL;
    if (fstat(fd, &about) != 0) {
        status = sn_error_cannot_in(error, errno, folder, "look at", name);
    } else if ((uint64_t)about.st_size > max) {
        status = sn_error_set(error, SEEN_ERR_FORMAT,
                              "%s in %s is too long to be ours: name "
                              "another folder",
                              name, sn_error_folder(folder, path));
    } else if ((memory = malloc((size_t)about.st_size + 1)) == NULL) {
        status = sn_error_memory(error);
    } else {
        ssize_t n = sn_io_read_some(fd, memory, (size_t)about.st_size, 0);
        if (n < 0)
            status = sn_error_cannot_in(error, errno, folder, "read", name);
        else
            memory[n] = '\0';
        *len = n < 0 ? 0 : (size_t)n;
    }
    close(fd);
    if (status != SEEN_OK) {
        free(memory);
        return status;
    }
    *bytes = memory;
    return SEEN_OK;
}

/* ---- The checkpoint as bytes ---- */

/* One list of fields serves writing and reading. */
typedef struct cursor {
    uint8_t *at;
    bool writing;
} cursor;

static void number(cursor *c, uint64_t *value)
{
    if (c->writing)
        sn_store64(c->at, *value);
    else
        *value = sn_load64(c->at);
    c->at += 8;
}

static void number32(cursor *c, uint32_t *value)
{
    uint64_t wide = *value;
    number(c, &wide);
    *value = (uint32_t)wide;
}

static void fields(cursor *c, sn_checkpoint *p, uint64_t *done_count, uint64_t *tally_len)
{
    sn_crawl_counts *n = &p->counts;
    uint64_t *plain[COUNTS - 1] = {&n->pages,     &n->ok,     &n->redirects, &n->bytes,
                                   &n->links,     &n->failed, &n->robots,    &n->retried,
                                   &n->truncated, &n->found,  &n->dropped,   &n->host_limit};
    for (size_t i = 0; i < COUNTS - 1; i++)
        number(c, plain[i]);
    uint64_t bits;
    memcpy(&bits, &n->lost, 8);
    number(c, &bits);
    memcpy(&n->lost, &bits, 8);
    uint64_t kind = (uint64_t)p->hasher.kind;
    number(c, &kind);
    p->hasher.kind = (seen_hash_kind)kind;
    number(c, &p->hasher.seed[0]);
    number(c, &p->hasher.seed[1]);
    number(c, &p->completed);
    number(c, &p->waiting);
    number(c, &p->failed_len);
    for (size_t i = 0; i < SN_OUT_COUNT; i++) {
        number(c, &p->out_length[i]);
        number(c, &p->out_path[i]);
    }
    number32(c, &p->mark.first_segment);
    number32(c, &p->mark.last_segment);
    number(c, &p->mark.end);
    number(c, &p->mark.next_ordinal);
    number(c, done_count);
    number(c, tally_len);
}

seen_status sn_state_read(int folder, sn_checkpoint *p, seen_error *error)
{
    void *bytes;
    size_t len;
    *p = (sn_checkpoint){0};
    seen_status status = sn_state_slurp(folder, "checkpoint", CHECKPOINT_MAX, &bytes, &len, error);
    if (status != SEEN_OK)
        return status;
    uint64_t done = 0, tally = 0;
    uint8_t *b = bytes;
    bool ok = len >= FIXED + 4 && memcmp(b, MAGIC, 8) == 0 &&
              sn_load32(b + len - 4) == (uint32_t)crc32(0, b, (uInt)(len - 4));
    if (ok) {
        fields(&(cursor){b + 8, false}, p, &done, &tally);
        ok = done <= len / 8 && tally <= len && FIXED + done * 8 + tally + 4 == len;
    }
    if (!ok) {
        bool foreign = len >= 8 && memcmp(b, MAGIC, 7) == 0 && b[7] != MAGIC[7];
        char path[SN_ERROR_FOLDER];
        free(bytes);
        return sn_error_set(error, SEEN_ERR_FORMAT,
                            foreign ? "the crawl in %s is of another version of seen: go on with "
                                      "that version, or start anew in another folder"
                                    : "the checkpoint in %s is damaged: restore the folder from a "
                                      "copy, or start the crawl anew in another one",
                            sn_error_folder(folder, path));
    }
    /* In place: the ordinals begin at a multiple of 8. */
    uint64_t *ordinals = (uint64_t *)bytes + FIXED / 8;
    for (uint64_t i = 0; i < done; i++)
        ordinals[i] = sn_load64(b + FIXED + i * 8);
    p->mark.done = ordinals;
    p->mark.done_count = (size_t)done;
    p->tally = b + FIXED + done * 8;
    p->tally_len = (size_t)tally;
    p->bytes = bytes;
    return SEEN_OK;
}

void sn_state_free(sn_checkpoint *p)
{
    free(p->bytes);
    p->bytes = NULL;
}

static seen_status write_checkpoint(sn_engine *e)
{
    sn_checkpoint p = {.counts = e->counts,
                       .hasher = e->hasher,
                       .completed = e->completed,
                       .waiting = sn_frontier_waiting(e->frontier),
                       .failed_len = e->failed_len,
                       .mark = sn_frontier_get_mark(e->frontier)};
    for (int i = 0; i < SN_OUT_COUNT; i++) {
        p.out_length[i] = e->out[i] == NULL ? 0 : sn_sink_length(e->out[i]);
        p.out_path[i] = sn_state_path_hash(sn_results_path(e->options, i));
    }
    uint64_t done = p.mark.done_count;
    uint64_t tally = e->tally == NULL ? 0 : sn_tally_size(e->tally);
    size_t len = FIXED + done * 8 + tally + 4;
    uint8_t *bytes = malloc(len);
    if (bytes == NULL)
        return sn_error_memory(e->error);
    memcpy(bytes, MAGIC, 8);
    fields(&(cursor){bytes + 8, true}, &p, &done, &tally);
    for (uint64_t i = 0; i < done; i++)
        sn_store64(bytes + FIXED + i * 8, p.mark.done[i]);
    if (e->tally != NULL)
        sn_tally_store(e->tally, bytes + FIXED + done * 8);
    sn_store32(bytes + len - 4, (uint32_t)crc32(0, bytes, (uInt)(len - 4)));
    seen_status status = sn_state_replace(e->folder, "checkpoint", bytes, len, e->error);
    free(bytes);
    return status;
}

static seen_status sync_outputs(sn_engine *e)
{
    for (int i = 0; i < SN_OUT_COUNT; i++) {
        if (e->out[i] == NULL)
            continue;
        seen_status status =
            e->folder >= 0 ? sn_sink_sync(e->out[i], e->error) : sn_sink_flush(e->out[i], e->error);
        if (status != SEEN_OK)
            return status;
    }
    if (e->failed_fd >= 0 && fdatasync(e->failed_fd) != 0)
        return sn_error_cannot_in(e->error, errno, e->folder, "sync", "the list of failed pages");
    return SEEN_OK;
}

seen_status sn_state_save(sn_engine *e)
{
    seen_status status = sn_admit_commit(e);
    if (status == SEEN_OK)
        status = sync_outputs(e);
    if (status == SEEN_OK && e->folder >= 0) {
        status = sn_frontier_sync(e->frontier, e->error);
        if (status == SEEN_OK)
            status = sn_known_sync(e->known, e->error);
        if (status == SEEN_OK)
            status = write_checkpoint(e);
        /* Only what the checkpoint counts is in the list. */
        if (status == SEEN_OK && ftruncate(e->failed_fd, (off_t)e->failed_len) != 0)
            status = sn_error_cannot_in(e->error, errno, e->folder, "truncate",
                                        "the list of failed pages");
    }
    return status == SEEN_OK ? sn_frontier_settle(e->frontier, e->error) : status;
}
