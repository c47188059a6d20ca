/* Confirms that the writes of this session are on a replica and that no server has lost them.
 *
 * WAIT covers the connection it is sent on. If a connection was lost since the last confirmation
 * (the epoch of the client changed), another server may answer: the counters that every write of
 * this session increments are read back and compared. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

seen_status sn_fleet_set_lost(sn_fleet *f, const char *why)
{
    pthread_mutex_lock(&f->lock);
    f->lost = true;
    pthread_mutex_unlock(&f->lock);
    return sn_error_set(f->clerk_error, SEEN_ERR_SERVER, "%s: this session has ended: %s",
                        sn_client_address(f->conn.client)->shown, why);
}

typedef struct verified {
    const sn_fleet *f;
    bool lost;
} verified;

static bool take_verified(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    verified *v = context;
    const sn_fleet *f = v->f;
    (void)again;
    if (tag == f->conn.buckets + 1) {
        v->lost |= r->items != 1 || (uint64_t)sn_fleet_reply_number(r, 0) != f->permits_taken;
        return !sn_reply_is_error(r);
    }
    if (!sn_reply_is_row(r, tag == f->conn.buckets ? 3 : 2))
        return false;
    if (tag == f->conn.buckets) {
        /* The last intent may have been refused, or its reply lost. */
        uint64_t intent = (uint64_t)sn_fleet_reply_number(r, 3);
        v->lost |= sn_fleet_reply_nil(r, 1) || strcmp(sn_reply_text(r, 1), "live") != 0 ||
                   (uint64_t)sn_fleet_reply_number(r, 2) < f->beat ||
                   (intent != f->intent && intent != f->number);
        return true;
    }
    v->lost |= (uint64_t)sn_fleet_reply_number(r, 1) != f->numbers[tag] ||
               (uint64_t)sn_fleet_reply_number(r, 2) != f->marks[tag];
    return true;
}

static seen_status verify(sn_fleet *f)
{
    verified v = {.f = f};
    char mark[SN_SESSION + 4], permits[SN_SESSION + 12];
    snprintf(mark, sizeof mark, "m:%s", f->session);
    snprintf(permits, sizeof permits, "permits:%s", f->session);
    for (unsigned b = 0; b < f->conn.buckets; b++) {
        sn_command_begin(f->conn.ch, b, f->conn.slot[b], 4);
        sn_command_text(f->conn.ch, "HMGET");
        sn_fleet_key_bucket(&f->conn, b, "applied");
        sn_command_text(f->conn.ch, f->session);
        sn_command_text(f->conn.ch, mark);
    }
    sn_command_begin(f->conn.ch, f->conn.buckets, sn_fleet_slot_session(&f->conn, f->session), 5);
    sn_command_text(f->conn.ch, "HMGET");
    sn_fleet_key_session(&f->conn, f->session, "");
    sn_command_text(f->conn.ch, "state");
    sn_command_text(f->conn.ch, "beat");
    sn_command_text(f->conn.ch, "intent");
    if (f->permits_taken > 0) {
        sn_command_begin(f->conn.ch, f->conn.buckets + 1, f->conn.name_slot, 3);
        sn_command_text(f->conn.ch, "HGET");
        sn_command_text(f->conn.ch, f->conn.name);
        sn_command_text(f->conn.ch, permits);
    }
    seen_status status = sn_fleet_run(&f->conn, take_verified, &v, f->clerk_error);
    pthread_mutex_lock(&f->lock);
    f->forget = true;
    pthread_mutex_unlock(&f->lock);
    if (status == SEEN_OK && v.lost)
        return sn_fleet_set_lost(f, "a server lost what this worker had written");
    return status;
}

/* A failover can break connections while waiting for a replica, so it is retried for a while. What
 * the new server has is checked by verify. */
static seen_status sync_replicas(sn_fleet *f)
{
    enum { TRIES = 50, PAUSE_MS = 100 };
    seen_status status = SEEN_ERR_NETWORK;
    for (int i = 0; i < TRIES && status == SEEN_ERR_NETWORK; i++) {
        if (i > 0)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
        status = sn_channel_sync(f->conn.ch, f->clerk_error);
    }
    return status;
}

seen_status sn_fleet_confirm(sn_fleet *f)
{
    sn_fleet_busy(&f->conn, true);
    seen_status status = sync_replicas(f);
    sn_fleet_busy(&f->conn, false);
    unsigned epoch = sn_client_epoch(f->conn.client);
    if (status != SEEN_OK || epoch == f->epoch)
        return status;
    status = verify(f);
    f->epoch = epoch;
    return status;
}
