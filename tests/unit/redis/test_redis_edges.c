/* Rare cases of sets in Redis, provoked with a modified server, other clients and a failing
 * allocator. */
#define SEEN_WITH_REDIS 1 /* otherwise store.h does not declare them */
#include "base/clock.h"
#include "redis/client/channel.h"
#include "redis/set.h"
#include "tests/redis/door.h"

#include <fcntl.h>
#include <malloc.h>

static const char FENCE[] =
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
/* Another client opens the next layer at exactly this moment. */
static const char NEXT[] = "HINCRBY seen:fence sequence 1\r\n";

/* While set, buffers for lines cannot be allocated. */
static bool no_blocks;

void *aligned_alloc(size_t alignment, size_t size)
{
    return no_blocks ? NULL : memalign(alignment, size);
}

static uint64_t fake_now = 1000000;

static uint64_t read_fake(void)
{
    return fake_now;
}

static void refuses(seen_status status, const seen_error *error, seen_status expected,
                    const char *words)
{
    if (status != expected || !strstr(error->message, words))
        fail_msg("%d: %s", status, error->message);
}

static seen_set *like(seen_set *set)
{
    seen_set *other;
    seen_error error = {0};
    door_must(seen_create_like(NULL, set, NULL, 0, &other, &error), &error);
    return other;
}

/* Layers that change with every read: every call ends with an error message. */
static void test_changing(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_answer answer;
    seen_options o = {.size = sizeof o};
    int key = 100;
    char file[128];
    snprintf(file, sizeof file, "%s/changing_too_fast.seen", server.folder);
    seen_set *set = door_make((seen_options){.growth = SEEN_GROWING, .capacity = 1000});
    door_add(set, 0, 10, SEEN_NEW);
    seen_set *other = like(set);
    door_add(other, 20, 30, SEEN_NEW);
    meddle_rule rule = {.match = "GETRANGE", .reply = FENCE, .before = NEXT};
    meddle_set(&door, 0, rule);
    refuses(seen_check(set, &key, sizeof key, &answer, &error), &error, SEEN_ERR_SERVER,
            "faster than we can read");
    refuses(seen_copy(set, file, 0, &o, &error), &error, SEEN_ERR_SERVER,
            "faster than we can read");
    assert_int_equal(access(file, F_OK), -1);
    rule.match = "BITOP";
    meddle_set(&door, 0, rule);
    refuses(seen_merge(set, other, &error), &error, SEEN_ERR_SERVER, "faster than we can merge");
    rule.match = "BITFIELD\r\n";
    meddle_set(&door, 0, rule);
    refuses(seen_add(set, &key, sizeof key, &answer, &error), &error, SEEN_ERR_SERVER,
            "faster than we can write");
    /* When they are stable everything works. */
    meddle_set(&door, 0, (meddle_rule){0});
    door_must(seen_merge(set, other, &error), &error);
    door_add(set, 20, 30, SEEN_BEFORE);
    seen_close(other);
    seen_close(set);
}

/* The same with a window, whose hash another client writes each time before us. */
static void test_turning(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set =
        door_make((seen_options){.growth = SEEN_WINDOW, .capacity = 1000, .generations = 3});
    door_add(set, 0, 10, SEEN_NEW);
    seen_set *other = like(set);
    door_add(other, 20, 30, SEEN_NEW);
    for (unsigned first = 0; first < 2; first++) {
        meddle_set(&door, 0,
                   (meddle_rule){.match = "local now=redis.call('HMGET'",
                                 .skip = first,
                                 .before = NEXT,
                                 .pass = true});
        refuses(seen_merge(set, other, &error), &error, SEEN_ERR_SERVER,
                "the window rotates faster than it can be merged");
    }
    meddle_set(&door, 0, (meddle_rule){0});
    door_must(seen_merge(set, other, &error), &error);
    seen_close(other);
    seen_close(set);
}

/* A filter with the same name is created between our check and our last step: it stays, ours is
 * removed. */
static void test_overtaken(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set;
    seen_options o = {.size = sizeof o, .capacity = 1000};
    char first[128];
    snprintf(first, sizeof first, "%s/first", server.url);
    door_must(seen_create(first, &o, 0, &set, &error), &error);
    seen_close(set);
    long long keys = test_number(&server, "DBSIZE");
    meddle_set(&door, 0,
               (meddle_rule){.match = "local k=KEYS[1] if redis.call('EXISTS'",
                             .times = 1,
                             .before = "COPY seen:first seen:fence\r\n",
                             .pass = true});
    refuses(seen_create(where, &o, 0, &set, &error), &error, SEEN_ERR_EXISTS, "exists");
    assert_int_equal(meddle_hits(&door, 0), 1);
    assert_int_equal(test_number(&server, "DBSIZE"), keys + 1);
}

/* A hash that was deleted, and one with invalid contents. */
static void test_odd_hash(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_answer answer;
    seen_info info = {.size = sizeof info};
    int key = 1;
    seen_set *set = door_make((seen_options){.capacity = 1000});
    meddle_set(&door, 0,
               (meddle_rule){.match = "HMGET", .times = 1, .reply = "*2\r\n:1\r\n:1\r\n"});
    test_sleep_ms(250);
    refuses(seen_check(set, &key, sizeof key, &answer, &error), &error, SEEN_ERR_SERVER, "");
    assert_int_equal(meddle_hits(&door, 0), 1);
    meddle_set(&door, 0, (meddle_rule){0});
    freeReplyObject(test_ask(&server, "DEL seen:fence"));
    refuses(seen_get_info(set, &info, &error), &error, SEEN_ERR_NOT_FOUND, "gone");
    seen_close(set);
}

/* One of several removed keys meets a closed shard: it is removed nevertheless, and each of the
 * others once. */
static void test_remove(void **state)
{
    (void)state;
    enum { KEYS = 5 };
    seen_error error = {0};
    seen_key keys[KEYS];
    seen_answer answers[KEYS];
    int number[KEYS];
    seen_set *set =
        door_make((seen_options){.growth = SEEN_GROWING, .kind = SEEN_COUNTING, .capacity = 1000});
    /* Twice, so that a key that is removed twice would be absent. */
    door_add(set, 0, KEYS, SEEN_NEW);
    door_add(set, 0, KEYS, SEEN_BEFORE);
    for (int i = 0; i < KEYS; i++) {
        number[i] = i;
        keys[i] = (seen_key){&number[i], sizeof number[i]};
    }
    meddle_set(&door, 0, (meddle_rule){.match = "GETRANGE", .skip = 2, .times = 1, .reply = FENCE});
    door_must(seen_remove_many(set, keys, KEYS, answers, &error), &error);
    assert_int_equal(meddle_hits(&door, 0), 1);
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(answers[i], SEEN_BEFORE);
    door_must(seen_check_many(set, keys, KEYS, answers, &error), &error);
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(answers[i], SEEN_BEFORE);
    door_must(seen_remove_many(set, keys, KEYS, answers, &error), &error);
    door_must(seen_check_many(set, keys, KEYS, answers, &error), &error);
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(answers[i], SEEN_NEW);
    seen_close(set);
}

/* Expired past generations are empty, not missing; and they do not reappear after a merge. */
static void test_forgotten(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_info info = {.size = sizeof info};
    seen_options copied = {.size = sizeof copied};
    uint64_t (*real)(void) = sn_clock_now;
    char file[128];
    snprintf(file, sizeof file, "%s/forgotten.seen", server.folder);
    sn_clock_now = read_fake;
    seen_set *set = door_make((seen_options){
        .growth = SEEN_WINDOW, .capacity = 60000, .generations = 3, .window_seconds = 300});
    door_add(set, 0, 10, SEEN_NEW);
    door_must(seen_rotate(set, &error), &error);
    door_add(set, 10, 20, SEEN_NEW);
    redisReply *closed = test_ask(&server, "KEYS seen:*:closed");
    assert_int_equal(closed->elements, 1);
    assert_int_equal(test_number(&server, "DEL %s", closed->element[0]->str), 1);
    freeReplyObject(closed);
    fake_now += 301;
    door_must(seen_get_info(set, &info, &error), &error);
    assert_true(info.keys_estimated > 9 && info.keys_estimated < 11);
    door_must(seen_copy(set, file, 0, &copied, &error), &error);
    unlink(file);
    for (int key = 0; key < 20; key++) {
        seen_answer answer;
        door_must(seen_check(set, &key, sizeof key, &answer, &error), &error);
        assert_int_equal(answer, key < 10 ? SEEN_NEW : SEEN_BEFORE);
    }
    door_add(set, 0, 10, SEEN_NEW);
    door_must(seen_rotate(set, &error), &error);
    fake_now += 10000;
    seen_set *other = like(set);
    door_add(other, 30, 31, SEEN_NEW);
    door_must(seen_rotate(other, &error), &error);
    door_must(seen_merge(set, other, &error), &error);
    door_add(set, 30, 31, SEEN_BEFORE);
    door_add(set, 0, 20, SEEN_NEW);
    seen_close(other);
    seen_close(set);
    sn_clock_now = real;
}

static void add_keys(seen_set *set, int from, int to)
{
    enum { MOST = 20000 };
    static int number[MOST];
    static seen_key keys[MOST];
    static seen_answer answers[MOST];
    seen_error error = {0};
    assert_in_range(to - from, 0, MOST);
    for (int i = from; i < to; i++) {
        number[i - from] = i;
        keys[i - from] = (seen_key){&number[i - from], sizeof number[0]};
    }
    door_must(seen_add_many(set, keys, (size_t)(to - from), answers, &error), &error);
}

/* After a merge the counters are the same as after the same merge in memory: common keys count
 * once, and a window is not considered fuller than it is, or it would drop keys too early. */
static void test_union_counts(void **state)
{
    (void)state;
    static const struct {
        seen_growth growth;
        int mine, from, to;
    } CASES[] = {
        {SEEN_WINDOW, 10000, 0, 10000},     {SEEN_WINDOW, 10000, 5000, 12000},
        {SEEN_WINDOW, 5000, 5000, 10000},   {SEEN_WINDOW, 0, 0, 8000},
        {SEEN_WINDOW, 100, 0, 9000},        {SEEN_FIXED, 10000, 0, 10000},
        {SEEN_FIXED, 10000, 5000, 12000},   {SEEN_FIXED, 0, 0, 15000},
        {SEEN_GROWING, 18000, 9000, 18000}, {SEEN_GROWING, 0, 0, 19000},
    };
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        seen_error error = {0};
        seen_options o = {.growth = CASES[c].growth, .capacity = 20000};
        o.generations = o.growth == SEEN_WINDOW ? 2 : 0;
        seen_set *there = door_make(o), *here = like(there), *other = like(there);
        add_keys(there, 0, CASES[c].mine);
        add_keys(here, 0, CASES[c].mine);
        add_keys(other, CASES[c].from, CASES[c].to);
        for (int again = 0; again < 2; again++) {
            sn_image got, want;
            door_must(seen_merge(there, other, &error), &error);
            door_must(seen_merge(here, other, &error), &error);
            door_must(there->ops->image(there, &got, &error), &error);
            door_must(here->ops->image(here, &want, &error), &error);
            assert_int_equal(got.layers, want.layers);
            for (uint32_t i = 0; i < got.layers; i++)
                if (got.layer[i].added != want.layer[i].added)
                    fail_msg("case %zu, layer %u: %llu, in memory %llu", c, i,
                             (unsigned long long)got.layer[i].added,
                             (unsigned long long)want.layer[i].added);
        }
        seen_close(other);
        seen_close(here);
        seen_close(there);
        freeReplyObject(test_ask(&server, "FLUSHALL"));
    }
}

/* A set that cannot grow, because its hash leaves no error rate for another layer, reports its
 * name. */
static void test_outgrown(void **state)
{
    (void)state;
    enum { LAYER = 8, RATE = 6 };
    seen_error error = {0};
    seen_answer answer;
    uint64_t n[LAYER];
    int key = 5;
    seen_set *set = door_make((seen_options){.growth = SEEN_GROWING, .capacity = 5});
    door_add(set, 0, 5, SEEN_NEW);
    seen_close(set);
    redisReply *rate = test_ask(&server, "HGET seen:fence rate64");
    redisReply *layer = test_ask(&server, "HGET seen:fence layer:0");
    char text[256], *at = layer->str;
    for (int i = 0; i < LAYER; i++)
        n[i] = strtoull(at, &at, 10);
    n[RATE] = strtoull(rate->str, NULL, 10);
    for (int i = 0, used = 0; i < LAYER; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%llu", i ? " " : "",
                         (unsigned long long)n[i]);
    freeReplyObject(test_ask(&server, "HSET seen:fence layer:0 %s", text));
    freeReplyObject(rate);
    freeReplyObject(layer);
    door_must(seen_open(where, NULL, 0, &set, &error), &error);
    refuses(seen_add(set, &key, sizeof key, &answer, &error), &error, SEEN_ERR_ARGUMENT,
            "/fence: the error rate is too low");
    seen_close(set);
}

/* Few keys in many lines: common ones count once, and none is missed, whether all lines are sampled
 * or only a part. */
static void test_union_sparse(void **state)
{
    (void)state;
    enum { KEYS = 40, FEW = 5000000, MANY = 20000000 };
    for (int large = 0; large < 2; large++) {
        seen_error error = {0};
        seen_set *there = door_make((seen_options){.capacity = large ? MANY : FEW});
        seen_set *other = like(there);
        add_keys(there, 0, KEYS);
        add_keys(other, 0, KEYS);
        for (int again = 0; again < 2; again++) {
            sn_image got;
            door_must(seen_merge(there, other, &error), &error);
            door_must(there->ops->image(there, &got, &error), &error);
            print_message("%llu of %d keys\n", (unsigned long long)got.layer[0].added, KEYS);
            assert_in_range(got.layer[0].added, KEYS, large ? 4 * KEYS : KEYS + 2);
        }
        seen_close(other);
        seen_close(there);
        freeReplyObject(test_ask(&server, "FLUSHALL"));
    }
}

/* A counter that was lost in a file by a power failure is not copied to a server. */
static void test_copy_counts(void **state)
{
    (void)state;
    enum { KEYS = 900, COUNTERS = 8192 };
    static const unsigned char LOST[8] = {0};
    char file[128];
    snprintf(file, sizeof file, "%s/lost.seen", server.folder);
    seen_error error = {0};
    seen_options o = {.size = sizeof o, .capacity = 1000, .error_rate = 0.01};
    seen_set *set;
    door_must(seen_create(file, &o, 0, &set, &error), &error);
    add_keys(set, 0, KEYS);
    seen_close(set);
    int fd = open(file, O_WRONLY);
    assert_int_equal(pwrite(fd, LOST, sizeof LOST, COUNTERS), sizeof LOST);
    close(fd);
    door_must(seen_open(file, NULL, SEEN_READ_ONLY, &set, &error), &error);
    door_must(seen_copy(set, where, 0, &o, &error), &error);
    seen_close(set);
    door_must(seen_open(where, NULL, 0, &set, &error), &error);
    sn_image got;
    door_must(set->ops->image(set, &got, &error), &error);
    assert_in_range(got.layer[0].added, KEYS * 9 / 10, KEYS * 11 / 10);
    seen_close(set);
    unlink(file);
    freeReplyObject(test_ask(&server, "FLUSHALL"));
}

/* What is not possible on a server is refused before anything is created. */
static void test_misfits(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set, *heap, *back;
    seen_options o = {.size = sizeof o,
                      .capacity = 1000,
                      .ttl_seconds = UINT64_C(1) << 33,
                      .growth = SEEN_WINDOW,
                      .generations = 4};
    refuses(seen_create(where, &o, 0, &set, &error), &error, SEEN_ERR_ARGUMENT, "time to live");
    o.ttl_seconds = 0;
    door_must(seen_create(NULL, &o, 0, &heap, &error), &error);
    seen_options bitmap = {.size = sizeof bitmap, .layout = SEEN_LAYOUT_BITMAP};
    refuses(seen_copy(heap, where, 0, &bitmap, &error), &error, SEEN_ERR_ARGUMENT, "plain bitmap");
    sn_image image;
    door_must(heap->ops->image(heap, &image, &error), &error);
    for (uint32_t i = 0; i < image.layers; i++)
        image.layer[i].geometry.shard_lines = (1u << 23) + 24;
    o.growth = SEEN_FIXED;
    refuses(sn_redis_create(where, &image, &o, 0, &set, &error), &error, SEEN_ERR_ARGUMENT,
            "512 MiB");
    assert_int_equal(test_number(&server, "DBSIZE"), 0);
    /* A window that has not rotated yet has generations without shards. */
    door_add(heap, 0, 10, SEEN_NEW);
    bitmap.layout = SEEN_LAYOUT_SHARDS;
    door_must(seen_copy(heap, where, 0, &bitmap, &error), &error);
    assert_int_equal(test_number(&server, "DBSIZE"), 3);
    door_must(seen_open(where, NULL, 0, &back, &error), &error);
    door_add(back, 0, 10, SEEN_BEFORE);
    seen_close(back);
    seen_close(heap);
}

/* More shards than one pipeline of commands: all are created, have the same time to live, and are
 * deleted. */
static void test_many_shards(void **state)
{
    (void)state;
    enum { SHARDS = 4200 };
    seen_error error = {0};
    seen_set *set, *heap;
    sn_image image;
    seen_options o = {.size = sizeof o, .capacity = 1000, .error_rate = 0.01, .ttl_seconds = 1000};
    door_must(seen_create(NULL, &o, 0, &heap, &error), &error);
    door_must(heap->ops->image(heap, &image, &error), &error);
    seen_close(heap);
    image.layer[0].geometry.shards = SHARDS;
    image.layer[0].geometry.shard_lines = image.layer[0].geometry.spread;
    sn_image_lay_out(&image);
    snprintf(where, sizeof where, "%s/many", server.url);
    door_must(sn_redis_create(where, &image, &o, 0, &set, &error), &error);
    door_add(set, 0, 10, SEEN_NEW);
    assert_int_equal(test_number(&server, "DBSIZE"), SHARDS + 2);
    redisReply *r = test_ask(&server, "EVAL %s 0",
                             "local n=0 for _,k in ipairs(redis.call('KEYS','*')) do "
                             " local t=redis.call('TTL',k) if t>0 and t<=1000 then n=n+1 end "
                             "end return n");
    assert_int_equal(r->integer, SHARDS + 2);
    freeReplyObject(r);
    door_add(set, 0, 10, SEEN_BEFORE);
    seen_close(set);
    door_must(seen_drop(where, NULL, &error), &error);
    assert_int_equal(test_number(&server, "DBSIZE"), 0);
}

/* Without memory for a buffer of lines: reported, and nothing is left behind. */
static void test_no_blocks(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_info info = {.size = sizeof info};
    seen_options o = {.size = sizeof o};
    char copy[128];
    snprintf(copy, sizeof copy, "%s/copy", server.url);
    seen_set *set = door_make((seen_options){.capacity = 1000});
    door_add(set, 0, 10, SEEN_NEW);
    long long keys = test_number(&server, "DBSIZE");
    no_blocks = true;
    seen_status measured = seen_get_info(set, &info, &error);
    refuses(measured, &error, SEEN_ERR_MEMORY, "out of memory");
    seen_status copied = seen_copy(set, copy, 0, &o, &error);
    no_blocks = false;
    refuses(copied, &error, SEEN_ERR_MEMORY, "out of memory");
    assert_int_equal(test_number(&server, "DBSIZE"), keys);
    door_must(seen_copy(set, copy, 0, &o, &error), &error);
    seen_close(set);
}

/* ---- a single channel ---- */

static void write_get(sn_channel *ch, const char *key)
{
    sn_command_begin(ch, 0, 0, 2);
    sn_command_text(ch, "GET");
    sn_command_text(ch, key);
}

static bool take_letter(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    (void)tag;
    (void)again;
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_STRING)
        return false;
    *(char *)context = sn_reply_text(reply, 0)[0];
    return true;
}

/* Commands that were sent and abandoned: their replies are not taken for those of the next. */
static void test_given_up(void **state)
{
    (void)state;
    seen_error error = {0};
    sn_client_options o = {0};
    sn_redis_address address;
    sn_client *redis;
    sn_channel *ch;
    char letter = 0;
    freeReplyObject(test_ask(&server, "SET x x"));
    freeReplyObject(test_ask(&server, "SET y y"));
    door_must(sn_redis_address_parse(where, &address, &error), &error);
    door_must(sn_client_connect(&address, &o, &redis, &error), &error);
    door_must(sn_client_take(redis, &ch, &error), &error);
    for (int i = 0; i < 5000; i++)
        write_get(ch, "x");
    sn_channel_flush_early(ch);
    assert_true(ch->early > 0);
    sn_channel_clear(ch);
    write_get(ch, "y");
    door_must(sn_channel_run(ch, take_letter, &letter, &error), &error);
    assert_int_equal(letter, 'y');
    /* A command that did not fit into memory: nothing of it is sent. */
    ch->no_memory = true;
    write_get(ch, "x");
    sn_command_number(ch, 5);
    refuses(sn_channel_run(ch, take_letter, &letter, &error), &error, SEEN_ERR_MEMORY, "memory");
    write_get(ch, "y");
    door_must(sn_channel_run(ch, take_letter, &letter, &error), &error);
    assert_int_equal(letter, 'y');
    sn_client_return(redis, ch);
    sn_client_disconnect(redis);
}

/* A peer that does not read, and one that is gone. */
static void test_talk(void **state)
{
    (void)state;
    static char text[4 << 20];
    int pair[2];
    sn_connection link = {.fd = -1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    link.fd = pair[0];
    assert_false(sn_connection_call(&link, text, sizeof text, 50));
    assert_string_equal(link.why, "the server does not read");
    close(pair[1]);
    assert_false(sn_connection_call(&link, text, 10, 50));
    assert_string_not_equal(link.why, "the server does not read");
    sn_connection_close(&link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOOR_TEST(test_changing),     DOOR_TEST(test_turning),      DOOR_TEST(test_overtaken),
        DOOR_TEST(test_odd_hash),     DOOR_TEST(test_remove),       DOOR_TEST(test_forgotten),
        DOOR_TEST(test_union_counts), DOOR_TEST(test_union_sparse), DOOR_TEST(test_outgrown),
        DOOR_TEST(test_misfits),      DOOR_TEST(test_many_shards),  DOOR_TEST(test_no_blocks),
        DOOR_TEST(test_given_up),     DOOR_TEST(test_talk),         DOOR_TEST(test_copy_counts),
    };
    return RIG_RUN(tests);
}
