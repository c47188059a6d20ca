/* The interface of a shared frontier: lists that the engine and the clerk exchange. */
#include "crawl/fleet/fleet.h"

#include "base/error.h"
#include "base/memory.h"
#include "crawl/fleet/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    SETTLE_MS = 100, /* with the time that the clerk takes, no more than 250 */
    SETTLE_PAGES = 128,
    WAITING_LINKS = 4096, /* more than the clerk can push at once: pages would wait for it */
};

static seen_status no_memory(seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_MEMORY, "out of memory");
}

static void wake_clerk(sn_fleet *f)
{
    f->woken = true;
    pthread_cond_signal(&f->work);
}

/* Wakes the clerk if its next cycle would be too late. */
static void wake_if_urgent(sn_fleet *f)
{
    if (sn_fleet_urgent(f))
        wake_clerk(f);
}

/* ---- links ---- */

bool sn_offers_add(sn_offers *o, const sn_frontier_link *link)
{
    if (o->count == o->room) {
        sn_offer *more = sn_memory_grow(o->link, &o->room, o->count + 1, sizeof *more);
        if (!more)
            return false;
        o->link = more;
    }
    /* Links of one page are next to each other and share its URL. */
    bool same = o->count > 0 && o->parent_len == link->parent_len &&
                memcmp(o->text.data + o->parent_at, link->parent, link->parent_len) == 0;
    if (!same) {
        o->parent_at = (uint32_t)o->text.len;
        o->parent_len = link->parent_len;
        sn_buffer_put(&o->text, link->parent, link->parent_len);
    }
    o->link[o->count] = (sn_offer){.hash = link->hash,
                                   .at = (uint32_t)o->text.len,
                                   .len = link->len,
                                   .parent_at = o->parent_at,
                                   .parent_len = o->parent_len,
                                   .depth = link->depth,
                                   .hops = link->hops,
                                   .kind = link->kind,
                                   .flags = link->flags};
    sn_buffer_put(&o->text, link->url, link->len);
    o->count += !o->text.failed;
    return !o->text.failed;
}

static seen_status offer(sn_frontier *base, const sn_frontier_link *links, size_t count,
                         seen_error *error)
{
    sn_fleet *f = sn_fleet_of(base);
    bool ok = true;
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < count && ok; i++)
        ok = sn_offers_add(&f->offers, &links[i]);
    f->ended = false;
    if (f->offers.count >= SN_FLEET_LINKS || f->starving)
        wake_if_urgent(f);
    pthread_mutex_unlock(&f->lock);
    return ok ? SEEN_OK : no_memory(error);
}

/* ---- URLs ---- */

/* The next URL of a lane that was not handed out, and that has a permit if pages are limited. */
static bool next_of(sn_lane *lane, unsigned *url)
{
    uint64_t before = 0;
    for (size_t i = 0; i < lane->at && i < lane->count; i++)
        before += lane->window[i].urls->count;
    for (; lane->at < lane->count; lane->at++) {
        const sn_lane_element *e = &lane->window[lane->at];
        for (unsigned i = 0; i < e->urls->count; i++)
            if (!(e->taken >> i & 1)) {
                *url = i;
                return before + i < lane->granted;
            }
        before += e->urls->count;
    }
    return false;
}

static void fill_record(const sn_lane *lane, const sn_lane_element *e, unsigned url,
                        sn_frontier_record *record)
{
    const sn_packer_url *u = &e->urls->url[url];
    *record = (sn_frontier_record){.url = u->url,
                                   .len = u->len,
                                   .parent = u->parent,
                                   .parent_len = u->parent_len,
                                   .depth = u->depth,
                                   .hops = u->hops,
                                   .kind = u->kind,
                                   .place = {(uint64_t)(uintptr_t)lane, e->number * 64 + url}};
}

static seen_status peek(sn_frontier *base, bool idle, sn_frontier_record *record,
                        sn_frontier_next *next, seen_error *error)
{
    sn_fleet *f = sn_fleet_of(base);
    unsigned url;
    (void)idle, (void)error;
    pthread_mutex_lock(&f->lock);
    *next = f->ended ? SN_NEXT_END : SN_NEXT_WAIT;
    /* The links of a page are judged by the scope: the engine reads that first. */
    bool unread = f->seeds_read < f->seeds.len;
    if (unread)
        sn_fleet_wake(f);
    while (f->out_first && !unread) {
        sn_lane *lane = f->out_first;
        if (!lane->given && next_of(lane, &url)) {
            fill_record(lane, &lane->window[lane->at], url, record);
            *next = SN_NEXT_URL;
            break;
        }
        f->out_first = lane->next_out;
        lane->out = false;
        if (lane->more || lane->at < lane->count)
            wake_if_urgent(f);
    }
    f->starving = *next == SN_NEXT_WAIT;
    pthread_mutex_unlock(&f->lock);
    return SEEN_OK;
}

static void take(sn_frontier *base)
{
    sn_fleet *f = sn_fleet_of(base);
    unsigned url;
    pthread_mutex_lock(&f->lock);
    sn_lane *lane = f->out_first;
    if (lane && next_of(lane, &url)) {
        lane->window[lane->at].taken |= UINT64_C(1) << url;
        lane->open++;
        f->open++;
    }
    pthread_mutex_unlock(&f->lock);
}

static sn_lane_element *element_of(sn_frontier_place place, unsigned *url)
{
    const sn_lane *lane = (const sn_lane *)(uintptr_t)place.at;
    *url = (unsigned)(place.ordinal % 64);
    return &lane->window[place.ordinal / 64 - lane->window[0].number];
}

static seen_status load(sn_frontier *base, sn_frontier_place place, sn_frontier_record *record,
                        seen_error *error)
{
    sn_fleet *f = sn_fleet_of(base);
    unsigned url;
    (void)error;
    pthread_mutex_lock(&f->lock);
    const sn_lane_element *e = element_of(place, &url);
    fill_record((const sn_lane *)(uintptr_t)place.at, e, url, record);
    pthread_mutex_unlock(&f->lock);
    return SEEN_OK;
}

/* ---- done ---- */

static bool keep_finished(sn_fleet_finished_list *list, const sn_fleet_finished *item)
{
    if (list->count == list->room) {
        sn_fleet_finished *more =
            sn_memory_grow(list->item, &list->room, list->count + 1, sizeof *more);
        if (!more)
            return false;
        list->item = more;
    }
    list->item[list->count++] = *item;
    return true;
}

static sn_fleet_note *add_note(sn_fleet *f, sn_fleet_note_kind kind, const char *text, size_t len)
{
    sn_fleet_note *n = malloc(sizeof *n + len + 1);
    if (!n)
        return NULL;
    *n = (sn_fleet_note){.kind = kind, .len = len};
    memcpy(n->text, text, len);
    n->text[len] = '\0';
    *f->notes.end = n;
    f->notes.end = &n->next;
    return n;
}

/* depth, kind, status, reason, URL, parent: as in the state folder of a local crawl. */
static bool note_failed(sn_fleet *f, const sn_frontier_done *done, const sn_lane *lane)
{
    const sn_frontier_record *r = done->record;
    size_t room = r->len + r->parent_len + 160;
    char *line = malloc(room), number[16] = "-";
    if (!line)
        return false;
    if (done->status != SN_NOT_REQUESTED)
        snprintf(number, sizeof number, "%d", done->status);
    int n = snprintf(line, room, "%u\t%u\t%s\t%.100s\t%.*s\t%.*s", r->depth, r->kind, number,
                     done->why ? done->why : "", (int)r->len, r->url, (int)r->parent_len,
                     r->parent_len > 0 ? r->parent : "");
    sn_fleet_note *note = add_note(f, SN_FLEET_NOTE_FAILED, line, (size_t)n);
    if (note)
        note->bucket = lane->bucket;
    free(line);
    return note != NULL;
}

static seen_status done(sn_frontier *base, const sn_frontier_done *done, seen_error *error)
{
    sn_fleet *f = sn_fleet_of(base);
    unsigned url;
    sn_lane *lane = (sn_lane *)(uintptr_t)done->record->place.at;
    pthread_mutex_lock(&f->lock);
    sn_lane_element *e = element_of(done->record->place, &url);
    sn_fleet_finished item = {lane, e->number, (uint8_t)url, done->counts};
    bool ok = keep_finished(&f->dones, &item);
    sn_figures_count(f, done);
    e->done |= UINT64_C(1) << url;
    lane->open--;
    f->open--;
    lane->unsettled++;
    if (ok && done->outcome == SN_OUTCOME_FAILED)
        ok = note_failed(f, done, lane);
    pthread_mutex_unlock(&f->lock);
    return ok ? SEEN_OK : no_memory(error);
}

static seen_status settle(sn_frontier *base, const sn_frontier_progress *progress, bool synced,
                          seen_error *error)
{
    sn_fleet *f = sn_fleet_of(base);
    bool ok = true;
    (void)synced;
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->dones.count && ok; i++)
        ok = keep_finished(&f->settled, &f->dones.item[i]);
    if (ok)
        f->dones.count = 0;
    if (progress && progress->counts)
        f->counts = *progress->counts;
    if (progress)
        f->transfers = progress->transfers;
    f->flush = true;
    wake_clerk(f);
    pthread_mutex_unlock(&f->lock);
    return ok ? SEEN_OK : no_memory(error);
}

/* ---- permission ---- */

/* Pages that are fetched while Redis does not answer cannot be acknowledged: if its master is lost,
 * they are fetched again. */
static bool is_stalled(sn_fleet *f, int64_t now)
{
    enum { STALLED_MS = 250 };
    long long since = atomic_load(&f->conn.busy_since);
    return since != 0 && now - since > STALLED_MS;
}

/* Why no request may be started, in a few words; NULL: one may. Under the lock. */
static const char *obstacle(sn_fleet *f)
{
    int64_t now = sn_fleet_now();
    if (f->paused)
        return "paused";
    if (f->full)
        return "full, see seen crawl status";
    if (now >= atomic_load(&f->start_until) || is_stalled(f, now))
        return "Redis does not answer";
    return NULL;
}

static sn_frontier_permit permit(const sn_frontier *base)
{
    sn_fleet *f = sn_fleet_of(base);
    sn_frontier_permit answer = SN_PERMIT_YES;
    pthread_mutex_lock(&f->lock);
    bool held = obstacle(f) != NULL;
    if (f->limit && !held)
        answer = SN_PERMIT_LIMIT;
    else if (held || f->offers.count > WAITING_LINKS)
        answer = SN_PERMIT_WAIT;
    f->engine_waits |= answer == SN_PERMIT_WAIT;
    pthread_mutex_unlock(&f->lock);
    return answer;
}

static void started(sn_frontier *base)
{
    (void)base; /* a URL that is handed out has its permit */
}

/* ---- hosts ---- */

/* A copy for the engine, which reads it without the lock; NULL without memory. */
static const char *lend(sn_fleet *f, const char *text, size_t len)
{
    f->lent.len = 0;
    f->lent.failed = false;
    sn_buffer_put(&f->lent, text, len);
    sn_buffer_byte(&f->lent, '\0');
    return f->lent.failed ? NULL : f->lent.data;
}

/* The first queue of a host that this session owns. Under the lock. */
static sn_lane *find_lane(const sn_fleet *f, const char *origin, size_t len)
{
    char host[17];
    uint64_t hash;
    sn_fleet_host(f, origin, len, host, &hash);
    return sn_lane_first(f, hash);
}

static void host_begin(sn_frontier *base, const char *origin, size_t len, sn_frontier_host *host)
{
    sn_fleet *f = sn_fleet_of(base);
    *host = (sn_frontier_host){0};
    pthread_mutex_lock(&f->lock);
    const sn_lane *lane = find_lane(f, origin, len);
    if (lane) {
        int64_t now = sn_fleet_now();
        sn_lane_host *known = lane->host;
        host->pages = known->pages;
        host->wait_ms = sn_lane_rest(known) > now ? sn_lane_rest(known) - now : 0;
        if (known->tired && sn_lane_delay(f, known) > host->wait_ms)
            host->wait_ms = sn_lane_delay(f, known);
        known->tired = false;
        known->busy = true;
        if (known->rules && known->rules_until > now) {
            host->rules = lend(f, known->rules, known->rules_len);
            host->rules_len = known->rules_len;
            host->rules_ms = known->rules_until - now;
        }
    }
    pthread_mutex_unlock(&f->lock);
}

static void host_rules(sn_frontier *base, const char *origin, size_t len, const char *rules,
                       size_t rules_len, int64_t for_ms)
{
    sn_fleet *f = sn_fleet_of(base);
    char host[17];
    uint64_t hash;
    if (!rules)
        return;
    sn_fleet_host(f, origin, len, host, &hash);
    pthread_mutex_lock(&f->lock);
    const sn_lane *lane = sn_lane_first(f, hash);
    if (lane)
        sn_lane_keep_rules(lane->host, rules, rules_len);
    sn_fleet_note *n = add_note(f, SN_FLEET_NOTE_RULES, rules, rules_len);
    if (n) {
        memcpy(n->host, host, sizeof host);
        n->bucket = sn_fleet_bucket(&f->conn, host);
        n->for_ms = for_ms;
    }
    pthread_mutex_unlock(&f->lock);
}

static void host_quiet(sn_frontier *base, const char *origin, size_t len, int64_t wait_ms,
                       uint32_t failures)
{
    sn_fleet *f = sn_fleet_of(base);
    (void)failures;
    pthread_mutex_lock(&f->lock);
    for (sn_lane *lane = find_lane(f, origin, len); lane; lane = sn_lane_next(lane)) {
        lane->host->busy = false;
        lane->host->rest_at = sn_fleet_now() + (wait_ms > 0 ? wait_ms : 0);
        /* It had URLs: they are for others. */
        lane->given = lane->given || lane->open > 0;
        wake_if_urgent(f);
    }
    pthread_mutex_unlock(&f->lock);
}

static void host_hold(sn_frontier *base, const char *origin, size_t len, int64_t wait_ms)
{
    sn_fleet *f = sn_fleet_of(base);
    pthread_mutex_lock(&f->lock);
    sn_lane *lane = find_lane(f, origin, len);
    int64_t until = sn_fleet_now() + wait_ms;
    /* Of several answers the one that asks for most. */
    bool longer = lane && (lane->host->hold == SN_HOLD_NONE || until > lane->host->hold_until);
    if (longer && wait_ms > 0) {
        lane->host->hold_until = until;
        lane->host->hold = SN_HOLD_TO_STORE;
        lane->dirty = true;
        wake_if_urgent(f);
    }
    pthread_mutex_unlock(&f->lock);
}

static sn_frontier_blame blame(sn_frontier *base, bool several, int64_t silent_ms)
{
    sn_fleet *f = sn_fleet_of(base);
    int64_t lease = (int64_t)f->options.lease_ms;
    sn_frontier_blame answer = SN_BLAME_HOST;
    pthread_mutex_lock(&f->lock);
    /* The others count their pages with their heartbeats: what is known is up to half a lease
     * old. */
    bool answers = sn_fleet_now() - f->answered_at < silent_ms - lease / 2;
    if (f->others && several && silent_ms >= lease && answers)
        answer = SN_BLAME_SELF;
    else if (f->others && silent_ms < (several ? 2 * lease : lease))
        answer = SN_BLAME_UNKNOWN;
    f->lost |= answer == SN_BLAME_SELF;
    pthread_mutex_unlock(&f->lock);
    return answer;
}

static seen_status add_seed(sn_frontier *base, const char *url, size_t len, seen_error *error)
{
    sn_fleet *f = sn_fleet_of(base);
    pthread_mutex_lock(&f->lock);
    bool ok = add_note(f, SN_FLEET_NOTE_SEED, url, len) != NULL;
    pthread_mutex_unlock(&f->lock);
    return ok ? SEEN_OK : no_memory(error);
}

/* ---- updates ---- */

static bool next_seed(sn_fleet *f, sn_frontier_updates *updates)
{
    const char *at = f->seeds.data + f->seeds_read;
    const char *end =
        f->seeds_read < f->seeds.len ? memchr(at, '\n', f->seeds.len - f->seeds_read) : NULL;
    if (!end)
        return true;
    updates->seed_len = (size_t)(end - at);
    updates->seed = lend(f, at, updates->seed_len);
    f->seeds_read += updates->seed_len + 1;
    return updates->seed != NULL;
}

static seen_status poll_updates(sn_frontier *base, sn_frontier_updates *updates, seen_error *error)
{
    sn_fleet *f = sn_fleet_of(base);
    uint64_t count;
    *updates = (sn_frontier_updates){0};
    ssize_t n = read(f->wake, &count, sizeof count);
    (void)n; /* nothing to read is fine */
    pthread_mutex_lock(&f->lock);
    seen_status status = f->status;
    if (status != SEEN_OK && error)
        *error = f->error;
    base->found = f->found;
    updates->stop = f->stop;
    updates->forget_links = f->forget;
    updates->give_back = f->give_back;
    f->forget = false;
    f->give_back = 0;
    bool ok = next_seed(f, updates);
    pthread_mutex_unlock(&f->lock);
    return ok || status != SEEN_OK ? status : no_memory(error);
}

static void get_info(sn_frontier *base, bool look, sn_frontier_info *info)
{
    sn_fleet *f = sn_fleet_of(base);
    (void)look; /* the set is the fleet's: `seen info` reads it */
    *info = (sn_frontier_info){.error_rate = f->options.error_rate};
    pthread_mutex_lock(&f->lock);
    info->waiting = f->waiting;
    info->waits = obstacle(f);
    if (!info->waits && f->lane_count == 0 && f->offers.count == 0 && !f->ended && !f->limit)
        info->waits = f->waiting > 0 ? "no host is free" : !f->begun ? "no start URL yet" : NULL;
    info->start_seen = f->start_seen;
    pthread_mutex_unlock(&f->lock);
}

/* ---- open and close ---- */

static void free_lists(sn_fleet *f)
{
    sn_offers *offers[] = {&f->offers, &f->taken_offers};
    for (int i = 0; i < 2; i++) {
        free(offers[i]->link);
        sn_buffer_free(&offers[i]->text);
    }
    free(f->dones.item);
    free(f->settled.item);
    free(f->taken_settled.item);
    for (sn_fleet_note *n = f->notes.first, *next; n; n = next) {
        next = n->next;
        free(n);
    }
    for (size_t i = 0; i < f->lane_count; i++)
        sn_lane_free(f, f->lanes[i]);
    free(f->lanes);
    sn_buffer_free(&f->seeds);
    sn_buffer_free(&f->lent);
}

static void close_fleet(sn_frontier *base)
{
    sn_fleet *f = sn_fleet_of(base);
    if (f->started) {
        pthread_mutex_lock(&f->lock);
        f->closing = true;
        pthread_cond_signal(&f->work);
        pthread_mutex_unlock(&f->lock);
        pthread_join(f->thread, NULL);
    }
    free_lists(f);
    sn_seenset_close(f->set);
    sn_packer_destroy(f->packer);
    sn_figures_destroy(f->figures);
    sn_fleet_connection_close(&f->conn);
    free(f->observed);
    free(f->marks);
    free(f->numbers);
    free(f->pages);
    free(f->bound);
    free(f->returned);
    free(f->ready);
    if (f->wake >= 0)
        close(f->wake);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->work);
    free(f);
}

static const sn_frontier_class fleet_class = {
    .offer = offer,
    .peek = peek,
    .take = take,
    .load = load,
    .done = done,
    .settle = settle,
    .permit = permit,
    .started = started,
    .host_begin = host_begin,
    .host_rules = host_rules,
    .host_quiet = host_quiet,
    .host_hold = host_hold,
    .blame = blame,
    .add_seed = add_seed,
    .poll = poll_updates,
    .get_info = get_info,
    .close = close_fleet,
};

/* A filter of the same name that another program has created: its false positives are lost pages.
 */
static seen_status check_rate(const sn_fleet *f, seen_error *error)
{
    double rate = sn_seenset_rate(f->set), most = f->options.error_rate;
    if (f->options.filter || sn_seenset_created(f->set) || rate <= most * 1.01)
        return SEEN_OK;
    return sn_error_set(
        error, SEEN_ERR_MISMATCH,
        "%s: there is a filter of this name, with error rate %.3g, not %.3g: choose "
        "another name for the crawl, or use the filter with --filter",
        sn_client_address(f->conn.client)->shown, rate, most);
}

/* fresh: of a crawl that is to be created. */
static seen_status open_set(sn_fleet *f, bool fresh, seen_error *error)
{
    const sn_fleet_options *o = &f->options;
    sn_seenset_options set = {.where = o->filter ? o->filter : o->where,
                              .ca_file = o->ca_file,
                              .fresh = true,
                              .folder = -1,
                              .error_rate = o->error_rate,
                              .capacity = o->capacity};
    seen_status status = sn_seenset_open(&set, &f->set, error);
    if (status == SEEN_OK)
        f->base.hasher = sn_seenset_hasher(f->set);
    if (status == SEEN_OK && fresh)
        status = check_rate(f, error);
    return status;
}

static seen_status start_clerk(sn_fleet *f, seen_error *error)
{
    int failed = pthread_create(&f->thread, NULL, sn_clerk_run, f);
    if (failed)
        return sn_error_system(error, failed, "clerk", "start a thread");
    f->started = true;
    return SEEN_OK;
}

static sn_fleet *make_fleet(const sn_fleet_options *options)
{
    pthread_condattr_t clock;
    sn_fleet *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->options = *options;
    f->base = (sn_frontier){.class = &fleet_class,
                            .settle_ms = SETTLE_MS,
                            .sync_ms = SETTLE_MS,
                            .settle_pages = SETTLE_PAGES,
                            .wake_fd = -1};
    f->base.start_until = &f->start_until;
    f->out_end = &f->out_first;
    f->notes.end = &f->notes.first;
    f->wake = f->base.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&f->work, &clock);
    pthread_condattr_destroy(&clock);
    f->packer = sn_packer_create();
    f->figures = sn_figures_create();
    return f;
}

seen_status sn_fleet_begin(const sn_fleet_options *options, sn_fleet **fleet, bool *created,
                           seen_error *error)
{
    bool made, there;
    sn_fleet *f = make_fleet(options);
    if (!f || !f->packer || !f->figures) {
        if (f)
            close_fleet(&f->base);
        return no_memory(error);
    }
    f->clerk_error = error;
    seen_status status =
        sn_fleet_connection_open(options->where, options->ca_file, &f->conn, error);
    if (status == SEEN_OK)
        status = sn_session_find(f, &there, error);
    if (status == SEEN_OK && !there)
        status = sn_room_configure(f, error);
    if (status == SEEN_OK)
        status = open_set(f, !there, error);
    if (status == SEEN_OK)
        status = sn_session_join(f, created ? created : &made, error);
    /* After start_until, and before another worker may take the hosts. */
    f->base.withdraw_ms = f->options.lease_ms * 3 / 10;
    if (status == SEEN_OK)
        status = sn_room_configure(f, error);
    if (status == SEEN_OK)
        status = sn_session_begin(f, error);
    if (status == SEEN_OK)
        status = sn_session_poll(f);
    if (status == SEEN_OK)
        status = sn_session_count_waiting(f);
    f->options.settings = NULL; /* the caller's */
    if (status == SEEN_OK)
        *fleet = f;
    else
        close_fleet(&f->base);
    return status;
}

seen_status sn_fleet_open(const sn_fleet_options *options, sn_frontier **frontier, bool *created,
                          seen_error *error)
{
    sn_fleet *f = NULL;
    seen_status status = sn_fleet_begin(options, &f, created, error);
    if (!f)
        return status;
    status = start_clerk(f, error);
    if (status == SEEN_OK)
        *frontier = &f->base;
    else
        close_fleet(&f->base);
    return status;
}

const char *sn_fleet_id(const sn_frontier *base)
{
    return ((const sn_fleet *)base)->conn.id;
}

bool sn_fleet_lost(const sn_frontier *base)
{
    sn_fleet *f = sn_fleet_of(base);
    pthread_mutex_lock(&f->lock);
    bool lost = f->lost;
    pthread_mutex_unlock(&f->lock);
    return lost;
}
