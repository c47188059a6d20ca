/* Links on their way to the lists of their hosts.
 *
 *     check    which of them are not in the seen-set?
 *     intent   those go to the journal of this session, and to its replica
 *     add      to the seen-set; URLs that another worker added in between are that worker's
 *     push     the new ones to the lists, once per batch number and bucket
 *     settle   the batch is removed from the journal; the record gets the hashes of what was pushed
 *
 * After a crash at any point the worker that recovers the session adds and pushes the batch under
 * the same number (replay.c). A batch in the journal is a sequence of
 *
 *     length (4 bytes), queue (1 byte length, bytes), URLs (1 byte), element
 *
 * The record is a ring of the low halves of hashes. */
#include "base/bytes.h"
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_LINKS = SN_JOURNAL_LINKS, RECORD_HASHES = 4 * BATCH_LINKS };

/* One element of a batch. */
typedef struct group {
    char queue[SN_QUEUE];
    unsigned bucket;
    uint32_t first, count; /* of the batch's links */
    size_t at, len;        /* of the element in the text */
} group;

typedef struct batch {
    sn_fleet *f;
    const sn_offers *offers;
    uint32_t chosen[BATCH_LINKS]; /* links, in the order of their queues */
    char (*queue)[SN_QUEUE];      /* of each link of the offers' range */
    size_t from, count;
    seen_hash hash[2 * BATCH_LINKS];
    seen_answer answer[2 * BATCH_LINKS];
    bool fresh[BATCH_LINKS]; /* by position in chosen: reported as new */
    group *groups;
    size_t group_count;
    sn_buffer text;
    uint64_t given, given_chosen; /* start URLs, in all batches */
} batch;

static seen_status no_memory(sn_fleet *f)
{
    return sn_error_set(f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
}

static const char *url_of(const batch *b, const sn_offer *link)
{
    return b->offers->text.data + link->at;
}

/* ---- check ---- */

/* Sitemaps that may be pages: the second half of the hashes. */
static size_t page_hashes(batch *b, size_t from, size_t n)
{
    size_t more = 0;
    for (size_t i = 0; i < n; i++) {
        const sn_offer *link = &b->offers->link[from + i];
        if (link->flags & SN_OFFER_UNLESS_PAGE)
            b->hash[n + more++] =
                sn_frontier_hash(&b->f->base, url_of(b, link), link->len, SN_KIND_PAGE);
    }
    return more;
}

static seen_status check(batch *b, size_t from, size_t n)
{
    sn_fleet *f = b->f;
    for (size_t i = 0; i < n; i++)
        b->hash[i] = b->offers->link[from + i].hash;
    size_t more = page_hashes(b, from, n), page = n;
    sn_fleet_busy(&f->conn, true);
    seen_status status = sn_seenset_check(f->set, b->hash, n + more, b->answer, f->clerk_error);
    sn_fleet_busy(&f->conn, false);
    b->count = 0;
    for (size_t i = 0; i < n && status == SEEN_OK; i++) {
        const sn_offer *link = &b->offers->link[from + i];
        bool wanted = b->answer[i] == SEEN_NEW || link->flags & SN_OFFER_AGAIN;
        if (link->flags & SN_OFFER_UNLESS_PAGE)
            wanted = b->answer[page++] == SEEN_NEW && wanted;
        if (wanted)
            b->chosen[b->count++] = (uint32_t)(from + i);
    }
    return status;
}

/* ---- elements ---- */

static void name_queues(batch *b, size_t from)
{
    for (size_t i = 0; i < b->count; i++) {
        const sn_offer *link = &b->offers->link[b->chosen[i]];
        char host[17];
        uint64_t hash;
        sn_fleet_host(b->f, url_of(b, link), sn_frontier_origin(url_of(b, link), link->len), host,
                      &hash);
        char *queue = b->queue[b->chosen[i] - from];
        if (b->f->options.levels)
            snprintf(queue, SN_QUEUE, "%s:%u", host, link->depth);
        else
            snprintf(queue, SN_QUEUE, "%s", host);
    }
}

static const batch *sorted; /* qsort has no context; the clerk is the only thread that sorts */

static int by_queue(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = strcmp(sorted->queue[x - sorted->from], sorted->queue[y - sorted->from]);
    return order ? order : x < y ? -1 : x > y;
}

/* A page that links twice to a URL offers it twice: the journal must not. */
static void drop_repeats(batch *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++) {
        const sn_offer *link = &b->offers->link[b->chosen[i]];
        bool repeated = false;
        for (size_t k = n; k-- > 0 && !repeated;) {
            const sn_offer *other = &b->offers->link[b->chosen[k]];
            if (strcmp(b->queue[b->chosen[k] - b->from], b->queue[b->chosen[i] - b->from]) != 0)
                break;
            repeated = other->hash.lo == link->hash.lo && other->hash.hi == link->hash.hi;
        }
        if (!repeated)
            b->chosen[n++] = b->chosen[i];
    }
    b->count = n;
}

/* Packs links of one queue; only_fresh: those reported as new. */
static bool pack_group(batch *b, group *g, bool only_fresh, uint32_t *packed)
{
    sn_packer_url urls[SN_PACKER_URLS];
    uint32_t n = 0;
    for (uint32_t i = g->first; i < g->first + g->count; i++) {
        const sn_offer *link = &b->offers->link[b->chosen[i]];
        if (only_fresh && !b->fresh[i])
            continue;
        urls[n++] = (sn_packer_url){.url = url_of(b, link),
                                    .len = link->len,
                                    .parent = b->offers->text.data + link->parent_at,
                                    .parent_len = link->parent_len,
                                    .depth = link->depth,
                                    .hops = link->hops,
                                    .kind = link->kind};
    }
    *packed = n;
    g->at = b->text.len;
    bool ok = n == 0 || sn_packer_pack(b->f->packer, urls, n,
                                       sn_frontier_origin(urls[0].url, urls[0].len), &b->text);
    g->len = b->text.len - g->at;
    return ok;
}

static void make_groups(batch *b, size_t from)
{
    b->from = from;
    name_queues(b, from);
    sorted = b;
    qsort(b->chosen, b->count, sizeof b->chosen[0], by_queue);
    drop_repeats(b);
    b->group_count = 0;
    for (size_t i = 0; i < b->count; i++) {
        const char *queue = b->queue[b->chosen[i] - from];
        group *last = &b->groups[b->group_count > 0 ? b->group_count - 1 : 0];
        if (b->group_count == 0 || last->count == SN_PACKER_URLS ||
            strcmp(last->queue, queue) != 0) {
            last = &b->groups[b->group_count++];
            *last = (group){.first = (uint32_t)i, .bucket = sn_fleet_bucket(&b->f->conn, queue)};
            memcpy(last->queue, queue, SN_QUEUE);
        }
        last->count++;
    }
}

/* ---- intent ---- */

static seen_status send_intent(sn_fleet *f, const sn_buffer *all, long long *live)
{
    seen_status status;
    do {
        sn_fleet_call(&f->conn, 0, sn_fleet_slot_session(&f->conn, f->session), SN_LUA_INTENT, 2,
                      2);
        sn_fleet_key_session(&f->conn, f->session, "");
        sn_fleet_key_session(&f->conn, f->session, ":j");
        sn_command_number(f->conn.ch, f->number);
        sn_command_arg(f->conn.ch, all->data, all->len);
        status = sn_fleet_run_number(&f->conn, live, f->clerk_error);
    } while (sn_room_refused(f, &status));
    return status;
}

static seen_status write_intent(batch *b)
{
    sn_fleet *f = b->f;
    sn_buffer all = {0};
    long long live = 1;
    b->text.len = 0;
    for (size_t i = 0; i < b->group_count; i++) {
        group *g = &b->groups[i];
        uint32_t n;
        char length[4];
        if (!pack_group(b, g, false, &n)) {
            all.failed = true;
            break;
        }
        size_t name = strlen(g->queue);
        sn_store32(length, (uint32_t)(g->len + name + 2));
        sn_buffer_put(&all, length, 4);
        sn_buffer_byte(&all, (uint8_t)name);
        sn_buffer_put(&all, g->queue, name);
        sn_buffer_byte(&all, (uint8_t)n);
        sn_buffer_put(&all, b->text.data + g->at, g->len);
    }
    seen_status status = all.failed ? no_memory(f) : SEEN_OK;
    f->number++;
    if (status == SEEN_OK && !sn_fleet_without(SN_WITHOUT_JOURNAL)) {
        status = send_intent(f, &all, &live);
        f->intent = status == SEEN_OK ? f->number : f->intent;
    }
    sn_buffer_free(&all);
    if (status == SEEN_OK && live < 0)
        return sn_fleet_set_lost(f, "another worker declared this one dead");
    return status == SEEN_OK ? sn_fleet_confirm(f) : status;
}

/* ---- add ---- */

/* Adds; after a refusal a part may have been added without an answer: all count as new then, as in
 * a replay. */
seen_status sn_journal_add(sn_fleet *f, const seen_hash *hash, size_t count, seen_answer *answer)
{
    bool refused = false;
    seen_status status;
    for (;; refused = true) {
        sn_fleet_busy(&f->conn, true);
        status = sn_seenset_add(f->set, hash, count, answer, f->clerk_error);
        sn_fleet_busy(&f->conn, false);
        if (!sn_room_refused(f, &status))
            break;
    }
    for (size_t i = 0; i < count && refused; i++)
        answer[i] = SEEN_NEW;
    return status;
}

static seen_status add(batch *b)
{
    sn_fleet *f = b->f;
    size_t pages = 0;
    seen_answer ignored[BATCH_LINKS];
    sn_fleet_point("add");
    for (size_t i = 0; i < b->count; i++)
        b->hash[i] = b->offers->link[b->chosen[i]].hash;
    seen_status status = sn_journal_add(f, b->hash, b->count, b->answer);
    uint64_t found = 0;
    for (size_t i = 0; i < b->count; i++) {
        const sn_offer *link = &b->offers->link[b->chosen[i]];
        found += b->answer[i] == SEEN_NEW;
        b->fresh[i] = b->answer[i] == SEEN_NEW || link->flags & SN_OFFER_AGAIN;
        /* A URL read as a sitemap is not fetched again as a page because of a link to it. */
        if (link->kind == SN_KIND_SITEMAP)
            b->hash[b->count + pages++] =
                sn_frontier_hash(&f->base, url_of(b, link), link->len, SN_KIND_PAGE);
    }
    if (status == SEEN_OK && pages > 0)
        status = sn_journal_add(f, b->hash + b->count, pages, ignored);
    pthread_mutex_lock(&f->lock);
    f->found += found;
    pthread_mutex_unlock(&f->lock);
    return status;
}

/* ---- push ---- */

typedef struct pushing {
    sn_journal_item *item;
    size_t count;
    bool refused;
} pushing;

static bool take_pushed(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    pushing *p = context;
    (void)again;
    if (r->items != 1 || r->item[0].type != REDIS_REPLY_INTEGER)
        return false;
    p->refused |= r->item[0].number < 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->item[i].bucket == tag)
            p->item[i].pushed = r->item[0].number > 0;
    return true;
}

static int by_bucket(const void *a, const void *b)
{
    const sn_journal_item *x = a, *y = b;
    return x->bucket != y->bucket ? (x->bucket < y->bucket ? -1 : 1)
                                  : (x->element < y->element ? -1 : x->element > y->element);
}

static void put_push(const sn_fleet *f, const char *session, uint64_t number, bool replay,
                     const sn_journal_item *item, size_t count)
{
    static const char *const keys[] = {"ready", "owner", "meta", "applied"};
    const sn_fleet_connection *l = &f->conn;
    unsigned b = item->bucket, lists = 0;
    for (size_t i = 0; i < count; i++)
        lists += item[i].urls > 0;
    sn_fleet_call(l, b, l->slot[b], SN_LUA_PUSH, 4 + lists, 4 + 3 * lists);
    for (int k = 0; k < 4; k++)
        sn_fleet_key_bucket(l, b, keys[k]);
    for (size_t i = 0; i < count; i++)
        if (item[i].urls > 0)
            sn_fleet_key_queue(l, b, "q", item[i].queue);
    sn_command_text(l->ch, session);
    sn_command_number(l->ch, number);
    sn_command_text(l->ch, replay ? "1" : "0");
    sn_command_text(l->ch, "0");
    for (size_t i = 0; i < count; i++) {
        if (item[i].urls == 0)
            continue;
        sn_command_text(l->ch, item[i].queue);
        sn_command_number(l->ch, item[i].urls);
        sn_command_arg(l->ch, item[i].element, item[i].len);
    }
}

/* One call per bucket: a number stands for all elements of the batch in that bucket. */
seen_status sn_journal_push(sn_fleet *f, const char *session, uint64_t number, bool replay,
                            sn_journal_item *item, size_t count)
{
    if (replay && sn_fleet_without(SN_WITHOUT_NUMBERS))
        number += (uint64_t)sn_fleet_now();
    if (!replay)
        sn_fleet_point("push");
    qsort(item, count, sizeof *item, by_bucket);
    for (size_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && item[i + n].bucket == item[i].bucket;)
            n++;
        put_push(f, session, number, replay, &item[i], n);
        if (!replay)
            f->numbers[item[i].bucket] = number;
    }
    pushing p = {.item = item, .count = count};
    seen_status status = sn_fleet_run(&f->conn, take_pushed, &p, f->clerk_error);
    if (status == SEEN_OK && p.refused)
        return sn_fleet_set_lost(f, "another worker declared this one dead");
    return status == SEEN_OK ? sn_fleet_confirm(f) : status;
}

/* Lists of our own hosts have grown. */
static void wake_lanes(const batch *b)
{
    pthread_mutex_lock(&b->f->lock);
    for (size_t i = 0; i < b->group_count; i++) {
        char host[17] = {0};
        memcpy(host, b->groups[i].queue, 16);
        uint64_t hash = strtoull(host, NULL, 16);
        for (sn_lane *lane = b->f->table[hash % SN_FLEET_TABLE]; lane; lane = lane->chain)
            if (strcmp(lane->queue, b->groups[i].queue) == 0)
                lane->more = true;
    }
    pthread_mutex_unlock(&b->f->lock);
}

static seen_status push_batch(batch *b)
{
    sn_fleet *f = b->f;
    sn_journal_item *item = malloc(BATCH_LINKS * sizeof *item);
    size_t count = 0;
    seen_status status = SEEN_OK;
    if (!item)
        return no_memory(f);
    b->text.len = 0;
    for (size_t i = 0; i < b->group_count && status == SEEN_OK; i++) {
        uint32_t n;
        if (!pack_group(b, &b->groups[i], true, &n))
            status = no_memory(f);
        else if (n > 0)
            item[count++] = (sn_journal_item){.queue = b->groups[i].queue,
                                              .bucket = b->groups[i].bucket,
                                              .urls = n,
                                              .at = b->groups[i].at,
                                              .len = b->groups[i].len};
    }
    for (size_t i = 0; i < count; i++)
        item[i].element = b->text.data + item[i].at;
    if (status == SEEN_OK && count > 0)
        status = sn_journal_push(f, f->session, f->number, false, item, count);
    free(item);
    wake_lanes(b);
    return status;
}

seen_status sn_journal_settle(sn_fleet *f, uint64_t number, const char *hashes, size_t count)
{
    long long live;
    if (f->recorded + count > RECORD_HASHES)
        f->recorded = 0;
    sn_fleet_call(&f->conn, 0, sn_fleet_slot_session(&f->conn, f->session), SN_LUA_SETTLE, 3, 3);
    sn_fleet_key_session(&f->conn, f->session, "");
    sn_fleet_key_session(&f->conn, f->session, ":j");
    sn_fleet_key_session(&f->conn, f->session, ":p");
    sn_command_number(f->conn.ch, number);
    sn_command_number(f->conn.ch, 8 * f->recorded);
    sn_command_arg(f->conn.ch, hashes, 8 * count);
    f->recorded += count;
    seen_status status = sn_fleet_run_number(&f->conn, &live, f->clerk_error);
    if (status == SEEN_OK && live < 0)
        return sn_fleet_set_lost(f, "another worker declared this one dead");
    return status;
}

static seen_status settle(const batch *b)
{
    char hashes[8 * BATCH_LINKS];
    size_t n = 0;
    sn_fleet_point("settle");
    if (sn_fleet_without(SN_WITHOUT_JOURNAL))
        return SEEN_OK;
    for (size_t i = 0; i < b->count; i++)
        if (b->fresh[i])
            sn_store64(hashes + 8 * n++, b->offers->link[b->chosen[i]].hash.lo);
    return sn_journal_settle(b->f, b->f->number, hashes, n);
}

/* ---- URLs that no page leads to ---- */

/* A start URL, or a page that is put back: nothing that is not done leads to it. */
static bool is_given(const sn_offer *link)
{
    return link->parent_len == 0 || link->flags & SN_OFFER_AGAIN;
}

static void count_given(batch *b, size_t from, size_t n)
{
    uint64_t chosen = b->given_chosen, given = b->given;
    for (size_t i = from; i < from + n; i++)
        b->given += is_given(&b->offers->link[i]);
    for (size_t i = 0; i < b->count; i++)
        b->given_chosen += is_given(&b->offers->link[b->chosen[i]]);
    pthread_mutex_lock(&b->f->lock);
    b->f->start_seen += (b->given - given) - (b->given_chosen - chosen);
    pthread_mutex_unlock(&b->f->lock);
}

/* ---- scope ---- */

/* The links that were chosen. */
static seen_status store(batch *b)
{
    sn_fleet *f = b->f;
    seen_status status = sn_room_wait(f);
    if (status == SEEN_OK && b->given_chosen > 0)
        status = sn_session_give(f, f->session, "begin");
    if (status == SEEN_OK)
        status = write_intent(b);
    if (status == SEEN_OK)
        status = add(b);
    if (status == SEEN_OK)
        status = push_batch(b);
    if (status == SEEN_OK)
        status = settle(b);
    return status == SEEN_OK ? sn_session_beat(f) : status;
}

seen_status sn_journal_run(sn_fleet *f, const sn_offers *offers)
{
    batch *b = calloc(1, sizeof *b);
    seen_status status = SEEN_OK;
    if (!b)
        return no_memory(f);
    *b = (batch){.f = f, .offers = offers};
    b->queue = malloc(BATCH_LINKS * sizeof *b->queue);
    b->groups = malloc(BATCH_LINKS * sizeof *b->groups);
    if (!b->queue || !b->groups)
        status = no_memory(f);
    for (size_t from = 0, n; from < offers->count && status == SEEN_OK; from += n) {
        n = offers->count - from < BATCH_LINKS ? offers->count - from : BATCH_LINKS;
        status = check(b, from, n);
        if (status != SEEN_OK)
            break;
        count_given(b, from, n);
        if (b->count == 0)
            continue;
        make_groups(b, from);
        status = store(b);
    }
    if (status == SEEN_OK && b->given > 0)
        status = sn_session_give(f, f->session, "end");
    free(b->queue);
    free(b->groups);
    sn_buffer_free(&b->text);
    free(b);
    return status;
}
