/* Queues that this worker owns: reading them, acknowledging finished URLs.
 *
 *     list in Redis    | element | element | element | element | ...
 *                        head      '------ window ------'
 *
 * Nothing is removed from a list before it is done: the window is a copy. `head` counts the
 * elements that were removed from the front so far; the bits of finished URLs in the elements
 * behind it are sent to Redis with each acknowledgement, for the next owner. That one may read only
 * a part of these elements: the bits of the rest are kept, and sent as well. */
#include "base/error.h"
#include "base/memory.h"
#include "crawl/fleet/internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ_ELEMENTS = 16,   /* at once */
    READ_BELOW = 48,      /* URLs to hand out */
    ACK_LANES = 128,      /* in one call */
    MOST_ELEMENTS = 4096, /* in a window: for so many Redis stores what is done */
};

/* ---- the table ---- */

static sn_lane **chain_of(sn_fleet *f, uint64_t hash)
{
    return &f->table[hash % SN_FLEET_TABLE];
}

static sn_lane *of_host(sn_lane *lane, uint64_t hash)
{
    while (lane && lane->host->hash != hash)
        lane = lane->chain;
    return lane;
}

sn_lane *sn_lane_first(const sn_fleet *f, uint64_t hash)
{
    return of_host(f->table[hash % SN_FLEET_TABLE], hash);
}

sn_lane *sn_lane_next(const sn_lane *lane)
{
    return of_host(lane->chain, lane->host->hash);
}

static void free_window(sn_lane *lane)
{
    for (size_t i = 0; i < lane->count; i++)
        free(lane->window[i].urls);
    lane->count = 0;
}

static void unlink_lane(sn_fleet *f, sn_lane *lane)
{
    sn_lane **at = chain_of(f, lane->host->hash);
    while (*at != lane)
        at = &(*at)->chain;
    *at = lane->chain;
    f->open -= lane->open; /* of a lane that was given back */
    if (!lane->out)
        return;
    for (at = &f->out_first; *at != lane; at = &(*at)->next_out)
        ;
    *at = lane->next_out;
    if (f->out_end == &lane->next_out)
        f->out_end = at;
}

void sn_lane_free(sn_fleet *f, sn_lane *lane)
{
    unlink_lane(f, lane);
    if (!sn_lane_first(f, lane->host->hash)) {
        free(lane->host->rules);
        free(lane->host);
    }
    free_window(lane);
    free(lane->window);
    free(lane->former);
    free(lane);
}

void sn_lane_put_out(sn_fleet *f, sn_lane *lane)
{
    if (lane->out || lane->given || lane->released)
        return;
    lane->out = true;
    lane->next_out = NULL;
    if (!f->out_first)
        f->out_end = &f->out_first;
    *f->out_end = lane;
    f->out_end = &lane->next_out;
}

/* `last`: "SESSION" or "SESSION:MS". */
static sn_lane_host *make_host(const sn_fleet *f, const char *queue, const char *last)
{
    sn_lane_host *host = calloc(1, sizeof *host);
    if (!host)
        return NULL;
    memcpy(host->name, queue, 16);
    host->hash = strtoull(host->name, NULL, 16);
    size_t session = strcspn(last, ":");
    host->tired =
        session > 0 && (session != SN_SESSION || memcmp(last, f->session, SN_SESSION) != 0);
    if (last[session] == ':') {
        host->rest_at = host->hold_until = sn_fleet_now() + strtoll(last + session + 1, NULL, 10);
        host->hold = SN_HOLD_STORED;
    }
    return host;
}

static bool grow_lanes(sn_fleet *f)
{
    if (f->lane_count < f->lane_room)
        return true;
    sn_lane **more = sn_memory_grow(f->lanes, &f->lane_room, f->lane_count + 1, sizeof(sn_lane *));
    f->lanes = more ? more : f->lanes;
    return more != NULL;
}

bool sn_lane_add(sn_fleet *f, const char *queue, size_t len, unsigned bucket, const char *last)
{
    if (len < 16 || len >= SN_QUEUE || !grow_lanes(f))
        return false;
    sn_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return false;
    memcpy(lane->queue, queue, len);
    char name[17] = {0};
    memcpy(name, queue, 16);
    sn_lane *other = sn_lane_first(f, strtoull(name, NULL, 16));
    lane->host = other ? other->host : make_host(f, queue, last);
    if (!lane->host) {
        free(lane);
        return false;
    }
    lane->bucket = bucket;
    lane->fresh = lane->more = true;
    lane->granted = f->options.max_pages > 0 ? 0 : UINT64_MAX;
    lane->chain = *chain_of(f, lane->host->hash);
    *chain_of(f, lane->host->hash) = lane;
    f->lanes[f->lane_count++] = lane;
    return true;
}

/* ---- read ---- */

enum { READ_LIST, READ_STATE, READ_RULES, READ_LIFE, READ_PAGES, READ_KINDS };

static bool grow_window(sn_lane *lane, size_t more)
{
    if (lane->count + more <= lane->room)
        return true;
    size_t room = lane->room ? lane->room : 16;
    while (room < lane->count + more)
        room *= 2;
    sn_lane_element *window = realloc(lane->window, room * sizeof *window);
    if (!window)
        return false;
    lane->window = window;
    lane->room = room;
    return true;
}

/* Without memory the rules are fetched again. */
void sn_lane_keep_rules(sn_lane_host *host, const char *rules, size_t len)
{
    free(host->rules);
    host->rules = malloc(len + 1);
    host->rules_len = len;
    if (!host->rules)
        return;
    memcpy(host->rules, rules, len);
    host->rules[len] = '\0';
}

static uint64_t all_of(const sn_lane_element *e)
{
    return e->urls->count == 64 ? UINT64_MAX : (UINT64_C(1) << e->urls->count) - 1;
}

/* By absolute number. */
static uint64_t former_bits(const sn_lane *lane, uint64_t number)
{
    return number < lane->former_count ? lane->former[number] : 0;
}

/* An element whose URLs are all done is to be removed. */
static void apply_former(sn_lane *lane, sn_lane_element *e)
{
    e->settled = e->done = e->taken = former_bits(lane, e->number) & all_of(e);
    lane->dirty |= e->settled == all_of(e);
}

typedef struct reading {
    sn_fleet *f;
    sn_lane **lane;
    seen_status status;
} reading;

/* Elements after the window. A damaged one is an error: skipping it would lose URLs. */
static bool take_elements(reading *g, sn_lane *lane, const sn_reply *r)
{
    sn_fleet *f = g->f;
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY)
        return false;
    lane->more = r->items - 1 >= READ_ELEMENTS;
    if (!grow_window(lane, r->items))
        g->status = sn_error_set(f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
    for (size_t i = 1; i < r->items && g->status == SEEN_OK; i++) {
        sn_packer_urls *urls = sn_packer_unpack(f->packer, sn_reply_text(r, i), r->item[i].len);
        if (!urls) {
            g->status = sn_error_set(f->clerk_error, SEEN_ERR_FORMAT,
                                     "%s: an element of queue %s is damaged",
                                     sn_client_address(f->conn.client)->shown, lane->queue);
            break;
        }
        lane->window[lane->count] = (sn_lane_element){
            .urls = urls, .number = lane->head + lane->count, .bytes = r->item[i].len};
        apply_former(lane, &lane->window[lane->count++]);
    }
    return true;
}

/* The bits and permits of former owners. The first elements may have been read before this. */
static bool take_state(reading *g, sn_lane *lane, const sn_reply *r)
{
    if (!sn_reply_is_row(r, 2))
        return false;
    lane->stored = !sn_fleet_reply_nil(r, 1) || !sn_fleet_reply_nil(r, 2);
    if (lane->granted != UINT64_MAX)
        lane->granted = (uint64_t)sn_fleet_reply_number(r, 2);
    size_t count = sn_fleet_reply_nil(r, 1) ? 0 : r->item[1].len / 8;
    if (count > MOST_ELEMENTS)
        return false;
    free(lane->former);
    lane->former_count = 0;
    lane->former = calloc(count + 1, sizeof *lane->former);
    if (!lane->former) {
        g->status = sn_error_set(g->f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
        return true;
    }
    lane->former_count = count;
    for (size_t i = 0; i < 8 * count; i++)
        lane->former[i / 8] |= (uint64_t)(uint8_t)sn_reply_text(r, 1)[i] << 8 * (i % 8);
    for (size_t i = 0; i < lane->count; i++)
        apply_former(lane, &lane->window[i]);
    return true;
}

static bool take_read(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    reading *g = context;
    sn_lane *lane = g->lane[tag / READ_KINDS];
    (void)again;
    bool ok = true;
    pthread_mutex_lock(&g->f->lock);
    switch (tag % READ_KINDS) {
    case READ_LIST:
        ok = take_elements(g, lane, r);
        break;
    case READ_STATE:
        ok = take_state(g, lane, r);
        break;
    case READ_RULES:
        ok = r->items == 1 && !sn_reply_is_error(r);
        if (ok && !sn_fleet_reply_nil(r, 0))
            sn_lane_keep_rules(lane->host, sn_reply_text(r, 0), r->item[0].len);
        break;
    case READ_LIFE:
        ok = r->items == 1 && !sn_reply_is_error(r);
        lane->host->rules_until = sn_fleet_now() + sn_fleet_reply_number(r, 0);
        break;
    default:
        ok = r->items == 1 && !sn_reply_is_error(r);
        lane->host->pages = (uint64_t)sn_fleet_reply_number(r, 0);
    }
    pthread_mutex_unlock(&g->f->lock);
    return ok;
}

static void ask_for_state(const sn_fleet *f, const sn_lane *lane, uint32_t tag)
{
    const sn_fleet_connection *l = &f->conn;
    uint16_t slot = l->slot[lane->bucket];
    sn_command_begin(l->ch, tag + READ_STATE, slot, 4);
    sn_command_text(l->ch, "HMGET");
    sn_fleet_key_queue(l, lane->bucket, "s", lane->queue);
    sn_command_text(l->ch, "bits");
    sn_command_text(l->ch, "granted");
    if (lane->host->known)
        return;
    sn_command_begin(l->ch, tag + READ_RULES, slot, 2);
    sn_command_text(l->ch, "GET");
    sn_fleet_key_queue(l, lane->bucket, "r", lane->host->name);
    sn_command_begin(l->ch, tag + READ_LIFE, slot, 2);
    sn_command_text(l->ch, "PTTL");
    sn_fleet_key_queue(l, lane->bucket, "r", lane->host->name);
    if (!f->options.host_pages)
        return;
    sn_command_begin(l->ch, tag + READ_PAGES, slot, 3);
    sn_command_text(l->ch, "HGET");
    sn_fleet_key_bucket(l, lane->bucket, "pages");
    sn_command_text(l->ch, lane->host->name);
}

static size_t left_to_hand_out(const sn_lane *lane)
{
    size_t n = 0;
    for (size_t i = lane->at; i < lane->count; i++)
        n += lane->window[i].urls->count;
    return n;
}

static bool wants_more(const sn_lane *lane)
{
    return !lane->given && !lane->released && lane->more &&
           lane->count + READ_ELEMENTS <= MOST_ELEMENTS &&
           (lane->fresh || left_to_hand_out(lane) < READ_BELOW);
}

int64_t sn_lane_delay(const sn_fleet *f, const sn_lane_host *host)
{
    double wait = (double)f->options.delay_ms;
    for (const char *at = host->rules; at && *at != '\0'; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncasecmp(at, "crawl-delay:", 12) != 0)
            continue;
        double seconds = strtod(at + 12, NULL) * 1000;
        if (seconds > (double)f->options.max_delay_ms)
            seconds = (double)f->options.max_delay_ms;
        wait = seconds > wait ? seconds : wait;
    }
    return (int64_t)wait;
}

int64_t sn_lane_rest(const sn_lane_host *host)
{
    return host->rest_at > host->hold_until ? host->rest_at : host->hold_until;
}

/* A queue of a dead session that has no URLs. This worker sends the host no request, and after the
 * release Redis does not say who did: the delay passes here. Under the lock. */
static void rest_empty(const sn_fleet *f, sn_lane_host *host)
{
    int64_t until = sn_fleet_now() + (host->tired ? sn_lane_delay(f, host) : 0);
    if (until > host->rest_at)
        host->rest_at = until;
    host->tired = false;
}

seen_status sn_lane_read(sn_fleet *f)
{
    const sn_fleet_connection *l = &f->conn;
    sn_lane **lane = malloc((f->lane_count + 1) * sizeof(sn_lane *));
    size_t count = 0;
    if (!lane)
        return sn_error_set(f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->lane_count; i++) {
        if (!wants_more(f->lanes[i]))
            continue;
        lane[count] = f->lanes[i];
        uint32_t tag = (uint32_t)count * READ_KINDS;
        sn_command_begin(l->ch, tag + READ_LIST, l->slot[lane[count]->bucket], 4);
        sn_command_text(l->ch, "LRANGE");
        sn_fleet_key_queue(l, lane[count]->bucket, "q", lane[count]->queue);
        sn_command_number(l->ch, lane[count]->count);
        sn_command_number(l->ch, lane[count]->count + READ_ELEMENTS - 1);
        if (lane[count]->fresh)
            ask_for_state(f, lane[count], tag);
        count++;
    }
    pthread_mutex_unlock(&f->lock);
    reading g = {.f = f, .lane = lane};
    seen_status status =
        count == 0 ? SEEN_OK : sn_fleet_run(&f->conn, take_read, &g, f->clerk_error);
    if (count > 0 && status == SEEN_OK)
        status = sn_session_read_seeds(f);
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < count && status == SEEN_OK && g.status == SEEN_OK; i++) {
        if (lane[i]->fresh && lane[i]->count == 0)
            rest_empty(f, lane[i]->host);
        lane[i]->fresh = false;
        lane[i]->host->known = true;
        if (left_to_hand_out(lane[i]) == 0)
            continue;
        lane[i]->looked = false;
        sn_lane_put_out(f, lane[i]);
    }
    pthread_mutex_unlock(&f->lock);
    free(lane);
    return status != SEEN_OK ? status : g.status;
}

/* ---- ack ---- */

/* Removes elements from the front of the window whose URLs are all settled. Under the lock. */
static void trim(sn_lane *lane)
{
    size_t n = 0;
    uint64_t urls = 0;
    while (n < lane->count && lane->window[n].settled == all_of(&lane->window[n])) {
        lane->freed += lane->window[n].bytes;
        urls += lane->window[n].urls->count;
        free(lane->window[n++].urls);
    }
    lane->head += n;
    lane->cut += n;
    lane->count -= n;
    memmove(lane->window, lane->window + n, lane->count * sizeof *lane->window);
    lane->at = lane->at > n ? lane->at - n : 0;
    if (lane->granted != UINT64_MAX)
        lane->granted -= urls < lane->granted ? urls : lane->granted;
}

/* What is done in the elements that stay: those of the window, and behind it what a former owner
 * has done. */
static size_t put_bits(const sn_lane *lane, char bits[8 * MOST_ELEMENTS])
{
    size_t len = 0;
    for (size_t i = 0; i < lane->count || lane->head + i < lane->former_count; i++) {
        uint64_t word =
            i < lane->count ? lane->window[i].settled : former_bits(lane, lane->head + i);
        for (unsigned k = 0; k < 8; k++)
            bits[8 * i + k] = (char)(word >> 8 * k);
        if (word != 0)
            len = 8 * (i + 1);
    }
    return len;
}

/* Whether this lane may be returned to the others. Under the lock. */
static bool to_release(const sn_lane *lane, int64_t now, bool all)
{
    if (lane->released || lane->fresh)
        return false;
    if (lane->given || all)
        return lane->unsettled == 0 || all;
    return !lane->host->busy && !lane->out && lane->open == 0 && lane->unsettled == 0 &&
           lane->count == 0 && !lane->more && now >= sn_lane_rest(lane->host);
}

/* How long the host must be left alone: to be stored if the queue is released, or if it changed. */
static void put_wait(const sn_fleet *f, sn_lane_host *host, bool release, int64_t now)
{
    int64_t until = release ? sn_lane_rest(host) : host->hold_until;
    bool over = host->hold == SN_HOLD_STORED && now >= host->hold_until;
    if (!release && host->hold != SN_HOLD_TO_STORE && !over) {
        sn_command_text(f->conn.ch, "");
        return;
    }
    sn_command_number(f->conn.ch, until > now ? (uint64_t)(until - now) : 0);
    host->hold = over ? SN_HOLD_NONE : SN_HOLD_STORED;
}

/* Whether more is to be stored of it than that elements of its list are done. Under the lock. */
static bool changes(const sn_fleet *f, const sn_lane *lane, bool release, int64_t now)
{
    const sn_lane_host *host = lane->host;
    bool held =
        host->hold == SN_HOLD_TO_STORE || (host->hold == SN_HOLD_STORED && now >= host->hold_until);
    bool partly = false;
    for (size_t i = 0; i < lane->count && !partly; i++)
        partly = lane->window[i].settled != 0;
    return release || held || partly || lane->stored || f->options.host_pages ||
           (lane->granted != UINT64_MAX && lane->granted > 0);
}

/* Whether this session owns no other queue of the host. Under the lock. */
static bool is_last(const sn_fleet *f, const sn_lane *lane)
{
    for (const sn_lane *other = sn_lane_first(f, lane->host->hash); other;
         other = sn_lane_next(other))
        if (other != lane && !other->released)
            return false;
    return true;
}

/* The mark in `tired` goes only with the last queue of the host. */
static void put_changes(const sn_fleet *f, sn_lane *lane, bool release, int64_t now)
{
    char bits[8 * MOST_ELEMENTS];
    const sn_fleet_connection *l = &f->conn;
    bool last = is_last(f, lane);
    bool rested =
        last && now >= sn_lane_rest(lane->host) && !lane->host->busy && !lane->host->tired;
    uint64_t granted = lane->granted == UINT64_MAX ? 0 : lane->granted;
    size_t len = put_bits(lane, bits);
    sn_command_arg(l->ch, bits, len);
    if (f->options.host_pages)
        sn_command_number(l->ch, lane->host->pages);
    else
        sn_command_text(l->ch, "");
    sn_command_text(l->ch, !release ? "0" : last ? "2" : "1");
    sn_command_text(l->ch, rested ? "1" : "0");
    put_wait(f, lane->host, release, now);
    bool store = len > 0 || granted > 0;
    if (store || lane->stored)
        sn_command_number(l->ch, granted);
    else
        sn_command_text(l->ch, "");
    lane->stored = store;
}

/* What is done, by depth. Sums up and resets the counters of the lanes. */
static void put_totals(const sn_fleet *f, sn_lane *const *lane, size_t count)
{
    const sn_fleet_connection *l = &f->conn;
    unsigned b = lane[0]->bucket;
    char text[ACK_LANES * 32] = "";
    size_t len = 0;
    uint64_t freed = 0, done = 0;
    for (size_t i = 0; i < count; i++) {
        freed += lane[i]->freed;
        done += lane[i]->acked;
        /* Without levels all have depth 0 here. */
        if (f->options.levels && lane[i]->acked > 0)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s:%" PRIu64 ",",
                                    lane[i]->queue + 17, lane[i]->acked);
        lane[i]->freed = lane[i]->acked = 0;
    }
    if (!f->options.levels && done > 0)
        snprintf(text, sizeof text, "0:%" PRIu64, done);
    sn_command_number(l->ch, freed);
    sn_command_number(l->ch, f->pages[b]);
    sn_command_number(l->ch, f->returned[b]);
    sn_command_text(l->ch, text);
    f->pages[b] = f->returned[b] = 0;
}

/* One acknowledgement: `count` lanes of a bucket, of which the first `changed` change. Under the
 * lock. */
static void put_call(sn_fleet *f, sn_lane *const *lane, size_t count, size_t changed, bool all,
                     int64_t now)
{
    static const char *const keys[] = {"ready", "owner", "meta", "tired", "applied", "pages"};
    const sn_fleet_connection *l = &f->conn;
    unsigned b = lane[0]->bucket;
    sn_fleet_call(l, b, l->slot[b], SN_LUA_ACK, (unsigned)(6 + count + changed),
                  (unsigned)(8 + 2 * count + 6 * changed));
    for (int i = 0; i < 6; i++)
        sn_fleet_key_bucket(l, b, keys[i]);
    for (size_t i = 0; i < count; i++)
        sn_fleet_key_queue(l, b, "q", lane[i]->queue);
    for (size_t i = 0; i < changed; i++)
        sn_fleet_key_queue(l, b, "s", lane[i]->queue);
    sn_command_text(l->ch, f->session);
    sn_command_number(l->ch, ++f->marks[b]);
    sn_command_number(l->ch, count);
    sn_command_number(l->ch, changed);
    put_totals(f, lane, count);
    for (size_t i = 0; i < count; i++)
        sn_command_text(l->ch, lane[i]->queue);
    for (size_t i = 0; i < count; i++) {
        sn_command_number(l->ch, lane[i]->cut);
        lane[i]->cut = 0;
    }
    for (size_t i = 0; i < changed; i++) {
        bool release = to_release(lane[i], now, all);
        put_changes(f, lane[i], release, now);
        lane[i]->released = release;
    }
}

static bool take_acked(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    (void)tag, (void)again;
    if (r->items != 1 || r->item[0].type != REDIS_REPLY_INTEGER)
        return false;
    if (r->item[0].number != 0)
        *(long long *)context = r->item[0].number;
    return true;
}

typedef struct ackable {
    sn_lane *lane;
    bool changes;
} ackable;

/* Those that change come first within a bucket. */
static int by_bucket(const void *a, const void *b)
{
    const ackable *x = a, *y = b;
    if (x->lane->bucket != y->lane->bucket)
        return x->lane->bucket < y->lane->bucket ? -1 : 1;
    return (int)y->changes - (int)x->changes;
}

/* Sets the bits of URLs that the engine has settled. Each counts once, or the crawl could end too
 * early. Under the lock. */
static void apply_settled(sn_fleet *f)
{
    for (size_t i = 0; i < f->taken_settled.count; i++) {
        const sn_fleet_finished *d = &f->taken_settled.item[i];
        sn_lane *lane = d->lane;
        sn_lane_element *e = &lane->window[d->number - lane->window[0].number];
        uint64_t bit = UINT64_C(1) << d->url;
        lane->unsettled--;
        if (e->settled & bit)
            continue;
        e->settled |= bit;
        lane->acked++;
        lane->host->pages += d->counts;
        lane->dirty = true;
        if (f->options.max_pages > 0) {
            f->pages[lane->bucket] += d->counts;
            f->returned[lane->bucket] += !d->counts;
        }
    }
    f->taken_settled.count = 0;
}

static void drop_released(sn_fleet *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->lane_count; i++) {
        sn_lane *lane = f->lanes[i];
        if (!lane->released) {
            f->lanes[n++] = lane;
            continue;
        }
        sn_lane_free(f, lane);
    }
    f->lane_count = n;
}

/* A queue that seems empty is read once more before it is released. */
static void look_again(sn_lane *lane, int64_t now)
{
    bool empty = !lane->host->busy && !lane->out && !lane->fresh && !lane->given &&
                 lane->open == 0 && lane->count == 0 && now >= sn_lane_rest(lane->host);
    if (empty && !lane->more && !lane->looked)
        lane->more = lane->looked = true;
}

/* Writes one call per bucket: the next one of the same bucket must not overtake it. Returns how
 * many lanes are left for another round. Under the lock. */
static size_t put_calls(sn_fleet *f, ackable *at, size_t count, bool all, int64_t now)
{
    sn_lane *lane[ACK_LANES];
    size_t left = 0;
    for (size_t i = 0, n, changed; i < count; i += n) {
        unsigned b = at[i].lane->bucket;
        changed = 0;
        for (n = 0; i + n < count && n < ACK_LANES && at[i + n].lane->bucket == b; n++) {
            lane[n] = at[i + n].lane;
            changed += at[i + n].changes;
        }
        put_call(f, lane, n, changed, all, now);
        for (; i + n < count && at[i + n].lane->bucket == b; n++)
            at[left++] = at[i + n];
    }
    return left;
}

/* What there is to acknowledge, in the order of its calls; NULL: out of memory. */
static ackable *collect(sn_fleet *f, bool all, int64_t now, size_t *count)
{
    ackable *at = malloc((f->lane_count + 1) * sizeof *at);
    *count = 0;
    for (size_t i = 0; at && i < f->lane_count; i++) {
        sn_lane *lane = f->lanes[i];
        look_again(lane, now);
        bool release = to_release(lane, now, all);
        if (!lane->dirty && !release)
            continue;
        trim(lane);
        lane->dirty = false; /* what the engine changes from here on is for the next time */
        at[(*count)++] = (ackable){lane, changes(f, lane, release, now)};
    }
    if (at)
        qsort(at, *count, sizeof *at, by_bucket);
    return at;
}

seen_status sn_lane_ack(sn_fleet *f, bool all)
{
    int64_t now = sn_fleet_now();
    size_t left = 0;
    long long refused = 0;
    seen_status status = SEEN_OK;
    pthread_mutex_lock(&f->lock);
    apply_settled(f);
    ackable *at = collect(f, all, now, &left);
    while (left > 0 && status == SEEN_OK && refused == 0) {
        left = put_calls(f, at, left, all, now);
        pthread_mutex_unlock(&f->lock);
        status = sn_fleet_run(&f->conn, take_acked, &refused, f->clerk_error);
        pthread_mutex_lock(&f->lock);
    }
    drop_released(f);
    pthread_mutex_unlock(&f->lock);
    free(at);
    if (!at)
        return sn_error_set(f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
    if (status == SEEN_OK && refused != 0 && !all)
        return sn_fleet_set_lost(f, refused < 0 ? "a server lost what this worker had written"
                                                : "another worker has taken over its hosts");
    return status;
}
