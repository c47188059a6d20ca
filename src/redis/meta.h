/* The hash that describes a filter, readable for an operator. */
#ifndef SN_REDIS_META_H
#define SN_REDIS_META_H

#include "redis/client/client.h"
#include "redis/names.h"

enum { SN_META_FORMAT = 2 }; /* of new filters; 1 is still read and written */

/* Reads the filter at the channel's address. SEEN_ERR_NOT_FOUND if there is none. */
seen_status sn_meta_load(sn_channel *ch, sn_redis_view *view, seen_error *error);

/* Makes a filter visible, atomically, in place of `old` or if there is none. Not *done: there is
 * another one, or the old one has changed: check again. Clients of the replaced one notice by its
 * ID. */
seen_status sn_meta_publish(sn_channel *ch, const sn_redis_view *view, const sn_redis_view *old,
                            bool *done, seen_error *error);
/* Removes the hash of this filter, if it exists. *done as above. */
seen_status sn_meta_unname(sn_channel *ch, const sn_redis_view *view, bool *done,
                           seen_error *error);

/* Replaces the hash with the same ID and the sequence of `now` by `next`. Late: another client was
 * faster. Perhaps: the same, but the reply to the first attempt was lost, and it may have been this
 * call. */
typedef enum sn_meta_outcome { SN_META_LATE, SN_META_PERHAPS, SN_META_DONE } sn_meta_outcome;
seen_status sn_meta_step(sn_channel *ch, const sn_redis_view *now, const sn_redis_view *next,
                         sn_meta_outcome *step, seen_error *error);

/* Reads ID and sequence along with other commands: the command, and parsing its reply. */
void sn_meta_write_check(sn_channel *ch, uint32_t tag);
typedef enum sn_meta_change {
    SN_META_SAME,
    SN_META_ADVANCED,
    SN_META_REPLACED,
    SN_META_GONE,
    SN_META_INVALID
} sn_meta_change;
sn_meta_change sn_meta_compare(const sn_redis_view *view, const sn_reply *reply);

/* Parses an integer in the format of a meta field; false for anything else. */
bool sn_meta_number(const char *text, size_t len, uint64_t *number);

#endif
