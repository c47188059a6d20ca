/* Internal interface of the client. Users include client.h.
 *
 * A channel is used by one call at a time. Its commands are executed in rounds; see channel.c. */
#ifndef SN_REDIS_CLIENT_CHANNEL_H
#define SN_REDIS_CLIENT_CHANNEL_H

#include "redis/client/client.h"
#include "redis/client/connection.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SN_NODES_MAX = 1024, SN_CHANNELS_MAX = 32 };

typedef struct sn_command {
    size_t at; /* in the channel's text */
    size_t len;
    uint32_t tag;
    uint16_t slot;
    uint16_t ask; /* 1 + the node named by an ASK redirection */
    bool once;    /* must not be executed twice: not repeated after a loss */
    bool again, done;
    const char *script; /* of EVALSHA, for a server that does not have it; NULL: another command */
} sn_command;

typedef struct sn_node {
    sn_redis_place place;
    sn_connection conn;
    bool dirty;      /* commands were sent since its replicas last confirmed */
    bool resumed;    /* some of them over an earlier connection, which WAIT does not cover */
    uint32_t *queue; /* commands of this round; the top bit: send ASKING first */
    size_t queued, queue_room;
    size_t cursor, part; /* entries sent, and bytes of the next one */
    size_t answered;
    bool asked;      /* the reply to ASKING has arrived */
    bool confused;   /* sent an unexpected reply: its replies may be out of step */
    bool deaf;       /* accepts no more data; replies may still arrive */
    uint64_t waited; /* for the server since bytes last moved, in ms */
} sn_node;

struct sn_channel {
    sn_client *redis;
    bool busy;   /* used by a call */
    bool wanted; /* a sync waits for it: no other call may take it */
    sn_node **node;
    unsigned nodes;
    uint16_t *owner; /* slot -> node; SN_NO_NODE */
    bool stale;      /* the owners must be read again */
    uint64_t polled; /* when its connections were last polled for a hang-up, in sn_clock_ms() */

    char *text;
    size_t used, room;
    size_t early; /* bytes of the text that were sent before the run */
    sn_command *command;
    size_t commands, command_room;
    bool no_memory;
};

#define SN_NO_NODE UINT16_MAX

struct sn_client {
    sn_redis_address address;
    sn_client_times times;
    sn_tls_trust *trust; /* NULL: no TLS */
    pthread_mutex_t lock;
    pthread_cond_t freed;
    atomic_uint epoch;
    sn_channel *channel[SN_CHANNELS_MAX];
};

/* Reserves space for more text; NULL, and sets no_memory, on failure. Moves ch->text. */
char *sn_channel_reserve(sn_channel *ch, size_t more);
/* Replaces EVALSHA by EVAL. */
bool sn_script_expand(sn_channel *ch, sn_command *c);

seen_status sn_channel_open(sn_channel *ch, sn_node *node, seen_error *error);
seen_status sn_cluster_refresh(sn_channel *ch, seen_error *error);
unsigned sn_cluster_node(sn_channel *ch, const char *host, size_t len, unsigned port);
bool sn_cluster_parse_move(const sn_reply *reply, unsigned *slot, const char **host,
                           size_t *host_len, unsigned *port);
seen_status sn_errors_from_reply(const sn_redis_address *address, const sn_node *node,
                                 const sn_reply *reply, seen_error *error);

#endif
