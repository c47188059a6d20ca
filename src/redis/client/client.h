/* A pipelined, cluster-aware Redis client. It knows nothing of filters.
 *
 *     sn_client_connect            one client per address, shared by all threads
 *       sn_client_take             a channel (its own connections) for one call
 *         sn_command_begin ...     write any number of commands, each with the slot of its key
 *         sn_channel_run           send all, one pipeline per node; each reply goes to a handler
 *         sn_channel_sync          WAIT on the connections that wrote
 *       sn_client_return
 *     sn_client_disconnect
 *
 * Redirections (MOVED, ASK), LOADING, TRYAGAIN and similar replies are handled here: the command is
 * sent again. After a lost connection the commands in flight are sent again too, for retry_ms in
 * all, and their replies are marked `again`: the server may have executed the command before.
 * Commands marked with sn_command_once are not repeated; the run fails with SEEN_ERR_NETWORK. */
#ifndef SN_REDIS_CLIENT_CLIENT_H
#define SN_REDIS_CLIENT_CLIENT_H

#include "redis/client/address.h"
#include "redis/client/reply.h"
#include "redis/client/slot.h"

enum { SN_SLOTS = 16384, SN_RUN_ID = 40 };

typedef struct sn_client sn_client;
typedef struct sn_channel sn_channel;

/* 0 and NULL choose the default. */
typedef struct sn_client_options {
    uint32_t connect_ms; /* [2000] */
    uint32_t command_ms; /* [5000] */
    uint32_t retry_ms;   /* total time to retry [10000; cluster: 60000]. If given it includes the
                          * first connection; by default that fails at once */
    const char *tls_ca, *tls_cert, *tls_key; /* PEM files; for rediss:// */
} sn_client_options;

/* ---- client ---- */

/* Connects once, so that a wrong address or password is reported here. */
seen_status sn_client_connect(const sn_redis_address *address, const sn_client_options *options,
                              sn_client **client, seen_error *error);
void sn_client_disconnect(sn_client *client);
const sn_redis_address *sn_client_address(const sn_client *client);

/* A channel for one call; waits if too many are in use. */
seen_status sn_client_take(sn_client *client, sn_channel **channel, seen_error *error);
void sn_client_return(sn_client *client, sn_channel *channel);

/* sn_channel_sync for all channels: replicas have what earlier calls wrote. */
seen_status sn_client_sync(sn_client *client, seen_error *error);

/* Changes with every event after which a server may have lost writes: a connection was opened or
 * lost, a slot moved, a failover, or sn_client_new_epoch was called. */
unsigned sn_client_epoch(sn_client *client);
void sn_client_new_epoch(sn_client *client);

/* Limits the retry time from now on: for the last commands of a handle. */
void sn_client_limit_retry(sn_client *client, uint32_t ms);

/* ---- commands ---- */

/* Writes a command: begin, then exactly `args` arguments (the command's name is the first). The
 * slot is that of its keys (sn_slot_of); on a single server any value works. */
void sn_command_begin(sn_channel *ch, uint32_t tag, uint16_t slot, unsigned args);
void sn_command_arg(sn_channel *ch, const void *arg, size_t len);
void sn_command_text(sn_channel *ch, const char *arg);
void sn_command_number(sn_channel *ch, uint64_t number);
void sn_command_signed(sn_channel *ch, int64_t number);
/* Bytes that are already in protocol format. */
void sn_command_raw(sn_channel *ch, const char *bytes, size_t len);
/* The last command must not be executed twice. */
void sn_command_once(sn_channel *ch);

/* A script, sent as EVALSHA; after NOSCRIPT the channel sends EVAL with the text. `text` must
 * outlive the run: a static string. */
typedef struct sn_script {
    const char *text;
    char sha[41];
} sn_script;
void sn_script_init(sn_script *script, const char *text);
/* Begins a call of the script; `keys` key arguments follow, then `args` others. */
void sn_script_begin(sn_channel *ch, uint32_t tag, uint16_t slot, const sn_script *script,
                     unsigned keys, unsigned args);

/* ---- channel ---- */

/* Receives each reply. False: the reply is an error or not what the command returns; the run then
 * fails, after the other replies were read. */
typedef bool (*sn_reply_handler)(void *context, uint32_t tag, const sn_reply *reply, bool again);

/* Sends all commands, passes every reply to the handler, clears the channel. */
seen_status sn_channel_run(sn_channel *ch, sn_reply_handler handler, void *context,
                           seen_error *error);
/* Discards the commands that were written. */
void sn_channel_clear(sn_channel *ch);
/* How many were written and not run yet. */
size_t sn_channel_pending(const sn_channel *ch);
/* How many nodes the channel knows; 1 if it is not a cluster. */
unsigned sn_channel_nodes(const sn_channel *ch);

/* Waits until a replica of every master that this channel wrote to has confirmed the writes. A
 * master without replicas has nothing to confirm. */
seen_status sn_channel_sync(sn_channel *ch, seen_error *error);

/* The address, for messages (`shown` has no password). */
const sn_redis_address *sn_channel_address(const sn_channel *ch);

/* While commands are still being written: sends those accumulated so far, so that the server can
 * start. Only with a single server. */
void sn_channel_flush_early(sn_channel *ch);

/* Closes connections that the server has closed, at most five times a second. Call it before an
 * answer from a cache: a server that hung up may have lost writes. */
void sn_channel_poll_hangup(sn_channel *ch);

#endif
