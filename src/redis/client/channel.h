/* A conversation with a server or a cluster: many commands out, their replies in.
 *
 * A channel belongs to one call at a time (sn_redis_take, sn_redis_give). A call writes any number
 * of commands into it and runs them: each goes to the node that owns its slot, all nodes at once,
 * and each reply is handed to a function. What a server moved elsewhere, or answers with "later",
 * is sent again; what was on its way when a connection broke is sent again too, and its reply is
 * marked: the command may have been carried out before. */
#ifndef SN_STORE_REDIS_CHANNEL_H
#define SN_STORE_REDIS_CHANNEL_H

#include "redis/client/link.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SN_SLOTS = 16384, SN_NODES_MAX = 1024, SN_CHANNELS_MAX = 32 };

typedef struct sn_command {
    size_t at; /* in the channel's text */
    size_t len;
    uint32_t tag;
    uint16_t slot;
    uint16_t ask; /* 1 + the node that a server told to ask this once */
    bool once;    /* must not be carried out twice: not sent again after a loss */
    bool again, done;
} sn_command;

typedef struct sn_node {
    sn_redis_place place;
    sn_link link;
    bool dirty;      /* wrote since its replicas last confirmed */
    uint32_t *queue; /* this round's commands; the top bit: ASKING goes first */
    size_t queued, queue_room;
    size_t cursor, part; /* entries sent, and bytes of the next one */
    size_t answered;
    bool told;       /* the answer to ASKING has arrived */
    bool deaf;       /* takes no more; what it has answered is still to be read */
    uint64_t waited; /* for the server since bytes last moved, in ms */
} sn_node;

typedef struct sn_redis sn_redis;

typedef struct sn_channel {
    sn_redis *redis;
    bool busy;   /* a call has it */
    bool wanted; /* a sync waits for it: no other call may take it */
    sn_node **node;
    unsigned nodes;
    uint16_t *owner; /* slot -> node; SN_NO_NODE */
    bool stale;      /* the owners are to be asked for */
    uint64_t heeded; /* when its links were last looked at for a hang-up, in sn_link_now() */

    char *text;
    size_t used, room;
    size_t early; /* bytes of the text that were sent before the run */
    sn_command *command;
    size_t commands, command_room;
    bool no_memory;
} sn_channel;

#define SN_NO_NODE UINT16_MAX

struct sn_redis {
    sn_redis_address address;
    sn_redis_times times;
    sn_tls_trust *trust; /* NULL: in the clear */
    pthread_mutex_t lock;
    pthread_cond_t freed;
    atomic_uint epoch; /* grows with every event after which a server may have lost something */
    sn_channel *channel[SN_CHANNELS_MAX];
};

/* A reply has arrived. False: it is an error or not what this command answers; the run fails then,
 * after the other replies were read. */
typedef bool (*sn_channel_taker)(void *context, uint32_t tag, const sn_reply *reply, bool again);

/* Connects once, so that a wrong address shows here. */
seen_status sn_redis_connect(const sn_redis_address *address, const seen_options *options,
                             sn_redis **redis, seen_error *error);
void sn_redis_disconnect(sn_redis *redis);

/* A channel for one call; waits where too many are in use. */
seen_status sn_redis_take(sn_redis *redis, sn_channel **channel, seen_error *error);
void sn_redis_give(sn_redis *redis, sn_channel *channel);

/* Waits until replicas, where there are any, have what the calls before this one wrote. */
seen_status sn_redis_sync(sn_redis *redis, seen_error *error);

/* Unchanged from one call to the next: what the servers acknowledged in between is still there, as
 * far as a connection can tell. */
static inline unsigned sn_redis_epoch(sn_redis *redis)
{
    return atomic_load(&redis->epoch);
}

/* Writes a command: begin, then `args` arguments. */
void sn_say(sn_channel *ch, uint32_t tag, uint16_t slot, unsigned args);
void sn_say_arg(sn_channel *ch, const void *arg, size_t len);
void sn_say_text(sn_channel *ch, const char *arg);
void sn_say_number(sn_channel *ch, uint64_t number);
void sn_say_signed(sn_channel *ch, int64_t number);
/* Bytes that already are in the protocol's form. */
void sn_say_raw(sn_channel *ch, const char *bytes, size_t len);
/* The last command must not be carried out twice. */
void sn_say_once(sn_channel *ch);

/* While commands are still being written: sends what has piled up, so that a server has something
 * to do. Only where there is but one. */
void sn_channel_nudge(sn_channel *ch);

/* Before memory is trusted: a server that closed a connection meanwhile may have lost something,
 * and nothing may be about to be sent to it. Looks now and then only. */
void sn_channel_heed(sn_channel *ch);

/* Sends all commands, hands every reply to `take`, forgets the commands. */
seen_status sn_channel_run(sn_channel *ch, sn_channel_taker take, void *context, seen_error *error);

/* Waits until a replica has what this channel wrote, where there is one (redis_sync.c). */
seen_status sn_channel_sync(sn_channel *ch, seen_error *error);

/* Forgets the commands. */
void sn_channel_clear(sn_channel *ch);

/* For the parts of the channel (redis_cluster.c, redis_pool.c, redis_trouble.c). */
seen_status sn_channel_open(sn_channel *ch, sn_node *node, seen_error *error);
seen_status sn_cluster_refresh(sn_channel *ch, seen_error *error);
unsigned sn_cluster_node(sn_channel *ch, const char *host, size_t len, unsigned port);
bool sn_cluster_parse_move(const sn_reply *reply, unsigned *slot, const char **host,
                           size_t *host_len, unsigned *port);
seen_status sn_redis_trouble(const sn_redis_address *address, const sn_node *node,
                             const sn_reply *reply, seen_error *error);

#endif
