/* Recovery: what a dead session leaves is completed by the workers that live.
 *
 *     declare dead -> fence every bucket -> replay the journal -> return the hosts -> gone
 *
 * Every step can be repeated, and done by several workers at once. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Permits that a session took and did not bind to URLs go back. */
static seen_status refund(sn_fleet *f, const char *session)
{
    char field[SN_SESSION + 4];
    uint64_t bound;
    long long back;
    if (f->options.max_pages == 0)
        return SEEN_OK;
    snprintf(field, sizeof field, "g:%s", session);
    seen_status status = sn_session_sum(f, "applied", field, &bound);
    if (status != SEEN_OK)
        return status;
    sn_fleet_call(&f->conn, 0, f->conn.name_slot, SN_LUA_REFUND, 1, 2);
    sn_command_text(f->conn.ch, f->conn.name);
    sn_command_text(f->conn.ch, session);
    sn_command_number(f->conn.ch, bound);
    return sn_fleet_run_number(&f->conn, &back, f->clerk_error);
}

/* ---- recovery of a dead session ---- */

static seen_status declare(sn_fleet *f, const char *session, uint64_t beat, bool *dead)
{
    long long answer;
    sn_fleet_call(&f->conn, 0, sn_fleet_slot_session(&f->conn, session), SN_LUA_DEAD, 1, 1);
    sn_fleet_key_session(&f->conn, session, "");
    sn_command_number(f->conn.ch, beat);
    seen_status status = sn_fleet_run_number(&f->conn, &answer, f->clerk_error);
    *dead = answer == 1;
    return status;
}

static seen_status fence(sn_fleet *f, const char *session)
{
    if (sn_fleet_without(SN_WITHOUT_FENCE))
        return SEEN_OK;
    for (unsigned b = 0; b < f->conn.buckets; b++) {
        sn_fleet_call(&f->conn, b, f->conn.slot[b], SN_LUA_FENCE, 1, 1);
        sn_fleet_key_bucket(&f->conn, b, "applied");
        sn_command_text(f->conn.ch, session);
    }
    return sn_fleet_run(&f->conn, NULL, NULL, f->clerk_error);
}

/* Declares a session dead and fences it, until replicas have both: one that a failover makes live
 * again keeps its hosts. */
static seen_status exclude(sn_fleet *f, const char *session, uint64_t beat, bool *dead)
{
    unsigned epoch;
    seen_status status;
    do {
        epoch = sn_client_epoch(f->conn.client);
        status = declare(f, session, beat, dead);
        if (status == SEEN_OK && *dead)
            status = fence(f, session);
        if (status == SEEN_OK && *dead)
            status = sn_fleet_confirm(f);
    } while (status == SEEN_OK && *dead && epoch != sn_client_epoch(f->conn.client));
    return status;
}

/* Returns the hosts of a session in one bucket. The fence is up: it gets no more of them. */
static seen_status reap_bucket(sn_fleet *f, const char *session, unsigned b)
{
    enum { QUEUES = 500 }; /* in one call */
    sn_buffer queues = {0};
    seen_status status = sn_session_owned(f, session, b, &queues);
    for (size_t at = 0, end; at < queues.len && status == SEEN_OK; at = end) {
        unsigned count = 0;
        for (end = at; end < queues.len && count < QUEUES; count++)
            end += strlen(queues.data + end) + 1;
        sn_fleet_call(&f->conn, 0, f->conn.slot[b], SN_LUA_REAP, 3, 1 + count);
        sn_fleet_key_bucket(&f->conn, b, "ready");
        sn_fleet_key_bucket(&f->conn, b, "owner");
        sn_fleet_key_bucket(&f->conn, b, "tired");
        sn_command_text(f->conn.ch, session);
        for (size_t i = at; i < end; i += strlen(queues.data + i) + 1)
            sn_command_text(f->conn.ch, queues.data + i);
        status = sn_fleet_run(&f->conn, NULL, NULL, f->clerk_error);
    }
    sn_buffer_free(&queues);
    return status;
}

/* Every step can be repeated, and done by several workers at once. The order matters: a session
 * that is only stalled could otherwise push a part of its batch under the number of the replay.
 * *dead: it is; otherwise its heartbeat has moved, or another worker was faster. */
static seen_status recover(sn_fleet *f, const char *session, uint64_t beat, const char *final,
                           bool *dead)
{
    enum { RECORD_LEASES = 10 }; /* that a record stays */
    unsigned epoch;
    seen_status status;
    do {
        epoch = sn_client_epoch(f->conn.client);
        status = exclude(f, session, beat, dead);
        if (status != SEEN_OK || !*dead)
            return status;
        status = sn_journal_replay(f, session);
        for (unsigned b = 0; b < f->conn.buckets && status == SEEN_OK; b++)
            status = reap_bucket(f, session, b);
        if (status == SEEN_OK)
            status = refund(f, session);
        if (status == SEEN_OK)
            status = sn_fleet_confirm(f);
    } while (status == SEEN_OK && epoch != sn_client_epoch(f->conn.client));
    if (status != SEEN_OK)
        return status;
    long long done;
    sn_fleet_call(&f->conn, 0, sn_fleet_slot_session(&f->conn, session), SN_LUA_GONE, 3, 2);
    sn_fleet_key_session(&f->conn, session, "");
    sn_fleet_key_session(&f->conn, session, ":j");
    sn_fleet_key_session(&f->conn, session, ":p");
    sn_command_text(f->conn.ch, final);
    sn_command_number(f->conn.ch, RECORD_LEASES * (uint64_t)f->options.lease_ms);
    return sn_fleet_run_number(&f->conn, &done, f->clerk_error);
}

/* ---- after a look at the others ---- */

/* Hosts for others that have fewer than an equal share and want more: half of what this worker has
 * above its own share at a time, since others give too. They get a moment to take them before this
 * worker looks for hosts again. */
static void share(sn_fleet *f)
{
    enum { TAKE_MS = 500 };
    uint64_t all = f->lane_count, live = 1, wanted = 0;
    for (size_t i = 0; i < f->observed_count; i++) {
        const sn_fleet_observed *o = &f->observed[i];
        if (!o->live || o->over)
            continue;
        all += o->hosts;
        live++;
    }
    uint64_t part = all / live;
    for (size_t i = 0; i < f->observed_count; i++) {
        const sn_fleet_observed *o = &f->observed[i];
        bool silent = o->silent_ms > (int64_t)f->options.lease_ms / 2;
        if (!o->live || o->over || silent || o->hosts >= part - part / 4)
            continue;
        wanted += o->want < part - o->hosts ? o->want : part - o->hosts;
    }
    f->live_count = (size_t)live;
    uint64_t above = f->lane_count > part ? f->lane_count - part : 0;
    size_t back = (size_t)((above < wanted ? above : wanted) + 1) / 2;
    pthread_mutex_lock(&f->lock);
    f->give_back = back;
    f->others = live > 1;
    pthread_mutex_unlock(&f->lock);
    if (back > 0)
        f->pick_at = sn_fleet_now() + TAKE_MS;
}

/* Shares hosts and recovers the dead, after each look. */
seen_status sn_session_observe(sn_fleet *f)
{
    int64_t lease = (int64_t)f->options.lease_ms;
    seen_status status = SEEN_OK;
    if (!f->looked)
        return SEEN_OK;
    f->looked = false;
    share(f);
    for (size_t i = 0; i < f->observed_count && status == SEEN_OK; i++) {
        sn_fleet_observed *o = &f->observed[i];
        bool dead = false;
        if (o->over || o->silent_ms <= lease)
            continue;
        status = recover(f, o->session, o->beat, "gone", &dead);
        o->over = dead && status == SEEN_OK;
        if (status == SEEN_OK)
            status = sn_session_beat(f);
    }
    return status;
}

/* ---- leaving ---- */

/* What was not released goes to the others as if this session had died, but at once. */
seen_status sn_session_leave(sn_fleet *f)
{
    long long beat;
    bool dead = false;
    sn_session_put_beat(f, 0);
    seen_status status = sn_fleet_run_number(&f->conn, &beat, f->clerk_error);
    return status == SEEN_OK && beat > 0 ? recover(f, f->session, (uint64_t)beat, "left", &dead)
                                         : status;
}
