/* The clerk: the thread of a worker that talks to Redis.
 *
 * Each cycle takes what the engine has left for it and does, in this order: heartbeat, links of
 * finished pages into the lists, acknowledgement of the pages whose outputs were written, new
 * queues, more of the queues it has, a look at the other workers, and, if there is nothing to do, a
 * look for the end. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* A cycle costs Redis about the same for one page as for many: while the engine has enough to do,
 * there is one per CYCLE_MS. */
enum { CYCLE_MS = 100 };

/* ---- notes: robots.txt, seeds, failures ---- */

static void write_note(sn_fleet *f, const sn_fleet_note *n)
{
    const sn_fleet_connection *l = &f->conn;
    switch (n->kind) {
    case SN_FLEET_NOTE_RULES:
        sn_command_begin(l->ch, 0, l->slot[n->bucket], 5);
        sn_command_text(l->ch, "SET");
        sn_fleet_key_queue(l, n->bucket, "r", n->host);
        sn_command_arg(l->ch, n->text, n->len);
        sn_command_text(l->ch, "PX");
        sn_command_number(l->ch, n->for_ms > 0 ? (uint64_t)n->for_ms : 1);
        break;
    case SN_FLEET_NOTE_SEED:
        sn_command_begin(l->ch, 0, l->crawl_slot, 3);
        sn_command_text(l->ch, "RPUSH");
        sn_fleet_key_crawl(l, "seeds");
        sn_command_arg(l->ch, n->text, n->len);
        break;
    default:
        sn_command_begin(l->ch, 0, l->slot[n->bucket], 3);
        sn_command_text(l->ch, "RPUSH");
        sn_fleet_key_bucket(l, n->bucket, "failed");
        sn_command_arg(l->ch, n->text, n->len);
    }
}

static sn_fleet_note *free_notes(sn_fleet_note *first, const sn_fleet_note *end)
{
    while (first != end) {
        sn_fleet_note *next = first->next;
        free(first);
        first = next;
    }
    return first;
}

/* Takes them from the list. *seeds: some were. */
static seen_status write_some(sn_fleet *f, sn_fleet_note **first, bool *seeds)
{
    enum { MOST = 10000 };
    const sn_fleet_note *end;
    seen_status status;
    do {
        unsigned count = 0;
        for (end = *first; end && count < MOST; end = end->next, count++) {
            write_note(f, end);
            *seeds |= end->kind == SN_FLEET_NOTE_SEED;
        }
        status = sn_fleet_run(&f->conn, NULL, NULL, f->clerk_error);
    } while (sn_room_refused(f, &status));
    *first = free_notes(*first, end);
    return status;
}

static seen_status write_notes(sn_fleet *f, sn_fleet_note *first)
{
    bool seeds = false;
    seen_status status = SEEN_OK;
    while (first && status == SEEN_OK)
        status = write_some(f, &first, &seeds);
    free_notes(first, NULL);
    if (status != SEEN_OK || !seeds)
        return status;
    return sn_session_give(f, f->session, "seed");
}

/* ---- cycles ---- */

/* Links wait for those of other pages, unless the engine needs them. Pages are never acknowledged
 * before their links are taken. */
static void swap_lists(sn_fleet *f, sn_fleet_note **notes)
{
    sn_fleet_finished_list settled = f->settled;
    f->settled = f->taken_settled;
    f->taken_settled = settled;
    f->taken_offers.count = f->taken_offers.text.len = 0;
    f->taken_offers.parent_len = 0;
    if (f->flush || f->closing || sn_fleet_urgent(f)) {
        sn_offers offers = f->offers;
        f->offers = f->taken_offers;
        f->taken_offers = offers;
        f->flush = false;
    }
    *notes = f->notes.first;
    f->notes = (sn_fleet_notes){.first = NULL, .end = &f->notes.first};
    f->woken = false;
}

static bool is_idle(const sn_fleet *f)
{
    for (size_t i = 0; i < f->lane_count; i++) {
        const sn_lane *lane = f->lanes[i];
        if (lane->open > 0 || lane->unsettled > 0 || lane->out || lane->fresh || lane->more)
            return false;
    }
    return f->offers.count == 0 && f->dones.count == 0;
}

static seen_status work(sn_fleet *f, sn_fleet_note *notes)
{
    seen_status status = sn_session_beat(f);
    if (status == SEEN_OK)
        status = write_notes(f, notes);
    if (status == SEEN_OK && f->taken_offers.count > 0)
        status = sn_journal_run(f, &f->taken_offers);
    if (status == SEEN_OK)
        status = sn_lane_ack(f, false);
    if (status == SEEN_OK)
        status = sn_session_poll(f);
    if (status == SEEN_OK)
        status = sn_permits_take(f);
    if (status == SEEN_OK)
        status = sn_lane_pick(f);
    if (status == SEEN_OK)
        status = sn_lane_read(f);
    if (status == SEEN_OK)
        status = sn_session_observe(f);
    pthread_mutex_lock(&f->lock);
    bool idle = is_idle(f) && !f->paused;
    pthread_mutex_unlock(&f->lock);
    if (!idle)
        f->sweep_ms = 0;
    if (status == SEEN_OK && (idle || f->options.max_pages > 0))
        status = sn_session_sweep(f);
    /* Once more, even if nothing needed a confirmation: what was acknowledged may be lost. */
    if (status == SEEN_OK && f->epoch != sn_client_epoch(f->conn.client))
        status = sn_fleet_confirm(f);
    return status;
}

static void wait_for_work(sn_fleet *f)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += CYCLE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!f->woken && !f->closing &&
           pthread_cond_timedwait(&f->work, &f->lock, &until) != ETIMEDOUT)
        ;
}

/* The last cycle: everything that was settled, then the queues go back. */
static seen_status leave(sn_fleet *f, sn_fleet_note *notes)
{
    seen_status status = sn_session_beat(f);
    if (status == SEEN_OK)
        status = write_notes(f, notes);
    if (status == SEEN_OK && f->taken_offers.count > 0)
        status = sn_journal_run(f, &f->taken_offers);
    if (status == SEEN_OK)
        status = sn_lane_ack(f, true);
    if (status == SEEN_OK)
        status = sn_figures_write(f, true);
    return status == SEEN_OK ? sn_session_leave(f) : status;
}

/* Closed while the frontier was full. Pages whose links were not stored are fetched again, by those
 * that get the queues. */
static seen_status abandon(sn_fleet *f)
{
    (void)sn_figures_write(f, true); /* a server without memory refuses it */
    return sn_session_leave(f);
}

void *sn_clerk_run(void *fleet)
{
    sn_fleet *f = fleet;
    seen_error error = {0};
    seen_status status = SEEN_OK;
    f->clerk_error = &error;
    pthread_mutex_lock(&f->lock);
    while (status == SEEN_OK) {
        sn_fleet_note *notes;
        bool closing = f->closing;
        swap_lists(f, &notes);
        if (f->engine_waits)
            sn_fleet_wake(f);
        f->engine_waits = false;
        bool had_out = f->out_first != NULL;
        pthread_mutex_unlock(&f->lock);
        status = closing ? leave(f, notes) : work(f, notes);
        if (f->abandoned)
            status = abandon(f);
        else if (status != SEEN_OK && !closing)
            status = sn_session_explain(f, status);
        pthread_mutex_lock(&f->lock);
        if (closing || f->abandoned)
            break;
        if (status != SEEN_OK) {
            f->status = status;
            f->error = error;
            f->lost |=
                status == SEEN_ERR_NETWORK || status == SEEN_ERR_SERVER || status == SEEN_ERR_SPACE;
        }
        if (status != SEEN_OK || (f->out_first && !had_out) || f->ended || f->limit || f->stop ||
            f->engine_waits)
            sn_fleet_wake(f);
        if (status == SEEN_OK)
            wait_for_work(f);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}
