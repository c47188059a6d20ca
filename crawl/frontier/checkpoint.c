/* A checkpoint as bytes: fixed fields, ordinals of what is done, pages per host, a checksum. */
#include "crawl/frontier/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "crawl/frontier/folder.h"

#define MAGIC "seenckp1"
#define COUNTS 13
#define FIXED (8 + 8 * (COUNTS + 3 + 3 + 2 * SN_OUT_COUNT + 4 + 2))
#define CHECKPOINT_MAX ((size_t)1 << 30)

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

seen_status sn_checkpoint_read(int folder, sn_checkpoint *p, seen_error *error)
{
    void *bytes;
    size_t len;
    *p = (sn_checkpoint){0};
    seen_status status = sn_folder_slurp(folder, "checkpoint", CHECKPOINT_MAX, &bytes, &len, error);
    if (status != SEEN_OK)
        return status;
    uint64_t done = 0, pages = 0;
    uint8_t *b = bytes;
    bool ok = len >= FIXED + 4 && memcmp(b, MAGIC, 8) == 0 &&
              sn_load32(b + len - 4) == (uint32_t)crc32(0, b, (uInt)(len - 4));
    if (ok) {
        fields(&(cursor){b + 8, false}, p, &done, &pages);
        ok = done <= len / 8 && pages <= len && FIXED + done * 8 + pages + 4 == len;
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
    p->host_pages = b + FIXED + done * 8;
    p->host_pages_len = (size_t)pages;
    p->bytes = bytes;
    return SEEN_OK;
}

void sn_checkpoint_free(sn_checkpoint *p)
{
    free(p->bytes);
    p->bytes = NULL;
}

/* The checkpoint as bytes that the caller frees; NULL: no memory. */
static uint8_t *encode(const sn_checkpoint *checkpoint, size_t *len)
{
    sn_checkpoint p = *checkpoint;
    uint64_t done = p.mark.done_count, pages = p.host_pages_len;
    *len = FIXED + done * 8 + pages + 4;
    uint8_t *bytes = malloc(*len);
    if (bytes == NULL)
        return NULL;
    memcpy(bytes, MAGIC, 8);
    fields(&(cursor){bytes + 8, true}, &p, &done, &pages);
    for (uint64_t i = 0; i < done; i++)
        sn_store64(bytes + FIXED + i * 8, p.mark.done[i]);
    if (pages > 0)
        memcpy(bytes + FIXED + done * 8, p.host_pages, pages);
    sn_store32(bytes + *len - 4, (uint32_t)crc32(0, bytes, (uInt)(*len - 4)));
    return bytes;
}

seen_status sn_checkpoint_write(int folder, const sn_checkpoint *checkpoint, seen_error *error)
{
    size_t len;
    uint8_t *bytes = encode(checkpoint, &len);
    if (bytes == NULL)
        return sn_error_memory(error);
    seen_status status = sn_folder_replace(folder, "checkpoint", bytes, len, error);
    free(bytes);
    return status;
}
