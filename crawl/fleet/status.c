/* Information about a crawl for an operator, without reading a queue. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls `field` for each field of a hash. */
typedef void take_field(void *to, const char *name, const char *text, uint64_t number);

static bool each_field(const sn_reply *r, take_field *take, void *to)
{
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY || r->items % 2 != 1)
        return false;
    for (size_t i = 1; i + 1 < r->items; i += 2)
        take(to, sn_reply_text(r, i), sn_reply_text(r, i + 1),
             (uint64_t)sn_fleet_reply_number(r, i + 1));
    return true;
}

/* ---- the registry ---- */

typedef struct about {
    sn_fleet_status *status;
    char id[17], format[8];
    uint64_t buckets, created, now;
} about;

static void registry_field(void *to, const char *name, const char *text, uint64_t number)
{
    about *a = to;
    sn_fleet_status *s = a->status;
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {{"buckets", &a->buckets}, {"created", &a->created}, {"level", &s->level},
                   {"started", &s->started}, {"limit", &s->limit},     {"memory", &s->memory},
                   {"lease", &s->lease_ms},  {"delay", &s->delay_ms}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(numbers[i].name, name) == 0)
            *numbers[i].to = number;
    if (strcmp(name, "id") == 0)
        snprintf(a->id, sizeof a->id, "%s", text);
    if (strcmp(name, "format") == 0)
        snprintf(a->format, sizeof a->format, "%s", text);
    if (strcmp(name, "state") == 0)
        snprintf(s->state, sizeof s->state, "%s", text);
    if (strcmp(name, "levels") == 0)
        s->levels = number != 0;
    if (strcmp(name, "own_filter") == 0)
        s->own_filter = number != 0;
}

static bool take_registry(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    about *a = context;
    (void)again;
    if (tag == 0)
        return each_field(r, registry_field, a);
    if (!sn_reply_is_row(r, 2))
        return false;
    a->now =
        (uint64_t)sn_fleet_reply_number(r, 1) * 1000 + (uint64_t)sn_fleet_reply_number(r, 2) / 1000;
    return true;
}

static seen_status read_registry(sn_fleet_connection *l, about *a, seen_error *error)
{
    sn_command_begin(l->ch, 0, l->name_slot, 2);
    sn_command_text(l->ch, "HGETALL");
    sn_command_text(l->ch, l->name);
    sn_command_begin(l->ch, 1, l->name_slot, 1);
    sn_command_text(l->ch, "TIME");
    seen_status status = sn_fleet_run(l, take_registry, a, error);
    if (status != SEEN_OK)
        return status;
    if (a->format[0] == '\0')
        return sn_error_set(error, SEEN_ERR_NOT_FOUND, "%s: there is no crawl of this name",
                            sn_client_address(l->client)->shown);
    if (strcmp(a->format, "1") != 0)
        return sn_error_set(error, SEEN_ERR_FORMAT,
                            "%s: this crawl has format %s; this version of seen knows format 1",
                            sn_client_address(l->client)->shown, a->format);
    a->status->age_ms = a->now > a->created ? a->now - a->created : 0;
    return sn_fleet_connection_name(l, a->id, (unsigned)a->buckets, error);
}

seen_status sn_fleet_find(const char *where, const char *ca_file, sn_fleet_connection *conn,
                          sn_fleet_status *status, uint64_t *now, seen_error *error)
{
    sn_fleet_status ignored = {0};
    about a = {.status = status ? status : &ignored};
    seen_status found = sn_fleet_connection_open(where, ca_file, conn, error);
    if (found == SEEN_OK)
        found = read_registry(conn, &a, error);
    if (found != SEEN_OK)
        sn_fleet_connection_close(conn);
    if (now)
        *now = a.now;
    return found;
}

/* ---- buckets ---- */

enum { ASK_META, ASK_READY, ASK_DUE, ASK_OWNED, ASK_FAILED, ASK_COUNT };

static void meta_field(void *to, const char *name, const char *text, uint64_t number)
{
    sn_fleet_status *s = to;
    (void)text;
    if (strncmp(name, "pushed:", 7) == 0)
        s->pushed += number;
    if (strncmp(name, "done:", 5) == 0)
        s->done += number;
    if (strcmp(name, "bytes") == 0)
        s->bytes += number;
}

static bool take_bucket(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    sn_fleet_status *s = context;
    uint64_t *const sums[ASK_COUNT] = {NULL, &s->ready, &s->due, &s->owned, &s->failed};
    (void)again;
    if (tag % ASK_COUNT == ASK_META)
        return each_field(r, meta_field, s);
    if (r->items != 1 || r->item[0].type != REDIS_REPLY_INTEGER)
        return false;
    *sums[tag % ASK_COUNT] += (uint64_t)r->item[0].number;
    return true;
}

static seen_status read_buckets(sn_fleet_connection *l, sn_fleet_status *s, uint64_t now,
                                seen_error *error)
{
    static const struct {
        const char *command, *key;
    } ask[] = {{"HGETALL", "meta"},
               {"ZCARD", "ready"},
               {"ZCOUNT", "ready"},
               {"HLEN", "owner"},
               {"LLEN", "failed"}};
    uint64_t until = s->level * UINT64_C(4398046511104) + now;
    for (unsigned b = 0; b < l->buckets; b++)
        for (unsigned i = 0; i < ASK_COUNT; i++) {
            sn_command_begin(l->ch, b * ASK_COUNT + i, l->slot[b], i == ASK_DUE ? 4 : 2);
            sn_command_text(l->ch, ask[i].command);
            sn_fleet_key_bucket(l, b, ask[i].key);
            if (i != ASK_DUE)
                continue;
            sn_command_number(l->ch, 0);
            sn_command_number(l->ch, until);
        }
    return sn_fleet_run(l, take_bucket, s, error);
}

/* ---- workers ---- */

static bool take_workers(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    sn_fleet_status *s = context;
    (void)tag, (void)again;
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY)
        return false;
    s->workers = calloc(r->items, sizeof *s->workers);
    for (size_t i = 1; i < r->items && s->workers; i++)
        snprintf(s->workers[s->worker_count++].session, sizeof s->workers->session, "%s",
                 sn_reply_text(r, i));
    return true;
}

typedef struct reading {
    sn_fleet_status *status;
    sn_fleet_worker *worker;
    uint64_t now;
} reading;

static void worker_field(void *to, const char *name, const char *text, uint64_t number)
{
    reading *g = to;
    sn_fleet_worker *w = g->worker;
    sn_crawl_counts *c = &w->counts;
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {{"pages", &c->pages},
                   {"ok", &c->ok},
                   {"redirects", &c->redirects},
                   {"bytes", &c->bytes},
                   {"links", &c->links},
                   {"failed", &c->failed},
                   {"robots", &c->robots},
                   {"retried", &c->retried},
                   {"truncated", &c->truncated},
                   {"found", &c->found},
                   {"dropped", &c->dropped},
                   {"host_limit", &c->host_limit},
                   {"hosts", &w->hosts},
                   {"slow_urls", &w->slow_urls},
                   {"slow_delay", &w->slow_delay_ms},
                   {"transfers", &w->transfers},
                   {"rate", &w->per_minute}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(numbers[i].name, name) == 0)
            *numbers[i].to = number;
    if (strcmp(name, "at") == 0)
        w->silent_ms = g->now > number ? g->now - number : 0;
    if (strcmp(name, "state") == 0)
        snprintf(w->state, sizeof w->state, "%s", text);
    if (strcmp(name, "name") == 0)
        snprintf(w->name, sizeof w->name, "%s", text);
    if (strcmp(name, "full") == 0)
        w->full = number != 0;
    if (strcmp(name, "slow_origin") == 0)
        snprintf(w->slow_origin, sizeof w->slow_origin, "%s", text);
}

static void add_counts(sn_crawl_counts *to, const sn_crawl_counts *from)
{
    to->pages += from->pages;
    to->ok += from->ok;
    to->redirects += from->redirects;
    to->bytes += from->bytes;
    to->links += from->links;
    to->failed += from->failed;
    to->robots += from->robots;
    to->retried += from->retried;
    to->truncated += from->truncated;
    to->found += from->found;
    to->dropped += from->dropped;
    to->host_limit += from->host_limit;
}

static bool take_worker(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    reading *g = context;
    sn_fleet_status *s = g->status;
    (void)again;
    g->worker = &s->workers[tag];
    if (!each_field(r, worker_field, g))
        return false;
    add_counts(&s->counts, &g->worker->counts);
    bool live = strcmp(g->worker->state, "live") == 0;
    s->live += live && g->worker->silent_ms <= s->lease_ms;
    return true;
}

static seen_status read_workers(sn_fleet_connection *l, sn_fleet_status *s, uint64_t now,
                                seen_error *error)
{
    reading g = {.status = s, .now = now};
    sn_command_begin(l->ch, 0, l->crawl_slot, 2);
    sn_command_text(l->ch, "HKEYS");
    sn_fleet_key_crawl(l, "workers");
    seen_status status = sn_fleet_run(l, take_workers, s, error);
    if (status == SEEN_OK && !s->workers)
        return sn_error_set(error, SEEN_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < s->worker_count && status == SEEN_OK; i++) {
        sn_command_begin(l->ch, (uint32_t)i, sn_fleet_slot_session(l, s->workers[i].session), 2);
        sn_command_text(l->ch, "HGETALL");
        sn_fleet_key_session(l, s->workers[i].session, "");
    }
    return status == SEEN_OK && s->worker_count > 0 ? sn_fleet_run(l, take_worker, &g, error)
                                                    : status;
}

/* ---- scope ---- */

seen_status sn_fleet_read_status(const char *where, const char *ca_file, sn_fleet_status *s,
                                 seen_error *error)
{
    sn_fleet_connection conn;
    uint64_t now;
    *s = (sn_fleet_status){0};
    seen_status status = sn_fleet_find(where, ca_file, &conn, s, &now, error);
    if (status != SEEN_OK)
        return status;
    status = read_buckets(&conn, s, now, error);
    if (status == SEEN_OK)
        status = read_workers(&conn, s, now, error);
    /* Estimates are as old as the heartbeats. */
    for (size_t i = 0; i < s->worker_count; i++)
        if (s->workers[i].slow_urls > s->pushed - s->done)
            s->workers[i].slow_urls = s->pushed - s->done;
    sn_fleet_connection_close(&conn);
    if (status != SEEN_OK)
        sn_fleet_free_status(s);
    return status;
}

void sn_fleet_free_status(sn_fleet_status *s)
{
    free(s->workers);
    *s = (sn_fleet_status){0};
}
