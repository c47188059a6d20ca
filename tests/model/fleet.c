/* Explicit-state search of the shared crawl's protocol (docs/fleet.md): every interleaving of a
 * small crawl, with crashes, stalled workers and lost tails of replication, up to the last state.
 *
 *     fleet_model NAME…     configurations by name; without a name: those of the short test
 *     fleet_model --all     also the large ones
 *
 * Sessions fetch pages of two hosts. A page is fetched, its links are checked against the seen-set,
 * written to the session's journal, added to the seen-set one by one, pushed to the hosts' lists
 * bucket by bucket, the journal entry is deleted, the page is acknowledged. Recovery of a dead
 * session is done by any worker, several at once, one step at a time:
 *
 *     declare dead -> fence every bucket -> add the journal's URLs -> push them -> take the hosts
 *
 * A session may also give a start URL, which no page leads to, by the same steps. That it does is
 * noted before them and until after them, or until it is recovered: the crawl cannot end meanwhile.
 *
 * What is pushed is recorded, at the earliest when the journal entry is deleted, or by a replay
 * with its push. A replay omits any part of what is recorded: records may be lost. It applies the
 * number to every bucket of the batch, also to one for which nothing is left.
 *
 * Checked in every state
 *     one worker   no two sessions that may both start requests to one host
 *     numbered     no batch pushes a URL twice
 *     end          when the two sweeps agree, no page is waiting or unacknowledged
 * and in every state from which nothing but failures can follow
 *     no loss      every page was fetched and acknowledged, no list holds one
 *
 * A failover returns one group of keys (a bucket, a session with its journal, the seen-set) to an
 * earlier state that no WAIT of its own had confirmed since. Sessions that were live before it end
 * at their next command to that group; a new one begins.
 *
 * Each rule of the protocol can be switched off; the test requires that the search then finds the
 * fault. A search that does not reach its last state within the limit is an error. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SESSIONS = 3, HOSTS = 2, URLS = 5, QUEUE = 8, NONE = 255 };
enum { A, C, B, E, D };

static const uint8_t host_of[URLS] = {[A] = 0, [C] = 1, [B] = 1, [E] = 1, [D] = 0};
static const uint8_t links_of[URLS] = {[A] = 1 << B | 1 << E, [C] = 1 << B, [B] = 1 << D};

/* The rules, as bits: a set bit removes the rule. */
enum rule {
    NO_JOURNAL = 1,  /* links are added to the seen-set without a journal entry */
    NO_FREEZE = 2,   /* a dead session may delete its journal entry */
    NO_NUMBERS = 4,  /* pushes are not numbered */
    NO_FENCE = 8,    /* buckets accept a session that was declared dead */
    LATE_FENCE = 16, /* buckets are fenced after the replay instead of before */
    POP_FIRST = 32,  /* a URL leaves its list when it is fetched */
    NO_WAIT_INTENT = 64,
    NO_WAIT_PUSH = 128,
    NO_WAIT_PICK = 256,
    NO_WAIT_REAP = 512,
    ONE_SWEEP = 1024,    /* the end: pushed is summed before done */
    KEEP_SESSION = 2048, /* a failover does not end the sessions that were live */
    EARLY_RECORD = 4096, /* URLs are recorded before they are pushed */
    WHOLE_RECORD = 8192, /* a replay records its URLs also where their number was applied before */
    NO_EMPTY_PUSH = 16384, /* a replay that omits all URLs of a bucket does not apply the number */
    NO_GIVING = 32768,     /* the end does not wait for a session that gives start URLs */
    NO_SEQUENCE = 65536    /* the end is written although one gave some since the sums */
};

enum group { GROUP_NONE, GROUP_HOST0, GROUP_HOST1, GROUP_SESSION0, GROUP_SEEN };

typedef struct config {
    const char *name;
    unsigned off;
    uint8_t crashes, stops;
    bool sweep;    /* an observer looks for the end */
    bool give;     /* A is a start URL that the first session gives at any time */
    uint8_t group; /* of keys that fails over once */
    bool faulty;   /* the search must find a fault */
    bool large;    /* not in the short test */
} config;

enum { LIVE, DECLARED, GONE, UNBORN };                          /* of a session, in Redis */
enum { IDLE, OWN, GOT, INTENT, ADD, PUSH, SETTLE, ACK, ENDED }; /* of a session, by itself */

enum { FENCED = 8 }; /* applied: this bit and the number of the last batch */

/* Keys of one bucket: one host each, here. */
typedef struct bucket {
    uint8_t queue[QUEUE], len;
    uint8_t ready, owner;
    uint8_t applied[SESSIONS];
    uint8_t pushes[URLS]; /* how often a URL was pushed, for the check */
    uint8_t pushed;       /* done is pushed - len: one script changes both */
} bucket;

typedef struct session_keys {
    uint8_t state;
    uint8_t journal, number; /* URLs of the entry, 0: none; its batch */
} session_keys;

typedef struct state {
    bucket bucket[HOSTS];
    session_keys session[SESSIONS];
    uint8_t seen;
    uint8_t recorded; /* URLs, as bits */

    struct local {
        uint8_t pc, host, url, left, fresh, number;
        uint8_t stopped; /* stalled beyond its lease: starts no request, knows nothing */
        uint8_t old;     /* began before the failover */
    } local[SESSIONS];

    uint8_t batches[URLS]; /* how many batches held the URL */
    uint8_t fetched;       /* URLs, as bits */
    uint8_t crashes, stops;

    uint8_t phase; /* of the observer: 0 not begun, 1..4 sums read, 5 the end was found */
    int8_t sum;    /* done - pushed */
    /* The registry: a session gives URLs; the observer has read that one does, and whether one
     * began or ended since. */
    uint8_t begun, giving, gave, changed;

    uint8_t copied, failed_over; /* the replica's copy exists; it took over */
    union {
        bucket bucket;
        session_keys session;
        uint8_t seen;
    } copy;
} state;

enum action {
    PICK,
    REFUSED,
    LEARN,
    FETCH,
    RELEASE,
    FENCE_HIT,
    CHECK,
    WRITE_INTENT,
    ADD_ONE,
    PUSH_ONE,
    SETTLED,
    ACKED,
    CRASH,
    STOP,
    DECLARE,
    FENCE,
    REPLAY_ADD,
    REPLAY_PUSH,
    TAKE,
    FINISH,
    SWEEP,
    COPY,
    FAILOVER,
    GIVE,
    GIVEN,
    BIRTH
};
static const char *const action_names[] = {"picks",
                                           "is refused",
                                           "learns it is dead",
                                           "fetches",
                                           "releases",
                                           "is fenced",
                                           "checks",
                                           "writes the intent",
                                           "adds one URL",
                                           "pushes",
                                           "deletes the intent",
                                           "acknowledges",
                                           "CRASHES",
                                           "STALLS",
                                           "is declared dead",
                                           "is fenced in a bucket",
                                           "replay adds one URL of",
                                           "replay pushes of",
                                           "host taken from",
                                           "is gone",
                                           "observer reads",
                                           "replica has its copy",
                                           "FAILOVER",
                                           "begins to give a start URL",
                                           "has given it",
                                           "begins"};

#include "search.h"

/* ---- Keys ---- */

/* A replica has confirmed this group: its older copy can no longer win. */
static void wait_for(const search *x, state *s, enum group group)
{
    if (group == x->config->group && s->copied && !s->failed_over) {
        s->copied = 2; /* the chance has passed */
        memset(&s->copy, 0, sizeof s->copy);
    }
}

/* A session that was live before the failover notices at its first command to the group. */
static bool notices(const search *x, const state *s, unsigned who, enum group group)
{
    return s->failed_over && group == x->config->group && s->local[who].old &&
           !off(x, KEEP_SESSION);
}

static enum group bucket_group(unsigned host)
{
    return host == 0 ? GROUP_HOST0 : GROUP_HOST1;
}

static enum group session_group(unsigned session)
{
    return session == 0 ? GROUP_SESSION0 : GROUP_NONE;
}

static bool accepts(const search *x, const bucket *b, unsigned session)
{
    return off(x, NO_FENCE) || !(b->applied[session] & FENCED);
}

static unsigned of_host(unsigned urls, unsigned host)
{
    unsigned mine = 0;
    for (unsigned u = 0; u < URLS; u++)
        if (urls >> u & 1 && host_of[u] == host)
            mine |= 1u << u;
    return mine;
}

/* The push script. A replay may push for a fenced session. */
static void push(search *x, state *s, unsigned host, unsigned session, unsigned number,
                 unsigned urls, bool replay)
{
    bucket *b = &s->bucket[host];
    unsigned last = b->applied[session] & (FENCED - 1);
    if ((!replay && !accepts(x, b, session)) || (!off(x, NO_NUMBERS) && last >= number))
        return;
    unsigned mine = of_host(urls, host);
    if (mine == 0 && (!replay || off(x, NO_EMPTY_PUSH)))
        return;
    if (mine != 0 && b->len == 0 && b->owner == NONE)
        b->ready = 1;
    for (unsigned u = 0; u < URLS; u++) {
        if (!(mine >> u & 1))
            continue;
        if (b->len == QUEUE || ++b->pushes[u] > s->batches[u]) {
            fault(x, "a batch pushed a URL twice");
            return;
        }
        b->queue[b->len++] = (uint8_t)u;
        b->pushed++;
    }
    if (last < number)
        b->applied[session] = (uint8_t)((b->applied[session] & FENCED) | number);
}

/* ---- One session ---- */

static void end_session(state *s, unsigned who)
{
    uint8_t old = s->local[who].old;
    memset(&s->local[who], 0, sizeof s->local[who]);
    s->local[who].pc = ENDED;
    s->local[who].old = old;
}

static void step_end(search *x, const state *from, unsigned who, enum action action)
{
    state s = *from;
    end_session(&s, who);
    reach(x, &s, action, who);
}

/* No page leads to the URL. While it is given the session has no host. */
static void step_give(search *x, const state *from, unsigned who)
{
    state s = *from;
    struct local *l = &s.local[who];
    s.begun = s.giving = s.changed = 1;
    s.phase = s.phase == 5 ? 0 : s.phase; /* a crawl that was done runs again */
    l->host = NONE;
    l->fresh = 1 << A;
    l->pc = INTENT;
    reach(x, &s, GIVE, who);
}

static void step_given(search *x, const state *from, unsigned who)
{
    state s = *from;
    struct local *l = &s.local[who];
    s.giving = 0;
    s.changed = 1;
    *l = (struct local){.pc = IDLE, .number = l->number, .stopped = l->stopped, .old = l->old};
    reach(x, &s, GIVEN, who);
}

static void step_idle(search *x, const state *from, unsigned who)
{
    if (x->config->give && who == 0 && !from->begun) {
        step_give(x, from, who);
        return;
    }
    bool live = from->session[who].state == LIVE;
    for (unsigned h = 0; h < HOSTS; h++) {
        state s = *from;
        bucket *b = &s.bucket[h];
        if (!b->ready)
            continue;
        if (notices(x, from, who, bucket_group(h)) || !accepts(x, b, who)) {
            step_end(x, from, who, REFUSED);
            continue;
        }
        if (!live && !from->local[who].stopped)
            continue;
        b->ready = 0;
        b->owner = (uint8_t)who;
        s.local[who].pc = OWN;
        s.local[who].host = (uint8_t)h;
        if (!off(x, NO_WAIT_PICK))
            wait_for(x, &s, bucket_group(h));
        reach(x, &s, PICK, who);
    }
    if (!live)
        step_end(x, from, who, LEARN);
    /* The sweeps and the heartbeat touch every group now and then. */
    if (from->failed_over && from->local[who].old && !off(x, KEEP_SESSION))
        step_end(x, from, who, LEARN);
}

static void check_alone(search *x, const state *s, unsigned who)
{
    for (unsigned o = 0; o < SESSIONS; o++)
        if (o != who && s->local[o].pc >= OWN && s->local[o].pc < ENDED &&
            s->local[o].host == s->local[who].host && !s->local[o].stopped)
            fault(x, "two sessions may start requests to one host");
}

static void step_own(search *x, const state *from, unsigned who)
{
    state s = *from;
    struct local *l = &s.local[who];
    bucket *b = &s.bucket[l->host];
    if (l->stopped || notices(x, from, who, bucket_group(l->host))) {
        step_end(x, from, who, LEARN);
        return;
    }
    if (b->len > 0) {
        check_alone(x, from, who);
        l->url = b->queue[0];
        l->pc = GOT;
        s.fetched |= (uint8_t)(1u << l->url);
        if (off(x, POP_FIRST))
            memmove(b->queue, b->queue + 1, --b->len);
        if (off(x, POP_FIRST))
            b->queue[b->len] = 0;
        reach(x, &s, FETCH, who);
    } else if (b->owner == who) {
        b->owner = NONE;
        *l = (struct local){.pc = IDLE, .number = l->number, .old = l->old};
        reach(x, &s, RELEASE, who);
    } else {
        step_end(x, from, who, FENCE_HIT);
    }
}

static void step_check(search *x, const state *from, unsigned who)
{
    state s = *from;
    struct local *l = &s.local[who];
    if (notices(x, from, who, GROUP_SEEN)) {
        step_end(x, from, who, LEARN);
        return;
    }
    l->fresh = (uint8_t)(links_of[l->url] & ~s.seen);
    l->pc = l->fresh ? INTENT : ACK;
    reach(x, &s, CHECK, who);
}

static void step_intent(search *x, const state *from, unsigned who)
{
    state s = *from;
    struct local *l = &s.local[who];
    if (!off(x, NO_JOURNAL) &&
        (s.session[who].state != LIVE || notices(x, from, who, session_group(who)))) {
        step_end(x, from, who, REFUSED);
        return;
    }
    l->number++;
    if (!off(x, NO_JOURNAL)) {
        s.session[who].journal = l->fresh;
        s.session[who].number = l->number;
        if (!off(x, NO_WAIT_INTENT))
            wait_for(x, &s, session_group(who));
    }
    for (unsigned u = 0; u < URLS; u++)
        s.batches[u] = (uint8_t)(s.batches[u] + (l->fresh >> u & 1));
    l->left = l->fresh;
    l->fresh = 0;
    l->pc = ADD;
    reach(x, &s, WRITE_INTENT, who);
}

/* The seen-set is many keys: URLs of a batch are added in any order, others come in between. */
static void step_add(search *x, const state *from, unsigned who)
{
    if (notices(x, from, who, GROUP_SEEN)) {
        step_end(x, from, who, LEARN);
        return;
    }
    for (unsigned u = 0; u < URLS; u++) {
        state s = *from;
        struct local *l = &s.local[who];
        if (!(l->left >> u & 1))
            continue;
        l->left = (uint8_t)(l->left & ~(1u << u));
        l->fresh = (uint8_t)(l->fresh | (s.seen >> u & 1 ? 0 : 1u << u));
        s.seen = (uint8_t)(s.seen | 1u << u);
        if (l->left == 0) {
            l->pc = PUSH;
            l->left = 3;
            if (off(x, EARLY_RECORD))
                s.recorded |= l->fresh;
        }
        reach(x, &s, ADD_ONE, who);
    }
}

static void step_push(search *x, const state *from, unsigned who)
{
    for (unsigned h = 0; h < HOSTS; h++) {
        state s = *from;
        struct local *l = &s.local[who];
        if (!(l->left >> h & 1))
            continue;
        bool any = of_host(l->fresh, h) != 0;
        if (any && (notices(x, from, who, bucket_group(h)) || !accepts(x, &s.bucket[h], who))) {
            step_end(x, from, who, REFUSED);
            continue;
        }
        if (any)
            push(x, &s, h, who, l->number, l->fresh, false);
        if (any && !off(x, NO_WAIT_PUSH))
            wait_for(x, &s, bucket_group(h));
        l->left = (uint8_t)(l->left & ~(1u << h));
        if (l->left == 0)
            l->pc = SETTLE;
        reach(x, &s, PUSH_ONE, who);
    }
}

static void step_settle(search *x, const state *from, unsigned who)
{
    state s = *from;
    if (!off(x, NO_JOURNAL)) {
        bool live = s.session[who].state == LIVE || off(x, NO_FREEZE);
        if (!live || notices(x, from, who, session_group(who))) {
            step_end(x, from, who, REFUSED);
            return;
        }
        s.session[who].journal = s.session[who].number = 0;
    }
    s.recorded |= s.local[who].fresh;
    s.local[who].fresh = 0;
    s.local[who].pc = ACK;
    reach(x, &s, SETTLED, who);
}

static void step_ack(search *x, const state *from, unsigned who)
{
    if (from->local[who].host == NONE) {
        step_given(x, from, who);
        return;
    }
    state s = *from;
    struct local *l = &s.local[who];
    bucket *b = &s.bucket[l->host];
    if (b->owner != who || notices(x, from, who, bucket_group(l->host))) {
        step_end(x, from, who, FENCE_HIT);
        return;
    }
    if (!off(x, POP_FIRST)) {
        if (b->len == 0 || b->queue[0] != l->url) {
            fault(x, "the head of a list is not the page that is acknowledged");
            return;
        }
        memmove(b->queue, b->queue + 1, --b->len);
        b->queue[b->len] = 0;
    }
    l->pc = OWN;
    l->url = 0;
    reach(x, &s, ACKED, who);
}

static void step_session(search *x, const state *s, unsigned who)
{
    static void (*const step[])(search *, const state *, unsigned) = {
        [IDLE] = step_idle, [OWN] = step_own,   [GOT] = step_check,     [INTENT] = step_intent,
        [ADD] = step_add,   [PUSH] = step_push, [SETTLE] = step_settle, [ACK] = step_ack};
    const struct local *l = &s->local[who];
    if (l->pc == ENDED || s->session[who].state == UNBORN)
        return;
    step[l->pc](x, s, who);
    /* A start URL that is not in a journal yet must be given again: not looked at. */
    bool early = x->config->give && who == 0 && (!s->begun || (l->host == NONE && l->pc == INTENT));
    if (who == SESSIONS - 1 || l->stopped || early)
        return;
    if (s->crashes > 0) {
        state c = *s;
        end_session(&c, who);
        c.crashes--;
        reach(x, &c, CRASH, who);
    }
    if (s->stops > 0) {
        state c = *s;
        c.local[who].stopped = 1;
        c.stops--;
        reach(x, &c, STOP, who);
    }
}

/* ---- Recovery: every step by any worker, as often as it likes ---- */

static bool recover_fence(search *x, const state *from, unsigned who)
{
    bool open = false;
    for (unsigned h = 0; h < HOSTS; h++) {
        state s = *from;
        if (off(x, NO_FENCE) || s.bucket[h].applied[who] & FENCED)
            continue;
        open = true;
        s.bucket[h].applied[who] |= FENCED;
        if (!off(x, NO_WAIT_REAP))
            wait_for(x, &s, bucket_group(h));
        reach(x, &s, FENCE, who);
    }
    return open;
}

/* Pushes to one bucket, without each part of what is recorded; true: that is to be done. */
static bool replay_push(search *x, const state *from, unsigned who, unsigned h)
{
    const session_keys *k = &from->session[who];
    unsigned mine = of_host(k->journal, h);
    unsigned known = mine & from->recorded;
    bool must = false;
    for (unsigned omit = 0; omit <= known && mine != 0; omit++) {
        state s = *from;
        if ((omit & ~known) != 0)
            continue;
        push(x, &s, h, who, k->number, mine & ~omit, true);
        bool pushed = memcmp(&s.bucket[h], &from->bucket[h], sizeof s.bucket[h]) != 0;
        if (pushed || off(x, WHOLE_RECORD))
            s.recorded |= (uint8_t)(mine & ~omit);
        if (!off(x, NO_WAIT_PUSH))
            wait_for(x, &s, bucket_group(h));
        if (off(x, NO_NUMBERS) || memcmp(&s, from, sizeof s) == 0)
            continue;
        must |= omit == known;
        reach(x, &s, REPLAY_PUSH, who);
    }
    return must;
}

static bool recover_journal(search *x, const state *from, unsigned who)
{
    const session_keys *k = &from->session[who];
    unsigned missing = k->journal & ~(unsigned)from->seen;
    bool left = false, must = false;
    for (unsigned u = 0; u < URLS; u++) {
        state s = *from;
        if (!(missing >> u & 1))
            continue;
        s.seen = (uint8_t)(s.seen | 1u << u);
        left = true;
        reach(x, &s, REPLAY_ADD, who);
    }
    for (unsigned h = 0; h < HOSTS && !left && k->journal; h++)
        must |= replay_push(x, from, who, h);
    left |= must;
    /* Without numbers nothing shows that it was done: once, by the worker that finishes. */
    if (off(x, NO_NUMBERS) && !left && k->journal) {
        state s = *from;
        for (unsigned h = 0; h < HOSTS; h++)
            push(x, &s, h, who, k->number, k->journal, true);
        s.session[who].journal = s.session[who].number = 0;
        reach(x, &s, REPLAY_PUSH, who);
        left = true;
    }
    return left;
}

static bool recover_hosts(search *x, const state *from, unsigned who)
{
    bool left = false;
    for (unsigned h = 0; h < HOSTS; h++) {
        state s = *from;
        if (s.bucket[h].owner != who)
            continue;
        left = true;
        s.bucket[h].owner = NONE;
        s.bucket[h].ready = 1;
        if (!off(x, NO_WAIT_REAP))
            wait_for(x, &s, bucket_group(h));
        reach(x, &s, TAKE, who);
    }
    return left;
}

static void recover(search *x, const state *from, unsigned who)
{
    state s = *from;
    const session_keys *k = &from->session[who];
    const struct local *l = &from->local[who];
    if (k->state == LIVE && (l->pc == ENDED || l->stopped)) {
        s.session[who].state = DECLARED;
        wait_for(x, &s, session_group(who));
        reach(x, &s, DECLARE, who);
    }
    if (k->state != DECLARED)
        return;
    if (!off(x, LATE_FENCE) && recover_fence(x, from, who))
        return;
    if (recover_journal(x, from, who))
        return;
    if (off(x, LATE_FENCE) && recover_fence(x, from, who))
        return;
    if (recover_hosts(x, from, who))
        return;
    s.session[who] = (session_keys){.state = GONE};
    s.changed |= who == 0 && s.giving;
    s.giving = who == 0 ? 0 : s.giving;
    reach(x, &s, FINISH, who);
}

/* ---- The end, and failover ---- */

static bool is_over(const state *s)
{
    for (unsigned h = 0; h < HOSTS; h++)
        if (s->bucket[h].len > 0)
            return false;
    return s->fetched == (1 << URLS) - 1;
}

/* Reads done of both buckets, then pushed of both; other steps come in between. */
static void observe(search *x, const state *from)
{
    static const bool pushed_at[] = {false, false, true, true};
    state s = *from;
    if (s.phase == 5)
        return;
    if (s.phase == 4) {
        bool given = (s.gave && !off(x, NO_GIVING)) || (s.changed && !off(x, NO_SEQUENCE));
        s.phase = s.sum == 0 && !given ? 5 : 0;
        s.sum = 0;
        if (s.phase == 5 && !is_over(from) && (!x->config->give || from->begun))
            fault(x, "the end was declared too early");
    } else {
        bool pushed = off(x, ONE_SWEEP) ? !pushed_at[s.phase] : pushed_at[s.phase];
        const bucket *b = &s.bucket[s.phase % 2];
        if (s.phase == 0) {
            s.gave = s.giving;
            s.changed = 0;
        }
        s.sum = (int8_t)(pushed ? s.sum - b->pushed : s.sum + b->pushed - b->len);
        s.phase++;
    }
    reach(x, &s, SWEEP, 0);
}

static void fail_over(search *x, const state *from)
{
    state s = *from;
    enum group g = (enum group)x->config->group;
    if (s.failed_over || s.copied == 2)
        return;
    if (!s.copied) {
        s.copied = 1;
        if (g == GROUP_SEEN)
            s.copy.seen = s.seen;
        else if (g == GROUP_SESSION0)
            s.copy.session = s.session[0];
        else
            s.copy.bucket = s.bucket[g - GROUP_HOST0];
        reach(x, &s, COPY, 0);
        return;
    }
    if (g == GROUP_SEEN)
        s.seen = s.copy.seen;
    else if (g == GROUP_SESSION0)
        s.session[0] = s.copy.session;
    else
        s.bucket[g - GROUP_HOST0] = s.copy.bucket;
    memset(&s.copy, 0, sizeof s.copy);
    s.failed_over = 1;
    reach(x, &s, FAILOVER, 0);
}

static void expand(search *x, const state *s)
{
    for (unsigned who = 0; who < SESSIONS; who++) {
        step_session(x, s, who);
        recover(x, s, who);
    }
    if (x->config->sweep)
        observe(x, s);
    if (x->config->group != GROUP_NONE)
        fail_over(x, s);
    /* In these configurations the third session begins after the failover. */
    if (s->session[2].state == UNBORN && s->failed_over) {
        state c = *s;
        c.session[2].state = LIVE;
        reach(x, &c, BIRTH, 2);
    }
}

/* ---- Running ---- */

static void begin(search *x)
{
    state s;
    memset(&s, 0, sizeof s);
    for (unsigned h = 0; h < HOSTS; h++) {
        s.bucket[h].queue[0] = h == 0 ? A : C;
        s.bucket[h].len = s.bucket[h].pushed = s.bucket[h].ready = 1;
        s.bucket[h].owner = NONE;
    }
    s.bucket[0].pushes[A] = s.bucket[1].pushes[C] = 1;
    s.batches[A] = s.batches[C] = 1;
    s.seen = 1 << A | 1 << C;
    if (x->config->give) {
        s.bucket[0] = (bucket){.owner = NONE};
        s.batches[A] = 0;
        s.seen = 1 << C;
    }
    s.crashes = x->config->crashes;
    s.stops = x->config->stops;
    if (x->config->group != GROUP_NONE) {
        s.session[2].state = UNBORN;
        s.local[0].old = s.local[1].old = 1;
    }
    reach(x, &s, BIRTH, 0);
}

static void at_end(search *x, const state *s)
{
    if (!is_over(s))
        fault(x, "a page is lost, or a host is stuck");
}

static bool is_failure(enum action action)
{
    return action == CRASH || action == STOP || action == COPY || action == FAILOVER ||
           action == SWEEP;
}

static const config configs[] = {
    {.name = "crash", .crashes = 1},
    {.name = "two-crashes", .crashes = 2},
    {.name = "zombie", .stops = 1},
    {.name = "crash-zombie", .crashes = 1, .stops = 1},
    {.name = "end", .crashes = 1, .sweep = true},
    {.name = "give", .sweep = true, .give = true},
    {.name = "give-crash", .crashes = 1, .sweep = true, .give = true, .large = true},
    {.name = "give-zombie", .stops = 1, .sweep = true, .give = true, .large = true},
    {.name = "fail-bucket0", .group = GROUP_HOST0},
    {.name = "fail-bucket1", .group = GROUP_HOST1},
    {.name = "fail-session", .group = GROUP_SESSION0},
    {.name = "fail-seen", .group = GROUP_SEEN},
    {.name = "fail-crash", .group = GROUP_HOST1, .crashes = 1},
    {.name = "no-journal", .off = NO_JOURNAL, .crashes = 1, .faulty = true},
    {.name = "no-freeze", .off = NO_FREEZE, .stops = 1, .faulty = true},
    {.name = "no-numbers", .off = NO_NUMBERS, .crashes = 1, .stops = 1, .faulty = true},
    {.name = "no-fence", .off = NO_FENCE, .stops = 1, .faulty = true},
    {.name = "late-fence", .off = LATE_FENCE, .stops = 1, .faulty = true},
    {.name = "pop-first", .off = POP_FIRST, .crashes = 1, .faulty = true},
    {.name = "one-sweep", .off = ONE_SWEEP, .sweep = true, .faulty = true},
    {.name = "no-giving", .off = NO_GIVING, .sweep = true, .give = true, .faulty = true},
    {.name = "no-sequence", .off = NO_SEQUENCE, .sweep = true, .give = true, .faulty = true},
    {.name = "early-record", .off = EARLY_RECORD, .crashes = 1, .faulty = true},
    {.name = "whole-record", .off = WHOLE_RECORD, .crashes = 2, .faulty = true},
    {.name = "no-empty-push", .off = NO_EMPTY_PUSH, .crashes = 1, .sweep = true, .faulty = true},
    {.name = "no-wait-intent",
     .off = NO_WAIT_INTENT,
     .group = GROUP_SESSION0,
     .crashes = 1,
     .faulty = true},
    {.name = "no-wait-push", .off = NO_WAIT_PUSH, .group = GROUP_HOST1, .faulty = true},
    {.name = "no-wait-pick", .off = NO_WAIT_PICK, .group = GROUP_HOST1, .faulty = true},
    {.name = "no-wait-reap",
     .off = NO_WAIT_REAP,
     .group = GROUP_HOST1,
     .crashes = 1,
     .faulty = true},
    {.name = "two-zombies", .stops = 2, .large = true},
    {.name = "zombie-end", .stops = 1, .sweep = true, .large = true},
    {.name = "fail-zombie", .group = GROUP_HOST1, .stops = 1, .large = true},
};

int main(int argc, char **argv)
{
    return run_wanted(configs, sizeof configs / sizeof configs[0], argc, argv);
}
