/* Commands that look at a crawl or change it without being one of its workers. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool take_text(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    char **text = context;
    (void)tag, (void)again;
    if (r->items != 1 || sn_reply_is_error(r))
        return false;
    if (!sn_fleet_reply_nil(r, 0))
        *text = strdup(sn_reply_text(r, 0));
    return true;
}

seen_status sn_fleet_settings(const char *where, const char *ca_file, char **settings,
                              seen_error *error)
{
    sn_fleet_connection conn;
    *settings = NULL;
    seen_status status = sn_fleet_connection_open(where, ca_file, &conn, error);
    if (status != SEEN_OK)
        return status;
    sn_command_begin(conn.ch, 0, conn.name_slot, 3);
    sn_command_text(conn.ch, "HGET");
    sn_command_text(conn.ch, conn.name);
    sn_command_text(conn.ch, "settings");
    status = sn_fleet_run(&conn, take_text, settings, error);
    sn_fleet_connection_close(&conn);
    return status;
}

/* ---- state ---- */

static bool is_over(const sn_fleet_status *s)
{
    return strcmp(s->state, "done") == 0 || strcmp(s->state, "limit") == 0 ||
           strcmp(s->state, "drop") == 0;
}

static seen_status refuse_over(const char *where, seen_error *error)
{
    char shown[SN_FLEET_SHOWN];
    return sn_error_set(error, SEEN_ERR_ARGUMENT, "%s: this crawl has ended",
                        sn_fleet_show(where, shown));
}

seen_status sn_fleet_set_state(const char *where, const char *ca_file, const char *state,
                               seen_error *error)
{
    sn_fleet_connection conn;
    sn_fleet_status about = {0};
    long long changed;
    seen_status status = sn_fleet_find(where, ca_file, &conn, &about, NULL, error);
    if (status != SEEN_OK)
        return status;
    if (is_over(&about)) {
        status = refuse_over(where, error);
    } else {
        sn_fleet_call(&conn, 0, conn.name_slot, SN_LUA_CHANGE, 1, 5);
        sn_command_text(conn.ch, conn.name);
        sn_command_text(conn.ch, "state");
        sn_command_text(conn.ch, about.state);
        sn_command_text(conn.ch, "");
        sn_command_text(conn.ch, "state");
        sn_command_text(conn.ch, state);
        status = sn_fleet_run_number(&conn, &changed, error);
        if (status == SEEN_OK && changed != 1)
            status = sn_error_set(error, SEEN_ERR_CHANGED, "%s: its state changed; try again",
                                  sn_client_address(conn.client)->shown);
    }
    sn_fleet_connection_close(&conn);
    return status;
}

seen_status sn_fleet_set_memory(const char *where, const char *ca_file, uint64_t bytes,
                                seen_error *error)
{
    sn_fleet_connection conn;
    seen_status status = sn_fleet_find(where, ca_file, &conn, NULL, NULL, error);
    if (status != SEEN_OK)
        return status;
    sn_command_begin(conn.ch, 0, conn.name_slot, 4);
    sn_command_text(conn.ch, "HSET");
    sn_command_text(conn.ch, conn.name);
    sn_command_text(conn.ch, "memory");
    sn_command_number(conn.ch, bytes);
    status = sn_fleet_run(&conn, NULL, NULL, error);
    sn_fleet_connection_close(&conn);
    return status;
}

/* ---- settings ---- */

static seen_status refuse_live(const char *where, uint64_t live, const char *otherwise,
                               seen_error *error)
{
    char shown[SN_FLEET_SHOWN];
    return sn_error_set(error, SEEN_ERR_ARGUMENT,
                        "%s: %" PRIu64 " of its workers %s live: stop it first%s",
                        sn_fleet_show(where, shown), live, live == 1 ? "is" : "are", otherwise);
}

/* The settings with another delay: a new text. NULL: out of memory, or they have none. */
static char *with_delay(const char *settings, uint64_t delay_ms)
{
    static const char name[] = "delay-ms ";
    size_t room = strlen(settings) + 32;
    char *text = malloc(room);
    const char *line = settings;
    while (line && strncmp(line, name, strlen(name)) != 0) {
        line = strchr(line, '\n');
        line += line != NULL;
    }
    if (!text || !line) {
        free(text);
        return NULL;
    }
    snprintf(text, room, "%.*s%s%" PRIu64 "%s", (int)(line - settings), settings, name, delay_ms,
             line + strcspn(line, "\n"));
    return text;
}

static seen_status replace_settings(sn_fleet_connection *conn, const char *old,
                                    const char *settings, uint64_t delay_ms, seen_error *error)
{
    long long changed;
    sn_fleet_call(conn, 0, conn->name_slot, SN_LUA_CHANGE, 1, 7);
    sn_command_text(conn->ch, conn->name);
    sn_command_text(conn->ch, "settings");
    sn_command_text(conn->ch, old);
    sn_command_text(conn->ch, "");
    sn_command_text(conn->ch, "settings");
    sn_command_text(conn->ch, settings);
    sn_command_text(conn->ch, "delay");
    sn_command_number(conn->ch, delay_ms);
    seen_status status = sn_fleet_run_number(conn, &changed, error);
    if (status == SEEN_OK && changed != 1)
        status = sn_error_set(error, SEEN_ERR_CHANGED, "%s: its settings changed; try again",
                              sn_client_address(conn->client)->shown);
    return status;
}

seen_status sn_fleet_set_delay(const char *where, const char *ca_file, uint64_t delay_ms,
                               seen_error *error)
{
    sn_fleet_connection conn;
    sn_fleet_status s;
    char *old = NULL, *settings = NULL;
    seen_status status = sn_fleet_read_status(where, ca_file, &s, error);
    if (status != SEEN_OK)
        return status;
    if (is_over(&s))
        status = refuse_over(where, error);
    else if (s.live > 0)
        status = refuse_live(where, s.live, "", error);
    sn_fleet_free_status(&s);
    if (status == SEEN_OK)
        status = sn_fleet_settings(where, ca_file, &old, error);
    if (status == SEEN_OK && (!old || !(settings = with_delay(old, delay_ms))))
        status = sn_error_memory(error);
    if (status == SEEN_OK)
        status = sn_fleet_find(where, ca_file, &conn, NULL, NULL, error);
    if (status == SEEN_OK) {
        status = replace_settings(&conn, old, settings, delay_ms, error);
        sn_fleet_connection_close(&conn);
    }
    free(old);
    free(settings);
    return status;
}

/* ---- lists ---- */

typedef struct listing {
    sn_fleet_connection *conn;
    sn_fleet_each *each;
    void *user;
    sn_packer *packer;
    size_t got;
    bool enough, damaged;
} listing;

static bool take_lines(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    listing *l = context;
    (void)tag, (void)again;
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY)
        return false;
    l->got = r->items - 1;
    for (size_t i = 1; i < r->items && !l->enough; i++) {
        if (!l->packer) {
            l->enough = !l->each(l->user, sn_reply_text(r, i), r->item[i].len);
            continue;
        }
        sn_packer_urls *u = sn_packer_unpack(l->packer, sn_reply_text(r, i), r->item[i].len);
        l->damaged |= !u;
        for (size_t k = 0; u && k < u->count && !l->enough; k++)
            l->enough = !l->each(l->user, u->url[k].url, u->url[k].len);
        free(u);
    }
    return true;
}

/* Reads a list in pieces. */
static seen_status read_list(listing *l, unsigned bucket, const char *what, const char *queue,
                             seen_error *error)
{
    enum { PIECE = 500 };
    seen_status status = SEEN_OK;
    l->got = PIECE;
    for (uint64_t at = 0; l->got == PIECE && status == SEEN_OK && !l->enough; at += PIECE) {
        sn_command_begin(l->conn->ch, 0, l->conn->slot[bucket], 4);
        sn_command_text(l->conn->ch, "LRANGE");
        if (queue)
            sn_fleet_key_queue(l->conn, bucket, what, queue);
        else
            sn_fleet_key_bucket(l->conn, bucket, what);
        sn_command_number(l->conn->ch, at);
        sn_command_number(l->conn->ch, at + PIECE - 1);
        status = sn_fleet_run(l->conn, take_lines, l, error);
    }
    return status;
}

seen_status sn_fleet_failed(const char *where, const char *ca_file, sn_fleet_each *each, void *user,
                            seen_error *error)
{
    sn_fleet_connection conn;
    seen_status status = sn_fleet_find(where, ca_file, &conn, NULL, NULL, error);
    if (status != SEEN_OK)
        return status;
    listing l = {.conn = &conn, .each = each, .user = user};
    for (unsigned b = 0; b < conn.buckets && status == SEEN_OK && !l.enough; b++)
        status = read_list(&l, b, "failed", NULL, error);
    sn_fleet_connection_close(&conn);
    return status;
}

/* ---- queues ---- */

typedef struct queues {
    char cursor[32];
    sn_buffer names; /* each with a NUL */
    size_t count;
} queues;

static bool take_queues(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    queues *q = context;
    (void)tag, (void)again;
    if (r->items < 3 || r->item[0].type != REDIS_REPLY_ARRAY ||
        r->item[2].type != REDIS_REPLY_ARRAY)
        return false;
    snprintf(q->cursor, sizeof q->cursor, "%s", sn_reply_text(r, 1));
    for (size_t i = 3; i + 1 < r->items; i += 2) {
        if (r->item[i].len >= SN_QUEUE || r->item[i].len < 16)
            continue;
        sn_buffer_put(&q->names, sn_reply_text(r, i), (size_t)r->item[i].len + 1);
        q->count++;
    }
    return !q->names.failed;
}

typedef seen_status each_queue(void *user, unsigned bucket, const char *queue, seen_error *error);

/* Calls `each` for the queues of a bucket that are ready or owned. */
static seen_status visit_queues(sn_fleet_connection *conn, unsigned b, each_queue *each, void *user,
                                seen_error *error)
{
    static const char *const scan[][2] = {{"ZSCAN", "ready"}, {"HSCAN", "owner"}};
    queues q = {0};
    seen_status status = SEEN_OK;
    for (int i = 0; i < 2 && status == SEEN_OK; i++) {
        strcpy(q.cursor, "0");
        do {
            q.names.len = q.count = 0;
            sn_command_begin(conn->ch, 0, conn->slot[b], 5);
            sn_command_text(conn->ch, scan[i][0]);
            sn_fleet_key_bucket(conn, b, scan[i][1]);
            sn_command_text(conn->ch, q.cursor);
            sn_command_text(conn->ch, "COUNT");
            sn_command_text(conn->ch, "500");
            status = sn_fleet_run(conn, take_queues, &q, error);
            for (size_t k = 0, at = 0; k < q.count && status == SEEN_OK; k++) {
                status = each(user, b, q.names.data + at, error);
                at += strlen(q.names.data + at) + 1;
            }
        } while (status == SEEN_OK && strcmp(q.cursor, "0") != 0);
    }
    sn_buffer_free(&q.names);
    return status;
}

static seen_status export_queue(void *user, unsigned bucket, const char *queue, seen_error *error)
{
    listing *l = user;
    return l->enough ? SEEN_OK : read_list(l, bucket, "q", queue, error);
}

seen_status sn_fleet_export(const char *where, const char *ca_file, sn_fleet_each *each, void *user,
                            seen_error *error)
{
    sn_fleet_connection conn;
    seen_status status = sn_fleet_find(where, ca_file, &conn, NULL, NULL, error);
    if (status != SEEN_OK)
        return status;
    listing l = {.conn = &conn, .each = each, .user = user, .packer = sn_packer_create()};
    if (!l.packer)
        status = sn_error_set(error, SEEN_ERR_MEMORY, "out of memory");
    for (unsigned b = 0; b < conn.buckets && status == SEEN_OK; b++)
        status = visit_queues(&conn, b, export_queue, &l, error);
    if (status == SEEN_OK && l.damaged)
        status = sn_error_set(error, SEEN_ERR_FORMAT, "%s: some of its elements are damaged",
                              sn_client_address(conn.client)->shown);
    sn_packer_destroy(l.packer);
    sn_fleet_connection_close(&conn);
    return status;
}

/* ---- drop ---- */

static seen_status drop_queue(void *user, unsigned b, const char *queue, seen_error *error)
{
    sn_fleet_connection *conn = user;
    char host[17] = {0};
    memcpy(host, queue, 16);
    sn_command_begin(conn->ch, 0, conn->slot[b], 4);
    sn_command_text(conn->ch, "UNLINK");
    sn_fleet_key_queue(conn, b, "q", queue);
    sn_fleet_key_queue(conn, b, "s", queue);
    sn_fleet_key_queue(conn, b, "r", host);
    return sn_fleet_run(conn, NULL, NULL, error);
}

static seen_status drop_bucket(sn_fleet_connection *conn, unsigned b, seen_error *error)
{
    static const char *const keys[] = {"ready", "owner", "meta",  "applied",
                                       "tired", "pages", "failed"};
    seen_status status = visit_queues(conn, b, drop_queue, conn, error);
    if (status != SEEN_OK)
        return status;
    sn_command_begin(conn->ch, 0, conn->slot[b], 8);
    sn_command_text(conn->ch, "UNLINK");
    for (int i = 0; i < 7; i++)
        sn_fleet_key_bucket(conn, b, keys[i]);
    return sn_fleet_run(conn, NULL, NULL, error);
}

/* From here on no worker joins, and those that are live leave. */
static seen_status mark_dropped(sn_fleet_connection *conn, bool live, seen_error *error)
{
    enum { NOTICE_MS = 500 };
    sn_command_begin(conn->ch, 0, conn->name_slot, 4);
    sn_command_text(conn->ch, "HSET");
    sn_command_text(conn->ch, conn->name);
    sn_command_text(conn->ch, "state");
    sn_command_text(conn->ch, "drop");
    seen_status status = sn_fleet_run(conn, NULL, NULL, error);
    if (status == SEEN_OK && live)
        nanosleep(&(struct timespec){.tv_nsec = NOTICE_MS * 1000000L}, NULL);
    return status;
}

/* Sessions go first: without one a worker stores no more links. */
static seen_status drop_sessions(sn_fleet_connection *conn, const sn_fleet_status *s,
                                 seen_error *error)
{
    for (size_t i = 0; i < s->worker_count; i++) {
        const char *session = s->workers[i].session;
        sn_command_begin(conn->ch, 0, sn_fleet_slot_session(conn, session), 5);
        sn_command_text(conn->ch, "UNLINK");
        sn_fleet_key_session(conn, session, "");
        sn_fleet_key_session(conn, session, ":j");
        sn_fleet_key_session(conn, session, ":p");
        sn_fleet_key_session(conn, session, ":f");
    }
    return s->worker_count > 0 ? sn_fleet_run(conn, NULL, NULL, error) : SEEN_OK;
}

static seen_status drop_rest(sn_fleet_connection *conn, seen_error *error)
{
    sn_command_begin(conn->ch, 0, conn->crawl_slot, 3);
    sn_command_text(conn->ch, "UNLINK");
    sn_fleet_key_crawl(conn, "seeds");
    sn_fleet_key_crawl(conn, "workers");
    seen_status status = sn_fleet_run(conn, NULL, NULL, error);
    if (status != SEEN_OK)
        return status;
    /* The registry goes last: a drop that was interrupted can be repeated. */
    sn_command_begin(conn->ch, 0, conn->name_slot, 2);
    sn_command_text(conn->ch, "UNLINK");
    sn_command_text(conn->ch, conn->name);
    return sn_fleet_run(conn, NULL, NULL, error);
}

static seen_status drop_set(const char *where, const char *ca_file, seen_error *error)
{
    seen_options options = {.size = sizeof options, .tls_ca = ca_file};
    seen_status status = seen_drop(where, &options, error);
    return status == SEEN_ERR_NOT_FOUND ? SEEN_OK : status;
}

seen_status sn_fleet_drop(const char *where, const char *ca_file, bool force, bool *kept,
                          seen_error *error)
{
    sn_fleet_connection conn;
    sn_fleet_status s;
    seen_status status = sn_fleet_read_status(where, ca_file, &s, error);
    if (status != SEEN_OK)
        return status;
    *kept = !s.own_filter;
    if (s.live > 0 && !force)
        status = refuse_live(where, s.live, ", or use --force", error);
    if (status == SEEN_OK)
        status = sn_fleet_find(where, ca_file, &conn, NULL, NULL, error);
    if (status == SEEN_OK) {
        status = mark_dropped(&conn, s.live > 0, error);
        if (status == SEEN_OK)
            status = drop_sessions(&conn, &s, error);
        for (unsigned b = 0; b < conn.buckets && status == SEEN_OK; b++)
            status = drop_bucket(&conn, b, error);
        if (status == SEEN_OK)
            status = drop_rest(&conn, error);
        sn_fleet_connection_close(&conn);
    }
    if (status == SEEN_OK && s.own_filter)
        status = drop_set(where, ca_file, error);
    sn_fleet_free_status(&s);
    return status;
}
