/* Verifies that the server still has everything that belongs to a filter.
 *
 * A server may evict a key, and a user may delete one. BITFIELD then recreates the shard, without
 * its earlier keys. To detect this a shard is one byte longer than its lines (format 2): only
 * creation makes a string of that length, because no command for a key reaches that byte. STRLEN
 * after the commands of a batch shows for each shard that they used whether it is the original one.
 * In the same way the counters have a field that only creation writes.
 *
 * Filters of format 1 have neither: a recreated shard is detected only as long as it is shorter
 * than the lines. */
#ifndef SN_REDIS_VERIFY_H
#define SN_REDIS_VERIFY_H

#include "redis/client/client.h"
#include "redis/names.h"

/* The tags of these commands have the top bit, and those of others do not. */
#define SN_VERIFY_TAG UINT32_C(0x80000000)

/* What is missing; all zero: nothing. */
typedef struct sn_verify_loss {
    bool shard, counts;
    uint32_t layer; /* of the shard */
    uint64_t number;
} sn_verify_loss;

/* The length of a shard's string. */
uint64_t sn_verify_length(const sn_redis_view *view, uint32_t layer);
/* The field of the counters that only creation writes; "": none, only their existence is
 * checked. */
const char *sn_verify_field(const sn_redis_view *view);

/* Writes the command that verifies the counters. Its reply, and those of sn_verify_write_used, go
 * to sn_verify_take. */
void sn_verify_write_counts(sn_channel *ch, const sn_redis_view *view);
bool sn_verify_take(const sn_redis_view *view, uint32_t tag, const sn_reply *reply,
                    sn_verify_loss *loss);

/* The shards that the commands of a batch use, without repeats; those beyond SN_VERIFY_USED are
 * omitted. Initialized to zero. */
enum { SN_VERIFY_USED = 4096 };
typedef struct sn_verify_used {
    unsigned count;
    uint64_t shard[SN_VERIFY_USED];    /* layer << 58 | shard */
    uint16_t slot[2 * SN_VERIFY_USED]; /* hash table: 1 + the index in the array; 0: free */
} sn_verify_used;
void sn_verify_use(sn_verify_used *used, uint32_t layer, uint64_t shard);
/* Writes the commands that verify them, and empties the list. */
void sn_verify_write_used(sn_channel *ch, sn_redis_namer *namers, sn_verify_used *used);

/* Verifies every shard and the counters. */
seen_status sn_verify_all(sn_channel *ch, const sn_redis_view *view, sn_verify_loss *loss,
                          seen_error *error);

/* The error: what was lost, and what to do. */
seen_status sn_verify_report(const sn_channel *ch, const sn_redis_view *view,
                             const sn_verify_loss *loss, seen_error *error);

#endif
