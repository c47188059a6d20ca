/* Serialization of checkpoints: fixed fields, ordinals of finished pages, pages per host, a
 * checksum. */
#include "crawl/frontier/checkpoint.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "base/memory.h"
#include "crawl/frontier/folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC "seenckp1"
#define COUNTS 13
#define FIXED (8 + 8 * (COUNTS + 3 + 3 + 2 * SN_OUT_COUNT + 4 + 2))
#define CHECKPOINT_MAX ((size_t)1 << 30)

/* One list of fields is used for writing and reading. */
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

static void fields(cursor *c, sn_checkpoint *p, uint64_t *done_count, uint64_t *pages_len)
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
    number(c, pages_len);
}

/* ---- Bytes ---- */

/* Returns bytes that the caller frees; NULL: out of memory. `pages` follow the ordinals. */
static uint8_t *encode(const sn_checkpoint *checkpoint, const void *pages, size_t pages_len,
                       size_t *len)
{
    sn_checkpoint p = *checkpoint;
    uint64_t done = p.mark.done_count, more = pages_len;
    *len = FIXED + done * 8 + more + 4;
    uint8_t *bytes = malloc(*len);
    if (!bytes)
        return NULL;
    memcpy(bytes, MAGIC, 8);
    fields(&(cursor){bytes + 8, true}, &p, &done, &more);
    for (uint64_t i = 0; i < done; i++)
        sn_store64(bytes + FIXED + i * 8, p.mark.done[i]);
    if (more > 0)
        memcpy(bytes + FIXED + done * 8, pages, more);
    sn_store32(bytes + *len - 4, (uint32_t)crc32(0, bytes, (uInt)(*len - 4)));
    return bytes;
}

/* Decodes the fields of a complete, undamaged checkpoint. */
static bool decode(uint8_t *b, size_t len, sn_checkpoint *p, uint64_t *done, uint64_t *pages)
{
    if (len < FIXED + 4 || memcmp(b, MAGIC, 8) != 0 ||
        sn_load32(b + len - 4) != (uint32_t)crc32(0, b, (uInt)(len - 4)))
        return false;
    fields(&(cursor){b + 8, false}, p, done, pages);
    return *done <= len / 8 && *pages <= len && FIXED + *done * 8 + *pages + 4 == len;
}

/* ---- Progress ---- */

#define PROGRESS_HEAD 28 /* length, id of the checkpoint, check of the head, boot */
#define PROGRESS_MAX ((size_t)1 << 28)

/* The boot ID of the system; false: unknown. */
static bool get_boot(uint8_t boot[16])
{
    char text[64];
    seen_hasher plain = {.kind = SEEN_XXH3};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    seen_hash hash = seen_hash_key(&plain, text, (size_t)n);
    sn_store64(boot, hash.lo);
    sn_store64(boot + 8, hash.hi);
    return true;
}

void sn_done_journal_begin(sn_done_journal *progress, int folder, uint32_t id)
{
    if (progress->fd < 0)
        progress->fd = openat(folder, "progress", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    progress->len = 0;
    progress->id = id;
    /* Records that cannot be truncated have another id and are ignored. */
    if (progress->fd >= 0 && ftruncate(progress->fd, 0) != 0)
        sn_done_journal_close(progress);
}

void sn_done_journal_append(sn_done_journal *progress, const sn_checkpoint *changes)
{
    uint8_t head[PROGRESS_HEAD];
    size_t len, pages = changes->more_count * 8;
    if (progress->fd < 0 || progress->len > PROGRESS_MAX || !get_boot(head + 12))
        return;
    uint8_t *hosts = malloc(pages + 1);
    for (size_t i = 0; hosts && i < changes->more_count; i++)
        sn_store64(hosts + i * 8, changes->more_pages[i]);
    uint8_t *bytes = hosts ? encode(changes, hosts, pages, &len) : NULL;
    free(hosts);
    if (!bytes)
        return;
    sn_store32(head, (uint32_t)len);
    sn_store32(head + 4, progress->id);
    sn_store32(head + 8, ~(uint32_t)len);
    if (sn_io_write(progress->fd, bytes, len, progress->len + PROGRESS_HEAD) &&
        sn_io_write(progress->fd, head, PROGRESS_HEAD, progress->len))
        progress->len += PROGRESS_HEAD + len;
    free(bytes);
}

void sn_done_journal_close(sn_done_journal *progress)
{
    if (progress->fd >= 0)
        close(progress->fd);
    progress->fd = -1;
}

typedef struct list {
    uint64_t *items;
    size_t count, room;
} list;

static bool append(list *l, const uint8_t *from, size_t count)
{
    if (l->count + count > l->room) {
        uint64_t *more = sn_memory_grow(l->items, &l->room, l->count + count, sizeof *more);
        if (!more)
            return false;
        l->items = more;
    }
    for (size_t i = 0; i < count; i++)
        l->items[l->count++] = sn_load64(from + i * 8);
    return true;
}

static bool join(list *l, const list *other)
{
    if (l->count + other->count > l->room || !l->items) {
        size_t need = l->count + other->count + 1;
        uint64_t *more = sn_memory_grow(l->items, &l->room, need, sizeof *more);
        if (!more)
            return false;
        l->items = more;
    }
    for (size_t i = 0; i < other->count; i++)
        l->items[l->count++] = other->items[i];
    return true;
}

/* Reads one record; returns its length, or 0 if it is not valid. */
static size_t read_record(uint8_t *b, size_t len, const uint8_t boot[16], sn_checkpoint *p,
                          list *done, list *hosts, bool *memory)
{
    uint64_t done_count, pages;
    uint32_t n = len < PROGRESS_HEAD ? 0 : sn_load32(b);
    if (n == 0 || n > len - PROGRESS_HEAD || sn_load32(b + 8) != ~n || sn_load32(b + 4) != p->id ||
        memcmp(b + 12, boot, 16) != 0)
        return 0;
    sn_checkpoint changes = *p;
    b += PROGRESS_HEAD;
    if (!decode(b, n, &changes, &done_count, &pages))
        return 0;
    *memory = append(done, b + FIXED, (size_t)done_count) &&
              append(hosts, b + FIXED + done_count * 8, (size_t)(pages / 8));
    *p = changes;
    p->progressed = true;
    return PROGRESS_HEAD + n;
}

/* Applies the progress records to a checkpoint. False: out of memory. */
static bool read_progress(int folder, sn_checkpoint *p, list *done, list *hosts)
{
    void *bytes;
    size_t len, at = 0;
    uint8_t boot[16];
    bool memory = true;
    if (!get_boot(boot) ||
        sn_folder_read_file(folder, "progress", 2 * PROGRESS_MAX, &bytes, &len, NULL) != SEEN_OK)
        return true;
    for (size_t n = 1; n > 0 && memory; at += n)
        n = read_record((uint8_t *)bytes + at, len - at, boot, p, done, hosts, &memory);
    free(bytes);
    return memory;
}

/* ---- The checkpoint ---- */

static seen_status bad_checkpoint(int folder, const uint8_t *b, size_t len, seen_error *error)
{
    bool foreign = len >= 8 && memcmp(b, MAGIC, 7) == 0 && b[7] != MAGIC[7];
    char path[SN_ERROR_FOLDER];
    return sn_error_set(error, SEEN_ERR_FORMAT,
                        foreign ? "the crawl in %s is of another version of seen: resume it with "
                                  "that version, or start a new crawl in another folder"
                                : "the checkpoint in %s is damaged: restore the folder from a "
                                  "copy, or start a new crawl in another folder",
                        sn_error_folder(folder, path));
}

seen_status sn_checkpoint_read(int folder, sn_checkpoint *p, seen_error *error)
{
    void *bytes;
    size_t len;
    list done = {0}, hosts = {0};
    uint64_t done_count = 0, pages = 0;
    *p = (sn_checkpoint){0};
    seen_status status =
        sn_folder_read_file(folder, "checkpoint", CHECKPOINT_MAX, &bytes, &len, error);
    if (status != SEEN_OK)
        return status;
    uint8_t *b = bytes;
    if (!decode(b, len, p, &done_count, &pages)) {
        status = bad_checkpoint(folder, b, len, error);
        free(bytes);
        *p = (sn_checkpoint){0};
        return status;
    }
    p->id = sn_load32(b + len - 4);
    bool ok =
        append(&done, b + FIXED, (size_t)done_count) && read_progress(folder, p, &done, &hosts);
    size_t ordinals = done.count;
    ok = ok && join(&done, &hosts);
    free(hosts.items);
    if (!ok) {
        free(done.items);
        free(bytes);
        return sn_error_memory(error);
    }
    p->numbers = done.items;
    p->mark.done = done.items;
    p->mark.done_count = ordinals;
    p->more_pages = hosts.count == 0 ? NULL : done.items + ordinals;
    p->more_count = hosts.count;
    p->host_pages = b + FIXED + done_count * 8;
    p->host_pages_len = (size_t)pages;
    p->bytes = bytes;
    return SEEN_OK;
}

void sn_checkpoint_free(sn_checkpoint *p)
{
    free(p->bytes);
    free(p->numbers);
    p->bytes = NULL;
    p->numbers = NULL;
}

seen_status sn_checkpoint_write(int folder, sn_checkpoint *checkpoint, seen_error *error)
{
    size_t len;
    uint8_t *bytes = encode(checkpoint, checkpoint->host_pages, checkpoint->host_pages_len, &len);
    if (!bytes)
        return sn_error_memory(error);
    checkpoint->id = sn_load32(bytes + len - 4);
    seen_status status = sn_folder_replace(folder, "checkpoint", bytes, len, error);
    free(bytes);
    return status;
}
