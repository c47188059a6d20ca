/* A real cluster: three masters and three replicas, resharding and a killed master under load. */
#include "redis/client/slot.h"
#include "redis/names.h"
#include "set/store.h"
#include "tests/redis/cluster.h"
#include "tests/redis/winners.h"

enum { CLIENTS = 3 };

static test_cluster cluster;

static char *url_of(const char *name)
{
    static char url[4][256];
    static int next;
    char *to = url[next++ % 4];
    snprintf(to, 256, "%s/%s", cluster.url, name);
    return to;
}

static void test_slots(void **state)
{
    (void)state;
    const char *keys[] = {"a", "seen:x", "seen:{x:0123:1.2:17}", "{}x", "x{}y{z}", "{a}{b}", ""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(sn_slot_of(keys[i], strlen(keys[i])),
                         test_number(&cluster.node[0], "CLUSTER KEYSLOT %s", keys[i]));
}

/* The shards of a filter are on all masters. */
static void test_spread(void **state)
{
    (void)state;
    winners_make(url_of("spread"), (seen_options){.capacity = 30000000, .error_rate = 0.01});
    for (int i = 0; i < CLUSTER_NODES; i++)
        if (test_is_master(&cluster.node[i]))
            assert_true(test_number(&cluster.node[i], "DBSIZE") >= 2);
    assert_int_equal(seen_drop(url_of("spread"), NULL, NULL), SEEN_OK);
    for (int i = 0; i < CLUSTER_NODES; i++)
        assert_int_equal(test_number(&cluster.node[i], "DBSIZE"), 0);
}

static void finish(winners *w, pid_t *pid, bool exactly_once)
{
    unsigned once, never, more;
    winners_wait(CLIENTS, pid);
    if (w->failures)
        fail_msg("%s", w->message);
    winners_count(w, &once, &never, &more);
    printf("told once %u, never %u, more often %u\n", once, never, more);
    assert_int_equal(never, 0);
    if (exactly_once)
        assert_int_equal(more, 0);
}

static void assert_all_seen(const char *where)
{
    enum { BATCH = 4000 };
    seen_set *set;
    seen_error error = {0};
    if (seen_open(where, NULL, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    for (unsigned long at = 0; at < WINNERS_KEYS; at += BATCH) {
        seen_hash hashes[BATCH];
        seen_answer answers[BATCH];
        for (unsigned long i = 0; i < BATCH; i++)
            hashes[i] = winners_hash(at + i);
        if (seen_check_hashes(set, hashes, BATCH, answers, &error) != SEEN_OK)
            fail_msg("%s", error.message);
        for (int i = 0; i < BATCH; i++)
            assert_int_equal(answers[i], SEEN_BEFORE);
    }
    seen_close(set);
}

static void test_one_winner(void **state)
{
    (void)state;
    winners_make(url_of("winner"), (seen_options){.capacity = 2000000, .error_rate = 1e-5});
    winners *w = winners_map();
    pid_t pid[CLIENTS];
    winners_fork(w, url_of("winner"), CLIENTS, 2000, 0, pid);
    __atomic_store_n(&w->go, 1, __ATOMIC_SEQ_CST);
    finish(w, pid, true);
    assert_all_seen(url_of("winner"));
    munmap(w, sizeof *w);
}

/* A merge needs a second key in the slot of each shard, also for plain names. */
static void test_unions(void **state)
{
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        const char *where = url_of(plain ? "plain" : "parts");
        seen_set *set, *other;
        seen_error error = {0};
        seen_options o = {.size = sizeof o,
                          .capacity = plain ? 1000 : 500000,
                          .layout = plain ? SEEN_LAYOUT_BITMAP : SEEN_LAYOUT_SHARDS};
        seen_hash h[50];
        seen_answer answers[50];
        for (unsigned long i = 0; i < 50; i++)
            h[i] = winners_hash(i);
        assert_int_equal(seen_create(where, &o, 0, &set, &error), SEEN_OK);
        assert_int_equal(seen_create_like(NULL, set, NULL, 0, &other, &error), SEEN_OK);
        assert_int_equal(seen_add_hashes(other, h, 50, answers, &error), SEEN_OK);
        if (seen_merge(set, other, &error) != SEEN_OK)
            fail_msg("%s", error.message);
        assert_int_equal(seen_check_hashes(set, h, 50, answers, &error), SEEN_OK);
        for (int i = 0; i < 50; i++)
            assert_int_equal(answers[i], SEEN_BEFORE);
        seen_close(other);
        seen_close(set);
        assert_int_equal(seen_drop(where, NULL, NULL), SEEN_OK);
    }
}

static void test_growing(void **state)
{
    (void)state;
    winners_make(url_of("grows"),
                 (seen_options){.growth = SEEN_GROWING, .capacity = 20000, .error_rate = 1e-7});
    winners *w = winners_map();
    pid_t pid[CLIENTS];
    winners_fork(w, url_of("grows"), CLIENTS, 2000, 0, pid);
    __atomic_store_n(&w->go, 1, __ATOMIC_SEQ_CST);
    finish(w, pid, true);
    assert_all_seen(url_of("grows"));
    munmap(w, sizeof *w);
}

/* Slots move while keys are added: MOVED and ASK are followed, and each key is new once. */
static void test_resharding(void **state)
{
    (void)state;
    winners_make(url_of("moves"), (seen_options){.capacity = 4000000, .error_rate = 1e-5});
    winners *w = winners_map();
    pid_t pid[CLIENTS];
    winners_fork(w, url_of("moves"), CLIENTS, 500, 10, pid);
    __atomic_store_n(&w->go, 1, __ATOMIC_SEQ_CST);
    int master[3], masters = 0;
    for (int i = 0; i < CLUSTER_NODES && masters < 3; i++)
        if (test_is_master(&cluster.node[i]))
            master[masters++] = i;
    assert_int_equal(masters, 3);
    assert_true(test_cluster_reshard(&cluster, master[0], master[1], 1500));
    bool under_load = __atomic_load_n(&w->done, __ATOMIC_SEQ_CST) < CLIENTS * WINNERS_KEYS;
    printf("resharded %s\n", under_load ? "under load" : "too late");
    finish(w, pid, true);
    assert_all_seen(url_of("moves"));
    munmap(w, sizeof *w);
}

/* The replica of a master that does not own this slot; -1: none. */
static int replica_apart_from(unsigned slot)
{
    redisReply *slots = test_ask(&cluster.node[0], "CLUSTER SLOTS");
    int found = -1;
    for (size_t i = 0; found < 0 && i < slots->elements; i++) {
        redisReply **range = slots->element[i]->element;
        if (slots->element[i]->elements < 4 ||
            (range[0]->integer <= slot && slot <= range[1]->integer))
            continue;
        for (int n = 0; n < CLUSTER_NODES; n++)
            if (cluster.node[n].port == range[3]->element[1]->integer)
                found = n;
    }
    freeReplyObject(slots);
    return found;
}

/* On a busy machine a replica takes longer than command_ms to answer. */
static void must_sync(seen_set *set)
{
    seen_error error = {0};
    seen_status status = SEEN_ERR_SERVER;
    for (int i = 0; i < 60 && status == SEEN_ERR_SERVER; i++)
        status = seen_sync(set, &error);
    if (status != SEEN_OK)
        fail_msg("%s", error.message);
}

/* A replica is stopped: no sync confirms what its master has, however often it is repeated. */
static void test_unconfirmed(void **state)
{
    (void)state;
    const char *where = url_of("still");
    seen_set *set;
    seen_error error = {0};
    seen_options o = {
        .size = sizeof o, .capacity = 4000000, .when_full = SEEN_FULL_GO_ON, .command_ms = 1000};
    seen_hash h[1000];
    seen_answer answers[1000];
    for (unsigned long i = 0; i < 1000; i++)
        h[i] = winners_hash(i);
    assert_int_equal(seen_create(where, &o, 0, &set, &error), SEEN_OK);
    must_sync(set);
    /* The hash of the filter and its counters are elsewhere, and every sync reads them. */
    int still = replica_apart_from(sn_slot_of("seen:still", 10));
    assert_true(still >= 0);
    kill(cluster.node[still].pid, SIGSTOP);
    assert_int_equal(seen_add_hashes(set, h, 1000, answers, &error), SEEN_OK);
    seen_status first = seen_sync(set, &error), second = seen_sync(set, &error);
    kill(cluster.node[still].pid, SIGCONT);
    assert_int_equal(first, SEEN_ERR_SERVER);
    assert_int_equal(second, SEEN_ERR_SERVER);
    assert_non_null(strstr(error.message, "no replica"));
    assert_true(test_cluster_wait(&cluster, 120));
    must_sync(set);
    seen_close(set);
    assert_int_equal(seen_drop(where, NULL, NULL), SEEN_OK);
}

/* A master comes back with old data, while the one with the filter's hash, which is checked
 * periodically, is fine: the broken connection triggers a check as well. */
static void test_forgetful(void **state)
{
    (void)state;
    enum { FORGOTTEN = 4000 };
    const char *where = url_of("forgets");
    seen_set *set, *other;
    seen_error error = {0};
    seen_options o = {.size = sizeof o, .capacity = 4000000, .error_rate = 1e-5};
    static seen_hash h[FORGOTTEN];
    static seen_answer answers[FORGOTTEN];
    for (unsigned long i = 0; i < FORGOTTEN; i++)
        h[i] = winners_hash(i);
    assert_int_equal(seen_create(where, &o, 0, &set, &error), SEEN_OK);
    assert_int_equal(seen_add_hashes(set, h, FORGOTTEN, answers, &error), SEEN_OK);
    test_sleep_ms(250);
    unsigned slot = sn_slot_of("seen:forgets", 12);
    redisReply *slots = test_ask(&cluster.node[0], "CLUSTER SLOTS");
    const test_server *master = NULL;
    for (size_t i = 0; i < slots->elements; i++) {
        redisReply **range = slots->element[i]->element;
        bool has_hash = range[0]->integer <= slot && slot <= range[1]->integer;
        for (int n = 0; n < CLUSTER_NODES && !has_hash; n++)
            if (cluster.node[n].port == range[2]->element[1]->integer)
                master = &cluster.node[n];
    }
    freeReplyObject(slots);
    assert_non_null(master);
    redisReply *shards = test_ask(master, "KEYS seen:{forgets:*:*}");
    assert_true(shards->elements > 0);
    for (size_t i = 0; i < shards->elements; i++) {
        const char *key = shards->element[i]->str;
        long long bytes = test_number(master, "STRLEN %s", key);
        assert_int_equal(test_number(master, "DEL %s", key), 1);
        assert_int_equal(test_number(master, "SETBIT %s %lld 0", key, bytes * 8 - 1), 0);
    }
    freeReplyObject(shards);
    assert_true(test_number(master, "CLIENT KILL TYPE normal") >= 1);
    assert_int_equal(seen_add_hashes(set, h, FORGOTTEN, answers, &error), SEEN_OK);
    assert_int_equal(seen_open(where, NULL, 0, &other, &error), SEEN_OK);
    assert_int_equal(seen_check_hashes(other, h, FORGOTTEN, answers, &error), SEEN_OK);
    for (int i = 0; i < FORGOTTEN; i++)
        assert_int_equal(answers[i], SEEN_BEFORE);
    seen_close(other);
    seen_close(set);
    assert_int_equal(seen_drop(where, NULL, NULL), SEEN_OK);
}

/* A master dies. Keys in flight may be reported as new twice, but none is lost: what a sync
 * confirmed is present after the failover, and the others are reported as new to some client. */
static void test_failover(void **state)
{
    (void)state;
    winners_make(url_of("dies"), (seen_options){.capacity = 4000000, .error_rate = 1e-5});
    seen_set *set;
    seen_error error = {0};
    seen_options options = {.size = sizeof options, .retry_ms = 30000};
    assert_int_equal(seen_open(url_of("dies"), &options, 0, &set, &error), SEEN_OK);
    seen_hash before[5000];
    seen_answer answers[5000];
    for (unsigned long i = 0; i < 5000; i++)
        before[i] = winners_hash(1000000 + i);
    assert_int_equal(seen_add_hashes(set, before, 5000, answers, &error), SEEN_OK);
    if (seen_sync(set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    winners *w = winners_map();
    pid_t pid[CLIENTS];
    winners_fork(w, url_of("dies"), CLIENTS, 500, 10, pid);
    __atomic_store_n(&w->go, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&w->done, __ATOMIC_SEQ_CST) < WINNERS_KEYS / 2)
        test_sleep_ms(5);
    int victim = 0;
    while (!test_is_master(&cluster.node[victim]))
        victim++;
    seen_hash more[100];
    for (unsigned long i = 0; i < 100; i++)
        more[i] = winners_hash(2000000 + i);
    assert_int_equal(seen_add_hashes(set, more, 100, answers, &error), SEEN_OK);
    test_server_kill(&cluster.node[victim]);
    /* A sync waits as long as the cluster needs, but not for dead nodes. */
    if (seen_sync(set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    /* A handle that was open all the time works too. */
    if (seen_check_hashes(set, before, 5000, answers, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(answers[i], SEEN_BEFORE);
    finish(w, pid, false);
    seen_close(set);
    munmap(w, sizeof *w);
}

static int start(void **state)
{
    (void)state;
    return test_cluster_start(&cluster) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    test_cluster_stop(&cluster);
    return 0;
}

int main(void)
{
    if (!test_have_redis() || system("redis-cli --version > /dev/null 2>&1") != 0)
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),      cmocka_unit_test(test_spread),
        cmocka_unit_test(test_one_winner), cmocka_unit_test(test_growing),
        cmocka_unit_test(test_unions),     cmocka_unit_test(test_unconfirmed),
        cmocka_unit_test(test_resharding), cmocka_unit_test(test_forgetful),
        cmocka_unit_test(test_failover),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
