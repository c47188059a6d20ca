/* The journal of a dead session: its links are added to the seen-set, and pushed under the numbers
 * that the session gave them.
 *
 * Nothing tells whether it died before it added a link or after. A link that is in the seen-set may
 * be in no list, and has to be pushed, unless the record of a session has it: that one has pushed
 * it. Records are not complete: a link that is missing there is pushed twice, but not lost. Neither
 * is a failed page that was to be returned (retry.c): it is still in the list of failures. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/hashset.h"
#include "crawl/fleet/internal.h"

#include <stdlib.h>
#include <string.h>

/* One element of a batch. */
typedef struct part {
    sn_packer_urls *urls;
    char queue[SN_QUEUE];
} part;

typedef struct batch {
    sn_fleet *f;
    part part[SN_JOURNAL_LINKS];
    sn_journal_item item[SN_JOURNAL_LINKS];
    seen_hash hash[2 * SN_JOURNAL_LINKS]; /* of all URLs, then of sitemaps as pages */
    seen_answer answer[2 * SN_JOURNAL_LINKS];
    size_t count, urls;
    sn_hashset doubtful; /* low halves of what is in the seen-set, perhaps in no list */
    sn_hashset stored;   /* those of them that a record has */
    sn_buffer text;
    char hashes[8 * SN_JOURNAL_LINKS]; /* of those that have to be pushed */
    size_t rest;
} batch;

static seen_status no_memory(sn_fleet *f)
{
    return sn_error_set(f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
}

/* Skipping damaged data would lose URLs. */
static seen_status damaged(sn_fleet *f)
{
    return sn_error_set(f->clerk_error, SEEN_ERR_FORMAT, "%s: a journal is damaged",
                        sn_client_address(f->conn.client)->shown);
}

/* ---- unpack ---- */

static bool unpack_part(batch *b, const char *at, size_t len)
{
    size_t name = len > 0 ? (uint8_t)at[0] : 0;
    if (name + 2 >= len || name < 16 || name >= SN_QUEUE || b->count == SN_JOURNAL_LINKS)
        return false;
    part *p = &b->part[b->count];
    memcpy(p->queue, at + 1, name);
    p->urls = sn_packer_unpack(b->f->packer, at + name + 2, len - name - 2);
    if (!p->urls)
        return false;
    b->count++;
    b->urls += p->urls->count;
    return b->urls <= SN_JOURNAL_LINKS;
}

static seen_status unpack(batch *b, const char *text, size_t len)
{
    for (size_t at = 0, size; at < len; at += size + 4) {
        size = len - at > 4 ? sn_load32(text + at) : 0;
        if (size == 0 || size > len - at - 4 || !unpack_part(b, text + at + 4, size))
            return damaged(b->f);
    }
    return SEEN_OK;
}

/* ---- add ---- */

static seen_hash hash_of(const batch *b, const sn_packer_url *url, uint8_t kind)
{
    return sn_frontier_hash(&b->f->base, url->url, url->len, kind);
}

static seen_hash low_half(uint64_t lo)
{
    return (seen_hash){.lo = lo};
}

static seen_status add(batch *b)
{
    size_t n = 0, more = b->urls;
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = 0; k < b->part[i].urls->count; k++) {
            const sn_packer_url *url = &b->part[i].urls->url[k];
            b->hash[n++] = hash_of(b, url, url->kind);
            if (url->kind == SN_KIND_SITEMAP)
                b->hash[more++] = hash_of(b, url, SN_KIND_PAGE);
        }
    seen_status status = sn_journal_add(b->f, b->hash, more, b->answer);
    if (status == SEEN_OK && !sn_hashset_reserve(&b->doubtful, n))
        status = no_memory(b->f);
    for (size_t i = 0; i < n && status == SEEN_OK; i++)
        if (b->answer[i] != SEEN_NEW)
            sn_hashset_add(&b->doubtful, low_half(b->hash[i].lo));
    return status;
}

/* ---- records ---- */

static bool take_record(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    batch *b = context;
    (void)tag, (void)again;
    if (r->items != 1 || sn_reply_is_error(r))
        return false;
    size_t len = sn_fleet_reply_nil(r, 0) ? 0 : r->item[0].len;
    for (size_t at = 0; at + 8 <= len; at += 8) {
        seen_hash hash = low_half(sn_load64(sn_reply_text(r, 0) + at));
        if (sn_hashset_has(&b->doubtful, hash))
            sn_hashset_add(&b->stored, hash);
    }
    return true;
}

static void put_record(const sn_fleet *f, const char *session)
{
    sn_command_begin(f->conn.ch, 0, sn_fleet_slot_session(&f->conn, session), 2);
    sn_command_text(f->conn.ch, "GET");
    sn_fleet_key_session(&f->conn, session, ":p");
}

static seen_status read_records(batch *b)
{
    sn_fleet *f = b->f;
    if (b->doubtful.count == 0 || sn_fleet_without(SN_WITHOUT_RECORD))
        return SEEN_OK;
    if (!sn_hashset_reserve(&b->stored, b->doubtful.count))
        return no_memory(f);
    put_record(f, f->session);
    for (size_t i = 0; i < f->observed_count; i++)
        put_record(f, f->observed[i].session);
    return sn_fleet_run(&f->conn, take_record, b, f->clerk_error);
}

/* ---- push ---- */

/* An element with the URLs of another that have to be pushed. Without any, the number still has to
 * be applied to the bucket: another worker, with older records, could push after the end. */
static bool pack_rest(batch *b, const part *p, sn_journal_item *item)
{
    sn_packer_url urls[SN_PACKER_URLS];
    unsigned n = 0;
    size_t first = b->rest;
    for (size_t i = 0; i < p->urls->count; i++) {
        const sn_packer_url *url = &p->urls->url[i];
        uint64_t lo = hash_of(b, url, url->kind).lo;
        if (sn_hashset_has(&b->stored, low_half(lo)))
            continue;
        urls[n++] = *url;
        sn_store64(b->hashes + 8 * b->rest++, lo);
    }
    *item = (sn_journal_item){.queue = p->queue,
                              .bucket = sn_fleet_bucket(&b->f->conn, p->queue),
                              .urls = n,
                              .at = b->text.len,
                              .first = first};
    bool ok = n == 0 || sn_packer_pack(b->f->packer, urls, n, p->urls->origin_len, &b->text);
    item->len = b->text.len - item->at;
    return ok;
}

/* Another journal may have the same links. Not for a session that leaves: its own is over. */
static seen_status record(const batch *b, const char *session)
{
    char hashes[sizeof b->hashes];
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++) {
        const sn_journal_item *item = &b->item[i];
        if (item->pushed)
            memcpy(hashes + 8 * n, b->hashes + 8 * item->first, 8 * (size_t)item->urls);
        n += item->pushed ? item->urls : 0;
    }
    bool own = strcmp(session, b->f->session) == 0;
    return n == 0 || own ? SEEN_OK : sn_journal_settle(b->f, 0, hashes, n);
}

static seen_status push(batch *b, const char *session, uint64_t number)
{
    for (size_t i = 0; i < b->count; i++)
        if (!pack_rest(b, &b->part[i], &b->item[i]))
            return no_memory(b->f);
    for (size_t i = 0; i < b->count && b->text.len > 0; i++)
        b->item[i].element = b->text.data + b->item[i].at;
    seen_status status = sn_journal_push(b->f, session, number, true, b->item, b->count);
    return status == SEEN_OK ? record(b, session) : status;
}

/* ---- scope ---- */

static seen_status replay_batch(sn_fleet *f, const char *session, uint64_t number, const char *text,
                                size_t len)
{
    batch *b = calloc(1, sizeof *b);
    if (!b)
        return no_memory(f);
    b->f = f;
    seen_status status = unpack(b, text, len);
    if (status == SEEN_OK)
        status = add(b);
    if (status == SEEN_OK)
        status = read_records(b);
    if (status == SEEN_OK)
        status = push(b, session, number);
    for (size_t i = 0; i < b->count; i++)
        free(b->part[i].urls);
    sn_hashset_free(&b->doubtful);
    sn_hashset_free(&b->stored);
    sn_buffer_free(&b->text);
    free(b);
    return status;
}

/* A batch in the journal. */
typedef struct entry {
    uint64_t number;
    size_t at, len;
} entry;

typedef struct journal {
    entry *entry;
    size_t count;
    sn_buffer text;
    bool failed;
} journal;

static bool take_journal(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    journal *j = context;
    (void)tag, (void)again;
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY || r->items % 2 != 1)
        return false;
    j->entry = calloc(r->items, sizeof *j->entry);
    j->failed = !j->entry;
    for (size_t i = 1; i + 1 < r->items && !j->failed; i += 2) {
        j->entry[j->count++] =
            (entry){(uint64_t)sn_fleet_reply_number(r, i), j->text.len, r->item[i + 1].len};
        sn_buffer_put(&j->text, sn_reply_text(r, i + 1), r->item[i + 1].len);
        j->failed = j->text.failed;
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

seen_status sn_journal_replay(sn_fleet *f, const char *session)
{
    journal j = {0};
    sn_command_begin(f->conn.ch, 0, sn_fleet_slot_session(&f->conn, session), 2);
    sn_command_text(f->conn.ch, "HGETALL");
    sn_fleet_key_session(&f->conn, session, ":j");
    seen_status status = sn_fleet_run(&f->conn, take_journal, &j, f->clerk_error);
    if (status == SEEN_OK && j.failed)
        status = no_memory(f);
    if (status == SEEN_OK && j.count > 1)
        qsort(j.entry, j.count, sizeof *j.entry, by_number);
    for (size_t i = 0; i < j.count && status == SEEN_OK; i++)
        status = replay_batch(f, session, j.entry[i].number, j.text.data + j.entry[i].at,
                              j.entry[i].len);
    free(j.entry);
    sn_buffer_free(&j.text);
    return status;
}
