/* Redis Cluster: which node owns which slot, as reported by the cluster. */
#include "base/error.h"
#include "redis/client/channel.h"

#include <stdlib.h>
#include <string.h>

unsigned sn_cluster_node(sn_channel *ch, const char *host, size_t len, unsigned port)
{
    for (unsigned i = 0; i < ch->nodes; i++) {
        const sn_redis_place *place = &ch->node[i]->place;
        if (place->port == port && strlen(place->host) == len &&
            memcmp(place->host, host, len) == 0)
            return i;
    }
    if (ch->nodes == SN_NODES_MAX || len >= SN_REDIS_HOST || port > 65535)
        return SN_NO_NODE;
    sn_node **table = realloc(ch->node, (ch->nodes + 1) * sizeof(sn_node *));
    if (!table)
        return SN_NO_NODE;
    ch->node = table;
    sn_node *node = calloc(1, sizeof *node);
    if (!node)
        return SN_NO_NODE;
    node->conn.fd = -1;
    node->place.port = (uint16_t)port;
    memcpy(node->place.host, host, len);
    ch->node[ch->nodes] = node;
    return ch->nodes++;
}

/* Parses the decimal number at the start of a text. */
static bool parse_up_to(const char *text, unsigned most, unsigned *value)
{
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long number = strtoull(text, NULL, 10);
    *value = (unsigned)number;
    return number <= most;
}

/* "MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381"; the host may be empty or contain
 * colons. */
bool sn_cluster_parse_move(const sn_reply *reply, unsigned *slot, const char **host,
                           size_t *host_len, unsigned *port)
{
    const char *text = sn_reply_text(reply, 0);
    const char *first = strchr(text, ' '), *second = first ? strchr(first + 1, ' ') : NULL;
    const char *colon = second ? strrchr(second, ':') : NULL;
    if (!colon || !parse_up_to(first + 1, SN_SLOTS - 1, slot) ||
        !parse_up_to(colon + 1, 65535, port) || *port == 0)
        return false;
    *host = second + 1;
    *host_len = (size_t)(colon - *host);
    return true;
}

/* The item after `at` and everything in it. */
static size_t skip(const sn_reply *r, size_t at)
{
    size_t left = 1;
    while (left && at < r->items) {
        left--;
        if (r->item[at].type == REDIS_REPLY_ARRAY)
            left += (size_t)r->item[at].number;
        at++;
    }
    return at;
}

/* One entry of CLUSTER SLOTS: [first, last, [host, port, ...], replicas...]. */
static bool read_range(sn_channel *ch, const sn_reply *r, size_t at, const char *asked)
{
    if (at + 5 >= r->items || r->item[at].type != REDIS_REPLY_ARRAY || r->item[at].number < 3 ||
        r->item[at + 1].type != REDIS_REPLY_INTEGER ||
        r->item[at + 2].type != REDIS_REPLY_INTEGER || r->item[at + 3].type != REDIS_REPLY_ARRAY ||
        r->item[at + 3].number < 2 || r->item[at + 5].type != REDIS_REPLY_INTEGER)
        return false;
    long long first = r->item[at + 1].number, last = r->item[at + 2].number;
    long long port = r->item[at + 5].number;
    if (first < 0 || last < first || last >= SN_SLOTS || port < 1 || port > 65535)
        return false;
    /* A node that does not know its own name omits it: it is the node that sent the reply. */
    const char *host = asked;
    if (r->item[at + 4].type == REDIS_REPLY_STRING && r->item[at + 4].len > 0)
        host = sn_reply_text(r, at + 4);
    unsigned node = sn_cluster_node(ch, host, strlen(host), (unsigned)port);
    if (node == SN_NO_NODE)
        return false;
    for (long long slot = first; slot <= last; slot++)
        ch->owner[slot] = (uint16_t)node;
    return true;
}

static bool read_slots(sn_channel *ch, unsigned from)
{
    const sn_node *node = ch->node[from];
    const sn_reply *r = &node->conn.reply;
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY || r->item[0].number < 1)
        return false;
    size_t at = 1;
    for (long long i = 0; i < r->item[0].number; i++) {
        if (!read_range(ch, r, at, node->place.host))
            return false;
        at = skip(r, at);
    }
    return true;
}

static bool ask_node(sn_channel *ch, unsigned i, seen_error *error, seen_status *status)
{
    static const char ASK[] = "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n";
    sn_node *node = ch->node[i];
    const sn_client_times *times = &ch->redis->times;
    if (node->conn.fd < 0) {
        *status = sn_channel_open(ch, node, error);
        if (*status != SEEN_OK)
            return false;
    }
    if (!sn_connection_call(&node->conn, ASK, sizeof ASK - 1, times->command_ms)) {
        *status = sn_error_set(error, SEEN_ERR_NETWORK, "%s: %s:%u does not answer: %s",
                               ch->redis->address.shown, node->place.host, node->place.port,
                               node->conn.why);
        sn_connection_close(&node->conn);
        return false;
    }
    if (read_slots(ch, i))
        return true;
    const sn_reply *r = &node->conn.reply;
    if (r->items == 1 && r->item[0].type == REDIS_REPLY_ARRAY && r->item[0].number == 0)
        *status = sn_error_set(error, SEEN_ERR_SERVER,
                               "%s: %s:%u knows of no slots: it has not joined a cluster, or that "
                               "has none yet; see CLUSTER INFO",
                               ch->redis->address.shown, node->place.host, node->place.port);
    else
        *status = sn_errors_from_reply(&ch->redis->address, node, r, error);
    return false;
}

seen_status sn_cluster_refresh(sn_channel *ch, seen_error *error)
{
    seen_status status = SEEN_ERR_NETWORK;
    unsigned nodes = ch->nodes;
    /* Connected nodes are tried first. */
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < nodes; i++)
            if ((ch->node[i]->conn.fd >= 0) == (round == 0) && ask_node(ch, i, error, &status)) {
                ch->stale = false;
                return SEEN_OK;
            }
    return status;
}
