/* Internal interface of this folder.
 *
 *     fleet.c     the interface: called by the engine, exchanges lists with the clerk
 *     clerk.c     the thread: one cycle after another
 *     session.c   registry, commands of the operator, levels, the end
 *     beat.c      heartbeats, its own and those of the others
 *     permits.c   for --max-pages
 *     room.c      memory of the servers
 *     figures.c   for the report
 *     retry.c     pages that were given up, once more
 *     recover.c   sharing hosts, recovery of dead sessions, leaving
 *     journal.c   links: check, intent, add, push, settle
 *     replay.c    the journal of a dead session
 *     pick.c      queues that are due are taken
 *     lane.c      queues this worker owns: read, ack
 *     confirm.c   whether replicas have what was written
 *     names.c     keys, buckets, scripts
 *     pack.c      elements */
#ifndef SN_CRAWL_FLEET_INTERNAL_H
#define SN_CRAWL_FLEET_INTERNAL_H

#include "crawl/fleet/buffer.h"
#include "crawl/fleet/fleet.h"
#include "crawl/fleet/pack.h"
#include "crawl/frontier/seenset.h"
#include "redis/client/client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    SN_FLEET_FORMAT = 1,
    SN_FLEET_BUCKETS = 4,          /* on one server: few calls handle many hosts */
    SN_FLEET_BUCKETS_CLUSTER = 64, /* spread over its masters */
    SN_FLEET_BUCKETS_MAX = 4096,
    SN_SESSION = 12,       /* hex digits */
    SN_QUEUE = 24,         /* HOST:DEPTH with a NUL */
    SN_FLEET_KEY = 128,    /* the longest key, with a NUL */
    SN_BEATS = 5,          /* heartbeats in a lease */
    SN_BEATS_IDLE = 4,     /* of a worker without hosts */
    SN_COUNTERS = 19,      /* in a heartbeat */
    SN_FLEET_TABLE = 4096, /* heads of the table of lanes */
    SN_FLEET_LINKS = 512,  /* so many do not wait for more */
};

typedef enum sn_fleet_script {
    SN_LUA_CREATE,
    SN_LUA_OPEN,
    SN_LUA_BEAT,
    SN_LUA_DEAD,
    SN_LUA_GONE,
    SN_LUA_INTENT,
    SN_LUA_SETTLE,
    SN_LUA_FENCE,
    SN_LUA_PUSH,
    SN_LUA_PICK,
    SN_LUA_ACK,
    SN_LUA_REAP,
    SN_LUA_PERMIT,
    SN_LUA_GRANT,
    SN_LUA_REFUND,
    SN_LUA_CHANGE,
    SN_LUA_TRIM,
    SN_LUA_GIVEN,
    SN_LUA_COUNT
} sn_fleet_script;

/* The texts, made from scripts/NAME.lua by the build, in the order above. */
extern const char *const sn_fleet_lua[SN_LUA_COUNT];

/* ---- names.c ---- */

/* A connection to one crawl: for workers and for commands. */
typedef struct sn_fleet_connection {
    sn_client *client;
    sn_channel *ch;
    sn_script script[SN_LUA_COUNT];
    char name[3 * 256 + 16]; /* the key of the registry */
    uint16_t name_slot;
    char id[17];
    unsigned buckets;
    char (*tag)[16]; /* of a bucket, between the braces */
    uint16_t *slot;
    uint16_t crawl_slot;     /* of the keys of the crawl as a whole */
    atomic_llong busy_since; /* Redis has not replied since; 0: no request is pending */
} sn_fleet_connection;

seen_status sn_fleet_connection_open(const char *where, const char *ca_file,
                                     sn_fleet_connection *conn, seen_error *error);
void sn_fleet_connection_close(sn_fleet_connection *conn);
/* From here on keys can be named. */
seen_status sn_fleet_connection_name(sn_fleet_connection *conn, const char *id, unsigned buckets,
                                     seen_error *error);

/* Keys, written as the next argument. */
void sn_fleet_key_crawl(const sn_fleet_connection *conn, const char *what);
void sn_fleet_key_bucket(const sn_fleet_connection *conn, unsigned bucket, const char *what);
void sn_fleet_key_queue(const sn_fleet_connection *conn, unsigned bucket, const char *what,
                        const char *queue);
void sn_fleet_key_session(const sn_fleet_connection *conn, const char *session, const char *what);
uint16_t sn_fleet_slot_session(const sn_fleet_connection *conn, const char *session);

/* Begins a script: `keys` keys, then `args` arguments. */
void sn_fleet_call(const sn_fleet_connection *conn, uint32_t tag, uint16_t slot,
                   sn_fleet_script script, unsigned keys, unsigned args);

/* Runs what was written. The handler may be NULL: replies must not be errors. */
seen_status sn_fleet_run(sn_fleet_connection *conn, sn_reply_handler handler, void *context,
                         seen_error *error);
/* Runs one command whose reply is a number. */
seen_status sn_fleet_run_number(sn_fleet_connection *conn, long long *number, seen_error *error);

static inline bool sn_fleet_reply_nil(const sn_reply *r, size_t item)
{
    return r->item[item].type == REDIS_REPLY_NIL;
}
/* A string or an integer as a number; anything else is 0. */
long long sn_fleet_reply_number(const sn_reply *r, size_t item);

/* Around calls that wait for Redis: no request starts while a reply is overdue. */
void sn_fleet_busy(sn_fleet_connection *conn, bool busy);

/* ---- status.c ---- */

/* Opens a crawl that exists. `status` gets what the registry has, `now` the time of its server;
 * both may be NULL. */
seen_status sn_fleet_find(const char *where, const char *ca_file, sn_fleet_connection *conn,
                          sn_fleet_status *status, uint64_t *now, seen_error *error);

/* ---- lanes ---- */

typedef struct sn_lane_element {
    sn_packer_urls *urls;
    uint64_t number; /* absolute, of the list */
    uint32_t bytes;
    uint64_t taken, done, settled; /* by URL */
} sn_lane_element;

/* A time that the host asked for with Retry-After. In Redis it is stored as a duration: the next
 * owner waits that long by its own clock. */
typedef enum sn_lane_hold { SN_HOLD_NONE, SN_HOLD_TO_STORE, SN_HOLD_STORED } sn_lane_hold;

/* A host of which this session owns queues. */
typedef struct sn_lane_host {
    char name[17]; /* in keys */
    uint64_t hash;
    bool known;      /* what Redis has of it was read */
    bool tired;      /* another session may have sent it a request just now */
    bool busy;       /* the engine has begun with it and has not reported it as quiet */
    int64_t rest_at; /* when it may get the next request, when it was last quiet */
    sn_lane_hold hold;
    int64_t hold_until;
    uint64_t pages; /* fetched from it */
    char *rules;
    size_t rules_len;
    int64_t rules_until;
} sn_lane_host;

/* A queue that this session owns: a host, or one depth of it. Shared by both threads under the
 * lock; only the clerk changes the window. */
typedef struct sn_lane {
    struct sn_lane *chain;    /* of the table, by host */
    struct sn_lane *next_out; /* of those with URLs to hand out */
    sn_lane_host *host;       /* shared by all queues of it */
    char queue[SN_QUEUE];
    unsigned bucket;
    sn_lane_element *window;
    size_t count, room;
    size_t at;        /* the element to hand out from */
    uint64_t head;    /* elements removed from its front so far, by this session */
    uint64_t *former; /* what former owners have done, by element */
    size_t former_count;
    uint64_t cut, freed; /* elements and bytes to remove with the next acknowledgement */
    uint64_t acked;      /* URLs to acknowledge */
    uint32_t open;       /* taken and not done */
    uint32_t unsettled;  /* done and not settled */
    uint64_t granted;    /* URLs of the window, from its front, that have a permit */
    bool fresh;          /* its state has not been read */
    bool more;           /* the list may have more than the window */
    bool out;            /* in the list of lanes with URLs */
    bool dirty;          /* there is something to acknowledge */
    bool stored;         /* Redis has a state for it: bits, or permits */
    bool looked;         /* read once more before its release */
    bool given;          /* given back: nothing more is handed out */
    bool released;
} sn_lane;

/* ---- lists from the engine ---- */

typedef struct sn_offer {
    seen_hash hash;
    uint32_t at, len, parent_at, parent_len;
    uint16_t depth;
    uint8_t hops, kind, flags;
} sn_offer;

typedef struct sn_offers {
    sn_offer *link;
    size_t count, room;
    sn_buffer text;
    uint32_t parent_at, parent_len; /* of the last link */
} sn_offers;

typedef struct sn_fleet_finished {
    sn_lane *lane;
    uint64_t number;
    uint8_t url;
    bool counts;
} sn_fleet_finished;

typedef struct sn_fleet_finished_list {
    sn_fleet_finished *item;
    size_t count, room;
} sn_fleet_finished_list;

typedef enum sn_fleet_note_kind {
    SN_FLEET_NOTE_RULES,
    SN_FLEET_NOTE_SEED,
    SN_FLEET_NOTE_FAILED
} sn_fleet_note_kind;

/* robots.txt of a host, a URL for the seeds, or a line for the list of failures. */
typedef struct sn_fleet_note {
    struct sn_fleet_note *next;
    sn_fleet_note_kind kind;
    unsigned bucket;
    char host[17];
    int64_t for_ms;
    size_t len;
    char text[];
} sn_fleet_note;

typedef struct sn_fleet_notes {
    sn_fleet_note *first, **end;
} sn_fleet_notes;

/* The state of another session. */
typedef struct sn_fleet_observed {
    char session[SN_SESSION + 1];
    uint64_t beat, hosts, answers;
    uint64_t want;     /* so many hosts more */
    int64_t silent_ms; /* how long the beat has not moved, as far as this worker could see */
    int64_t unread_ms; /* since it was read */
    int64_t read_at;   /* by the clock; 0: never */
    bool live, over;
} sn_fleet_observed;

/* What the registry had when last read. */
typedef struct sn_fleet_polled {
    char state[16];
    uint64_t sequence, level, memory;
    bool given;                  /* start URLs are in the lists, or were seen before */
    char giving[SN_SESSION + 1]; /* a session that gives some now, or died over it; "": none */
    bool gone;
    bool known; /* and has not been acted on */
} sn_fleet_polled;

typedef struct sn_figures sn_figures;

typedef struct sn_fleet {
    sn_frontier base;
    sn_fleet_options options;
    sn_fleet_connection conn;
    sn_seenset *set;
    sn_packer *packer;
    seen_hasher hosts; /* of the crawl: which bucket a host is in */
    int wake;          /* eventfd */
    atomic_llong start_until;

    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t work;

    /* Under the lock: from the engine. */
    sn_offers offers;
    sn_fleet_finished_list dones, settled;
    sn_fleet_notes notes;
    sn_crawl_counts counts;
    sn_figures *figures;
    uint64_t transfers;
    uint64_t open; /* URLs of all lanes that were handed out and are not done */
    bool closing, woken;
    bool flush;        /* the engine has settled: what it offered is due */
    bool starving;     /* peek had nothing */
    bool engine_waits; /* for a permit */

    /* Under the lock: for the engine. */
    sn_lane *table[SN_FLEET_TABLE];
    sn_lane **lanes;
    size_t lane_count, lane_room;
    sn_lane *out_first, **out_end;
    uint64_t found;
    bool paused, full, stop, ended, limit, lost, forget;
    size_t give_back;
    sn_buffer seeds; /* one per line */
    size_t seeds_read;
    sn_buffer lent; /* text that the engine reads until its next call: its own thread's */
    uint64_t waiting;
    uint64_t start_seen; /* start URLs that had been seen already */
    bool begun;          /* URLs were ever queued */
    bool others;         /* other sessions are live */
    int64_t answered_at; /* when the pages of one of them last changed */
    seen_status status;
    seen_error error;

    /* The clerk's own. */
    char session[SN_SESSION + 1];
    uint64_t beat, number, intent, permits_taken;
    bool abandoned;            /* closed while there was no room: links were not stored */
    size_t recorded;           /* hashes: where the record continues */
    uint64_t *marks, *numbers; /* the last write to each bucket */
    sn_fleet_polled polled;
    bool *ready;                /* buckets that may have ready queues, when last looked at */
    bool ready_known;           /* and has not been acted on */
    uint64_t *pages;            /* done in each bucket, to acknowledge; counted with --max-pages */
    uint64_t *bound, *returned; /* permits of each bucket; returned: to acknowledge */
    size_t permit_lane;         /* who gets the next */
    uint64_t permits_left;      /* taken, and not bound to URLs yet */
    int64_t permits_at;         /* when to ask for more */
    unsigned epoch;
    sn_fleet_observed *observed;
    size_t observed_count, observed_room;
    size_t live_count; /* sessions that are live, when last looked at */
    uint64_t watches;  /* looks at the others */
    unsigned watched_epoch;
    uint64_t workers; /* sessions that were ever begun, when last listed */
    bool workers_changed;
    bool looked;                 /* and has not acted on it */
    long long beaten;            /* the reply to the last heartbeat */
    uint64_t count[SN_COUNTERS]; /* as last sent */
    bool counted;                /* Redis has them */
    int64_t beat_at, polled_at, picked_at, swept_at, sweep_ms, watched_at, measured_at, figures_at;
    uint64_t sequence, level, seeds_seen;
    int64_t pick_at; /* no hosts are taken before: others may need them more */
    unsigned next_bucket;
    bool pick_empty;
    uint64_t memory, memory_default; /* bytes of elements, at most; 0: any */
    bool refused;                    /* a server had no memory for a write */
    size_t slow_at;                  /* where to look for the host that takes longest */
    char slow_queue[SN_QUEUE];       /* the one that took longest so far */
    uint64_t slow_urls, slow_delay;
    char slow_origin[200];
    uint64_t rated_pages; /* in the last heartbeat */
    seen_error *clerk_error;
    sn_offers taken_offers; /* swapped with offers */
    sn_fleet_finished_list taken_settled;
} sn_fleet;

static inline sn_fleet *sn_fleet_of(const sn_frontier *f)
{
    return (sn_fleet *)(uintptr_t)f;
}

/* Whether the engine has fewer URLs than connections, or links that fill a batch. Otherwise the
 * clerk is in no hurry: the later it comes, the more pages share its commands. Under the lock. */
static inline bool sn_fleet_urgent(const sn_fleet *f)
{
    return f->open < f->options.connections || f->offers.count >= SN_FLEET_LINKS;
}

/* There is something for the engine. */
static inline void sn_fleet_wake(const sn_fleet *f)
{
    uint64_t one = 1;
    ssize_t n = write(f->wake, &one, sizeof one);
    (void)n; /* full: it is awake already */
}

int64_t sn_fleet_now(void); /* CLOCK_BOOTTIME, milliseconds */
void sn_fleet_host(const sn_fleet *f, const char *origin, size_t len, char host[17],
                   uint64_t *hash);
unsigned sn_fleet_bucket(const sn_fleet_connection *conn, const char *host);

/* ---- confirm.c ---- */

/* The session is over: declared dead, or its writes are lost. */
seen_status sn_fleet_set_lost(sn_fleet *f, const char *why);
/* Replicas have what was written; and no server has lost it since. */
seen_status sn_fleet_confirm(sn_fleet *f);

/* ---- fleet.c ---- */

/* sn_fleet_open without the thread. */
seen_status sn_fleet_begin(const sn_fleet_options *options, sn_fleet **fleet, bool *created,
                           seen_error *error);
bool sn_offers_add(sn_offers *o, const sn_frontier_link *link);

/* ---- clerk.c ---- */

void *sn_clerk_run(void *fleet);

/* ---- session.c ---- */

/* Whether the crawl exists, or else may be created; nothing changes. */
seen_status sn_session_find(sn_fleet *f, bool *there, seen_error *error);
seen_status sn_session_join(sn_fleet *f, bool *created, seen_error *error);
seen_status sn_session_begin(sn_fleet *f, seen_error *error);
seen_status sn_session_poll(sn_fleet *f);
/* What is in scope because of others: before URLs are handed out that they have added. */
seen_status sn_session_read_seeds(sn_fleet *f);
/* Why the session was lost: the crawl itself may be gone. Then another run cannot begin. */
seen_status sn_session_explain(sn_fleet *f, seen_status status);
seen_status sn_session_sweep(sn_fleet *f);
/* A session gives URLs that no page leads to: the steps of given.lua. */
seen_status sn_session_give(sn_fleet *f, const char *session, const char *step);
/* How many URLs of the whole crawl are not done, for the progress line and the summary. */
seen_status sn_session_count_waiting(sn_fleet *f);
/* Milliseconds between two looks for work, or for the end, of a worker that has none: at least so
 * many. The more workers there are, the less often each of them looks; all of them together look
 * equally often. */
int64_t sn_session_interval_ms(const sn_fleet *f, int64_t least);
/* The number of queues this worker wants: enough to keep its connections busy during the delays of
 * the hosts. */
size_t sn_session_wanted(const sn_fleet *f);
/* Which buckets may have ready queues: a cheap query to each, with tags from `tag` on. */
void sn_session_put_ready(const sn_fleet *f, uint32_t tag);
bool sn_session_take_ready(sn_fleet *f, unsigned bucket, const sn_reply *r);
/* Appends the queues of a bucket that a session owns, each with a NUL. One may be there twice. */
seen_status sn_session_owned(sn_fleet *f, const char *session, unsigned b, sn_buffer *queues);
/* Writes the command that reads the registry; takes its reply. */
void sn_session_put_poll(const sn_fleet *f, uint32_t tag);
bool sn_session_take_poll(sn_fleet *f, const sn_reply *r);
/* Sums one field of a hash over all buckets. */
seen_status sn_session_sum(sn_fleet *f, const char *hash, const char *field, uint64_t *total);

/* ---- beat.c ---- */

/* Sends a heartbeat and looks at those of the others, if it is time for it. */
seen_status sn_session_beat(sn_fleet *f);
/* Writes the command of a heartbeat; the reply is its number. */
void sn_session_put_beat(sn_fleet *f, uint32_t tag);

/* ---- permits.c ---- */

/* Gets permits for URLs that have none, if pages are limited. */
seen_status sn_permits_take(sn_fleet *f);

/* ---- figures.c ---- */

sn_figures *sn_figures_create(void);
void sn_figures_destroy(sn_figures *g);
/* A page is done. Under the lock. */
void sn_figures_count(sn_fleet *f, const sn_frontier_done *done);
/* Writes what has changed, every few seconds or at once. */
seen_status sn_figures_write(sn_fleet *f, bool now);

/* ---- room.c ---- */

/* Refuses servers that evict keys; determines how much memory they have. */
seen_status sn_room_configure(sn_fleet *f, seen_error *error);
/* Waits while the lists are as large as they may be. */
seen_status sn_room_wait(sn_fleet *f);
/* After a write: true if a server has no memory for it. Then a moment has passed: try again. */
bool sn_room_refused(sn_fleet *f, seen_status *status);

/* ---- recover.c ---- */

/* After a look: shares hosts, recovers those that are dead. */
seen_status sn_session_observe(sn_fleet *f);
/* Returns everything of this session to the others, at once. */
seen_status sn_session_leave(sn_fleet *f);

/* ---- journal.c ---- */

enum { SN_JOURNAL_LINKS = 2048 }; /* in a batch */

/* One element to push. Without URLs: the number is applied to the bucket all the same. */
typedef struct sn_journal_item {
    const char *queue;
    unsigned bucket, urls;
    const char *element;
    size_t at, len; /* at: of the element in a text that may still move */
    size_t first;   /* of its hashes, in a replay */
    bool pushed;    /* now, not by an earlier call under this number */
} sn_journal_item;

seen_status sn_journal_run(sn_fleet *f, const sn_offers *offers);
seen_status sn_journal_add(sn_fleet *f, const seen_hash *hash, size_t count, seen_answer *answer);
/* Pushes for a session; replay: for one that was declared dead. Sorts the items. */
seen_status sn_journal_push(sn_fleet *f, const char *session, uint64_t number, bool replay,
                            sn_journal_item *item, size_t count);
/* Deletes a batch of this session from its journal, 0: none, and records hashes of URLs that are in
 * the lists: low halves, 8 bytes each. */
seen_status sn_journal_settle(sn_fleet *f, uint64_t number, const char *hashes, size_t count);

/* ---- replay.c ---- */

/* Adds and pushes what is in the journal of a dead session. */
seen_status sn_journal_replay(sn_fleet *f, const char *session);

/* ---- pick.c ---- */

seen_status sn_lane_pick(sn_fleet *f);

/* ---- lane.c ---- */

/* A queue that this session owns from now on. `last`: who asked its host last, as pick returns it.
 * False: no memory, or no name of a queue. Under the lock. */
bool sn_lane_add(sn_fleet *f, const char *queue, size_t len, unsigned bucket, const char *last);
/* The delay that another worker may have observed, in milliseconds. Under the lock: the engine
 * changes the rules. */
int64_t sn_lane_delay(const sn_fleet *f, const sn_lane_host *host);
/* When the host may get the next request, as far as is known. Under the lock. */
int64_t sn_lane_rest(const sn_lane_host *host);
seen_status sn_lane_read(sn_fleet *f);
seen_status sn_lane_ack(sn_fleet *f, bool all);
void sn_lane_keep_rules(sn_lane_host *host, const char *rules, size_t len);
/* The queues of a host that this session owns: the first one, and the next one of the same host;
 * NULL: no more. With levels there may be several. */
sn_lane *sn_lane_first(const sn_fleet *f, uint64_t hash);
sn_lane *sn_lane_next(const sn_lane *lane);
void sn_lane_put_out(sn_fleet *f, sn_lane *lane);
void sn_lane_free(sn_fleet *f, sn_lane *lane);

/* Rules that a test may switch off (switches.c). */
typedef enum sn_fleet_switch {
    SN_WITHOUT_JOURNAL,
    SN_WITHOUT_NUMBERS,
    SN_WITHOUT_FENCE,
    SN_WITHOUT_RECORD
} sn_fleet_switch;
bool sn_fleet_without(sn_fleet_switch rule);
/* A point at which a test may stall this worker for longer than its lease, or kill it. */
void sn_fleet_point(const char *name);

#endif
