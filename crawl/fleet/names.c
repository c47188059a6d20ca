/* Keys, buckets and scripts of a crawl in Redis.
 *
 *     seencrawl:NAME                     registry: state, level, settings
 *     seencrawl:{ID}:WHAT                of the crawl: seeds, workers
 *     seencrawl:{ID:s:SESSION}[:j]       of a session: state, beat, counters; its journal
 *     seencrawl:{ID:s:SESSION}:p         of a session: the record of what it has pushed
 *     seencrawl:{ID:s:SESSION}:f         of a session: figures for the report
 *     seencrawl:{ID:TAG}:WHAT            of a bucket: ready owner meta applied tired pages failed
 *     seencrawl:{ID:TAG}:q:QUEUE, :s:    of a queue: its list; what is done of it
 *     seencrawl:{ID:TAG}:r:HOST          of a host: its robots.txt
 *
 * A script names all its keys, which are in one slot: during a resharding it is refused as a whole
 * or runs as a whole. The tags are chosen so that buckets are spread evenly over the slots. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t sn_fleet_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- connection ---- */

const char *sn_fleet_show(const char *where, char text[SN_FLEET_SHOWN])
{
    sn_redis_address address;
    bool ok = sn_redis_address_parse(where, &address, NULL) == SEEN_OK;
    snprintf(text, SN_FLEET_SHOWN, "%s", ok ? address.shown : "");
    return text;
}

seen_status sn_fleet_connection_open(const char *where, const char *ca_file,
                                     sn_fleet_connection *conn, seen_error *error)
{
    sn_redis_address address;
    *conn = (sn_fleet_connection){0};
    seen_status status = sn_redis_address_parse(where, &address, error);
    if (status != SEEN_OK)
        return status;
    status =
        sn_client_connect(&address, &(sn_client_options){.tls_ca = ca_file}, &conn->client, error);
    if (status == SEEN_OK)
        status = sn_client_take(conn->client, &conn->ch, error);
    if (status != SEEN_OK) {
        sn_fleet_connection_close(conn);
        return status;
    }
    for (int i = 0; i < SN_LUA_COUNT; i++)
        sn_script_init(&conn->script[i], sn_fleet_lua[i]);
    int n = snprintf(conn->name, sizeof conn->name, "seencrawl:%.*s", (int)address.name_len,
                     address.name);
    conn->name_slot = sn_slot_of(conn->name, (size_t)n);
    return SEEN_OK;
}

void sn_fleet_connection_close(sn_fleet_connection *conn)
{
    if (conn->ch)
        sn_client_return(conn->client, conn->ch);
    if (conn->client)
        sn_client_disconnect(conn->client);
    free(conn->tag);
    free(conn->slot);
    *conn = (sn_fleet_connection){0};
}

static uint16_t slot_of_tag(const sn_fleet_connection *conn, const char *tag)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "{%s:%s}", conn->id, tag);
    return sn_slot_of(key, (size_t)n);
}

seen_status sn_fleet_connection_name(sn_fleet_connection *conn, const char *id, unsigned buckets,
                                     seen_error *error)
{
    char key[SN_FLEET_KEY];
    if (strlen(id) != 16 || strspn(id, "0123456789abcdef") != 16 || buckets < 1 ||
        buckets > SN_FLEET_BUCKETS_MAX)
        return sn_error_set(error, SEEN_ERR_FORMAT, "%s: its crawl is damaged: no id or buckets",
                            sn_client_address(conn->client)->shown);
    memcpy(conn->id, id, 17);
    conn->buckets = buckets;
    conn->crawl_slot = sn_slot_of(key, (size_t)snprintf(key, sizeof key, "{%s}", id));
    conn->tag = calloc(buckets, sizeof *conn->tag);
    conn->slot = calloc(buckets, sizeof *conn->slot);
    if (!conn->tag || !conn->slot)
        return sn_error_set(error, SEEN_ERR_MEMORY, "out of memory");
    for (unsigned b = 0; b < buckets; b++)
        for (unsigned suffix = 0;; suffix++) {
            snprintf(conn->tag[b], sizeof *conn->tag, "%u.%u", b, suffix);
            conn->slot[b] = slot_of_tag(conn, conn->tag[b]);
            if (conn->slot[b] * buckets / SN_SLOTS == b)
                break;
        }
    return SEEN_OK;
}

/* ---- keys ---- */

void sn_fleet_key_crawl(const sn_fleet_connection *conn, const char *what)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "seencrawl:{%s}:%s", conn->id, what);
    sn_command_arg(conn->ch, key, (size_t)n);
}

void sn_fleet_key_bucket(const sn_fleet_connection *conn, unsigned bucket, const char *what)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "seencrawl:{%s:%s}:%s", conn->id, conn->tag[bucket], what);
    sn_command_arg(conn->ch, key, (size_t)n);
}

void sn_fleet_key_queue(const sn_fleet_connection *conn, unsigned bucket, const char *what,
                        const char *queue)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "seencrawl:{%s:%s}:%s:%s", conn->id, conn->tag[bucket], what,
                     queue);
    sn_command_arg(conn->ch, key, (size_t)n);
}

void sn_fleet_key_session(const sn_fleet_connection *conn, const char *session, const char *what)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "seencrawl:{%s:s:%s}%s", conn->id, session, what);
    sn_command_arg(conn->ch, key, (size_t)n);
}

uint16_t sn_fleet_slot_session(const sn_fleet_connection *conn, const char *session)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "{%s:s:%s}", conn->id, session);
    return sn_slot_of(key, (size_t)n);
}

/* ---- calls ---- */

void sn_fleet_call(const sn_fleet_connection *conn, uint32_t tag, uint16_t slot,
                   sn_fleet_script script, unsigned keys, unsigned args)
{
    sn_script_begin(conn->ch, tag, slot, &conn->script[script], keys, args);
}

void sn_fleet_busy(sn_fleet_connection *conn, bool busy)
{
    atomic_store(&conn->busy_since, busy ? sn_fleet_now() : 0);
}

static bool accept_any(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    (void)context, (void)tag, (void)again;
    return !sn_reply_is_error(reply);
}

seen_status sn_fleet_run(sn_fleet_connection *conn, sn_reply_handler handler, void *context,
                         seen_error *error)
{
    sn_fleet_busy(conn, true);
    seen_status status = sn_channel_run(conn->ch, handler ? handler : accept_any, context, error);
    sn_fleet_busy(conn, false);
    return status;
}

static bool take_number(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    (void)tag, (void)again;
    if (reply->items < 1 || reply->item[0].type != REDIS_REPLY_INTEGER)
        return false;
    *(long long *)context = reply->item[0].number;
    return true;
}

seen_status sn_fleet_run_number(sn_fleet_connection *conn, long long *number, seen_error *error)
{
    *number = 0;
    return sn_fleet_run(conn, take_number, number, error);
}

long long sn_fleet_reply_number(const sn_reply *r, size_t item)
{
    if (r->item[item].type == REDIS_REPLY_INTEGER)
        return r->item[item].number;
    return r->item[item].type == REDIS_REPLY_STRING ? strtoll(sn_reply_text(r, item), NULL, 10) : 0;
}

/* ---- hosts ---- */

void sn_fleet_host(const sn_fleet *f, const char *origin, size_t len, char host[17], uint64_t *hash)
{
    *hash = seen_hash_key(&f->hosts, origin, len).lo;
    snprintf(host, 17, "%016llx", (unsigned long long)*hash);
}

unsigned sn_fleet_bucket(const sn_fleet_connection *conn, const char *host)
{
    return (unsigned)(strtoull((char[]){host[0], host[1], host[2], host[3], host[4], host[5],
                                        host[6], host[7], '\0'},
                               NULL, 16) %
                      conn->buckets);
}
