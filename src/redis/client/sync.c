/* Waits until replicas have the written data.
 *
 * WAIT covers what its own connection wrote, and since Redis 7.2 and in Valkey nothing else. After
 * a reconnect it would return at once, without a confirmation of what the lost connection wrote.
 * Then ROLE decides: the writes are confirmed once a replica has acknowledged the offset that the
 * master had at the first query. (Replicas acknowledge once a second unless a WAIT triggers it, so
 * this takes up to a second.) */
#include "base/clock.h"
#include "base/error.h"
#include "redis/client/channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char ROLE[] = "*1\r\n$4\r\nROLE\r\n";

/* A master that no longer owns slots was replaced by a replica, and has nothing to confirm. */
static bool is_retired(sn_channel *ch, unsigned node)
{
    if (!ch->redis->address.cluster || sn_cluster_refresh(ch, NULL) != SEEN_OK)
        return false;
    for (unsigned slot = 0; slot < SN_SLOTS; slot++)
        if (ch->owner[slot] == node)
            return false;
    return true;
}

/* Reconnects, with the same retry time as the calls that wrote. */
static seen_status reach(sn_channel *ch, unsigned i, bool *retired, seen_error *error)
{
    enum { PAUSE_MS = 100 };
    uint64_t since = sn_clock_ms();
    for (;;) {
        seen_status status = sn_channel_open(ch, ch->node[i], error);
        if (status == SEEN_OK)
            return SEEN_OK;
        *retired = is_retired(ch, i);
        if (*retired)
            return SEEN_OK;
        if (status != SEEN_ERR_NETWORK || sn_clock_ms() - since > ch->redis->times.retry_ms)
            return status;
        struct timespec t = {.tv_nsec = PAUSE_MS * 1000000L};
        nanosleep(&t, NULL);
    }
}

/* Queries its role, on a new connection if this one is broken. */
static seen_status ask_role(sn_channel *ch, unsigned i, bool *retired, seen_error *error)
{
    sn_node *node = ch->node[i];
    seen_status status = SEEN_OK;
    for (int tries = 0; tries < 2 && status == SEEN_OK && !*retired; tries++) {
        if (node->conn.fd < 0)
            status = reach(ch, i, retired, error);
        if (status != SEEN_OK || *retired)
            return status;
        if (sn_connection_call(&node->conn, ROLE, sizeof ROLE - 1, ch->redis->times.command_ms))
            return SEEN_OK;
        sn_connection_close(&node->conn);
    }
    return status;
}

static seen_status unconfirmed(const sn_channel *ch, const sn_node *node, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_SERVER,
                        "%s: no replica of %s:%u has confirmed the last additions; see INFO "
                        "replication",
                        ch->redis->address.shown, node->place.host, node->place.port);
}

/* Whether a replica has acknowledged the offset; the reply is [master, offset, [[host, port,
 * acknowledged]...]]. */
static bool is_acknowledged(const sn_reply *reply, long long offset)
{
    for (size_t i = 4; i + 3 < reply->items; i += 4)
        if (reply->item[i + 3].type == REDIS_REPLY_STRING &&
            strtoll(sn_reply_text(reply, i + 3), NULL, 10) >= offset)
            return true;
    return false;
}

/* The reply of WAIT on this connection; *lost: it broke. */
static seen_status wait_here(sn_channel *ch, sn_node *node, bool *lost, seen_error *error)
{
    const sn_reply *reply = &node->conn.reply;
    uint32_t ms = ch->redis->times.command_ms;
    char wait[64];
    int len = snprintf(wait, sizeof wait, "*3\r\n$4\r\nWAIT\r\n$1\r\n1\r\n$%d\r\n%u\r\n",
                       snprintf(NULL, 0, "%u", ms), ms);
    *lost = !sn_connection_call(&node->conn, wait, (size_t)len, 2 * ms);
    if (*lost)
        return SEEN_OK;
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_INTEGER)
        return sn_errors_from_reply(&ch->redis->address, node, reply, error);
    return reply->item[0].number < 1 ? unconfirmed(ch, node, error) : SEEN_OK;
}

/* [master, offset, [replica...]] */
static bool is_master(const sn_reply *reply)
{
    return reply->items >= 4 && reply->item[0].type == REDIS_REPLY_ARRAY &&
           reply->item[2].type == REDIS_REPLY_INTEGER && reply->item[3].type == REDIS_REPLY_ARRAY;
}

/* Polls ROLE until a replica has acknowledged the master's offset; the first reply was already
 * read. */
static seen_status wait_for_offset(sn_channel *ch, sn_node *node, bool *lost, seen_error *error)
{
    enum { PAUSE_MS = 20, ACK_MS = 1000 }; /* a replica acknowledges once per ACK_MS */
    const sn_reply *reply = &node->conn.reply;
    uint32_t ms = ch->redis->times.command_ms;
    long long offset = reply->item[2].number;
    uint64_t since = sn_clock_ms();
    while (!is_acknowledged(reply, offset)) {
        if (sn_clock_ms() - since >= ms + ACK_MS)
            return unconfirmed(ch, node, error);
        struct timespec t = {.tv_nsec = PAUSE_MS * 1000000L};
        nanosleep(&t, NULL);
        *lost = !sn_connection_call(&node->conn, ROLE, sizeof ROLE - 1, ms);
        if (*lost)
            return SEEN_OK;
        if (!is_master(reply))
            return unconfirmed(ch, node, error);
    }
    return SEEN_OK;
}

static seen_status sync_node(sn_channel *ch, unsigned i, seen_error *error)
{
    sn_node *node = ch->node[i];
    const sn_reply *reply = &node->conn.reply;
    bool retired = false, lost = false;
    seen_status status = ask_role(ch, i, &retired, error);
    if (status != SEEN_OK || retired)
        return status;
    lost = node->conn.fd < 0;
    if (!lost && (reply->items < 4 || reply->item[0].type != REDIS_REPLY_ARRAY))
        return sn_errors_from_reply(&ch->redis->address, node, reply, error);
    /* Without replicas there is nothing to wait for; a replica has none of our writes. */
    if (!lost && is_master(reply) && reply->item[3].number > 0)
        status = node->resumed ? wait_for_offset(ch, node, &lost, error)
                               : wait_here(ch, node, &lost, error);
    if (!lost)
        return status;
    sn_connection_close(&node->conn);
    return sn_error_set(
        error, SEEN_ERR_NETWORK, "%s: %s:%u was lost before a replica confirmed: %s",
        ch->redis->address.shown, node->place.host, node->place.port, node->conn.why);
}

seen_status sn_channel_sync(sn_channel *ch, seen_error *error)
{
    for (unsigned i = 0; i < ch->nodes; i++) {
        seen_status status = ch->node[i]->dirty ? sync_node(ch, i, error) : SEEN_OK;
        if (status != SEEN_OK)
            return status;
        ch->node[i]->dirty = ch->node[i]->resumed = false;
    }
    return SEEN_OK;
}
