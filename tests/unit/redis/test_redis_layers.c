/* Fences: a shard that another client closes at any moment; and times to live. */
#include "tests/redis/door.h"

static const char FENCE[] =
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";

static uint64_t layers_of(seen_set *set)
{
    seen_info info = {.size = sizeof info};
    assert_int_equal(seen_get_shape(set, &info, NULL), SEEN_OK);
    return info.layers;
}

static void fence(const char *match, unsigned times)
{
    meddle_set(&door, 0, (meddle_rule){.match = match, .times = times, .reply = FENCE});
}

/* A closed shard, and no other client opens the next layer: the client waits, then does it
 * itself. */
static void test_add(void **state)
{
    (void)state;
    seen_set *set = door_make((seen_options){.growth = SEEN_GROWING, .capacity = 1000});
    door_add(set, 0, 10, SEEN_NEW);
    fence("BITFIELD\r\n", 1);
    door_add(set, 10, 11, SEEN_NEW);
    assert_int_equal(meddle_hits(&door, 0), 1);
    assert_int_equal(layers_of(set), 2);
    door_add(set, 0, 11, SEEN_BEFORE);
    seen_close(set);
}

/* The same for checking, removing, copying and merging. */
static void test_look(void **state)
{
    (void)state;
    int key = 3;
    seen_answer answer = SEEN_UNKNOWN;
    seen_error error = {0};
    seen_set *set =
        door_make((seen_options){.growth = SEEN_GROWING, .kind = SEEN_COUNTING, .capacity = 1000});
    door_add(set, 0, 5, SEEN_NEW);
    fence("GETRANGE", 1);
    meddle_set(&door, 1, (meddle_rule){.match = "BITFIELD_RO", .times = 1, .reply = FENCE});
    assert_int_equal(seen_check(set, &key, sizeof key, &answer, &error), SEEN_OK);
    assert_int_equal(answer, SEEN_BEFORE);
    assert_int_equal(layers_of(set), 2);
    /* A key of the current layer; a script returns the error of the fence. */
    door_add(set, 5, 9, SEEN_NEW);
    key = 7;
    meddle_set(&door, 0,
               (meddle_rule){.match = "local k,get,dec",
                             .times = 1,
                             .reply = "-ERR Error running script: WRONGTYPE Operation\r\n"});
    assert_int_equal(seen_remove(set, &key, sizeof key, &answer, &error), SEEN_OK);
    assert_int_equal(answer, SEEN_BEFORE);
    assert_int_equal(layers_of(set), 3);
    assert_int_equal(seen_check(set, &key, sizeof key, &answer, &error), SEEN_OK);
    assert_int_equal(answer, SEEN_NEW);
    seen_close(set);
}

static void test_copy(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_options o = {.size = sizeof o};
    char file[128];
    snprintf(file, sizeof file, "%s/copy.seen", server.folder);
    seen_set *set = door_make((seen_options){.growth = SEEN_GROWING, .capacity = 1000}), *copy;
    door_add(set, 0, 20, SEEN_NEW);
    fence("GETRANGE", 1);
    if (seen_copy(set, file, 0, &o, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    assert_int_equal(layers_of(set), 2);
    assert_int_equal(seen_open(file, NULL, 0, &copy, &error), SEEN_OK);
    door_add(copy, 0, 20, SEEN_BEFORE);
    seen_close(copy);
    unlink(file);
    seen_close(set);
}

static void test_merge(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = door_make((seen_options){.growth = SEEN_GROWING, .capacity = 1000}), *other;
    door_add(set, 0, 20, SEEN_NEW);
    assert_int_equal(seen_create_like(NULL, set, NULL, 0, &other, &error), SEEN_OK);
    door_add(other, 20, 30, SEEN_NEW);
    fence("BITOP", 1);
    if (seen_merge(set, other, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    assert_int_equal(meddle_hits(&door, 0), 1);
    door_add(set, 0, 30, SEEN_BEFORE);
    seen_close(other);
    seen_close(set);
}

/* A merge whose connection breaks for good, before or after the server executed it, leaves nothing
 * but the filter. */
static void test_merge_cut(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = door_make((seen_options){.capacity = 1000, .retry_ms = 100}), *other;
    assert_int_equal(seen_create_like(NULL, set, NULL, 0, &other, &error), SEEN_OK);
    door_add(other, 0, 30, SEEN_NEW);
    long long keys = test_number(&server, "DBSIZE");
    for (int done = 0; done < 2; done++) {
        meddle_set(&door, 0, (meddle_rule){.match = "BITOP", .done = done});
        assert_int_equal(seen_merge(set, other, &error), SEEN_ERR_NETWORK);
        assert_true(meddle_hits(&door, 0) > 0);
        meddle_set(&door, 0, (meddle_rule){0});
        assert_int_equal(test_number(&server, "DBSIZE"), keys);
        door_add(set, 0, 5, done ? SEEN_BEFORE : SEEN_NEW);
    }
    door_must(seen_merge(set, other, &error), &error);
    door_add(set, 0, 30, SEEN_BEFORE);
    seen_close(other);
    seen_close(set);
}

/* A merge into a filter that is dropped, or loses a shard, in the middle of it fails, and leaves
 * nothing behind. */
static void test_merge_gone(void **state)
{
    (void)state;
    seen_error error = {0};
    for (int shard = 0; shard < 2; shard++) {
        seen_set *set = door_make((seen_options){.capacity = 1000}), *other;
        assert_int_equal(seen_create_like(NULL, set, NULL, 0, &other, &error), SEEN_OK);
        door_add(other, 0, 30, SEEN_NEW);
        redisReply *keys = test_ask(&server, "KEYS seen:*:0}");
        char loss[160] = "FLUSHALL\r\n";
        if (shard)
            snprintf(loss, sizeof loss, "DEL %s\r\n", keys->element[0]->str);
        freeReplyObject(keys);
        meddle_set(&door, 0,
                   (meddle_rule){.match = "BITOP", .times = 1, .before = loss, .pass = true});
        assert_int_equal(seen_merge(set, other, &error),
                         shard ? SEEN_ERR_FORMAT : SEEN_ERR_NOT_FOUND);
        assert_int_equal(test_number(&server, "DBSIZE"), shard ? 2 : 0);
        seen_close(other);
        seen_close(set);
    }
}

/* Counters are not written in place of a lost shard. */
static void test_sum_gone(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = door_make((seen_options){.kind = SEEN_COUNTING, .capacity = 1000}), *other;
    assert_int_equal(seen_create_like(NULL, set, NULL, 0, &other, &error), SEEN_OK);
    door_add(other, 0, 30, SEEN_NEW);
    redisReply *keys = test_ask(&server, "KEYS seen:*:0}");
    assert_int_equal(test_number(&server, "DEL %s", keys->element[0]->str), 1);
    assert_int_equal(seen_merge(set, other, &error), SEEN_ERR_FORMAT);
    assert_non_null(strstr(error.message, "is missing"));
    assert_int_equal(test_number(&server, "EXISTS %s", keys->element[0]->str), 0);
    freeReplyObject(keys);
    seen_close(other);
    seen_close(set);
}

/* A shard of a past generation is lost in the middle of a merge: it is not recreated. */
static void test_merge_lost(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = door_make((seen_options){.growth = SEEN_WINDOW,
                                             .capacity = 1000,
                                             .generations = 2,
                                             .window_seconds = 100000}),
             *other;
    assert_int_equal(seen_create_like(NULL, set, NULL, 0, &other, &error), SEEN_OK);
    door_add(other, 0, 30, SEEN_NEW);
    door_must(seen_rotate(other, &error), &error);
    door_must(seen_rotate(set, &error), &error);
    redisReply *keys = test_ask(&server, "KEYS seen:*:closed");
    assert_int_equal(keys->elements, 1);
    char loss[160];
    snprintf(loss, sizeof loss, "DEL %s\r\n", keys->element[0]->str);
    meddle_set(&door, 0, (meddle_rule){.match = "BITOP", .times = 1, .before = loss, .pass = true});
    assert_int_equal(seen_merge(set, other, &error), SEEN_ERR_FORMAT);
    assert_int_equal(meddle_hits(&door, 0), 1);
    assert_non_null(strstr(error.message, "shard 0 of layer"));
    assert_int_equal(test_number(&server, "EXISTS %s", keys->element[0]->str), 0);
    freeReplyObject(keys);
    seen_close(other);
    seen_close(set);
}

/* A filter that is dropped while its shards are fenced is reported as missing, without waiting. */
static void test_gone(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_answer answer;
    int key = 1;
    seen_set *set = door_make((seen_options){.growth = SEEN_WINDOW, .capacity = 1000});
    fence("BITFIELD\r\n", 0);
    meddle_set(&door, 1, (meddle_rule){.match = "HMGET", .reply = "*2\r\n$-1\r\n$-1\r\n"});
    test_sleep_ms(250);
    assert_int_equal(seen_add(set, &key, sizeof key, &answer, &error), SEEN_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, "gone"));
    seen_close(set);
}

/* Every key of a filter expires, also after it grew, rotated and was merged. */
static void test_time_to_live(void **state)
{
    (void)state;
    seen_error error = {0};
    for (int window = 0; window < 2; window++) {
        seen_set *set = door_make((seen_options){.growth = window ? SEEN_WINDOW : SEEN_GROWING,
                                                 .capacity = 100,
                                                 .generations = window ? 3 : 0,
                                                 .ttl_seconds = 100}),
                 *other;
        door_add(set, 0, 150, SEEN_NEW);
        assert_true(window || layers_of(set) > 1);
        assert_int_equal(seen_create_like(NULL, set, NULL, 0, &other, &error), SEEN_OK);
        door_add(other, 1000, 1005, SEEN_NEW);
        if (seen_merge(set, other, &error) != SEEN_OK && error.status != SEEN_ERR_FULL)
            fail_msg("%s", error.message);
        seen_close(other);
        seen_close(set);
        redisReply *keys = test_ask(&server, "KEYS *");
        assert_true(keys && keys->elements > 3);
        for (size_t i = 0; i < keys->elements; i++) {
            long long left = test_number(&server, "TTL %s", keys->element[i]->str);
            redisReply *type = test_ask(&server, "TYPE %s", keys->element[i]->str);
            /* The fence of a closed shard lives for a week. */
            bool stone = strcmp(type->str, "list") == 0;
            if (left < 1 || left > (stone ? 7 * 86400 : 100))
                fail_msg("%s: %lld", keys->element[i]->str, left);
            freeReplyObject(type);
        }
        freeReplyObject(keys);
        freeReplyObject(test_ask(&server, "FLUSHALL"));
    }
}

/* A client of a replaced filter does not expire the new one. */
static void test_other_end(void **state)
{
    (void)state;
    seen_error error = {0};
    for (int plain = 0; plain < 2; plain++) {
        seen_options o = {.size = sizeof o,
                          .capacity = 1000,
                          .layout = plain ? SEEN_LAYOUT_BITMAP : SEEN_LAYOUT_SHARDS};
        o.ttl_seconds = 100;
        seen_set *set = door_make(o), *old;
        seen_close(set);
        door_must(seen_open(where, NULL, 0, &old, &error), &error);
        o.ttl_seconds = 0;
        door_must(seen_create(where, &o, SEEN_REPLACE, &set, &error), &error);
        door_add(set, 0, 5, SEEN_NEW);
        int key = 9;
        (void)seen_add(old, &key, sizeof key, NULL, &error);
        assert_int_equal(test_number(&server, "TTL seen:fence"), -1);
        assert_int_equal(test_number(&server, "TTL fence"), plain ? -1 : -2);
        seen_close(old);
        /* It renews its own. */
        o.ttl_seconds = 100;
        door_must(seen_create(where, &o, SEEN_REPLACE, &old, &error), &error);
        freeReplyObject(test_ask(&server, "EXPIRE seen:fence 10"));
        freeReplyObject(test_ask(&server, "EXPIRE fence 10"));
        door_add(old, 0, 1, SEEN_NEW);
        assert_in_range(test_number(&server, "TTL seen:fence"), 90, 100);
        assert_true(!plain || test_number(&server, "TTL fence") >= 90);
        seen_close(old);
        seen_close(set);
        freeReplyObject(test_ask(&server, "FLUSHALL"));
    }
}

/* Merging into a filter, or rotating a window, renews its time to live. */
static void test_touched(void **state)
{
    (void)state;
    seen_error error = {0};
    for (int what = 0; what < 3; what++) {
        seen_options o = {.size = sizeof o, .capacity = 1000, .ttl_seconds = 100};
        o.growth = what == 2 ? SEEN_WINDOW : SEEN_FIXED;
        o.layout = what == 1 ? SEEN_LAYOUT_BITMAP : SEEN_LAYOUT_SHARDS;
        seen_set *set = door_make(o), *more;
        redisReply *keys = test_ask(&server, "KEYS *");
        for (size_t i = 0; i < keys->elements; i++)
            freeReplyObject(test_ask(&server, "EXPIRE %s 10", keys->element[i]->str));
        if (what == 2) {
            door_must(seen_rotate(set, &error), &error);
        } else {
            door_must(seen_create_like(NULL, set, NULL, 0, &more, &error), &error);
            door_add(more, 0, 5, SEEN_NEW);
            door_must(seen_merge(set, more, &error), &error);
            seen_close(more);
        }
        assert_in_range(test_number(&server, "TTL seen:fence"), 90, 100);
        freeReplyObject(keys);
        keys = test_ask(&server, "KEYS *");
        for (size_t i = 0; i < keys->elements; i++)
            if (test_number(&server, "TTL %s", keys->element[i]->str) < 90)
                fail_msg("%d: %s ends too soon", what, keys->element[i]->str);
        freeReplyObject(keys);
        seen_close(set);
        freeReplyObject(test_ask(&server, "FLUSHALL"));
    }
}

/* A shard is closed just before the time to live is renewed: its fence lives for a week. */
static void test_fence_lives(void **state)
{
    (void)state;
    seen_set *set =
        door_make((seen_options){.growth = SEEN_GROWING, .capacity = 1000, .ttl_seconds = 100});
    redisReply *keys = test_ask(&server, "KEYS seen:*:0}");
    assert_int_equal(keys->elements, 1);
    const char *shard = keys->element[0]->str;
    char close[512];
    snprintf(close, sizeof close,
             "EVAL \"redis.call('RENAME',KEYS[1],KEYS[1]..':closed') "
             "redis.call('RPUSH',KEYS[1],'closed') "
             "return redis.call('EXPIRE',KEYS[1],604800)\" 1 %s\r\n",
             shard);
    meddle_set(&door, 0,
               (meddle_rule){.match = "EXPIRE", .times = 1, .before = close, .pass = true});
    door_add(set, 0, 1, SEEN_NEW);
    assert_int_equal(meddle_hits(&door, 0), 1);
    assert_in_range(test_number(&server, "TTL %s", shard), 604700, 604800);
    freeReplyObject(keys);
    seen_close(set);
}

/* A client pauses while the layer is closed, and continues when the fence has expired. It has
 * reserved room for its key, and no fence stops it; but its key is not reported as added before it
 * really is. */
static void test_fence_gone(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = door_make((seen_options){.growth = SEEN_GROWING, .capacity = 20000}), *other;
    door_add(set, 0, 1, SEEN_NEW);
    test_sleep_ms(250);
    door_must(seen_open(where, NULL, 0, &other, &error), &error);
    fence("BITFIELD\r\n", 1);
    door_add(other, 1, 2, SEEN_NEW);
    assert_int_equal(layers_of(other), 2);
    redisReply *keys = test_ask(&server, "KEYS seen:*:0.1:0}");
    assert_int_equal(keys->elements, 1);
    assert_int_equal(test_number(&server, "DEL %s", keys->element[0]->str), 1);
    freeReplyObject(keys);
    door_add(set, 2, 3, SEEN_NEW);
    door_add(other, 2, 3, SEEN_BEFORE);
    door_add(set, 0, 3, SEEN_BEFORE);
    seen_close(other);
    seen_close(set);
}

/* A missing or truncated shard is detected by every reader, and nothing is recreated. */
static void test_missing(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_answer answer;
    seen_info info = {.size = sizeof info};
    seen_options o = {.size = sizeof o};
    int key = 1;
    seen_set *set = door_make((seen_options){.capacity = 1000});
    door_add(set, 0, 20, SEEN_NEW);
    redisReply *keys = test_ask(&server, "KEYS seen:*:0}");
    assert_int_equal(keys->elements, 1);
    const char *shard = keys->element[0]->str;
    for (int cut = 0; cut < 2; cut++) {
        freeReplyObject(test_ask(&server, "DEL %s", shard));
        if (cut)
            freeReplyObject(test_ask(&server, "SETRANGE %s 100 x", shard));
        assert_int_equal(seen_get_info(set, &info, &error), SEEN_ERR_FORMAT);
        assert_non_null(strstr(error.message, "missing"));
        assert_int_equal(seen_copy(set, "/nowhere/x", 0, &o, &error) == SEEN_OK, false);
        seen_set *looker;
        assert_int_equal(seen_open(where, NULL, 0, &looker, &error), SEEN_ERR_FORMAT);
        key = 1000;
        assert_int_equal(seen_check(set, &key, sizeof key, &answer, &error), SEEN_ERR_FORMAT);
    }
    freeReplyObject(keys);
    seen_close(set);
}

/* A client that only adds detects it as well, except in the first moment. */
static void test_missing_to_add(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_answer answer;
    for (int growing = 0; growing < 2; growing++) {
        seen_set *set = door_make(
            (seen_options){.growth = growing ? SEEN_GROWING : SEEN_FIXED, .capacity = 1000});
        door_add(set, 0, 5, SEEN_NEW);
        redisReply *keys = test_ask(&server, "KEYS seen:*:0}");
        assert_int_equal(test_number(&server, "DEL %s", keys->element[0]->str), 1);
        freeReplyObject(keys);
        seen_status status = SEEN_OK;
        for (int key = 5; key < 20 && status == SEEN_OK; key++) {
            status = seen_add(set, &key, sizeof key, &answer, &error);
            test_sleep_ms(50);
        }
        assert_int_equal(status, SEEN_ERR_FORMAT);
        assert_non_null(strstr(error.message, "missing"));
        seen_close(set);
        freeReplyObject(test_ask(&server, "FLUSHALL"));
    }
}

/* The same for a past generation, of which none expires by itself. */
static void test_missing_generation(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_answer answer;
    seen_info info = {.size = sizeof info};
    seen_options o = {.size = sizeof o};
    int key = 1000;
    char file[128];
    snprintf(file, sizeof file, "%s/missing.seen", server.folder);
    seen_set *set = door_make(
                 (seen_options){.growth = SEEN_WINDOW, .capacity = 1000, .generations = 3}),
             *looker;
    door_add(set, 0, 20, SEEN_NEW);
    door_must(seen_rotate(set, &error), &error);
    redisReply *keys = test_ask(&server, "KEYS seen:*:closed");
    assert_int_equal(keys->elements, 1);
    assert_int_equal(test_number(&server, "DEL %s", keys->element[0]->str), 1);
    freeReplyObject(keys);
    test_sleep_ms(250);
    assert_int_equal(seen_check(set, &key, sizeof key, &answer, &error), SEEN_ERR_FORMAT);
    assert_non_null(strstr(error.message, "missing"));
    test_sleep_ms(250);
    assert_int_equal(seen_add(set, &key, sizeof key, &answer, &error), SEEN_ERR_FORMAT);
    assert_int_equal(seen_get_info(set, &info, &error), SEEN_ERR_FORMAT);
    assert_int_equal(seen_copy(set, file, 0, &o, &error), SEEN_ERR_FORMAT);
    assert_int_equal(seen_open(where, NULL, 0, &looker, &error), SEEN_ERR_FORMAT);
    seen_close(set);
}

static void assert_nothing_left(void)
{
    redisReply *keys = test_ask(&server, "KEYS *");
    assert_non_null(keys);
    for (size_t i = 0; i < keys->elements; i++)
        fail_msg("%s is left", keys->element[i]->str);
    freeReplyObject(keys);
}

/* A dropped filter leaves nothing behind, whatever its clients do at that moment. */
static void test_dropped(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_answer answer;
    int key = 100;
    for (int window = 0; window < 2; window++) {
        seen_set *set = door_make((seen_options){.growth = window ? SEEN_WINDOW : SEEN_GROWING,
                                                 .capacity = 100,
                                                 .generations = window ? 2 : 0});
        seen_status status = SEEN_OK;
        meddle_set(&door, 0,
                   (meddle_rule){.match = "local now=redis.call('HMGET'",
                                 .times = 1,
                                 .before = "DEL seen:fence\r\n",
                                 .pass = true});
        for (key = 0; key < 1000 && status == SEEN_OK; key++)
            status = seen_add(set, &key, sizeof key, &answer, &error);
        assert_int_equal(status, SEEN_ERR_NOT_FOUND);
        assert_int_equal(meddle_hits(&door, 0), 1);
        assert_nothing_left();
        seen_close(set);
        assert_nothing_left();
    }
    /* So close to the end that no batch notices. */
    seen_set *set = door_make((seen_options){.capacity = 1000});
    door_add(set, 0, 1, SEEN_NEW);
    door_must(seen_drop(where, NULL, &error), &error);
    (void)seen_add(set, &key, sizeof key, &answer, &error);
    assert_int_equal(seen_sync(set, &error), SEEN_ERR_NOT_FOUND);
    assert_nothing_left();
    seen_close(set);
    assert_nothing_left();
}

/* Copying a filter that is dropped in the middle fails. */
static void test_dropped_source(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_options o = {.size = sizeof o};
    char file[128];
    snprintf(file, sizeof file, "%s/source.seen", server.folder);
    for (int by_time = 0; by_time < 2; by_time++) {
        seen_set *set = door_make((seen_options){.growth = SEEN_WINDOW,
                                                 .capacity = 1000,
                                                 .generations = 2,
                                                 .window_seconds = by_time ? 1000 : 0});
        door_add(set, 0, 20, SEEN_NEW);
        for (int i = 0; i < 2; i++)
            door_must(seen_rotate(set, &error), &error);
        door_add(set, 20, 30, SEEN_NEW);
        /* The current generation is read first, then a past one. */
        meddle_set(&door, 0,
                   (meddle_rule){.match = "GETRANGE",
                                 .skip = 1,
                                 .times = 1,
                                 .before = "FLUSHALL\r\n",
                                 .pass = true});
        seen_status status = seen_copy(set, file, SEEN_REPLACE, &o, &error);
        assert_int_equal(meddle_hits(&door, 0), 1);
        assert_int_equal(status, SEEN_ERR_NOT_FOUND);
        assert_int_equal(access(file, F_OK), -1);
        seen_close(set);
    }
}

/* Two clients of a window: one rotates it, the other notices in the middle of its work. */
static void test_rotated(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = door_make(
                 (seen_options){.growth = SEEN_WINDOW, .capacity = 1000, .generations = 3}),
             *other;
    door_add(set, 0, 10, SEEN_NEW);
    if (seen_open(where, NULL, 0, &other, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(seen_rotate(other, &error), SEEN_OK);
        door_add(set, 100 * (i + 1), 100 * (i + 1) + 5, SEEN_NEW);
        door_add(other, 100 * (i + 1), 100 * (i + 1) + 5, SEEN_BEFORE);
    }
    seen_close(other);
    seen_close(set);
}

/* A client sleeps while the window rotates through the whole ring: it finds the fence of its
 * expired generation, and neither reports another client's key as new nor loses one. */
static void test_left_behind(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = door_make(
                 (seen_options){.growth = SEEN_WINDOW, .capacity = 1000, .generations = 2}),
             *other;
    door_must(seen_open(where, NULL, 0, &other, &error), &error);
    for (int i = 0; i < 5; i++)
        door_must(seen_rotate(other, &error), &error);
    door_add(other, 0, 10, SEEN_NEW);
    door_add(set, 0, 10, SEEN_BEFORE);
    for (int i = 0; i < 5; i++)
        door_must(seen_rotate(set, &error), &error);
    door_add(other, 20, 30, SEEN_NEW);
    door_add(set, 20, 30, SEEN_BEFORE);
    /* Every shard has a time to live, except those of the two remaining generations. */
    redisReply *keys = test_ask(&server, "KEYS seen:{fence:*}");
    size_t stay = 0;
    for (size_t i = 0; i < keys->elements; i++) {
        redisReply *ttl = test_ask(&server, "TTL %s", keys->element[i]->str);
        stay += ttl->integer == -1;
        freeReplyObject(ttl);
    }
    freeReplyObject(keys);
    assert_int_equal(stay, 1);
    seen_close(other);
    seen_close(set);
    /* No fence outlives the filter. */
    door_must(seen_drop(where, NULL, &error), &error);
    keys = test_ask(&server, "KEYS seen:*");
    assert_int_equal(keys->elements, 0);
    freeReplyObject(keys);
}

/* Many more keys in one call than a window holds, so that it rotates for every key. */
static void test_tiny_window(void **state)
{
    (void)state;
    enum { KEYS = 1500, WINDOW = 7, GENERATIONS = 8 };
    seen_error error = {0};
    static seen_key keys[KEYS];
    static int number[KEYS];
    static seen_answer answers[KEYS];
    seen_set *set = door_make(
        (seen_options){.growth = SEEN_WINDOW, .capacity = WINDOW, .generations = GENERATIONS});
    for (int i = 0; i < KEYS; i++) {
        number[i] = i;
        keys[i] = (seen_key){.data = &number[i], .len = sizeof number[i]};
    }
    door_must(seen_add_many(set, keys, KEYS, answers, &error), &error);
    door_must(seen_check_many(set, keys + KEYS - WINDOW, WINDOW, answers, &error), &error);
    for (int i = 0; i < WINDOW; i++)
        assert_int_equal(answers[i], SEEN_BEFORE);
    /* The counters of dropped generations are deleted. */
    redisReply *id = test_ask(&server, "HGET seen:fence id");
    redisReply *fields = test_ask(&server, "HLEN seen:{fence:%s}:added", id->str);
    assert_in_range(fields->integer, 1, 1 + 2 * GENERATIONS);
    freeReplyObject(fields);
    freeReplyObject(id);
    seen_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOOR_TEST(test_add),
        DOOR_TEST(test_look),
        DOOR_TEST(test_copy),
        DOOR_TEST(test_merge),
        DOOR_TEST(test_merge_cut),
        DOOR_TEST(test_merge_gone),
        DOOR_TEST(test_sum_gone),
        DOOR_TEST(test_merge_lost),
        DOOR_TEST(test_gone),
        DOOR_TEST(test_time_to_live),
        DOOR_TEST(test_other_end),
        DOOR_TEST(test_touched),
        DOOR_TEST(test_fence_lives),
        DOOR_TEST(test_fence_gone),
        DOOR_TEST(test_missing),
        DOOR_TEST(test_rotated),
        DOOR_TEST(test_left_behind),
        DOOR_TEST(test_tiny_window),
        DOOR_TEST(test_missing_generation),
        DOOR_TEST(test_missing_to_add),
        DOOR_TEST(test_dropped),
        DOOR_TEST(test_dropped_source),
    };
    return RIG_RUN(tests);
}
