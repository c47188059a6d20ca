/* The frontier of one process. */
#include "crawl/frontier/local.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "crawl/frontier/folder.h"
#include "crawl/frontier/host_pages.h"
#include "crawl/frontier/seenset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTLE_MS 250 /* a killed process fetches again what was done since the last settle */
#define SEEDS_MAX ((size_t)16 << 20)
#define DELAYS_MAX ((size_t)1 << 30) /* 67 million hosts */

/* A batch to be added to the log: the selected links, with their hashes and answers. */
typedef struct batch {
    size_t count;
    uint16_t link[SN_BATCH_URLS];
    seen_hash hash[SN_BATCH_URLS];
    seen_answer answer[SN_BATCH_URLS];
    uint32_t offset[SN_BATCH_URLS]; /* in the log's batch */
} batch;

/* With levels: URLs that were stored while their own level is being returned, which are targets of
 * redirects. They are returned before the log reader reaches them, in the same order: otherwise
 * they would wait until the next level has been read. */
typedef struct early {
    sn_frontier_place *place;
    size_t count, room;
    size_t given;  /* number already returned */
    size_t passed; /* number the reader has passed */
} early;

#define EARLY_MAX (1u << 20) /* beyond that they are returned when the reader reaches them */

typedef struct local {
    sn_frontier base;
    sn_frontier_local_options options;
    seen_hasher crawl_hasher; /* of exact keys and of pages per host */
    sn_seenset *set;
    sn_seenset_info set_info;
    sn_log *log;
    sn_failures failures;
    sn_host_pages *host_pages;   /* NULL: not counted */
    sn_host_pages *delays;       /* Crawl-delays in milliseconds */
    int delays_fd;               /* where they are appended; -1: nowhere */
    uint64_t started, completed; /* pages, for max_pages */
    sn_done_journal progress;
    size_t progress_done; /* entries of the log's done list that are already in `progress` */
    uint64_t *new_pages;  /* hashes of hosts: one per page since the last record */
    size_t new_count, new_room;

    early early;
    bool shown_early; /* peek has returned the next of `early` */
    bool shown;       /* peek has returned a URL of the log that was not taken yet */
    sn_frontier_place shown_place;
    uint16_t shown_depth;
    uint16_t level; /* the current depth; UINT16_MAX: any */

    char *seeds; /* one per line, NUL-terminated */
    size_t seeds_len;
    bool seeds_changed;
    batch batch;
} local;

static local *local_of(sn_frontier *f)
{
    return (local *)(void *)f;
}

/* ---- Scope ---------------------------------------------------------------------------------- */

static seen_status local_add_seed(sn_frontier *f, const char *url, size_t len, seen_error *error)
{
    local *l = local_of(f);
    if (l->seeds_len + len + 2 > SEEDS_MAX)
        return SEEN_OK;
    char *more = realloc(l->seeds, l->seeds_len + len + 2);
    if (!more)
        return sn_error_memory(error);
    memcpy(more + l->seeds_len, url, len);
    more[l->seeds_len + len] = '\n';
    more[l->seeds_len + len + 1] = '\0';
    l->seeds = more;
    l->seeds_len += len + 1;
    l->seeds_changed = true;
    return SEEN_OK;
}

/* Called before links are stored that would be out of scope without these seeds. */
static seen_status save_seeds(local *l, seen_error *error)
{
    if (!l->seeds_changed || l->options.folder < 0)
        return SEEN_OK;
    seen_status status =
        sn_folder_replace(l->options.folder, "seeds", l->seeds, l->seeds_len, error);
    l->seeds_changed = status != SEEN_OK;
    return status;
}

static seen_status load_seeds(local *l, seen_error *error)
{
    void *bytes;
    size_t len;
    seen_status status =
        sn_folder_read_file(l->options.folder, "seeds", SEEDS_MAX, &bytes, &len, error);
    if (status == SEEN_ERR_NOT_FOUND)
        return SEEN_OK;
    if (status == SEEN_OK) {
        l->seeds = bytes;
        l->seeds_len = len;
    }
    return status;
}

const char *sn_frontier_local_seeds(const sn_frontier *f)
{
    return ((const local *)(const void *)f)->seeds;
}

/* ---- Input ---------------------------------------------------------------------------------- */

/* Whether this sitemap's URL was seen as a page, in the seen-set or earlier in the same batch. */
static seen_status seen_as_page(local *l, const sn_frontier_link *links, size_t at, bool *seen,
                                seen_error *error)
{
    seen_answer answer = SEEN_NEW;
    seen_hash page = sn_frontier_hash(&l->base, links[at].url, links[at].len, SN_KIND_PAGE);
    *seen = false;
    for (size_t i = 0; i < at && !*seen; i++)
        *seen = links[i].hash.lo == page.lo && links[i].hash.hi == page.hi;
    if (*seen)
        return SEEN_OK;
    seen_status status = sn_seenset_check(l->set, &page, 1, &answer, error);
    *seen = answer != SEEN_NEW;
    return status;
}

/* Step 1: filters out most URLs already seen, to keep them out of the log. */
static seen_status choose(local *l, const sn_frontier_link *links, size_t count, seen_error *error)
{
    batch *b = &l->batch;
    for (size_t i = 0; i < count; i++)
        b->hash[i] = links[i].hash;
    seen_status status = sn_seenset_check(l->set, b->hash, count, b->answer, error);
    b->count = 0;
    for (size_t i = 0; status == SEEN_OK && i < count; i++) {
        bool seen = b->answer[i] != SEEN_NEW;
        if (!seen && (links[i].flags & SN_OFFER_UNLESS_PAGE) != 0)
            status = seen_as_page(l, links, i, &seen, error);
        if (seen && (links[i].flags & SN_OFFER_AGAIN) == 0)
            continue;
        b->link[b->count] = (uint16_t)i;
        b->hash[b->count++] = links[i].hash;
    }
    return status;
}

/* Step 2: writes the chosen links to the log, durable on return. */
static seen_status store(local *l, const sn_frontier_link *links, seen_error *error)
{
    batch *b = &l->batch;
    const char *parent = NULL;
    size_t bytes;
    seen_status status = SEEN_OK;
    for (size_t i = 0; status == SEEN_OK && i < b->count; i++) {
        const sn_frontier_link *link = &links[b->link[i]];
        if (i == 0 || link->parent != parent)
            status = sn_log_put_page(l->log, link->parent, link->parent_len, error);
        parent = link->parent;
        sn_frontier_record record = {.url = link->url,
                                     .len = link->len,
                                     .depth = link->depth,
                                     .hops = link->hops,
                                     .kind = link->kind};
        sn_log_batch(l->log, &bytes);
        b->offset[i] = (uint32_t)bytes;
        if (status == SEEN_OK)
            status = sn_log_put(l->log, &record, error);
    }
    return status == SEEN_OK ? sn_log_write(l->log, error) : status;
}

/* Step 3: adds them to the seen-set. Its answer decides: another process may share the set, and the
 * one that gets SEEN_NEW fetches the page. */
static seen_status add(local *l, const sn_frontier_link *links, seen_error *error)
{
    batch *b = &l->batch;
    seen_status status = sn_seenset_add(l->set, b->hash, b->count, b->answer, error);
    for (size_t i = 0; status == SEEN_OK && i < b->count; i++) {
        l->base.found += b->answer[i] == SEEN_NEW;
        if ((links[b->link[i]].flags & SN_OFFER_AGAIN) != 0)
            b->answer[i] = SEEN_NEW;
    }
    return status;
}

/* Records URLs of the current level that were stored after deeper ones. */
static seen_status add_early(local *l, const sn_frontier_link *links, seen_error *error)
{
    const batch *b = &l->batch;
    early *q = &l->early;
    for (size_t i = 0; i < b->count && l->level != UINT16_MAX; i++) {
        if (b->answer[i] != SEEN_NEW || links[b->link[i]].depth > l->level || q->count == EARLY_MAX)
            continue;
        if (q->count == q->room) {
            sn_frontier_place *more =
                sn_memory_grow(q->place, &q->room, q->count + 1, sizeof *more);
            if (!more)
                return sn_error_memory(error);
            q->place = more;
        }
        q->place[q->count++] = sn_log_place(l->log, i, b->offset[i]);
    }
    return SEEN_OK;
}

/* Marks sitemap URLs as seen as pages, so that a link to a sitemap is not fetched as a page. */
static seen_status add_as_pages(local *l, seen_hash *hashes, size_t count, seen_error *error)
{
    return count == 0 ? SEEN_OK : sn_seenset_add(l->set, hashes, count, l->batch.answer, error);
}

static seen_status add_sitemaps_as_pages(local *l, const sn_frontier_link *links, seen_error *error)
{
    batch *b = &l->batch;
    size_t pages = 0;
    for (size_t i = 0; i < b->count; i++) {
        const sn_frontier_link *link = &links[b->link[i]];
        if (link->kind == SN_KIND_SITEMAP)
            b->hash[pages++] = sn_frontier_hash(&l->base, link->url, link->len, SN_KIND_PAGE);
    }
    return add_as_pages(l, b->hash, pages, error);
}

static seen_status local_offer(sn_frontier *f, const sn_frontier_link *links, size_t count,
                               seen_error *error)
{
    local *l = local_of(f);
    seen_status status = save_seeds(l, error);
    if (status == SEEN_OK)
        status = choose(l, links, count, error);
    if (status != SEEN_OK || l->batch.count == 0)
        return status;
    status = store(l, links, error);
    if (status == SEEN_OK)
        status = add(l, links, error);
    if (status == SEEN_OK)
        status = add_early(l, links, error);
    if (status == SEEN_OK)
        status = sn_log_answer(l->log, l->batch.answer, error);
    return status == SEEN_OK ? add_sitemaps_as_pages(l, links, error) : status;
}

/* ---- Output --------------------------------------------------------------------------------- */

/* The next URL of the log that was not returned early. */
static seen_status read_log(local *l, sn_frontier_record *record, seen_error *error)
{
    early *q = &l->early;
    for (;;) {
        seen_status status = sn_log_next(l->log, record, &l->shown, error);
        if (status != SEEN_OK || !l->shown || q->passed == q->count ||
            q->place[q->passed].ordinal != record->place.ordinal)
            return status;
        sn_log_passed(l->log, record->place);
        if (++q->passed == q->count)
            q->passed = q->given = q->count = 0;
    }
}

static seen_status local_peek(sn_frontier *f, bool idle, sn_frontier_record *record,
                              sn_frontier_next *next, seen_error *error)
{
    local *l = local_of(f);
    bool again = l->shown;
    seen_status status = SEEN_OK;
    *next = SN_NEXT_URL;
    l->shown_early = l->early.given < l->early.count;
    if (l->shown_early)
        return sn_log_load(l->log, l->early.place[l->early.given], record, error);
    *next = SN_NEXT_END;
    if (!again) {
        status = read_log(l, record, error);
        if (status != SEEN_OK || !l->shown)
            return status;
        l->shown_place = record->place;
        l->shown_depth = record->depth;
    }
    *next = SN_NEXT_WAIT;
    if (l->shown_depth > l->level && !idle)
        return SEEN_OK;
    if (l->shown_depth > l->level)
        l->level = l->shown_depth;
    *next = SN_NEXT_URL;
    return again ? sn_log_load(l->log, l->shown_place, record, error) : SEEN_OK;
}

static void local_take(sn_frontier *f)
{
    local *l = local_of(f);
    if (l->shown_early)
        sn_log_take(l->log, l->early.place[l->early.given++]);
    else
        l->shown = false;
}

static seen_status local_load(sn_frontier *f, sn_frontier_place place, sn_frontier_record *record,
                              seen_error *error)
{
    return sn_log_load(local_of(f)->log, place, record, error);
}

/* ---- Limits ---- */

static sn_frontier_permit local_permit(const sn_frontier *f)
{
    const local *l = (const local *)(const void *)f;
    return l->options.max_pages > 0 && l->started >= l->options.max_pages ? SN_PERMIT_LIMIT
                                                                          : SN_PERMIT_YES;
}

static void local_started(sn_frontier *f)
{
    local_of(f)->started++;
}

static void local_host_begin(sn_frontier *f, const char *origin, size_t len, sn_frontier_host *host)
{
    const local *l = local_of(f);
    uint64_t name = seen_hash_key(&l->crawl_hasher, origin, len).lo;
    *host = (sn_frontier_host){.delay_ms = sn_host_pages_get(l->delays, name)};
    if (l->host_pages)
        host->pages = sn_host_pages_get(l->host_pages, name);
}

/* ---- Crawl-delays ---- */

/* Stored at once, without a sync: they are for a process that takes over a moment later. Only the
 * longest of a host counts. */
static seen_status local_host_delay(sn_frontier *f, const char *origin, size_t len,
                                    uint64_t delay_ms, seen_error *error)
{
    local *l = local_of(f);
    uint8_t pair[16];
    uint64_t name = seen_hash_key(&l->crawl_hasher, origin, len).lo;
    uint64_t known = sn_host_pages_get(l->delays, name);
    if (l->delays_fd < 0 || known >= delay_ms)
        return SEEN_OK;
    if (!sn_host_pages_add(l->delays, name, delay_ms - known))
        return sn_error_memory(error);
    sn_store64(pair, name);
    sn_store64(pair + 8, delay_ms - known);
    if (write(l->delays_fd, pair, sizeof pair) != (ssize_t)sizeof pair)
        return sn_error_cannot_in(error, errno, l->options.folder, "write", "delays");
    return SEEN_OK;
}

static seen_status open_delays(local *l, seen_error *error)
{
    void *bytes = NULL;
    size_t len = 0;
    int fresh = l->options.checkpoint ? 0 : O_TRUNC;
    seen_status status = SEEN_ERR_NOT_FOUND;
    l->delays = sn_host_pages_create();
    if (!l->delays)
        return sn_error_memory(error);
    if (l->options.folder < 0)
        return SEEN_OK;
    if (!fresh)
        status = sn_folder_read_file(l->options.folder, "delays", DELAYS_MAX, &bytes, &len, error);
    bool ok = !bytes || sn_host_pages_load(l->delays, bytes, len - len % 16);
    free(bytes);
    if (status != SEEN_OK && status != SEEN_ERR_NOT_FOUND)
        return status;
    if (!ok)
        return sn_error_memory(error);
    l->delays_fd = openat(l->options.folder, "delays",
                          O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | fresh, 0600);
    /* The end of a pair that was not written whole. */
    if (l->delays_fd < 0 || (len % 16 > 0 && ftruncate(l->delays_fd, (off_t)(len - len % 16)) != 0))
        return sn_error_cannot_in(error, errno, l->options.folder, "open", "delays");
    return SEEN_OK;
}

/* ---- Done ---- */

static uint64_t host_hash(const local *l, const sn_frontier_record *record)
{
    size_t origin = sn_frontier_origin(record->url, record->len);
    return seen_hash_key(&l->crawl_hasher, record->url, origin).lo;
}

static bool count_page(local *l, const sn_frontier_record *record)
{
    uint64_t host = host_hash(l, record);
    if (l->new_count == l->new_room) {
        uint64_t *more = sn_memory_grow(l->new_pages, &l->new_room, l->new_count + 1, sizeof *more);
        if (!more)
            return false;
        l->new_pages = more;
    }
    l->new_pages[l->new_count++] = host;
    return sn_host_pages_add(l->host_pages, host, 1);
}

static seen_status local_done(sn_frontier *f, const sn_frontier_done *done, seen_error *error)
{
    local *l = local_of(f);
    seen_status status = SEEN_OK;
    if (done->outcome == SN_OUTCOME_FAILED)
        status = sn_failures_add(&l->failures, done, error);
    l->completed += done->counts;
    if (status == SEEN_OK && done->counts && l->host_pages && !count_page(l, done->record))
        status = sn_error_memory(error);
    return status == SEEN_OK ? sn_log_done(l->log, done->record->place.ordinal, error) : status;
}

static sn_checkpoint describe(const local *l, const sn_frontier_progress *progress)
{
    sn_checkpoint p = {.counts = *progress->counts,
                       .hasher = l->crawl_hasher,
                       .completed = l->completed,
                       .waiting = sn_log_waiting(l->log),
                       .failed_len = l->failures.len,
                       .mark = sn_log_get_mark(l->log)};
    memcpy(p.out_length, progress->out_length, sizeof p.out_length);
    memcpy(p.out_path, progress->out_path, sizeof p.out_path);
    return p;
}

static seen_status write_checkpoint(local *l, const sn_frontier_progress *progress,
                                    seen_error *error)
{
    size_t pages = l->host_pages ? sn_host_pages_size(l->host_pages) : 0;
    uint8_t *bytes = malloc(pages + 1);
    if (!bytes)
        return sn_error_memory(error);
    if (pages > 0)
        sn_host_pages_store(l->host_pages, bytes);
    sn_checkpoint p = describe(l, progress);
    p.host_pages = bytes;
    p.host_pages_len = pages;
    seen_status status = sn_checkpoint_write(l->options.folder, &p, error);
    free(bytes);
    if (status == SEEN_OK)
        sn_done_journal_begin(&l->progress, l->options.folder, p.id);
    l->progress_done = l->new_count = 0;
    return status;
}

/* The outputs are written but not synced: sufficient if the process is killed. */
static void write_progress(local *l, const sn_frontier_progress *progress)
{
    sn_checkpoint p = describe(l, progress);
    size_t all = p.mark.done_count;
    p.mark.done += l->progress_done;
    p.mark.done_count -= l->progress_done;
    p.more_pages = l->new_pages;
    p.more_count = l->new_count;
    if (p.mark.done_count == 0)
        return;
    sn_done_journal_append(&l->progress, &p);
    l->progress_done = all;
    l->new_count = 0;
}

static seen_status local_settle(sn_frontier *f, const sn_frontier_progress *progress, bool synced,
                                seen_error *error)
{
    local *l = local_of(f);
    if (l->options.folder < 0)
        return synced ? sn_log_settle(l->log, error) : SEEN_OK;
    seen_status status = save_seeds(l, error);
    if (status == SEEN_OK && !synced) {
        write_progress(l, progress);
        return SEEN_OK;
    }
    if (status == SEEN_OK)
        status = sn_failures_sync(&l->failures, error);
    if (status == SEEN_OK)
        status = sn_log_sync(l->log, error);
    if (status == SEEN_OK)
        status = sn_seenset_sync(l->set, error);
    if (status == SEEN_OK)
        status = write_checkpoint(l, progress, error);
    if (status == SEEN_OK)
        status = sn_failures_trim(&l->failures, error);
    return status == SEEN_OK ? sn_log_settle(l->log, error) : status;
}

static void local_get_info(sn_frontier *f, bool look, sn_frontier_info *info)
{
    local *l = local_of(f);
    if (look)
        sn_seenset_get_info(l->set, &l->set_info, NULL); /* on failure the previous value is kept */
    *info = (sn_frontier_info){.waiting = sn_log_waiting(l->log),
                               .fill = l->set_info.fill,
                               .error_rate = l->set_info.error_rate,
                               .set_bytes = l->set_info.bytes};
}

/* ---- Failed pages ---- */

typedef struct retry {
    local *l;
    sn_failures_each *each;
    void *user;
} retry;

/* It still counts as one page for the limit of its host. */
static seen_status retry_one(void *user, const sn_frontier_record *record, bool asked,
                             seen_error *error)
{
    const retry *r = user;
    if (asked && record->kind == SN_KIND_PAGE && r->l->host_pages)
        sn_host_pages_take(r->l->host_pages, host_hash(r->l, record));
    return r->each(r->user, record, asked, error);
}

seen_status sn_frontier_local_retry(sn_frontier *f, sn_failures_each *each, void *user,
                                    seen_error *error)
{
    local *l = local_of(f);
    seen_status status = sn_failures_read(&l->failures, retry_one, &(retry){l, each, user}, error);
    if (status == SEEN_OK)
        l->failures.len = 0;
    return status;
}

bool sn_frontier_local_empty(const sn_frontier *f)
{
    return sn_log_get_mark(((const local *)(const void *)f)->log).next_ordinal == 0;
}

/* ---- Opening ---- */

static seen_status open_set(local *l, seen_error *error)
{
    const sn_frontier_local_options *o = &l->options;
    char path[4096];
    sn_seenset_options options = {.where = o->filter,
                                  .ca_file = o->ca_file,
                                  .exact = o->exact,
                                  .hasher = l->crawl_hasher,
                                  .folder = o->folder,
                                  .error_rate = o->error_rate,
                                  .capacity = o->capacity,
                                  .fresh = !o->checkpoint};
    if (!o->filter && o->folder >= 0) {
        if (snprintf(path, sizeof path, "%s/seen.filter", o->path) >= (int)sizeof path)
            return sn_error_set(error, SEEN_ERR_ARGUMENT,
                                "the path of the state folder is too long");
        options.where = path;
        options.own = true;
    }
    seen_status status = sn_seenset_open(&options, &l->set, error);
    if (status != SEEN_OK)
        return status;
    l->base.hasher = sn_seenset_hasher(l->set);
    /* The library creates files with the umask; crawl data is private. */
    if (options.own && !options.exact && fchmodat(o->folder, "seen.filter", 0600, 0) != 0)
        return sn_error_cannot(error, errno, "protect", path);
    return SEEN_OK;
}

typedef struct numbered {
    seen_hash hash;
    uint16_t at;
} numbered;

static int by_hash(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    if (x->hash.lo != y->hash.lo)
        return x->hash.lo < y->hash.lo ? -1 : 1;
    if (x->hash.hi != y->hash.hi)
        return x->hash.hi < y->hash.hi ? -1 : 1;
    return (int)x->at - (int)y->at;
}

/* The process was killed between writing the last batch and its answers. Keys found in the set may
 * have been added by this batch: all are treated as new except repeats within the batch. A page may
 * be fetched twice. */
static seen_status answer_again(const sn_frontier_record *records, const seen_hash *hashes,
                                size_t count, seen_answer *answers, seen_error *error)
{
    numbered *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return sn_error_memory(error);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (numbered){hashes[i], (uint16_t)i};
    qsort(sorted, count, sizeof *sorted, by_hash);
    for (size_t i = 0; i < count; i++) {
        bool twice = i > 0 && sorted[i - 1].hash.lo == sorted[i].hash.lo &&
                     sorted[i - 1].hash.hi == sorted[i].hash.hi;
        /* Earlier versions had a third kind, which is never fetched. */
        bool page = records[sorted[i].at].kind <= SN_KIND_SITEMAP;
        answers[sorted[i].at] = twice || !page ? SEEN_BEFORE : SEEN_NEW;
    }
    free(sorted);
    return SEEN_OK;
}

/* An sn_log_replay: adds a batch that was written after the checkpoint to the seen-set again. */
static seen_status replay(void *user, const sn_frontier_record *records, size_t count,
                          bool unanswered, seen_answer *answers, seen_error *error)
{
    local *l = user;
    seen_hash *hashes = l->batch.hash;
    if (count == 0)
        return SEEN_OK;
    for (size_t i = 0; i < count; i++)
        hashes[i] = sn_frontier_hash(&l->base, records[i].url, records[i].len, records[i].kind);
    seen_status status = sn_seenset_add(l->set, hashes, count, l->batch.answer, error);
    if (status == SEEN_OK && unanswered)
        status = answer_again(records, hashes, count, answers, error);
    size_t pages = 0;
    for (size_t i = 0; i < count; i++)
        if (records[i].kind == SN_KIND_SITEMAP)
            hashes[pages++] =
                sn_frontier_hash(&l->base, records[i].url, records[i].len, SN_KIND_PAGE);
    return status == SEEN_OK ? add_as_pages(l, hashes, pages, error) : status;
}

static seen_status open_log(local *l, seen_error *error)
{
    const sn_checkpoint *p = l->options.checkpoint;
    sn_log_options options = {.folder = l->options.folder, .keep = l->options.exact};
    if (!p)
        return sn_log_create(&options, &l->log, error);
    seen_status status =
        sn_log_open(&options, &p->mark, l->options.exact, replay, l, &l->log, error);
    if (status != SEEN_OK)
        return status;
    l->base.found = sn_log_waiting(l->log);
    sn_log_set_waiting(l->log, p->waiting + l->base.found);
    return SEEN_OK;
}

static seen_status open_parts(local *l, seen_error *error)
{
    const sn_checkpoint *p = l->options.checkpoint;
    seen_status status = SEEN_OK;
    if (!p)
        status = seen_hasher_random(SEEN_XXH3, &l->crawl_hasher, error);
    else
        l->crawl_hasher = p->hasher;
    if (status == SEEN_OK && p)
        status = load_seeds(l, error);
    if (status == SEEN_OK)
        status = open_delays(l, error);
    if (status == SEEN_OK)
        status = open_set(l, error);
    if (status == SEEN_OK)
        status = sn_failures_open(&l->failures, l->options.folder, p ? p->failed_len : 0, error);
    /* The failure list must be written before the log makes finished pages durable. */
    if (status == SEEN_OK && p && p->progressed)
        status = sn_failures_sync(&l->failures, error);
    if (status == SEEN_OK)
        status = open_log(l, error);
    if (status != SEEN_OK || !l->options.host_pages)
        return status;
    l->host_pages = sn_host_pages_create();
    if (!l->host_pages ||
        (p && !sn_host_pages_load(l->host_pages, p->host_pages, p->host_pages_len)))
        return sn_error_memory(error);
    for (size_t i = 0; p && i < p->more_count; i++)
        if (!sn_host_pages_add(l->host_pages, p->more_pages[i], 1))
            return sn_error_memory(error);
    return SEEN_OK;
}

static void local_close(sn_frontier *f)
{
    local *l = local_of(f);
    sn_log_close(l->log);
    sn_seenset_close(l->set);
    sn_failures_close(&l->failures);
    sn_done_journal_close(&l->progress);
    free(l->new_pages);
    sn_host_pages_destroy(l->host_pages);
    sn_host_pages_destroy(l->delays);
    if (l->delays_fd >= 0)
        close(l->delays_fd);
    free(l->early.place);
    free(l->seeds);
    free(l);
}

static const sn_frontier_class local_class = {.offer = local_offer,
                                              .peek = local_peek,
                                              .take = local_take,
                                              .load = local_load,
                                              .done = local_done,
                                              .settle = local_settle,
                                              .permit = local_permit,
                                              .started = local_started,
                                              .host_begin = local_host_begin,
                                              .host_delay = local_host_delay,
                                              .add_seed = local_add_seed,
                                              .get_info = local_get_info,
                                              .close = local_close};

seen_status sn_frontier_local_open(const sn_frontier_local_options *options, sn_frontier **frontier,
                                   seen_error *error)
{
    local *l = calloc(1, sizeof *l);
    if (!l)
        return sn_error_memory(error);
    l->base = (sn_frontier){
        .class = &local_class, .settle_ms = SETTLE_MS, .sync_ms = options->sync_ms, .wake_fd = -1};
    l->options = *options;
    l->failures.fd = l->progress.fd = l->delays_fd = -1;
    l->level = options->levels ? 0 : UINT16_MAX;
    if (options->checkpoint)
        l->started = l->completed = options->checkpoint->completed;
    seen_status status = open_parts(l, error);
    l->options.checkpoint = NULL; /* owned by the caller */
    if (status != SEEN_OK) {
        local_close(&l->base);
        return status;
    }
    *frontier = &l->base;
    return SEEN_OK;
}
