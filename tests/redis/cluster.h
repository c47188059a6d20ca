/* A Redis Cluster of three masters and three replicas on the loopback. */
#ifndef TEST_REDIS_CLUSTER_H
#define TEST_REDIS_CLUSTER_H

#include "tests/redis/server.h"

enum { CLUSTER_NODES = 6 };

typedef struct test_cluster {
    test_server node[CLUSTER_NODES];
    char url[128]; /* redis-cluster://HOST:PORT,HOST:PORT */
} test_cluster;

static inline bool test_cluster_reports(const test_server *s, const char *what)
{
    redisReply *r = test_ask(s, "CLUSTER INFO");
    bool says = r && r->type == REDIS_REPLY_STRING && strstr(r->str, what);
    if (r)
        freeReplyObject(r);
    return says;
}

static inline bool test_cluster_well(const test_cluster *c)
{
    for (int i = 0; i < CLUSTER_NODES; i++)
        if (c->node[i].pid && (!test_cluster_reports(&c->node[i], "cluster_state:ok") ||
                               !test_cluster_reports(&c->node[i], "cluster_slots_ok:16384")))
            return false;
    return true;
}

static inline bool test_cluster_wait(const test_cluster *c, int seconds)
{
    for (int i = 0; i < seconds * 20; i++) {
        if (test_cluster_well(c))
            return true;
        test_sleep_ms(50);
    }
    return false;
}

static inline bool test_cluster_start(test_cluster *c)
{
    static const char *const extra[] = {"--cluster-enabled",
                                        "yes",
                                        "--cluster-node-timeout",
                                        "4000",
                                        "--appendonly",
                                        "no",
                                        "--repl-diskless-sync-delay",
                                        "0",
                                        "--cluster-announce-ip",
                                        "127.0.0.1",
                                        NULL};
    char command[512] = "redis-cli --cluster create";
    for (int i = 0; i < CLUSTER_NODES; i++) {
        if (!test_server_start(&c->node[i], extra))
            return false;
        snprintf(command + strlen(command), sizeof command - strlen(command), " 127.0.0.1:%d",
                 c->node[i].port);
    }
    strcat(command, " --cluster-replicas 1 --cluster-yes > /dev/null 2>&1 < /dev/null");
    if (system(command) != 0)
        return false;
    snprintf(c->url, sizeof c->url, "redis-cluster://127.0.0.1:%d,127.0.0.1:%d", c->node[0].port,
             c->node[1].port);
    if (!test_cluster_wait(c, 120))
        return false;
    /* Whether the replicas are in sync. */
    for (int i = 0; i < CLUSTER_NODES; i++) {
        int tries = 0;
        redisReply *r;
        while ((r = test_ask(&c->node[i], "INFO replication")) && strstr(r->str, "role:slave") &&
               !strstr(r->str, "master_link_status:up") && tries++ < 2400) {
            freeReplyObject(r);
            test_sleep_ms(50);
        }
        if (r)
            freeReplyObject(r);
    }
    return true;
}

static inline bool test_is_master(const test_server *s)
{
    redisReply *r = test_ask(s, "ROLE");
    bool master = r && r->type == REDIS_REPLY_ARRAY && r->elements > 0 &&
                  strcmp(r->element[0]->str, "master") == 0;
    if (r)
        freeReplyObject(r);
    return master;
}

static inline void test_node_id(const test_server *s, char id[48])
{
    redisReply *r = test_ask(s, "CLUSTER MYID");
    snprintf(id, 48, "%s", r && r->type == REDIS_REPLY_STRING ? r->str : "");
    if (r)
        freeReplyObject(r);
}

/* Moves slots from one master to another while the cluster is in use. */
static inline bool test_cluster_reshard(const test_cluster *c, int from, int to, int slots)
{
    char command[512], source[48], target[48];
    test_node_id(&c->node[from], source);
    test_node_id(&c->node[to], target);
    snprintf(command, sizeof command,
             "redis-cli --cluster reshard 127.0.0.1:%d --cluster-from %s --cluster-to %s "
             "--cluster-slots %d --cluster-yes > /dev/null 2>&1 < /dev/null",
             c->node[from].port, source, target, slots);
    return system(command) == 0;
}

static inline void test_cluster_stop(test_cluster *c)
{
    for (int i = 0; i < CLUSTER_NODES; i++)
        if (c->node[i].folder[0])
            test_server_stop(&c->node[i]);
}

#endif
