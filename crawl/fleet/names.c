/* Keys, buckets and scripts of a crawl in Redis.
 *
 *     seencrawl:NAME                     registry: state, level, settings
 *     seencrawl:{ID}:WHAT                of the crawl: seeds, workers
 *     seencrawl:{ID:s:SESSION}[:j]       of a session: state, beat, counters; its journal
 *     seencrawl:{ID:s:SESSION}:f         of a session: figures for the report
 *     seencrawl:{ID:TAG}:WHAT            of a bucket: ready owner meta applied tired pages failed
 *     seencrawl:{ID:TAG}:q:QUEUE, :s:    of a queue: its list; what is done of it
 *     seencrawl:{ID:TAG}:r:HOST          of a host: its robots.txt
 *
 * A script names all its keys, which are in one slot: during a resharding it is refused as a whole
 * or runs as a whole. The tags are chosen so that buckets are spread evenly over the slots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "crawl/fleet/internal.h"

int64_t sn_fleet_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- connection ---- */

seen_status sn_fleet_link_open(const char *where, const char *ca_file, sn_fleet_link *link,
                               seen_error *error)
{
    sn_redis_address address;
    *link = (sn_fleet_link){0};
    seen_status status = sn_redis_address_parse(where, &address, error);
    if (status != SEEN_OK)
        return status;
    status =
        sn_client_connect(&address, &(sn_client_options){.tls_ca = ca_file}, &link->client, error);
    if (status == SEEN_OK)
        status = sn_client_take(link->client, &link->ch, error);
    if (status != SEEN_OK) {
        sn_fleet_link_close(link);
        return status;
    }
    for (int i = 0; i < SN_LUA_COUNT; i++)
        sn_script_init(&link->script[i], sn_fleet_lua[i]);
    int n = snprintf(link->name, sizeof link->name, "seencrawl:%.*s", (int)address.name_len,
                     address.name);
    link->name_slot = sn_slot_of(link->name, (size_t)n);
    return SEEN_OK;
}

void sn_fleet_link_close(sn_fleet_link *link)
{
    if (link->ch)
        sn_client_give(link->client, link->ch);
    if (link->client)
        sn_client_disconnect(link->client);
    free(link->tag);
    free(link->slot);
    *link = (sn_fleet_link){0};
}

static uint16_t slot_of_tag(const sn_fleet_link *link, const char *tag)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "{%s:%s}", link->id, tag);
    return sn_slot_of(key, (size_t)n);
}

seen_status sn_fleet_link_name(sn_fleet_link *link, const char *id, unsigned buckets,
                               seen_error *error)
{
    char key[SN_FLEET_KEY];
    if (strlen(id) != 16 || strspn(id, "0123456789abcdef") != 16 || buckets < 1 ||
        buckets > SN_FLEET_BUCKETS_MAX)
        return sn_error_set(error, SEEN_ERR_FORMAT, "%s: its crawl is damaged: no id or buckets",
                            sn_client_address(link->client)->shown);
    memcpy(link->id, id, 17);
    link->buckets = buckets;
    link->crawl_slot = sn_slot_of(key, (size_t)snprintf(key, sizeof key, "{%s}", id));
    link->tag = calloc(buckets, sizeof *link->tag);
    link->slot = calloc(buckets, sizeof *link->slot);
    if (!link->tag || !link->slot)
        return sn_error_set(error, SEEN_ERR_MEMORY, "out of memory");
    for (unsigned b = 0; b < buckets; b++)
        for (unsigned suffix = 0;; suffix++) {
            snprintf(link->tag[b], sizeof *link->tag, "%u.%u", b, suffix);
            link->slot[b] = slot_of_tag(link, link->tag[b]);
            if (link->slot[b] * buckets / SN_SLOTS == b)
                break;
        }
    return SEEN_OK;
}

/* ---- keys ---- */

void sn_key_crawl(const sn_fleet_link *link, const char *what)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "seencrawl:{%s}:%s", link->id, what);
    sn_command_arg(link->ch, key, (size_t)n);
}

void sn_key_bucket(const sn_fleet_link *link, unsigned bucket, const char *what)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "seencrawl:{%s:%s}:%s", link->id, link->tag[bucket], what);
    sn_command_arg(link->ch, key, (size_t)n);
}

void sn_key_queue(const sn_fleet_link *link, unsigned bucket, const char *what, const char *queue)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "seencrawl:{%s:%s}:%s:%s", link->id, link->tag[bucket], what,
                     queue);
    sn_command_arg(link->ch, key, (size_t)n);
}

void sn_key_session(const sn_fleet_link *link, const char *session, bool journal)
{
    char key[SN_FLEET_KEY];
    int n =
        snprintf(key, sizeof key, "seencrawl:{%s:s:%s}%s", link->id, session, journal ? ":j" : "");
    sn_command_arg(link->ch, key, (size_t)n);
}

void sn_key_figures(const sn_fleet_link *link, const char *session)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "seencrawl:{%s:s:%s}:f", link->id, session);
    sn_command_arg(link->ch, key, (size_t)n);
}

uint16_t sn_slot_session(const sn_fleet_link *link, const char *session)
{
    char key[SN_FLEET_KEY];
    int n = snprintf(key, sizeof key, "{%s:s:%s}", link->id, session);
    return sn_slot_of(key, (size_t)n);
}

/* ---- calls ---- */

void sn_fleet_call(const sn_fleet_link *link, uint32_t tag, uint16_t slot, sn_fleet_script script,
                   unsigned keys, unsigned args)
{
    sn_script_begin(link->ch, tag, slot, &link->script[script], keys, args);
}

void sn_fleet_busy(sn_fleet_link *link, bool busy)
{
    atomic_store(&link->busy_since, busy ? sn_fleet_now() : 0);
}

static bool accept_any(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    (void)context, (void)tag, (void)again;
    return !sn_reply_is_error(reply);
}

seen_status sn_fleet_run(sn_fleet_link *link, sn_reply_handler handler, void *context,
                         seen_error *error)
{
    sn_fleet_busy(link, true);
    seen_status status = sn_channel_run(link->ch, handler ? handler : accept_any, context, error);
    sn_fleet_busy(link, false);
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

seen_status sn_fleet_run_number(sn_fleet_link *link, long long *number, seen_error *error)
{
    *number = 0;
    return sn_fleet_run(link, take_number, number, error);
}

long long sn_reply_number(const sn_reply *r, size_t item)
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

unsigned sn_fleet_bucket(const sn_fleet_link *link, const char *host)
{
    return (unsigned)(strtoull((char[]){host[0], host[1], host[2], host[3], host[4], host[5],
                                        host[6], host[7], '\0'},
                               NULL, 16) %
                      link->buckets);
}
