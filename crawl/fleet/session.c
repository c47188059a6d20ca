/* A worker's session: how it begins, lives, and ends.
 *
 * Nothing here compares the clocks of two machines. A session proves that it lives by a counter;
 * another worker declares it dead when that counter has not moved for a whole lease by the
 * observer's own clock. The session itself starts no request later than 0.6 of a lease after it
 * sent its last confirmed heartbeat, so that it has stopped before anyone can take its hosts. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 200 };

static void random_hex(char *to, unsigned digits)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes, &t.tv_nsec, 4);
        uint32_t pid = (uint32_t)getpid();
        memcpy(bytes + 4, &pid, 4);
    }
    for (unsigned i = 0; i < digits; i++)
        to[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
    to[digits] = '\0';
}

/* ---- the registry ---- */

typedef struct registry {
    char id[17], format[8], state[16];
    uint64_t buckets, seed0, seed1, sequence, level, lease;
} registry;

static bool take_registry(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    registry *g = context;
    (void)tag, (void)again;
    if (!sn_reply_is_row(r, 9))
        return false;
    if (sn_fleet_reply_nil(r, 1))
        return true;
    snprintf(g->format, sizeof g->format, "%s", sn_reply_text(r, 1));
    if (!sn_fleet_reply_nil(r, 2))
        snprintf(g->id, sizeof g->id, "%s", sn_reply_text(r, 2));
    g->buckets = (uint64_t)sn_fleet_reply_number(r, 3);
    if (!sn_fleet_reply_nil(r, 4) && !sn_fleet_reply_nil(r, 5)) {
        g->seed0 = strtoull(sn_reply_text(r, 4), NULL, 16);
        g->seed1 = strtoull(sn_reply_text(r, 5), NULL, 16);
    }
    g->sequence = (uint64_t)sn_fleet_reply_number(r, 6);
    g->level = (uint64_t)sn_fleet_reply_number(r, 7);
    g->lease = (uint64_t)sn_fleet_reply_number(r, 8);
    if (!sn_fleet_reply_nil(r, 9))
        snprintf(g->state, sizeof g->state, "%s", sn_reply_text(r, 9));
    return true;
}

static seen_status read_registry(sn_fleet *f, registry *g, seen_error *error)
{
    static const char *const fields[] = {"format",   "id",    "buckets", "seed0", "seed1",
                                         "sequence", "level", "lease",   "state"};
    *g = (registry){0};
    sn_command_begin(f->conn.ch, 0, f->conn.name_slot, 11);
    sn_command_text(f->conn.ch, "HMGET");
    sn_command_text(f->conn.ch, f->conn.name);
    for (int i = 0; i < 9; i++)
        sn_command_text(f->conn.ch, fields[i]);
    return sn_fleet_run(&f->conn, take_registry, g, error);
}

static void write_pair(sn_channel *ch, const char *field, uint64_t number)
{
    sn_command_text(ch, field);
    sn_command_number(ch, number);
}

static seen_status create_registry(sn_fleet *f, bool *created, seen_error *error)
{
    sn_channel *ch = f->conn.ch;
    char id[17], seed0[17], seed1[17];
    long long made;
    random_hex(id, 16);
    random_hex(seed0, 16);
    random_hex(seed1, 16);
    sn_fleet_call(&f->conn, 0, f->conn.name_slot, SN_LUA_CREATE, 1, 30);
    sn_command_text(ch, f->conn.name);
    write_pair(ch, "format", SN_FLEET_FORMAT);
    sn_command_text(ch, "id");
    sn_command_text(ch, id);
    write_pair(ch, "buckets",
               sn_client_address(f->conn.client)->cluster ? SN_FLEET_BUCKETS_CLUSTER
                                                          : SN_FLEET_BUCKETS);
    sn_command_text(ch, "seed0");
    sn_command_text(ch, seed0);
    sn_command_text(ch, "seed1");
    sn_command_text(ch, seed1);
    write_pair(ch, "sequence", 1);
    write_pair(ch, "level", 0);
    write_pair(ch, "lease", f->options.lease_ms);
    sn_command_text(ch, "state");
    sn_command_text(ch, "run");
    write_pair(ch, "memory", f->options.memory);
    write_pair(ch, "started", 0);
    write_pair(ch, "limit", f->options.max_pages);
    sn_command_text(ch, "settings");
    sn_command_text(ch, f->options.settings ? f->options.settings : "");
    write_pair(ch, "levels", f->options.levels);
    write_pair(ch, "delay", f->options.delay_ms);
    seen_status status = sn_fleet_run_number(&f->conn, &made, error);
    *created = made == 1;
    return status == SEEN_OK ? sn_channel_sync(ch, error) : status;
}

static seen_status set_gone(const sn_fleet *f, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_NOT_FOUND,
                        "%s: this crawl was dropped, or its server has lost it",
                        sn_client_address(f->conn.client)->shown);
}

seen_status sn_session_find(sn_fleet *f, bool *there, seen_error *error)
{
    registry g;
    seen_status status = read_registry(f, &g, error);
    if (status != SEEN_OK)
        return status;
    *there = g.format[0] != '\0';
    if (f->options.crawl && strcmp(g.id, f->options.crawl) != 0)
        return set_gone(f, error);
    if (strcmp(g.state, "drop") == 0)
        return sn_error_set(error, SEEN_ERR_NOT_FOUND,
                            "%s: this crawl is being dropped; if that was interrupted, repeat it",
                            sn_client_address(f->conn.client)->shown);
    return SEEN_OK;
}

seen_status sn_session_explain(sn_fleet *f, seen_status status)
{
    registry g;
    seen_error ignored;
    pthread_mutex_lock(&f->lock);
    bool lost = f->lost;
    pthread_mutex_unlock(&f->lock);
    if (!lost || read_registry(f, &g, &ignored) != SEEN_OK)
        return status;
    if (strcmp(g.id, f->conn.id) == 0 && strcmp(g.state, "drop") != 0)
        return status;
    pthread_mutex_lock(&f->lock);
    f->lost = false;
    pthread_mutex_unlock(&f->lock);
    return set_gone(f, f->clerk_error);
}

/* The crawl has created its filter: a drop deletes it. */
static seen_status note_filter(sn_fleet *f, seen_error *error)
{
    long long fields;
    sn_command_begin(f->conn.ch, 0, f->conn.name_slot, 4);
    sn_command_text(f->conn.ch, "HSET");
    sn_command_text(f->conn.ch, f->conn.name);
    sn_command_text(f->conn.ch, "own_filter");
    sn_command_text(f->conn.ch, "1");
    return sn_fleet_run_number(&f->conn, &fields, error);
}

seen_status sn_session_join(sn_fleet *f, bool *created, seen_error *error)
{
    registry g;
    *created = false;
    seen_status status = read_registry(f, &g, error);
    if (status == SEEN_OK && g.format[0] == '\0') {
        status = create_registry(f, created, error);
        if (status == SEEN_OK)
            status = read_registry(f, &g, error);
    }
    if (status == SEEN_OK && !f->options.filter && sn_seenset_created(f->set))
        status = note_filter(f, error);
    if (status != SEEN_OK)
        return status;
    if (g.format[0] == '\0')
        return sn_error_set(error, SEEN_ERR_EXISTS,
                            "%s: the key %s belongs to something else; choose another name",
                            sn_client_address(f->conn.client)->shown, f->conn.name);
    if (strcmp(g.format, "1") != 0)
        return sn_error_set(error, SEEN_ERR_FORMAT,
                            "%s: this crawl has format %s; this version of seen knows format 1",
                            sn_client_address(f->conn.client)->shown, g.format);
    f->hosts = (seen_hasher){.kind = f->base.hasher.kind, .seed = {g.seed0, g.seed1}};
    f->hosts.kind = SEEN_XXH3;
    f->sequence = 0;
    f->level = g.level;
    f->options.lease_ms = g.lease > 0 ? g.lease : 10000;
    return sn_fleet_connection_name(&f->conn, g.id, (unsigned)g.buckets, error);
}

/* ---- the session ---- */

/* Listed before it begins, also on a replica: a session that exists can always be found. */
static seen_status list_worker(sn_fleet *f, const char *name, seen_error *error)
{
    sn_channel *ch = f->conn.ch;
    unsigned epoch;
    seen_status status;
    do {
        epoch = sn_client_epoch(f->conn.client);
        sn_command_begin(ch, 0, f->conn.crawl_slot, 4);
        sn_command_text(ch, "HSET");
        sn_fleet_key_crawl(&f->conn, "workers");
        sn_command_text(ch, f->session);
        sn_command_text(ch, name);
        status = sn_fleet_run(&f->conn, NULL, NULL, error);
        if (status == SEEN_OK)
            status = sn_channel_sync(ch, error);
    } while (status == SEEN_OK && epoch != sn_client_epoch(f->conn.client));
    return status;
}

seen_status sn_session_begin(sn_fleet *f, seen_error *error)
{
    sn_channel *ch = f->conn.ch;
    char name[64], host[48] = "worker";
    long long live;
    random_hex(f->session, SN_SESSION);
    if (f->options.worker)
        snprintf(name, sizeof name, "%s", f->options.worker);
    else {
        gethostname(host, sizeof host - 1);
        snprintf(name, sizeof name, "%.40s-%ld", host, (long)getpid());
    }
    f->marks = calloc(f->conn.buckets, sizeof *f->marks);
    f->numbers = calloc(f->conn.buckets, sizeof *f->numbers);
    f->pages = calloc(f->conn.buckets, sizeof *f->pages);
    f->bound = calloc(f->conn.buckets, sizeof *f->bound);
    f->returned = calloc(f->conn.buckets, sizeof *f->returned);
    f->ready = calloc(f->conn.buckets, sizeof *f->ready);
    if (!f->marks || !f->numbers || !f->pages || !f->bound || !f->returned || !f->ready)
        return sn_error_set(error, SEEN_ERR_MEMORY, "out of memory");
    seen_status status = list_worker(f, name, error);
    if (status != SEEN_OK)
        return status;
    int64_t now = sn_fleet_now();
    sn_fleet_call(&f->conn, 0, sn_fleet_slot_session(&f->conn, f->session), SN_LUA_OPEN, 1, 2);
    sn_fleet_key_session(&f->conn, f->session, "");
    sn_command_text(ch, "name");
    sn_command_text(ch, name);
    status = sn_fleet_run_number(&f->conn, &live, error);
    if (status == SEEN_OK && live != 1)
        return sn_error_set(error, SEEN_ERR_SERVER, "%s: a session of this number exists",
                            sn_client_address(f->conn.client)->shown);
    if (status == SEEN_OK)
        status = sn_channel_sync(ch, error);
    f->epoch = sn_client_epoch(f->conn.client);
    f->beat_at = now;
    atomic_store(&f->start_until, now + (int64_t)f->options.lease_ms * 6 / 10);
    return status;
}

/* ---- queues ---- */

size_t sn_session_wanted(const sn_fleet *f)
{
    enum { MOST = 4096 };
    uint64_t n = f->options.connections * 2 + f->options.connections * f->options.delay_ms / 100;
    return n > MOST ? MOST : (size_t)n;
}

void sn_session_put_ready(const sn_fleet *f, uint32_t tag)
{
    for (unsigned b = 0; b < f->conn.buckets; b++) {
        sn_command_begin(f->conn.ch, tag + b, f->conn.slot[b], 4);
        sn_command_text(f->conn.ch, "ZRANGE");
        sn_fleet_key_bucket(&f->conn, b, "ready");
        sn_command_text(f->conn.ch, "0");
        sn_command_text(f->conn.ch, "0");
    }
}

bool sn_session_take_ready(sn_fleet *f, unsigned bucket, const sn_reply *r)
{
    f->ready[bucket] = r->items > 1;
    return r->items > 0 && r->item[0].type == REDIS_REPLY_ARRAY;
}

typedef struct scan {
    const char *session;
    char cursor[32];
    sn_buffer *queues;
} scan;

static bool take_scan(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    scan *s = context;
    (void)tag, (void)again;
    /* [cursor, [field, value, ...]] */
    if (r->items < 3 || r->item[0].type != REDIS_REPLY_ARRAY ||
        r->item[2].type != REDIS_REPLY_ARRAY)
        return false;
    snprintf(s->cursor, sizeof s->cursor, "%s", sn_reply_text(r, 1));
    for (size_t i = 3; i + 1 < r->items; i += 2)
        if (strcmp(sn_reply_text(r, i + 1), s->session) == 0)
            sn_buffer_put(s->queues, sn_reply_text(r, i), (size_t)r->item[i].len + 1);
    return true;
}

seen_status sn_session_owned(sn_fleet *f, const char *session, unsigned b, sn_buffer *queues)
{
    scan s = {.session = session, .cursor = "0", .queues = queues};
    seen_status status = SEEN_OK;
    do {
        sn_command_begin(f->conn.ch, 0, f->conn.slot[b], 5);
        sn_command_text(f->conn.ch, "HSCAN");
        sn_fleet_key_bucket(&f->conn, b, "owner");
        sn_command_text(f->conn.ch, s.cursor);
        sn_command_text(f->conn.ch, "COUNT");
        sn_command_text(f->conn.ch, "500");
        status = sn_fleet_run(&f->conn, take_scan, &s, f->clerk_error);
    } while (status == SEEN_OK && strcmp(s.cursor, "0") != 0);
    if (status == SEEN_OK && queues->failed)
        status = sn_error_set(f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
    return status;
}

/* ---- commands of the operator and of other workers ---- */

void sn_session_put_poll(const sn_fleet *f, uint32_t tag)
{
    static const char *const fields[] = {"state", "sequence", "level", "memory",
                                         "given", "id",       "giving"};
    sn_command_begin(f->conn.ch, tag, f->conn.name_slot, 9);
    sn_command_text(f->conn.ch, "HMGET");
    sn_command_text(f->conn.ch, f->conn.name);
    for (int i = 0; i < 7; i++)
        sn_command_text(f->conn.ch, fields[i]);
}

bool sn_session_take_poll(sn_fleet *f, const sn_reply *r)
{
    sn_fleet_polled *p = &f->polled;
    if (!sn_reply_is_row(r, 7))
        return false;
    snprintf(p->state, sizeof p->state, "%s", sn_fleet_reply_nil(r, 1) ? "" : sn_reply_text(r, 1));
    p->gone = sn_fleet_reply_nil(r, 6) || strcmp(sn_reply_text(r, 6), f->conn.id) != 0 ||
              strcmp(p->state, "drop") == 0;
    p->sequence = (uint64_t)sn_fleet_reply_number(r, 2);
    p->level = (uint64_t)sn_fleet_reply_number(r, 3);
    p->memory = (uint64_t)sn_fleet_reply_number(r, 4);
    p->given = sn_fleet_reply_number(r, 5) != 0;
    snprintf(p->giving, sizeof p->giving, "%s",
             sn_fleet_reply_nil(r, 7) ? "" : sn_reply_text(r, 7));
    p->known = true;
    return true;
}

/* Buckets have the tags below. */
#define TAG_POLL UINT32_MAX

static bool take_polled(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    (void)again;
    return tag == TAG_POLL ? sn_session_take_poll(context, r)
                           : sn_session_take_ready(context, tag, r);
}

/* Reads the registry, and looks for ready queues in the same round trip. */
static seen_status read_poll(sn_fleet *f)
{
    sn_session_put_poll(f, TAG_POLL);
    sn_session_put_ready(f, 0);
    seen_status status = sn_fleet_run(&f->conn, take_polled, f, f->clerk_error);
    f->ready_known = status == SEEN_OK;
    return status;
}

static bool take_seeds(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    sn_fleet *f = context;
    (void)tag, (void)again;
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY)
        return false;
    pthread_mutex_lock(&f->lock);
    for (size_t i = 1; i < r->items; i++) {
        sn_buffer_put(&f->seeds, sn_reply_text(r, i), r->item[i].len);
        sn_buffer_byte(&f->seeds, '\n');
    }
    bool ok = !f->seeds.failed;
    pthread_mutex_unlock(&f->lock);
    f->seeds_seen += r->items - 1;
    return ok;
}

seen_status sn_session_read_seeds(sn_fleet *f)
{
    enum { PIECE = 10000 };
    seen_status status;
    uint64_t before;
    do {
        before = f->seeds_seen;
        sn_command_begin(f->conn.ch, 0, f->conn.crawl_slot, 4);
        sn_command_text(f->conn.ch, "LRANGE");
        sn_fleet_key_crawl(&f->conn, "seeds");
        sn_command_number(f->conn.ch, before);
        sn_command_number(f->conn.ch, before + PIECE - 1);
        status = sn_fleet_run(&f->conn, take_seeds, f, f->clerk_error);
    } while (status == SEEN_OK && f->seeds_seen == before + PIECE);
    return status;
}

seen_status sn_session_poll(sn_fleet *f)
{
    int64_t now = sn_fleet_now();
    sn_fleet_polled *p = &f->polled;
    int64_t interval = f->lane_count > 0 ? POLL_MS : sn_session_interval_ms(f, POLL_MS);
    if (!p->known && f->sequence != 0 && now - f->polled_at < interval)
        return SEEN_OK;
    f->polled_at = now;
    if (!p->known) {
        seen_status status = read_poll(f);
        if (status != SEEN_OK)
            return status;
    }
    p->known = false;
    if (p->gone)
        return set_gone(f, f->clerk_error);
    bool changed = p->sequence != f->sequence;
    f->sequence = p->sequence;
    f->level = p->level;
    f->memory = p->memory > 0 ? p->memory : f->memory_default;
    pthread_mutex_lock(&f->lock);
    f->stop = f->stop || strcmp(p->state, "stop") == 0;
    f->paused = strcmp(p->state, "pause") == 0;
    f->limit = f->limit || strcmp(p->state, "limit") == 0;
    pthread_mutex_unlock(&f->lock);
    return changed ? sn_session_read_seeds(f) : SEEN_OK;
}

seen_status sn_session_give(sn_fleet *f, const char *session, const char *step)
{
    long long there;
    sn_fleet_call(&f->conn, 0, f->conn.name_slot, SN_LUA_GIVEN, 1, 3);
    sn_command_text(f->conn.ch, f->conn.name);
    sn_command_text(f->conn.ch, f->conn.id);
    sn_command_text(f->conn.ch, session);
    sn_command_text(f->conn.ch, step);
    f->sequence = 0; /* read the registry again at once */
    seen_status status = sn_fleet_run_number(&f->conn, &there, f->clerk_error);
    return status == SEEN_OK && there < 0 ? set_gone(f, f->clerk_error) : status;
}

/* ---- sums ---- */

typedef struct sum {
    uint64_t total;
} sum;

static bool take_sum(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    (void)tag, (void)again;
    if (r->items != 1 || sn_reply_is_error(r))
        return false;
    ((sum *)context)->total += (uint64_t)sn_fleet_reply_number(r, 0);
    return true;
}

/* Sums one field of a hash over all buckets. */
seen_status sn_session_sum(sn_fleet *f, const char *hash, const char *field, uint64_t *total)
{
    sum s = {0};
    for (unsigned b = 0; b < f->conn.buckets; b++) {
        sn_command_begin(f->conn.ch, b, f->conn.slot[b], 3);
        sn_command_text(f->conn.ch, "HGET");
        sn_fleet_key_bucket(&f->conn, b, hash);
        sn_command_text(f->conn.ch, field);
    }
    seen_status status = sn_fleet_run(&f->conn, take_sum, &s, f->clerk_error);
    *total = s.total;
    return status;
}

/* ---- the end ---- */

typedef struct totals {
    uint64_t all;
    uint64_t at_level; /* and at those before */
} totals;

typedef struct sweeping {
    uint64_t level;
    totals done, pushed;
} sweeping;

static void add_total(totals *t, const char *text, uint64_t n, uint64_t level)
{
    t->all += n;
    if (strtoull(text, NULL, 10) <= level)
        t->at_level += n;
}

static bool take_totals(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    sweeping *s = context;
    (void)tag, (void)again;
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY)
        return false;
    for (size_t i = 1; i + 1 < r->items; i += 2) {
        const char *name = sn_reply_text(r, i);
        uint64_t n = (uint64_t)sn_fleet_reply_number(r, i + 1);
        if (strncmp(name, "done:", 5) == 0)
            add_total(&s->done, name + 5, n, s->level);
        else if (strncmp(name, "pushed:", 7) == 0)
            add_total(&s->pushed, name + 7, n, s->level);
    }
    return true;
}

static seen_status sweep(sn_fleet *f, sweeping *s)
{
    *s = (sweeping){.level = f->options.levels ? f->level : UINT64_MAX};
    for (unsigned b = 0; b < f->conn.buckets; b++) {
        sn_command_begin(f->conn.ch, b, f->conn.slot[b], 2);
        sn_command_text(f->conn.ch, "HGETALL");
        sn_fleet_key_bucket(&f->conn, b, "meta");
    }
    seen_status status = sn_fleet_run(&f->conn, take_totals, s, f->clerk_error);
    /* Both are of one moment in each bucket. */
    if (status == SEEN_OK && s->done.all > s->pushed.all)
        return sn_error_set(f->clerk_error, SEEN_ERR_FORMAT,
                            "%s: the counters of this crawl are damaged: %" PRIu64
                            " URLs were found and %" PRIu64 " are done",
                            sn_client_address(f->conn.client)->shown, s->pushed.all, s->done.all);
    return status;
}

static void set_waiting(sn_fleet *f, const totals *done, const totals *pushed)
{
    pthread_mutex_lock(&f->lock);
    f->waiting = pushed->all - done->all;
    f->begun = pushed->all > 0;
    pthread_mutex_unlock(&f->lock);
}

seen_status sn_session_count_waiting(sn_fleet *f)
{
    sweeping s;
    seen_status status = sweep(f, &s);
    if (status == SEEN_OK)
        set_waiting(f, &s.done, &s.pushed);
    return status;
}

/* Changes the registry if `field` is still as expected, and no start URL came since. */
static seen_status change_registry(sn_fleet *f, const char *field, const char *expected,
                                   const char *value, bool *changed)
{
    long long done;
    sn_fleet_call(&f->conn, 0, f->conn.name_slot, SN_LUA_CHANGE, 1, 5);
    sn_command_text(f->conn.ch, f->conn.name);
    sn_command_text(f->conn.ch, field);
    sn_command_text(f->conn.ch, expected);
    sn_command_number(f->conn.ch, f->sequence);
    sn_command_text(f->conn.ch, field);
    sn_command_text(f->conn.ch, value);
    seen_status status = sn_fleet_run_number(&f->conn, &done, f->clerk_error);
    *changed = done == 1;
    return status;
}

int64_t sn_session_interval_ms(const sn_fleet *f, int64_t least)
{
    enum { INTERVAL_MS = 50 };
    int64_t interval = INTERVAL_MS * (int64_t)f->live_count;
    return interval > least ? interval : least;
}

static bool take_over(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    (void)tag, (void)again;
    const char *state = r->items != 1 || sn_fleet_reply_nil(r, 0) ? "" : sn_reply_text(r, 0);
    *(bool *)context = strcmp(state, "live") != 0 && strcmp(state, "dead") != 0;
    return r->items == 1 && !sn_reply_is_error(r);
}

/* A session that gave URLs and died has been recovered: they are in the lists. */
static seen_status forget_giver(sn_fleet *f)
{
    bool over;
    char session[SN_SESSION + 1];
    memcpy(session, f->polled.giving, sizeof session);
    sn_command_begin(f->conn.ch, 0, sn_fleet_slot_session(&f->conn, session), 3);
    sn_command_text(f->conn.ch, "HGET");
    sn_fleet_key_session(&f->conn, session, "");
    sn_command_text(f->conn.ch, "state");
    seen_status status = sn_fleet_run(&f->conn, take_over, &over, f->clerk_error);
    /* Its own: a failover has lost the end of it. */
    if (status == SEEN_OK && strcmp(session, f->session) == 0)
        return sn_session_give(f, session, "end");
    return status == SEEN_OK && over ? sn_session_give(f, session, "over") : status;
}

/* The state follows from the sums. Of a crawl that is done more may be queued: a worker died while
 * it gave start URLs, or a failover has lost acknowledgements. */
static seen_status sweep_end(sn_fleet *f, bool end)
{
    bool over = strcmp(f->polled.state, "done") == 0, changed = over;
    seen_status status = SEEN_OK;
    if (end != over)
        status = change_registry(f, "state", end ? "run" : "done", end ? "done" : "run", &changed);
    if (!end)
        f->sequence = 0; /* read the registry again at once */
    pthread_mutex_lock(&f->lock);
    /* The engine may have offered start URLs meanwhile. */
    f->ended = f->ended || (end && changed && f->offers.count == 0);
    pthread_mutex_unlock(&f->lock);
    return status;
}

/* Ends the crawl, or a level of it, when all that was pushed is done: first what is done is summed
 * over all buckets, then what was pushed. Both only grow, and only a page that is not done can lead
 * to a push, or a session that gives URLs: if the sums are equal, and none did, before them or by
 * the sequence until the end is written, there was no push. */
seen_status sn_session_sweep(sn_fleet *f)
{
    int64_t now = sn_fleet_now();
    bool over = strcmp(f->polled.state, "done") == 0; /* found by another worker */
    /* The worker that acknowledged the last page looks at once and finds the end. That others look
     * too is for the case that it died. */
    int64_t interval = sn_session_interval_ms(f, f->sweep_ms);
    if (f->sweep_ms >= 1000 && interval > f->sweep_ms)
        interval *= 4;
    if (!over && now - f->swept_at < interval)
        return SEEN_OK;
    f->swept_at = now;
    f->sweep_ms = f->sweep_ms < 100 ? 100 : f->sweep_ms < 1000 ? f->sweep_ms * 3 / 2 : 1000;
    uint64_t pages = 0;
    bool changed = false;
    sweeping first, second;
    seen_status status = sweep(f, &first);
    totals done = first.done, pushed = first.pushed;
    /* If less was done than was pushed, no second look can find the two equal. */
    if (status == SEEN_OK && done.at_level >= pushed.at_level) {
        status = sweep(f, &second);
        pushed = second.pushed;
    }
    if (status == SEEN_OK && f->options.max_pages > 0)
        status = sn_session_sum(f, "meta", "pages", &pages);
    if (status != SEEN_OK)
        return status;
    set_waiting(f, &done, &pushed);
    bool equal = done.all == pushed.all && (pushed.all > 0 || f->polled.given);
    if ((equal || over) && f->polled.giving[0] != '\0') {
        status = forget_giver(f);
    } else if (equal || over) {
        status = sweep_end(f, done.all >= pushed.all);
    } else if (f->options.levels && pushed.all > 0 && done.at_level == pushed.at_level) {
        char old[24], new[24];
        snprintf(old, sizeof old, "%" PRIu64, f->level);
        snprintf(new, sizeof new, "%" PRIu64, f->level + 1);
        status = change_registry(f, "level", old, new, &changed);
        f->sequence = 0; /* read the registry again at once */
        f->sweep_ms = 0;
    } else if (f->options.max_pages > 0 && pages >= f->options.max_pages) {
        status = change_registry(f, "state", "run", "limit", &changed);
        pthread_mutex_lock(&f->lock);
        f->limit = true;
        pthread_mutex_unlock(&f->lock);
    }
    return status;
}
