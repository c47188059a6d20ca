/* Server replies, parsed by hiredis into a flat tape. */
#include "redis/client/reply.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static sn_reply_item *push(const redisReadTask *task, int type)
{
    sn_reply *reply = task->privdata;
    if (reply->items == reply->room) {
        if (reply->items == SN_REPLY_ITEMS_MAX)
            return NULL;
        sn_reply_item *item =
            sn_memory_grow(reply->item, &reply->room, reply->items + 1, sizeof *item);
        if (!item)
            return NULL;
        reply->item = item;
    }
    sn_reply_item *item = &reply->item[reply->items++];
    *item = (sn_reply_item){.type = type};
    return item;
}

static bool reserve(sn_reply *reply, size_t more)
{
    size_t need = reply->used + more;
    if (need <= reply->text_room)
        return true;
    if (more > SN_REPLY_TEXT_MAX || need > SN_REPLY_TEXT_MAX)
        return false;
    char *text = sn_memory_grow(reply->text, &reply->text_room, need, 1);
    if (!text)
        return false;
    reply->text = text;
    return true;
}

static void *create_string(const redisReadTask *task, char *text, size_t len)
{
    sn_reply *reply = task->privdata;
    if (len > SN_REPLY_TEXT_MAX || !reserve(reply, len + 1))
        return NULL;
    sn_reply_item *item = push(task, task->type);
    if (!item)
        return NULL;
    item->at = (uint32_t)reply->used;
    item->len = (uint32_t)len;
    memcpy(reply->text + reply->used, text, len);
    reply->text[reply->used + len] = '\0';
    reply->used += len + 1;
    return reply;
}

#if HIREDIS_MAJOR >= 1
typedef size_t array_count;
#else
typedef int array_count;
#endif

static void *create_array(const redisReadTask *task, array_count count)
{
    sn_reply_item *item = push(task, REDIS_REPLY_ARRAY);
    if (!item)
        return NULL;
    item->number = (long long)count;
    return task->privdata;
}

static void *create_integer(const redisReadTask *task, long long number)
{
    sn_reply_item *item = push(task, REDIS_REPLY_INTEGER);
    if (!item)
        return NULL;
    item->number = number;
    return task->privdata;
}

static void *create_nil(const redisReadTask *task)
{
    return push(task, REDIS_REPLY_NIL) ? task->privdata : NULL;
}

static void free_nothing(void *object)
{
    (void)object; /* the tape is not owned by the reader */
}

static redisReplyObjectFunctions FUNCTIONS = {.createString = create_string,
                                              .createArray = create_array,
                                              .createInteger = create_integer,
                                              .createNil = create_nil,
                                              .freeObject = free_nothing};

redisReader *sn_reply_reader(sn_reply *reply)
{
    redisReader *reader = redisReaderCreateWithFunctions(&FUNCTIONS);
    if (reader) {
        reader->privdata = reply;
        reader->maxbuf = 0; /* keep the buffer between batches */
    }
    return reader;
}

void sn_reply_clear(sn_reply *reply)
{
    enum { KEEP = 1 << 20 };
    reply->items = 0;
    reply->used = 0;
    if (reply->text_room > KEEP) {
        free(reply->text);
        reply->text = NULL;
        reply->text_room = 0;
    }
}

void sn_reply_free(sn_reply *reply)
{
    free(reply->item);
    free(reply->text);
    *reply = (sn_reply){0};
}

bool sn_reply_error_is(const sn_reply *reply, const char *word)
{
    size_t n = strlen(word);
    return sn_reply_is_error(reply) && reply->item[0].len >= n &&
           memcmp(sn_reply_text(reply, 0), word, n) == 0 &&
           (reply->item[0].len == n || sn_reply_text(reply, 0)[n] == ' ');
}

bool sn_reply_is_row(const sn_reply *reply, size_t count)
{
    if (reply->items != count + 1 || reply->item[0].type != REDIS_REPLY_ARRAY ||
        reply->item[0].number != (long long)count)
        return false;
    for (size_t i = 1; i <= count; i++)
        if (reply->item[i].type == REDIS_REPLY_ARRAY)
            return false;
    return true;
}

bool sn_reply_take_any(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    (void)context;
    (void)tag;
    (void)again;
    return !sn_reply_is_error(reply);
}

bool sn_reply_take_integer(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    (void)tag;
    (void)again;
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_INTEGER)
        return false;
    *(int64_t *)context = reply->item[0].number;
    return true;
}
