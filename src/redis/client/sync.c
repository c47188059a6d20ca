/* Waiting until replicas have what was written.
 *
 * WAIT answers for all that its server had written when the connection's last command was carried
 * out, whoever asked for it: with ROLE before it, also for what a connection wrote that broke. */
#include "base/error.h"
#include "redis/client/channel.h"

#include <stdio.h>
#include <time.h>

/* A master that owns no slots any more was replaced by a replica, and has nothing to confirm. */
static bool is_retired(sn_channel *ch, unsigned node)
{
    if (!ch->redis->address.cluster || sn_cluster_refresh(ch, NULL) != SEEN_OK)
        return false;
    for (unsigned slot = 0; slot < SN_SLOTS; slot++)
        if (ch->owner[slot] == node)
            return false;
    return true;
}

/* Connects again, with as much patience as the calls have that wrote. */
static seen_status reach(sn_channel *ch, unsigned i, bool *retired, seen_error *error)
{
    enum { PAUSE_MS = 100 };
    uint64_t since = sn_link_now();
    for (;;) {
        seen_status status = sn_channel_open(ch, ch->node[i], error);
        if (status == SEEN_OK)
            return SEEN_OK;
        *retired = is_retired(ch, i);
        if (*retired)
            return SEEN_OK;
        if (status != SEEN_ERR_NETWORK || sn_link_now() - since > ch->redis->times.retry_ms)
            return status;
        struct timespec t = {.tv_nsec = PAUSE_MS * 1000000L};
        nanosleep(&t, NULL);
    }
}

/* Asks for its role, by another connection where this one is broken. */
static seen_status ask_role(sn_channel *ch, unsigned i, bool *retired, seen_error *error)
{
    static const char ROLE[] = "*1\r\n$4\r\nROLE\r\n";
    sn_node *node = ch->node[i];
    seen_status status = SEEN_OK;
    for (int tries = 0; tries < 2 && status == SEEN_OK && !*retired; tries++) {
        if (node->link.fd < 0)
            status = reach(ch, i, retired, error);
        if (status != SEEN_OK || *retired)
            return status;
        if (sn_link_talk(&node->link, ROLE, sizeof ROLE - 1, ch->redis->times.command_ms))
            return SEEN_OK;
        sn_link_close(&node->link);
    }
    return status;
}

static seen_status sync_node(sn_channel *ch, unsigned i, seen_error *error)
{
    sn_node *node = ch->node[i];
    const sn_reply *reply = &node->link.reply;
    const sn_redis_times *times = &ch->redis->times;
    bool retired = false;
    seen_status status = ask_role(ch, i, &retired, error);
    if (status != SEEN_OK || retired)
        return status;
    if (node->link.fd < 0)
        goto lost;
    /* [master, offset, [replica...]] */
    if (reply->items < 4 || reply->item[0].type != REDIS_REPLY_ARRAY)
        return sn_redis_trouble(&ch->redis->address, node, reply, error);
    if (reply->item[3].type != REDIS_REPLY_ARRAY || reply->item[3].number == 0)
        return SEEN_OK;
    char wait[64];
    int len = snprintf(wait, sizeof wait, "*3\r\n$4\r\nWAIT\r\n$1\r\n1\r\n$%d\r\n%u\r\n",
                       snprintf(NULL, 0, "%u", times->command_ms), times->command_ms);
    if (!sn_link_talk(&node->link, wait, (size_t)len, 2 * times->command_ms))
        goto lost;
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_INTEGER)
        return sn_redis_trouble(&ch->redis->address, node, reply, error);
    if (reply->item[0].number < 1)
        return sn_error_set(error, SEEN_ERR_SERVER,
                            "%s: no replica of %s:%u has confirmed the last additions; see INFO "
                            "replication",
                            ch->redis->address.shown, node->place.host, node->place.port);
    return SEEN_OK;
lost:
    sn_link_close(&node->link);
    return sn_error_set(
        error, SEEN_ERR_NETWORK, "%s: %s:%u was lost before a replica confirmed: %s",
        ch->redis->address.shown, node->place.host, node->place.port, node->link.why);
}

seen_status sn_channel_sync(sn_channel *ch, seen_error *error)
{
    for (unsigned i = 0; i < ch->nodes; i++) {
        seen_status status = ch->node[i]->dirty ? sync_node(ch, i, error) : SEEN_OK;
        if (status != SEEN_OK)
            return status;
        ch->node[i]->dirty = false;
    }
    return SEEN_OK;
}
