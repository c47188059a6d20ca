/* Takes queues that are due and have no owner. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PICK_BUCKETS = 8,
    PICK_MS = 100, /* between two rounds that found nothing */
};

typedef struct picked {
    sn_fleet *f;
    const unsigned *bucket; /* by tag */
    bool *unknown;          /* by tag: the answer was lost, see pick.lua */
    long long refused;      /* what the script returned */
    bool no_memory;
    size_t got;
} picked;

static bool take_picked(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    picked *p = context;
    (void)again;
    if (r->items == 1 && r->item[0].type == REDIS_REPLY_INTEGER) {
        p->unknown[tag] = r->item[0].number == -2;
        if (!p->unknown[tag])
            p->refused = r->item[0].number;
        return true;
    }
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY || r->items % 2 != 1)
        return false;
    pthread_mutex_lock(&p->f->lock);
    for (size_t i = 1; i + 1 < r->items; i += 2) {
        if (!sn_lane_add(p->f, sn_reply_text(r, i), r->item[i].len, p->bucket[tag],
                         sn_reply_text(r, i + 1)))
            p->no_memory = true;
        p->got++;
    }
    pthread_mutex_unlock(&p->f->lock);
    if (r->items > 1)
        p->f->marks[p->bucket[tag]]++;
    return true;
}

static bool take_ready(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    (void)again;
    return sn_session_take_ready(context, tag, r);
}

/* Which buckets may have ready queues. */
static seen_status find_ready(sn_fleet *f, unsigned *bucket, unsigned *count)
{
    seen_status status = SEEN_OK;
    if (!f->ready_known) {
        sn_session_put_ready(f, 0);
        status = sn_fleet_run(&f->conn, take_ready, f, f->clerk_error);
    }
    f->ready_known = false;
    *count = 0;
    for (unsigned i = 0; i < f->conn.buckets && status == SEEN_OK; i++) {
        unsigned b = (f->next_bucket + i) % f->conn.buckets;
        if (f->ready[b])
            bucket[(*count)++] = b;
    }
    return status;
}

static size_t count_working(const sn_fleet *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->lane_count; i++)
        n += f->lanes[i]->host->busy || f->lanes[i]->out || f->lanes[i]->fresh ||
             (f->options.max_pages > 0 && f->lanes[i]->count > 0);
    return n;
}

enum { LAST = 40 }; /* what pick returns of a host, with a NUL */

/* The last request to the host is unknown: its delay is observed first. A Retry-After is kept. */
static bool take_last(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    (void)tag, (void)again;
    const char *hold = r->items == 1 && !sn_fleet_reply_nil(r, 0) && !sn_reply_is_error(r)
                           ? strchr(sn_reply_text(r, 0), ':')
                           : NULL;
    snprintf(context, LAST, "?%s", hold ? hold : "");
    return r->items == 1 && !sn_reply_is_error(r);
}

/* Takes over the queues of a bucket that this session owns without knowing it. */
static seen_status claim(sn_fleet *f, unsigned bucket, size_t *got)
{
    sn_buffer queues = {0};
    bool ok = true;
    f->marks[bucket]++;
    seen_status status = sn_session_owned(f, f->session, bucket, &queues);
    for (size_t at = 0, len; at < queues.len && status == SEEN_OK && ok; at += len + 1) {
        const char *queue = queues.data + at;
        char last[LAST];
        const sn_lane *lane = f->table[strtoull(queue, NULL, 16) % SN_FLEET_TABLE];
        len = strlen(queue);
        while (lane && strcmp(lane->queue, queue) != 0)
            lane = lane->chain;
        if (lane)
            continue;
        sn_command_begin(f->conn.ch, 0, f->conn.slot[bucket], 3);
        sn_command_text(f->conn.ch, "HGET");
        sn_fleet_key_bucket(&f->conn, bucket, "tired");
        sn_command_arg(f->conn.ch, queue, 16);
        status = sn_fleet_run(&f->conn, take_last, last, f->clerk_error);
        if (status != SEEN_OK)
            break;
        pthread_mutex_lock(&f->lock);
        ok = sn_lane_add(f, queue, len, bucket, last);
        pthread_mutex_unlock(&f->lock);
        *got += ok;
    }
    sn_buffer_free(&queues);
    return ok ? status : sn_error_set(f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
}

static void ask_for_queues(sn_fleet *f, const unsigned *bucket, unsigned count, size_t want)
{
    for (unsigned i = 0; i < count; i++) {
        sn_fleet_call(&f->conn, i, f->conn.slot[bucket[i]], SN_LUA_PICK, 4, 5);
        sn_fleet_key_bucket(&f->conn, bucket[i], "ready");
        sn_fleet_key_bucket(&f->conn, bucket[i], "owner");
        sn_fleet_key_bucket(&f->conn, bucket[i], "applied");
        sn_fleet_key_bucket(&f->conn, bucket[i], "tired");
        sn_command_text(f->conn.ch, f->session);
        sn_command_number(f->conn.ch, (want + count - 1) / count);
        sn_command_number(f->conn.ch, f->options.levels ? f->level : 0);
        sn_command_number(f->conn.ch, f->options.max_wait_ms + 1000 * 3600);
        sn_command_number(f->conn.ch, f->marks[bucket[i]] + 1);
    }
}

seen_status sn_lane_pick(sn_fleet *f)
{
    int64_t now = sn_fleet_now();
    unsigned bucket[SN_FLEET_BUCKETS_MAX], count = 0;
    bool unknown[SN_FLEET_BUCKETS_MAX] = {false};
    pthread_mutex_lock(&f->lock);
    size_t have = count_working(f), want = sn_session_wanted(f);
    bool held = f->paused || f->full || f->limit;
    pthread_mutex_unlock(&f->lock);
    /* A worker that has enough for now looks only when it reads the registry. */
    bool wait = have > want / 2 ||
                (f->pick_empty && now - f->picked_at < sn_session_interval_ms(f, PICK_MS));
    if (held || have >= want || now < f->pick_at || (wait && !f->ready_known))
        return SEEN_OK;
    f->picked_at = now;
    seen_status status = find_ready(f, bucket, &count);
    if (status != SEEN_OK)
        return status;
    if (count > PICK_BUCKETS && have > 0)
        count = PICK_BUCKETS;
    f->pick_empty = true;
    if (count == 0)
        return SEEN_OK;
    f->next_bucket = (bucket[count - 1] + 1) % f->conn.buckets;
    picked p = {.f = f, .bucket = bucket, .unknown = unknown};
    sn_fleet_point("pick");
    ask_for_queues(f, bucket, count, want - have);
    status = sn_fleet_run(&f->conn, take_picked, &p, f->clerk_error);
    for (unsigned i = 0; i < count && status == SEEN_OK; i++)
        if (unknown[i])
            status = claim(f, bucket[i], &p.got);
    f->pick_empty = p.got == 0;
    if (status == SEEN_OK && p.refused != 0)
        return sn_fleet_set_lost(f, p.refused == -1 ? "another worker declared this one dead"
                                                    : "a server lost what this worker had written");
    if (status == SEEN_OK && p.no_memory)
        return sn_error_set(f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
    /* No request is sent before a replica knows who owns the host. */
    return status == SEEN_OK && p.got > 0 ? sn_fleet_confirm(f) : status;
}
