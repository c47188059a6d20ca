/* Figures for the report of a crawl (`seen crawl report`): the pages that each worker has fetched.
 *
 * They are fields of a hash of the session, written every few seconds if they have changed, as
 * absolute numbers:
 *
 *     s:STATUS    pages                      t:SECONDS   pages until then (beat.lua)
 *     d:DEPTH     pages                      h:ORIGIN    pages errors bytes ms
 *     w:URL       ms status, of the slowest  b:URL       status <tab> parent, of errors
 *
 * Errors are answers of 4xx and 5xx. Pages that were given up are not here: their list in the
 * buckets has those that have not succeeded since. Hosts and errors are kept up to a number per
 * worker. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUSES = 1000, DEPTHS = 1000, HOSTS = 1024, SLOWEST = 20, BROKEN = 200, URL = 1000 };

typedef struct figure_host {
    char *origin;
    uint64_t pages, errors, bytes, ms;
    bool dirty;
} figure_host;

typedef struct slow_page {
    char url[URL];
    uint64_t ms;
    int status;
    bool dirty;
} slow_page;

typedef struct broken_page {
    char *url, *about;
} broken_page;

struct sn_figures {
    uint64_t status[STATUSES], depth[DEPTHS];
    bool status_dirty[STATUSES], depth_dirty[DEPTHS];
    figure_host host[2 * HOSTS]; /* open addressing */
    size_t hosts;
    slow_page slow[SLOWEST];
    broken_page page[BROKEN]; /* to be written */
    size_t pages, pages_seen;
};

sn_figures *sn_figures_create(void)
{
    return calloc(1, sizeof(sn_figures));
}

void sn_figures_destroy(sn_figures *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < 2 * HOSTS; i++)
        free(g->host[i].origin);
    for (size_t i = 0; i < g->pages; i++) {
        free(g->page[i].url);
        free(g->page[i].about);
    }
    free(g);
}

/* ---- counting ---- */

static figure_host *find_host(sn_figures *g, uint64_t hash, const char *origin, size_t len)
{
    size_t at = hash % (2 * HOSTS);
    for (; g->host[at].origin; at = (at + 1) % (2 * HOSTS))
        if (strlen(g->host[at].origin) == len && memcmp(g->host[at].origin, origin, len) == 0)
            return &g->host[at];
    if (g->hosts == HOSTS || !(g->host[at].origin = strndup(origin, len)))
        return NULL;
    g->hosts++;
    return &g->host[at];
}

static void count_slow(sn_figures *g, const sn_frontier_done *d, int status)
{
    slow_page *s = &g->slow[0]; /* the fastest of them, or an empty one */
    for (size_t i = 1; i < SLOWEST && s->url[0] != '\0'; i++)
        if (g->slow[i].url[0] == '\0' || g->slow[i].ms < s->ms)
            s = &g->slow[i];
    if ((s->url[0] != '\0' && d->ms <= s->ms) || d->record->len >= URL)
        return;
    snprintf(s->url, sizeof s->url, "%.*s", (int)d->record->len, d->record->url);
    s->ms = d->ms;
    s->status = status;
    s->dirty = true;
}

/* Without memory an error is counted and not listed. */
static void count_broken(sn_figures *g, const sn_frontier_done *d, int status)
{
    const sn_frontier_record *r = d->record;
    if (g->pages_seen == BROKEN || r->len >= URL)
        return;
    g->pages_seen++;
    size_t room = r->parent_len + 16;
    broken_page *p = &g->page[g->pages];
    *p = (broken_page){.url = strndup(r->url, r->len), .about = malloc(room)};
    if (!p->url || !p->about) {
        free(p->url);
        free(p->about);
        return;
    }
    g->pages++;
    snprintf(p->about, room, "%d\t%.*s", status, (int)r->parent_len, r->parent);
}

void sn_figures_count(sn_fleet *f, const sn_frontier_done *d)
{
    sn_figures *g = f->figures;
    const sn_frontier_record *r = d->record;
    int status = d->status > 0 && d->status < STATUSES ? d->status : 0;
    unsigned depth = r->depth < DEPTHS ? r->depth : DEPTHS - 1;
    char host[17];
    uint64_t hash;
    if (!g || d->outcome != SN_OUTCOME_FETCHED)
        return;
    size_t len = sn_frontier_origin(r->url, r->len);
    g->status[status]++;
    g->depth[depth]++;
    g->status_dirty[status] = g->depth_dirty[depth] = true;
    sn_fleet_host(f, r->url, len, host, &hash);
    figure_host *h = find_host(g, hash, r->url, len);
    if (h) {
        h->pages++;
        h->errors += status >= 400;
        h->bytes += d->bytes;
        h->ms += d->ms;
        h->dirty = true;
    }
    count_slow(g, d, status);
    if (status >= 400)
        count_broken(g, d, status);
}

/* ---- writing ---- */

static void write_field(sn_fleet *f, bool write, const char *kind, const char *name,
                        const char *value)
{
    char field[URL + 16];
    if (!write)
        return;
    snprintf(field, sizeof field, "%s%s", kind, name);
    sn_command_text(f->conn.ch, field);
    sn_command_text(f->conn.ch, value);
}

/* Counts the fields that have changed (`write` false), or writes them and makes them clean. */
static unsigned put_fields(sn_fleet *f, bool write)
{
    sn_figures *g = f->figures;
    unsigned n = 0;
    char name[16], value[96];
    for (unsigned i = 0; i < STATUSES + DEPTHS; i++) {
        bool *dirty = i < STATUSES ? &g->status_dirty[i] : &g->depth_dirty[i - STATUSES];
        if (!*dirty)
            continue;
        snprintf(name, sizeof name, "%u", i < STATUSES ? i : i - STATUSES);
        snprintf(value, sizeof value, "%llu",
                 (unsigned long long)(i < STATUSES ? g->status[i] : g->depth[i - STATUSES]));
        write_field(f, write, i < STATUSES ? "s:" : "d:", name, value);
        *dirty = !write;
        n++;
    }
    for (size_t i = 0; i < 2 * HOSTS; i++) {
        figure_host *h = &g->host[i];
        if (!h->dirty || strlen(h->origin) >= URL)
            continue;
        snprintf(value, sizeof value, "%llu %llu %llu %llu", (unsigned long long)h->pages,
                 (unsigned long long)h->errors, (unsigned long long)h->bytes,
                 (unsigned long long)h->ms);
        write_field(f, write, "h:", h->origin, value);
        h->dirty = !write;
        n++;
    }
    for (size_t i = 0; i < SLOWEST; i++) {
        if (!g->slow[i].dirty)
            continue;
        snprintf(value, sizeof value, "%llu %d", (unsigned long long)g->slow[i].ms,
                 g->slow[i].status);
        write_field(f, write, "w:", g->slow[i].url, value);
        g->slow[i].dirty = !write;
        n++;
    }
    return n;
}

static unsigned put_broken(sn_fleet *f, bool write)
{
    sn_figures *g = f->figures;
    unsigned n = (unsigned)g->pages;
    if (!write)
        return n;
    for (size_t i = 0; i < g->pages; i++) {
        write_field(f, true, "b:", g->page[i].url, g->page[i].about);
        free(g->page[i].url);
        free(g->page[i].about);
    }
    g->pages = 0;
    return n;
}

seen_status sn_figures_write(sn_fleet *f, bool now)
{
    enum { WRITE_MS = 5000 };
    int64_t at = sn_fleet_now();
    if (!f->figures || (!now && at - f->figures_at < WRITE_MS))
        return SEEN_OK;
    f->figures_at = at;
    pthread_mutex_lock(&f->lock);
    unsigned n = put_fields(f, false) + put_broken(f, false);
    if (n > 0) {
        sn_command_begin(f->conn.ch, 0, sn_fleet_slot_session(&f->conn, f->session), 2 + 2 * n);
        sn_command_text(f->conn.ch, "HSET");
        sn_fleet_key_session(&f->conn, f->session, ":f");
        put_fields(f, true);
        put_broken(f, true);
    }
    pthread_mutex_unlock(&f->lock);
    seen_status status = n ? sn_fleet_run(&f->conn, NULL, NULL, f->clerk_error) : SEEN_OK;
    /* A server without memory: the figures are not worth more than the crawl. */
    return status == SEEN_ERR_SPACE ? SEEN_OK : status;
}

/* ---- reading ---- */

typedef struct reading {
    sn_fleet_figure *each;
    void *user;
    struct point {
        uint64_t at, pages;
    } * time;
    size_t count;
    bool failed;
} reading;

static int by_time(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Pages since the point before, and how many seconds they took. A pause ends with a point of its
 * own (beat.lua). */
static void report_times(const reading *g)
{
    for (size_t i = 0; i < g->count; i++) {
        char name[32], value[48];
        struct point now = g->time[i], before = i > 0 ? g->time[i - 1] : (struct point){now.at, 0};
        uint64_t seconds = now.at - before.at;
        snprintf(name, sizeof name, "t:%llu", (unsigned long long)now.at);
        snprintf(value, sizeof value, "%llu %llu",
                 (unsigned long long)(now.pages > before.pages ? now.pages - before.pages : 0),
                 (unsigned long long)(seconds < 1 ? 1 : seconds));
        g->each(g->user, name, value);
    }
}

static bool take_session(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    reading *g = context;
    (void)tag, (void)again;
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY)
        return false;
    free(g->time);
    g->count = 0;
    g->time = calloc(r->items, sizeof *g->time);
    g->failed |= !g->time;
    for (size_t i = 1; i + 1 < r->items && !g->failed; i += 2) {
        const char *name = sn_reply_text(r, i);
        if (strncmp(name, "t:", 2) == 0)
            g->time[g->count++] = (struct point){strtoull(name + 2, NULL, 10),
                                                 (uint64_t)sn_fleet_reply_number(r, i + 1)};
        else
            g->each(g->user, name, sn_reply_text(r, i + 1));
    }
    if (g->count > 1)
        qsort(g->time, g->count, sizeof *g->time, by_time);
    report_times(g);
    return true;
}

seen_status sn_fleet_figures(const char *where, const char *ca_file, sn_fleet_figure *each,
                             void *user, seen_error *error)
{
    sn_fleet_connection conn;
    sn_fleet_status s;
    reading g = {.each = each, .user = user};
    seen_status status = sn_fleet_read_status(where, ca_file, &s, error);
    if (status != SEEN_OK)
        return status;
    status = sn_fleet_find(where, ca_file, &conn, NULL, NULL, error);
    for (size_t i = 0; i < s.worker_count && status == SEEN_OK; i++) {
        sn_command_begin(conn.ch, 0, sn_fleet_slot_session(&conn, s.workers[i].session), 2);
        sn_command_text(conn.ch, "HGETALL");
        sn_fleet_key_session(&conn, s.workers[i].session, ":f");
        status = sn_fleet_run(&conn, take_session, &g, error);
    }
    if (status == SEEN_OK && g.failed)
        status = sn_error_set(error, SEEN_ERR_MEMORY, "out of memory");
    char bytes[24];
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)s.counts.bytes);
    if (status == SEEN_OK)
        each(user, "bytes", bytes);
    free(g.time);
    sn_fleet_connection_close(&conn);
    sn_fleet_free_status(&s);
    return status;
}
