/* Permits for --max-pages: how many pages the whole crawl may fetch.
 *
 *     take    a block from the registry, under the name of this session
 *     bind    to URLs at the front of the queues that this session owns, in the buckets
 *     use     URLs that have one are handed out
 *     return  those of URLs that were not fetched, with their acknowledgement
 *
 * A permit that is bound stays with its URL: after a crash the next owner fetches the same URL, so
 * that all outputs together have exactly as many pages. Those that were taken and not bound go back
 * when the session is recovered. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <stdlib.h>

enum { BLOCK = 64, AGAIN_MS = 200 };

/* URLs of the window. Under the lock. */
static uint64_t in_window(const sn_lane *lane)
{
    uint64_t n = 0;
    for (size_t i = 0; i < lane->count; i++)
        n += lane->window[i].urls->count;
    return n;
}

/* Those that are out still have URLs with a permit, or the engine has not looked yet. */
static bool wants(const sn_lane *lane)
{
    return !lane->out && !lane->given && !lane->released && !lane->fresh &&
           lane->granted < in_window(lane);
}

/* Blocks are small in a small crawl, so that no worker sits on what another could use. */
static seen_status take(sn_fleet *f, uint64_t most)
{
    uint64_t returned, want = f->options.max_pages / BLOCK;
    long long granted;
    want = want < 1 ? 1 : want > BLOCK ? BLOCK : want;
    want = want < most ? want : most;
    seen_status status = sn_session_sum(f, "meta", "returned", &returned);
    if (status != SEEN_OK)
        return status;
    sn_fleet_call(&f->conn, 0, f->conn.name_slot, SN_LUA_PERMIT, 1, 4);
    sn_command_text(f->conn.ch, f->conn.name);
    sn_command_text(f->conn.ch, f->session);
    sn_command_number(f->conn.ch, f->options.max_pages + returned);
    sn_command_number(f->conn.ch, want);
    sn_command_number(f->conn.ch, f->permits_taken);
    status = sn_fleet_run_number(&f->conn, &granted, f->clerk_error);
    if (status != SEEN_OK || granted <= 0)
        return status;
    f->permits_taken += (uint64_t)granted;
    f->permits_left += (uint64_t)granted;
    return sn_fleet_confirm(f);
}

typedef struct bound {
    sn_lane *lane;
    uint64_t granted;
} bound;

/* Divides the permits among the queues that want some. Under the lock. */
static size_t divide(sn_fleet *f, bound *to, size_t wanting)
{
    size_t n = 0, from = f->permit_lane++;
    for (size_t i = 0; i < f->lane_count && f->permits_left > 0; i++) {
        sn_lane *lane = f->lanes[(from + i) % f->lane_count];
        if (!wants(lane))
            continue;
        uint64_t share = (f->permits_left + wanting - 1) / wanting;
        uint64_t room = in_window(lane) - lane->granted;
        share = share < room ? share : room;
        to[n++] = (bound){lane, lane->granted + share};
        f->bound[lane->bucket] += share;
        f->permits_left -= share;
        wanting -= wanting > 1;
    }
    /* What the last ones had no use for. */
    for (size_t i = 0; i < n && f->permits_left > 0; i++) {
        uint64_t room = in_window(to[i].lane) - to[i].granted;
        uint64_t more = room < f->permits_left ? room : f->permits_left;
        to[i].granted += more;
        f->bound[to[i].lane->bucket] += more;
        f->permits_left -= more;
    }
    return n;
}

static bool take_refused(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    (void)tag, (void)again;
    if (r->items != 1 || r->item[0].type != REDIS_REPLY_INTEGER)
        return false;
    *(bool *)context |= r->item[0].number != 0;
    return true;
}

static int by_bucket(const void *a, const void *b)
{
    const bound *x = a, *y = b;
    return x->lane->bucket < y->lane->bucket ? -1 : x->lane->bucket > y->lane->bucket;
}

static seen_status bind(sn_fleet *f, bound *to, size_t count)
{
    const sn_fleet_connection *l = &f->conn;
    bool refused = false;
    qsort(to, count, sizeof *to, by_bucket);
    for (size_t i = 0, n; i < count; i += n) {
        unsigned b = to[i].lane->bucket;
        for (n = 1; i + n < count && to[i + n].lane->bucket == b;)
            n++;
        sn_fleet_call(l, b, l->slot[b], SN_LUA_GRANT, (unsigned)(2 + n), (unsigned)(3 + 2 * n));
        sn_fleet_key_bucket(l, b, "owner");
        sn_fleet_key_bucket(l, b, "applied");
        for (size_t k = 0; k < n; k++)
            sn_fleet_key_queue(l, b, "s", to[i + k].lane->queue);
        sn_command_text(l->ch, f->session);
        sn_command_number(l->ch, ++f->marks[b]);
        sn_command_number(l->ch, f->bound[b]);
        for (size_t k = 0; k < n; k++) {
            sn_command_text(l->ch, to[i + k].lane->queue);
            sn_command_number(l->ch, to[i + k].granted);
        }
    }
    seen_status status = sn_fleet_run(&f->conn, take_refused, &refused, f->clerk_error);
    if (status == SEEN_OK && refused)
        return sn_fleet_set_lost(f, "another worker has taken over its hosts");
    return status == SEEN_OK ? sn_fleet_confirm(f) : status;
}

/* How many queues want permits, and how many they could use. Under the lock. */
static size_t count_wanting(const sn_fleet *f, uint64_t *most)
{
    size_t wanting = 0;
    for (size_t i = 0; i < f->lane_count; i++)
        if (wants(f->lanes[i])) {
            *most += in_window(f->lanes[i]) - f->lanes[i]->granted;
            wanting++;
        }
    return wanting;
}

seen_status sn_permits_take(sn_fleet *f)
{
    uint64_t most = 0;
    int64_t now = sn_fleet_now();
    if (f->options.max_pages == 0 || now < f->permits_at)
        return SEEN_OK;
    pthread_mutex_lock(&f->lock);
    size_t wanting = count_wanting(f, &most);
    pthread_mutex_unlock(&f->lock);
    if (wanting == 0)
        return SEEN_OK;
    seen_status status = f->permits_left > 0 ? SEEN_OK : take(f, most);
    if (status != SEEN_OK || f->permits_left == 0) {
        f->permits_at = now + AGAIN_MS; /* others may return some */
        return status;
    }
    bound *to = calloc(f->lane_count, sizeof *to);
    if (!to)
        return sn_error_set(f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
    pthread_mutex_lock(&f->lock);
    size_t count = divide(f, to, wanting);
    pthread_mutex_unlock(&f->lock);
    status = bind(f, to, count);
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < count && status == SEEN_OK; i++) {
        to[i].lane->granted = to[i].granted;
        to[i].lane->stored = true;
        sn_lane_put_out(f, to[i].lane);
    }
    pthread_mutex_unlock(&f->lock);
    free(to);
    return status;
}
