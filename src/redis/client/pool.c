/* The channels of a client: one for each call in progress. */
#include "redis/client/channel.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void free_channel(sn_channel *ch)
{
    for (unsigned i = 0; i < ch->nodes; i++) {
        sn_connection_close(&ch->node[i]->conn);
        free(ch->node[i]->queue);
        free(ch->node[i]);
    }
    free(ch->node);
    free(ch->owner);
    free(ch->text);
    free(ch->command);
    free(ch);
}

static sn_channel *make_channel(sn_client *redis)
{
    sn_channel *ch = calloc(1, sizeof *ch);
    if (!ch)
        return NULL;
    ch->redis = redis;
    ch->owner = malloc(SN_SLOTS * sizeof *ch->owner);
    if (!ch->owner)
        goto out;
    memset(ch->owner, redis->address.cluster ? 0xff : 0, SN_SLOTS * sizeof *ch->owner);
    for (unsigned i = 0; i < redis->address.seeds; i++) {
        const sn_redis_place *seed = &redis->address.seed[i];
        if (sn_cluster_node(ch, seed->host, strlen(seed->host), seed->port) == SN_NO_NODE)
            goto out;
    }
    ch->stale = redis->address.cluster;
    return ch;
out:
    free_channel(ch);
    return NULL;
}

/* An idle channel, or a slot for another; NULL if all are in use. */
static sn_channel **find_place(sn_client *redis)
{
    sn_channel **empty = NULL;
    for (unsigned i = 0; i < SN_CHANNELS_MAX; i++) {
        sn_channel **place = &redis->channel[i];
        if (*place && !(*place)->busy && !(*place)->wanted)
            return place;
        if (!*place && !empty)
            empty = place;
    }
    return empty;
}

seen_status sn_client_take(sn_client *redis, sn_channel **channel, seen_error *error)
{
    sn_channel **place;
    pthread_mutex_lock(&redis->lock);
    while (!(place = find_place(redis)))
        pthread_cond_wait(&redis->freed, &redis->lock);
    if (!*place)
        *place = make_channel(redis);
    sn_channel *ch = *place;
    if (ch)
        ch->busy = true;
    pthread_mutex_unlock(&redis->lock);
    if (!ch)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", redis->address.shown);
    *channel = ch;
    return SEEN_OK;
}

void sn_client_return(sn_client *redis, sn_channel *ch)
{
    sn_channel_clear(ch);
    pthread_mutex_lock(&redis->lock);
    ch->busy = false;
    pthread_cond_broadcast(&redis->freed);
    pthread_mutex_unlock(&redis->lock);
}

seen_status sn_client_sync(sn_client *redis, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (unsigned i = 0; i < SN_CHANNELS_MAX; i++) {
        pthread_mutex_lock(&redis->lock);
        sn_channel *ch = redis->channel[i];
        while (ch && (ch->busy || ch->wanted)) {
            /* The later of two syncs waits for the earlier. */
            bool marked = ch->busy && !ch->wanted;
            ch->wanted |= marked;
            pthread_cond_wait(&redis->freed, &redis->lock);
            if (marked)
                ch->wanted = false;
        }
        if (ch)
            ch->busy = true;
        pthread_mutex_unlock(&redis->lock);
        if (!ch)
            continue;
        if (status == SEEN_OK)
            status = sn_channel_sync(ch, error);
        sn_client_return(redis, ch);
    }
    return status;
}

void sn_client_disconnect(sn_client *redis)
{
    for (unsigned i = 0; i < SN_CHANNELS_MAX; i++)
        if (redis->channel[i])
            free_channel(redis->channel[i]);
    sn_tls_trust_close(redis->trust);
    pthread_mutex_destroy(&redis->lock);
    pthread_cond_destroy(&redis->freed);
    explicit_bzero(redis->address.password, sizeof redis->address.password);
    free(redis);
}

seen_status sn_channel_open(sn_channel *ch, sn_node *node, seen_error *error)
{
    sn_client_new_epoch(ch->redis);
    const sn_client *redis = ch->redis;
    node->resumed |= node->dirty;
    return sn_connection_open(&node->conn, &node->place, &redis->address, &redis->times,
                              redis->trust, error);
}

/* Without a given retry_ms a wrong address is reported at once. */
static seen_status first_contact(sn_client *redis, sn_channel *ch, uint32_t retry_ms,
                                 seen_error *error)
{
    enum { PAUSE_MS = 100 };
    uint64_t since = sn_clock_ms();
    for (;;) {
        seen_status status = SEEN_ERR_NETWORK;
        for (unsigned i = 0; i < redis->address.seeds && status == SEEN_ERR_NETWORK; i++)
            status = sn_channel_open(ch, ch->node[i], error);
        if (status == SEEN_OK && redis->address.cluster)
            status = sn_cluster_refresh(ch, error);
        if (status != SEEN_ERR_NETWORK || sn_clock_ms() - since >= retry_ms)
            return status;
        struct timespec t = {.tv_nsec = PAUSE_MS * 1000000L};
        nanosleep(&t, NULL);
    }
}

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

seen_status sn_client_connect(const sn_redis_address *address, const sn_client_options *options,
                              sn_client **out, seen_error *error)
{
    sn_client *redis = calloc(1, sizeof *redis);
    if (!redis)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", address->shown);
    redis->address = *address;
    redis->times.connect_ms = or_default(options->connect_ms, 2000);
    redis->times.command_ms = or_default(options->command_ms, 5000);
    /* A cluster needs its node timeout, 15 seconds by default, and an election to fail over. */
    redis->times.retry_ms = or_default(options->retry_ms, address->cluster ? 60000 : 10000);
    pthread_mutex_init(&redis->lock, NULL);
    pthread_cond_init(&redis->freed, NULL);
    sn_channel *ch = NULL;
    seen_status status = SEEN_OK;
    if (address->tls)
        status = sn_tls_trust_open(address, options, &redis->trust, error);
    if (status == SEEN_OK)
        status = sn_client_take(redis, &ch, error);
    if (ch) {
        status = first_contact(redis, ch, options->retry_ms, error);
        sn_client_return(redis, ch);
    }
    if (status == SEEN_OK)
        *out = redis;
    else
        sn_client_disconnect(redis);
    return status;
}

const sn_redis_address *sn_client_address(const sn_client *client)
{
    return &client->address;
}

unsigned sn_client_epoch(sn_client *client)
{
    return atomic_load(&client->epoch);
}

void sn_client_new_epoch(sn_client *client)
{
    atomic_fetch_add(&client->epoch, 1);
}

void sn_client_limit_retry(sn_client *client, uint32_t ms)
{
    client->times.retry_ms = ms;
}
