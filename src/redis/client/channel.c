/* A channel to a server or a cluster. See channel.h.
 *
 * Commands are executed in rounds. In a round every command without a reply is queued at its node,
 * in the order in which it was written, and all nodes are written to and read from concurrently.
 * Commands for one key always go to one node, so their order is kept. Commands that must be
 * repeated wait for the next round, after a pause that doubles. */
#include "redis/client/channel.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PARTS = 64, PAUSE_FIRST = 10, PAUSE_MAX = 500, MOVES_FREE = 16 };

#define ASKING_FIRST UINT32_C(0x80000000)

static char ASKING[] = "*1\r\n$6\r\nASKING\r\n";

typedef struct run {
    sn_channel *ch;
    sn_reply_handler take;
    void *context;
    size_t left;    /* commands without a reply */
    bool again;     /* some commands are to be sent again */
    bool pause;     /* and only after a pause */
    uint64_t since; /* the first error since the last successful reply; 0: none */
    uint32_t pause_ms;
    unsigned moves;     /* rounds that only followed redirections */
    seen_status status; /* the first permanent error */
    seen_error error;
    seen_status cause; /* the last transient error */
    seen_error last_error;
} run;

static void fail(run *r, seen_status status, const seen_error *error)
{
    if (r->status == SEEN_OK) {
        r->status = status;
        r->error = *error;
    }
}

static void may_heal(run *r, seen_status status, const seen_error *error)
{
    r->again = true;
    sn_client_new_epoch(r->ch->redis);
    r->cause = status;
    r->last_error = *error;
    if (!r->since)
        r->since = sn_clock_ms();
}

static void finish(run *r, sn_command *c)
{
    c->done = true;
    r->left--;
}

/* ---- queues ---- */

static bool enqueue(sn_node *node, uint32_t entry)
{
    if (node->queued == node->queue_room) {
        uint32_t *queue =
            sn_memory_grow(node->queue, &node->queue_room, node->queued + 1, sizeof *queue);
        if (!queue)
            return false;
        node->queue = queue;
    }
    node->queue[node->queued++] = entry;
    return true;
}

static bool distribute(sn_channel *ch)
{
    for (unsigned i = 0; i < ch->nodes; i++) {
        sn_node *node = ch->node[i];
        node->queued = node->cursor = node->part = node->answered = 0;
        node->asked = node->deaf = false;
    }
    for (size_t i = 0; i < ch->commands; i++) {
        sn_command *c = &ch->command[i];
        if (c->done)
            continue;
        unsigned to = c->ask ? c->ask - 1u : ch->owner[c->slot];
        /* A slot without an owner: any node will report the reason. */
        if (to >= ch->nodes)
            to = 0;
        uint32_t entry = (uint32_t)i | (c->ask ? ASKING_FIRST : 0);
        c->ask = 0;
        if (!enqueue(ch->node[to], entry))
            return false;
    }
    return true;
}

/* The connection is lost: the state of commands in flight is unknown. */
static void lose_node(run *r, sn_node *node)
{
    sn_channel *ch = r->ch;
    seen_error error;
    seen_status status =
        sn_error_set(&error, SEEN_ERR_NETWORK, "%s: lost the connection to %s%s%.0d: %s",
                     ch->redis->address.shown, node->place.host, node->place.port ? ":" : "",
                     (int)node->place.port, node->conn.why);
    for (size_t i = node->answered; i < node->queued; i++) {
        sn_command *c = &ch->command[node->queue[i] & ~ASKING_FIRST];
        bool in_flight = i < node->cursor || (i == node->cursor && node->part > 0);
        c->again |= in_flight;
        if (in_flight && c->once) {
            finish(r, c);
            fail(r, status, &error);
        }
    }
    sn_connection_close(&node->conn);
    node->queued = node->answered = 0;
    ch->stale = ch->redis->address.cluster;
    /* The first loss may be an idle connection that the server closed; the next one needs a
     * pause. */
    r->pause |= r->since != 0;
    may_heal(r, status, &error);
}

/* ---- sending and receiving ---- */

/* The next bytes to send: adjacent commands are one part. */
static size_t gather(const sn_channel *ch, const sn_node *node, struct iovec part[PARTS])
{
    size_t parts = 0, skip = node->part;
    for (size_t i = node->cursor; i < node->queued && parts + 2 <= PARTS; i++) {
        const sn_command *c = &ch->command[node->queue[i] & ~ASKING_FIRST];
        char *bytes = ch->text + c->at;
        size_t len = c->len;
        if (node->queue[i] & ASKING_FIRST) {
            size_t ask = sizeof ASKING - 1;
            if (skip < ask)
                part[parts++] = (struct iovec){ASKING + skip, ask - skip};
            skip = skip > ask ? skip - ask : 0;
        }
        bytes += skip;
        len -= skip;
        skip = 0;
        struct iovec *last = parts ? &part[parts - 1] : NULL;
        if (last && (char *)last->iov_base + last->iov_len == bytes)
            last->iov_len += len;
        else
            part[parts++] = (struct iovec){bytes, len};
    }
    return parts;
}

static void advance(const sn_channel *ch, sn_node *node, size_t sent)
{
    sent += node->part;
    while (node->cursor < node->queued) {
        uint32_t entry = node->queue[node->cursor];
        size_t len =
            ch->command[entry & ~ASKING_FIRST].len + (entry & ASKING_FIRST ? sizeof ASKING - 1 : 0);
        if (sent < len)
            break;
        sent -= len;
        node->cursor++;
    }
    node->part = sent;
}

static void transmit(run *r, sn_node *node)
{
    struct iovec part[PARTS];
    size_t parts = gather(r->ch, node, part);
    ssize_t sent = sn_connection_send(&node->conn, part, parts);
    node->deaf = sent < 0;
    if (sent > 0) {
        node->waited = 0;
        node->dirty = true;
        advance(r->ch, node, (size_t)sent);
    }
}

/* Follows MOVED and ASK. */
static bool follow(run *r, sn_command *c, const sn_reply *reply)
{
    unsigned slot, port;
    const char *host;
    size_t len;
    sn_channel *ch = r->ch;
    bool moved = sn_reply_error_is(reply, "MOVED");
    if (!ch->redis->address.cluster || (!moved && !sn_reply_error_is(reply, "ASK")))
        return false;
    if (!sn_cluster_parse_move(reply, &slot, &host, &len, &port))
        return false;
    unsigned node = len ? sn_cluster_node(ch, host, len, port) : SN_NO_NODE;
    if (node == SN_NO_NODE) {
        ch->stale = true;
    } else if (moved) {
        ch->owner[slot] = (uint16_t)node;
        ch->stale = true;
    } else {
        c->ask = (uint16_t)(node + 1);
    }
    r->again = true;
    if (moved)
        sn_client_new_epoch(ch->redis);
    r->moves++;
    return true;
}

static bool is_passing(const sn_channel *ch, const sn_reply *reply)
{
    static const char *const WORDS[] = {"TRYAGAIN", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "BUSY"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (sn_reply_error_is(reply, WORDS[i]))
            return true;
    return ch->redis->address.cluster && sn_reply_error_is(reply, "READONLY");
}

static void take_reply(run *r, sn_node *node)
{
    sn_channel *ch = r->ch;
    const sn_reply *reply = &node->conn.reply;
    sn_command *c = &ch->command[node->queue[node->answered++] & ~ASKING_FIRST];
    seen_error error;
    if (sn_reply_is_error(reply)) {
        /* A replica: after a promotion it has the data of its own master. In the error of a script
         * the word may come later. */
        if (strstr(sn_reply_text(reply, 0), "READONLY"))
            sn_client_new_epoch(ch->redis);
        if (follow(r, c, reply))
            return;
        /* The server does not have the script, or was restarted: nothing was executed. */
        if (c->script && sn_reply_error_is(reply, "NOSCRIPT") && sn_script_expand(ch, c)) {
            r->again = true;
            return;
        }
        if (is_passing(ch, reply)) {
            may_heal(r, sn_errors_from_reply(&ch->redis->address, node, reply, &error), &error);
            r->pause = true;
            ch->stale = ch->redis->address.cluster;
            return;
        }
    }
    finish(r, c);
    if (r->take(r->context, c->tag, reply, c->again)) {
        r->since = 0;
        r->pause_ms = PAUSE_FIRST;
        return;
    }
    node->confused |= !sn_reply_is_error(reply);
    fail(r, sn_errors_from_reply(&ch->redis->address, node, reply, &error), &error);
}

static bool receive(run *r, sn_node *node)
{
    ssize_t n = sn_connection_receive(&node->conn);
    if (n > 0)
        node->waited = 0;
    bool closed = n < 0;
    int got;
    /* Replies that arrived before the connection broke are still valid. */
    while ((got = sn_connection_next(&node->conn)) > 0) {
        if (node->answered >= node->cursor) {
            strcpy(node->conn.why, "an unexpected reply");
            return false;
        }
        if ((node->queue[node->answered] & ASKING_FIRST) && !node->asked) {
            node->asked = true;
            continue;
        }
        node->asked = false;
        take_reply(r, node);
    }
    return got == 0 && !closed;
}

/* Serves all nodes until each has replied or is lost. */
static void pump(run *r)
{
    sn_channel *ch = r->ch;
    struct pollfd watch[SN_NODES_MAX];
    sn_node *busy[SN_NODES_MAX];
    for (;;) {
        nfds_t n = 0;
        uint64_t least = UINT64_MAX;
        for (unsigned i = 0; i < ch->nodes; i++) {
            sn_node *node = ch->node[i];
            if (node->answered == node->queued)
                continue;
            if (node->waited >= ch->redis->times.command_ms) {
                strcpy(node->conn.why, "no answer in time");
                lose_node(r, node);
                continue;
            }
            uint64_t left = ch->redis->times.command_ms - node->waited;
            least = left < least ? left : least;
            busy[n] = node;
            watch[n++] = (struct pollfd){
                .fd = node->conn.fd,
                .events =
                    (short)(POLLIN | (node->cursor < node->queued && !node->deaf ? POLLOUT : 0))};
        }
        if (n == 0)
            return;
        uint64_t waited;
        int ready = sn_connection_poll(watch, n, least, &waited);
        for (nfds_t i = 0; i < n; i++)
            busy[i]->waited += waited;
        if (ready <= 0)
            continue;
        for (nfds_t i = 0; i < n; i++) {
            sn_node *node = busy[i];
            if (watch[i].revents & POLLOUT)
                transmit(r, node);
            if ((watch[i].revents & ~POLLOUT) && !receive(r, node))
                lose_node(r, node);
        }
    }
}

static void connect_all(run *r)
{
    sn_channel *ch = r->ch;
    for (unsigned i = 0; i < ch->nodes; i++) {
        sn_node *node = ch->node[i];
        seen_error error;
        seen_status status = SEEN_OK;
        if (node->queued && node->conn.fd < 0)
            status = sn_channel_open(ch, node, &error);
        node->waited = 0;
        node->dirty |= node->queued > 0;
        if (status == SEEN_OK)
            continue;
        node->queued = 0;
        may_heal(r, status, &error);
        r->pause = true;
        ch->stale = ch->redis->address.cluster;
        if (status != SEEN_ERR_NETWORK)
            fail(r, status, &error);
    }
}

static void rest(run *r)
{
    uint32_t ms = r->pause_ms;
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
    r->pause_ms = 2 * ms < PAUSE_MAX ? 2 * ms : PAUSE_MAX;
}

static bool out_of_time(const run *r)
{
    return r->since && sn_clock_ms() - r->since > r->ch->redis->times.retry_ms;
}

static void give_up(run *r)
{
    seen_error error;
    sn_error_set(&error, r->cause, "%.380s (retried for %u ms)", r->last_error.message,
                 r->ch->redis->times.retry_ms);
    fail(r, r->cause, &error);
}

/* One round; false when all is done. */
static bool round_of(run *r)
{
    sn_channel *ch = r->ch;
    r->again = r->pause = false;
    if (ch->stale) {
        seen_error error;
        seen_status status = sn_cluster_refresh(ch, &error);
        if (status != SEEN_OK) {
            may_heal(r, status, &error);
            r->pause = true;
        }
    }
    if (!distribute(ch)) {
        r->status =
            sn_error_set(&r->error, SEEN_ERR_MEMORY, "%s: out of memory", ch->redis->address.shown);
        return false;
    }
    connect_all(r);
    if (ch->early) {
        advance(ch, ch->node[0], ch->early);
        ch->early = 0;
    }
    pump(r);
    if (r->left == 0 || r->status != SEEN_OK)
        return false;
    assert(r->again);
    if (r->moves >= MOVES_FREE) {
        /* A cluster that keeps redirecting needs time, but not forever. */
        r->pause = true;
        if (!r->since) {
            seen_error error;
            sn_error_set(&error, SEEN_ERR_SERVER, "%s: redirection loop between cluster nodes",
                         ch->redis->address.shown);
            may_heal(r, SEEN_ERR_SERVER, &error);
        }
    }
    if (out_of_time(r)) {
        give_up(r);
        return false;
    }
    if (r->pause)
        rest(r);
    return true;
}

void sn_channel_flush_early(sn_channel *ch)
{
    enum { ENOUGH = 32 << 10 };
    sn_node *node = ch->node[0];
    /* A TLS record that is being sent cannot be taken back. */
    if (ch->redis->address.cluster || ch->redis->trust || ch->no_memory || node->conn.fd < 0 ||
        ch->used - ch->early < ENOUGH)
        return;
    struct iovec part = {.iov_base = ch->text + ch->early, .iov_len = ch->used - ch->early};
    ssize_t sent = sn_connection_send(&node->conn, &part, 1);
    /* A lost connection is detected by the run. */
    if (sent > 0)
        ch->early += (size_t)sent;
}

void sn_channel_poll_hangup(sn_channel *ch)
{
    enum { POLL_MS = 200 };
    uint64_t now = sn_clock_ms();
    if (now - ch->polled <= POLL_MS)
        return;
    ch->polled = now;
    for (unsigned i = 0; i < ch->nodes; i++) {
        sn_connection *conn = &ch->node[i]->conn;
        struct pollfd watch = {.fd = conn->fd, .events = POLLRDHUP};
        if (conn->fd < 0 || poll(&watch, 1, 0) <= 0)
            continue;
        sn_connection_close(conn);
        ch->stale = ch->redis->address.cluster;
        sn_client_new_epoch(ch->redis);
    }
}

void sn_channel_clear(sn_channel *ch)
{
    /* Commands that were sent but never run: their replies must not be taken for those of
     * others. */
    if (ch->early)
        sn_connection_close(&ch->node[0]->conn);
    ch->early = 0;
    ch->commands = 0;
    ch->used = 0;
    ch->no_memory = false;
}

seen_status sn_channel_run(sn_channel *ch, sn_reply_handler take, void *context, seen_error *error)
{
    run r = {
        .ch = ch, .take = take, .context = context, .left = ch->commands, .pause_ms = PAUSE_FIRST};
    if (ch->no_memory) {
        r.status =
            sn_error_set(&r.error, SEEN_ERR_MEMORY, "%s: out of memory", ch->redis->address.shown);
    } else {
        while (r.left && round_of(&r))
            ;
    }
    for (unsigned i = 0; i < ch->nodes; i++) {
        if (ch->node[i]->confused)
            sn_connection_close(&ch->node[i]->conn);
        ch->node[i]->confused = false;
    }
    sn_channel_clear(ch);
    if (r.status != SEEN_OK && error)
        *error = r.error;
    return r.status;
}

size_t sn_channel_pending(const sn_channel *ch)
{
    return ch->commands;
}

unsigned sn_channel_nodes(const sn_channel *ch)
{
    return ch->nodes;
}

const sn_redis_address *sn_channel_address(const sn_channel *ch)
{
    return &ch->redis->address;
}
