/* Server replies, parsed by hiredis into a flat tape: no allocation per value.
 *
 *   *2 (:5 $3 abc)   ->   item 0: ARRAY of 2 | item 1: INTEGER 5 | item 2: STRING "abc"
 *
 * A reply is valid until the next one is read. */
#ifndef SN_REDIS_CLIENT_REPLY_H
#define SN_REDIS_CLIENT_REPLY_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_reply_item {
    int type;         /* REDIS_REPLY_... */
    uint32_t at, len; /* text, NUL-terminated */
    long long number; /* INTEGER; ARRAY: number of elements */
} sn_reply_item;

typedef struct sn_reply {
    sn_reply_item *item;
    size_t items, room;
    char *text;
    size_t used, text_room;
} sn_reply;

enum {
    SN_REPLY_TEXT_MAX = 32 << 20, /* maximum size of a reply */
    SN_REPLY_ITEMS_MAX = 1 << 20,
};

/* A parser that fills *reply; NULL if out of memory. */
redisReader *sn_reply_reader(sn_reply *reply);
void sn_reply_clear(sn_reply *reply);
void sn_reply_free(sn_reply *reply);

static inline const char *sn_reply_text(const sn_reply *reply, size_t item)
{
    return reply->text + reply->item[item].at;
}

static inline bool sn_reply_is_error(const sn_reply *reply)
{
    return reply->items > 0 && reply->item[0].type == REDIS_REPLY_ERROR;
}

/* Whether the reply is an error that starts with this word. */
bool sn_reply_error_is(const sn_reply *reply, const char *word);

/* Whether the reply is an array of `count` plain values. */
bool sn_reply_is_row(const sn_reply *reply, size_t count);

/* ---- handlers for sn_channel_run ---- */

/* Any reply that is not an error. */
bool sn_reply_take_any(void *context, uint32_t tag, const sn_reply *reply, bool again);
/* An integer; context is an int64_t. */
bool sn_reply_take_integer(void *context, uint32_t tag, const sn_reply *reply, bool again);

#endif
