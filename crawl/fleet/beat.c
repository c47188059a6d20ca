/* The heartbeat of a session, and a look at those of the others in the same round trip. */
#include "base/memory.h"
#include "crawl/fleet/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the counters in a heartbeat ---- */

typedef struct lengths {
    sn_fleet *f;
    sn_lane **lane;
    sn_lane *slowest;
    uint64_t urls, delay, ms; /* of that */
} lengths;

/* URLs of a queue that are not done, `elements` long. The part that was not read has as many per
 * element as what was read last; more than waits in the whole crawl it cannot have. Under the
 * lock. */
static uint64_t estimate(const sn_fleet *f, const sn_lane *lane, uint64_t elements)
{
    enum { LAST = 16 };
    uint64_t left = 0, urls = 0;
    size_t last = lane->count < LAST ? lane->count : LAST;
    for (size_t i = 0; i < lane->count; i++) {
        const sn_lane_element *e = &lane->window[i];
        left += e->urls->count - (uint64_t)__builtin_popcountll(e->settled);
        urls += i >= lane->count - last ? e->urls->count : 0;
    }
    if (elements > lane->count)
        left += (elements - lane->count) * urls / last;
    return left < f->waiting ? left : f->waiting;
}

static bool take_length(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    lengths *l = context;
    const sn_lane *lane = l->lane[tag];
    (void)again;
    if (r->items != 1 || r->item[0].type != REDIS_REPLY_INTEGER)
        return false;
    if (lane->count == 0)
        return true;
    pthread_mutex_lock(&l->f->lock);
    uint64_t urls = estimate(l->f, lane, (uint64_t)r->item[0].number);
    uint64_t delay = (uint64_t)sn_lane_delay(l->f, lane->host);
    pthread_mutex_unlock(&l->f->lock);
    uint64_t ms = urls * (delay > 0 ? delay : 1);
    if (ms > l->ms) {
        l->slowest = l->lane[tag];
        l->urls = urls;
        l->delay = delay;
        l->ms = ms;
    }
    return true;
}

static void put_length(const sn_fleet *f, uint32_t tag, const sn_lane *lane)
{
    sn_command_begin(f->conn.ch, tag, f->conn.slot[lane->bucket], 2);
    sn_command_text(f->conn.ch, "LLEN");
    sn_fleet_key_queue(&f->conn, lane->bucket, "q", lane->queue);
}

/* Of the hosts of this worker, the one whose list takes longest: some are looked at each time, in
 * turn, and the one that took longest before. */
static seen_status find_slowest(sn_fleet *f)
{
    enum { LISTS = 64 };
    sn_lane *lane[LISTS + 1];
    lengths l = {.f = f, .lane = lane};
    uint32_t n = 0;
    for (size_t i = 0; i < f->lane_count && n < LISTS; i++)
        lane[n++] = f->lanes[(f->slow_at + i) % f->lane_count];
    f->slow_at += n;
    for (size_t i = 0; i < f->lane_count && n == LISTS; i++)
        if (strcmp(f->lanes[i]->queue, f->slow_queue) == 0)
            lane[n++] = f->lanes[i];
    for (uint32_t i = 0; i < n; i++)
        put_length(f, i, lane[i]);
    seen_status status = n > 0 ? sn_fleet_run(&f->conn, take_length, &l, f->clerk_error) : SEEN_OK;
    f->slow_urls = l.urls;
    f->slow_delay = l.delay;
    f->slow_queue[0] = '\0';
    if (l.slowest) {
        const sn_packer_urls *u = l.slowest->window[0].urls;
        memcpy(f->slow_queue, l.slowest->queue, sizeof f->slow_queue);
        snprintf(f->slow_origin, sizeof f->slow_origin, "%.*s", (int)u->origin_len, u->origin);
    }
    return status;
}

/* Pages per minute since the last heartbeat. */
static uint64_t rate(const sn_fleet *f)
{
    int64_t ms = sn_fleet_now() - f->beat_at;
    uint64_t pages = f->counts.pages - f->rated_pages;
    return ms > 0 ? pages * 60000 / (uint64_t)ms : 0;
}

/* The counters that others may read, in the order of their names. Under the lock. */
static void gather(const sn_fleet *f, uint64_t count[SN_COUNTERS])
{
    const sn_crawl_counts *c = &f->counts;
    size_t wanted = sn_session_wanted(f);
    const uint64_t now[SN_COUNTERS] = {
        c->pages,      c->ok,
        c->redirects,  c->bytes,
        c->links,      c->failed,
        c->robots,     c->retried,
        c->truncated,  f->found,
        c->dropped,    c->host_limit,
        f->lane_count, wanted > f->lane_count ? wanted - f->lane_count : 0,
        f->full,       f->slow_urls,
        f->slow_delay, f->transfers,
        rate(f)};
    memcpy(count, now, sizeof now);
}

void sn_session_put_beat(sn_fleet *f, uint32_t tag)
{
    static const char *const name[SN_COUNTERS] = {
        "pages",   "ok",        "redirects",  "bytes",     "links",      "failed", "robots",
        "retried", "truncated", "found",      "dropped",   "host_limit", "hosts",  "want",
        "full",    "slow_urls", "slow_delay", "transfers", "rate"};
    sn_channel *ch = f->conn.ch;
    uint64_t count[SN_COUNTERS];
    unsigned changed = 0;
    pthread_mutex_lock(&f->lock);
    gather(f, count);
    f->rated_pages = f->counts.pages;
    pthread_mutex_unlock(&f->lock);
    for (int i = 0; i < SN_COUNTERS; i++)
        changed += !f->counted || count[i] != f->count[i];
    bool origin = changed > 0;
    sn_fleet_call(&f->conn, tag, sn_fleet_slot_session(&f->conn, f->session), SN_LUA_BEAT, 2,
                  1 + 2 * (changed + origin));
    sn_fleet_key_session(&f->conn, f->session, "");
    sn_fleet_key_session(&f->conn, f->session, ":f");
    if (!f->counted || count[0] != f->count[0])
        sn_command_number(ch, count[0]);
    else
        sn_command_text(ch, "");
    for (int i = 0; i < SN_COUNTERS; i++)
        if (!f->counted || count[i] != f->count[i]) {
            sn_command_text(ch, name[i]);
            sn_command_number(ch, count[i]);
        }
    if (origin) {
        sn_command_text(ch, "slow_origin");
        sn_command_text(ch, f->slow_origin);
    }
    memcpy(f->count, count, sizeof count);
}

static bool take_beat(sn_fleet *f, const sn_reply *r)
{
    if (r->items != 1 || r->item[0].type != REDIS_REPLY_INTEGER)
        return false;
    /* A number that is not the next: a failover lost a beat, and the counters in it. */
    f->counted = r->item[0].number == (long long)f->beat + 1;
    f->beaten = r->item[0].number;
    return true;
}

/* ---- observing the others ---- */

static sn_fleet_observed *observed(sn_fleet *f, const char *session)
{
    for (size_t i = 0; i < f->observed_count; i++)
        if (strcmp(f->observed[i].session, session) == 0)
            return &f->observed[i];
    if (f->observed_count == f->observed_room) {
        sn_fleet_observed *more =
            sn_memory_grow(f->observed, &f->observed_room, f->observed_count + 1, sizeof *more);
        if (!more)
            return NULL;
        f->observed = more;
    }
    sn_fleet_observed *o = &f->observed[f->observed_count++];
    *o = (sn_fleet_observed){.beat = UINT64_MAX};
    snprintf(o->session, sizeof o->session, "%s", session);
    return o;
}

/* Tags of a look; those of other sessions are their positions. */
#define TAG_WORKERS UINT32_MAX
#define TAG_BEAT (UINT32_MAX - 1)
#define TAG_POLL (UINT32_MAX - 2)
#define TAG_READY UINT32_C(0x80000000) /* and the bucket */

/* The sessions of the crawl, or their number; new ones are read the next time. None is ever removed
 * from the list. */
static bool take_workers(sn_fleet *f, const sn_reply *r)
{
    if (r->items == 1 && r->item[0].type == REDIS_REPLY_INTEGER) {
        f->workers_changed = (uint64_t)r->item[0].number != f->workers;
        return true;
    }
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY)
        return false;
    for (size_t i = 1; i < r->items; i++)
        if (r->item[i].len == SN_SESSION && strcmp(sn_reply_text(r, i), f->session) != 0)
            observed(f, sn_reply_text(r, i));
    f->workers = r->items - 1;
    f->workers_changed = false;
    return true;
}

/* Hosts have answered another worker since it was last read. That may be many heartbeats ago: what
 * is said about the time holds for the first of them. The first reading says nothing. */
static void note_answers(sn_fleet *f, sn_fleet_observed *o, uint64_t answers)
{
    int64_t now = sn_fleet_now(), at = o->read_at + (int64_t)f->options.lease_ms / SN_BEATS_IDLE;
    bool more = o->read_at != 0 && answers > o->answers;
    o->read_at = now;
    o->answers = answers;
    if (!more)
        return;
    at = at < now ? at : now;
    pthread_mutex_lock(&f->lock);
    if (at > f->answered_at)
        f->answered_at = at;
    pthread_mutex_unlock(&f->lock);
}

static bool take_beats(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    sn_fleet *f = context;
    (void)again;
    if (tag == TAG_WORKERS)
        return take_workers(f, r);
    if (tag == TAG_BEAT)
        return take_beat(f, r);
    if (tag == TAG_POLL)
        return sn_session_take_poll(f, r);
    if (tag >= TAG_READY)
        return sn_session_take_ready(f, tag - TAG_READY, r);
    sn_fleet_observed *o = &f->observed[tag];
    if (!sn_reply_is_row(r, 5))
        return false;
    const char *state = sn_fleet_reply_nil(r, 1) ? "" : sn_reply_text(r, 1);
    uint64_t beat = (uint64_t)sn_fleet_reply_number(r, 2);
    o->hosts = (uint64_t)sn_fleet_reply_number(r, 3);
    o->want = (uint64_t)sn_fleet_reply_number(r, 4);
    note_answers(f, o, (uint64_t)sn_fleet_reply_number(r, 5));
    o->live = strcmp(state, "live") == 0;
    o->over = strcmp(state, "gone") == 0 || strcmp(state, "left") == 0;
    o->silent_ms = beat == o->beat ? o->silent_ms + o->unread_ms : 0;
    o->unread_ms = 0;
    o->beat = beat;
    /* Declared dead by a worker that may have died since. */
    if (strcmp(state, "dead") == 0)
        o->silent_ms = INT64_MAX / 2;
    return true;
}

/* In a large fleet each worker watches some of the others, chosen by their numbers, so that each is
 * watched by about WATCHERS; all of them only now and then, in case those have died too. A worker
 * without hosts has none to share and watches fewer. */
static bool watches(const sn_fleet *f, const sn_fleet_observed *o, bool all)
{
    enum { WATCHERS = 16, WATCHERS_IDLE = 8 };
    uint64_t parts = f->live_count / (f->lane_count > 0 ? WATCHERS : WATCHERS_IDLE) + 1;
    if (o->over || parts == 1 || !o->live || all)
        return !o->over;
    uint64_t pair = strtoull(o->session, NULL, 16) ^ strtoull(f->session, NULL, 16);
    return (pair * UINT64_C(0x9e3779b97f4a7c15) >> 32) % parts == 0;
}

static void put_workers(const sn_fleet *f, const char *command)
{
    sn_command_begin(f->conn.ch, TAG_WORKERS, f->conn.crawl_slot, 2);
    sn_command_text(f->conn.ch, command);
    sn_fleet_key_crawl(&f->conn, "workers");
}

static void put_look(const sn_fleet *f, size_t i)
{
    const char *session = f->observed[i].session;
    sn_command_begin(f->conn.ch, (uint32_t)i, sn_fleet_slot_session(&f->conn, session), 7);
    sn_command_text(f->conn.ch, "HMGET");
    sn_fleet_key_session(&f->conn, session, "");
    sn_command_text(f->conn.ch, "state");
    sn_command_text(f->conn.ch, "beat");
    sn_command_text(f->conn.ch, "hosts");
    sn_command_text(f->conn.ch, "want");
    sn_command_text(f->conn.ch, "pages");
}

static seen_status read_beats(sn_fleet *f, bool all)
{
    bool idle = f->lane_count == 0;
    sn_session_put_beat(f, TAG_BEAT);
    /* The list itself now and then: after a failover another one may have the same length. */
    put_workers(f, all ? "HKEYS" : "HLEN");
    for (size_t i = 0; i < f->observed_count; i++)
        if (watches(f, &f->observed[i], all))
            put_look(f, i);
    /* A worker without hosts asks for everything at once: a round trip costs the server more than
     * the commands in it. */
    if (idle) {
        sn_session_put_poll(f, TAG_POLL);
        sn_session_put_ready(f, TAG_READY);
    }
    seen_status status = sn_fleet_run(&f->conn, take_beats, f, f->clerk_error);
    f->ready_known = idle && status == SEEN_OK;
    if (status == SEEN_OK && f->workers_changed) {
        put_workers(f, "HKEYS");
        status = sn_fleet_run(&f->conn, take_beats, f, f->clerk_error);
    }
    return status;
}

/* A server was lost for a while: the others could not send heartbeats either. They need not notice
 * its return at the same moment: they may pause between two tries, and wait for a replica. */
static void forgive(sn_fleet *f)
{
    enum { RETURN_MS = 2000 };
    for (size_t i = 0; i < f->observed_count; i++)
        if (f->observed[i].live) {
            f->observed[i].silent_ms = -RETURN_MS;
            f->observed[i].unread_ms = 0;
        }
}

static seen_status look(sn_fleet *f)
{
    enum { ALL = 8, ALL_IDLE = 32 };
    int64_t half = (int64_t)f->options.lease_ms / 2, since = sn_fleet_now() - f->watched_at;
    bool all = f->watches++ % (f->lane_count > 0 ? ALL : ALL_IDLE) == 0;
    /* If Redis did not answer, it did not answer the others either: a long pause of this worker's
     * own counts as half a lease. The others have the other half to send a heartbeat. */
    for (size_t i = 0; i < f->observed_count; i++)
        f->observed[i].unread_ms += since < half ? since : half;
    seen_status status = read_beats(f, all);
    int64_t now = sn_fleet_now();
    unsigned epoch = sn_client_epoch(f->conn.client);
    if (epoch != f->watched_epoch && now - f->watched_at > half)
        forgive(f);
    f->watched_epoch = epoch;
    /* Not from before: a heartbeat that was seen may have been sent while this one waited. */
    f->watched_at = now;
    f->looked = status == SEEN_OK;
    return status;
}

/* Sends a heartbeat if one is due, and looks at those of the others with it. */
seen_status sn_session_beat(sn_fleet *f)
{
    int64_t now = sn_fleet_now(), lease = (int64_t)f->options.lease_ms;
    int64_t interval = lease / (f->lane_count > 0 ? SN_BEATS : SN_BEATS_IDLE);
    if (f->watches > 0 && now - f->beat_at < interval)
        return SEEN_OK;
    seen_status status = f->lane_count > 0 ? sn_session_count_waiting(f) : SEEN_OK;
    if (status == SEEN_OK)
        status = find_slowest(f);
    if (status == SEEN_OK)
        status = sn_figures_write(f, false);
    if (status == SEEN_OK)
        status = look(f);
    if (status != SEEN_OK)
        return status;
    if (f->beaten < 0)
        return sn_fleet_set_lost(f, "another worker declared this one dead");
    f->beat = (uint64_t)f->beaten;
    f->beat_at = now;
    /* One that a failover loses allows nothing: others have not seen it. Without hosts the next
     * pick waits for a replica. */
    if (f->lane_count > 0)
        status = sn_fleet_confirm(f);
    if (status == SEEN_OK)
        atomic_store(&f->start_until, now + lease * 6 / 10);
    return status;
}
