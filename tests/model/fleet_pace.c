/* Explicit-state search of how the workers of a shared crawl keep the delay of a host
 * (docs/fleet.md): every order of steps, with time, up to the last state.
 *
 *     fleet_pace_model           the configurations of the short test
 *     fleet_pace_model NAME…     some of them, with the steps that lead to a fault
 *     fleet_pace_model --all     also the large one
 *
 * One host, two or three sessions, and an observer, which stands for any other worker. Checked when
 * a request arrives: it comes at least a delay after the last one, of any session. The time since
 * the last request is known to the check alone.
 *
 * Time is a step like any other, and nothing has to happen before it passes. So a session may stall
 * for any time between any two steps: a process that is killed takes no more steps, a zombie takes
 * its next one late, a paused crawl goes on later. The one exception is the condition that
 * docs/fleet.md states: between the last check of the permission (on_request in
 * crawl/fetch/fetch.c, after connecting) and the request no more than 0.1 of the lease passes. A
 * request is on its way for any time, but after 0.3 of the lease it is withdrawn, by the kernel.
 * Times are ages that stop growing when they no longer matter: the search has no last moment, and
 * ends because there are no more states.
 *
 *     a worker    picks the host: learns who may have asked it last, and becomes that itself;
 *                 if the answer is lost, it learns only that it has the host
 *                 waits until a replica has that
 *                 begins with it: waits for a whole delay, if another session may have asked it
 *                 checks its permission, sends the request: a delay passes from its arrival
 *                 before the next; a request on its way is gone when the session ends
 *                 acknowledges the last URL, and releases the host: rested if the delay is over
 *                 sends heartbeats: each allows requests for 0.6 of a lease, counted from its
 *                 sending, when a replica has it
 *     observer    declares a session dead that has not moved for a lease, fences it, waits until
 *                 replicas have both, takes its host, with URLs or without
 *
 * An observer that saw each heartbeat at once counts the longest silence: `silent` is that of any
 * observer, at most. Sessions after the first `watched` never die, and always have a permission.
 *
 * A failover returns the bucket, or the keys of the first session, to an earlier state that no WAIT
 * had confirmed since. A session learns it when it writes to the bucket, or confirms something.
 *
 * Each rule can be switched off; the test requires that the search then finds two requests within
 * the delay. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SESSIONS = 3, WATCHED = 2, NONE = 3 };

/* Times in parts of a lease: tenths, or fifths where there are many states. */
typedef struct times {
    uint8_t lease;
    uint8_t permit; /* after a heartbeat that was sent and confirmed: 0.6 */
    uint8_t delay;  /* longer than what is between the permit and the lease */
    uint8_t stall;  /* between the last check and the request: 0.1 */
    uint8_t way;    /* that a request may be on its way: 0.3 */
    uint8_t blind;  /* a pause of the observer counts as no more: 0.5 */
} times;

static const times tenths = {10, .permit = 6, .delay = 6, .stall = 1, .way = 3, .blind = 5};
static const times fifths = {5, .permit = 3, .delay = 3, .stall = 1, .way = 1, .blind = 3};

/* The rules, as bits: a set bit removes the rule. */
enum rule {
    NO_REST = 1,      /* who takes a host does not wait */
    NO_EXPIRY = 2,    /* the permit does not expire */
    LATE_MARK = 4,    /* that a host is asked is not written with the pick, but with the release */
    NO_WAIT_PICK = 8, /* requests before a replica has the pick */
    FROM_ANSWER = 16, /* the permit runs from the answer to a heartbeat, not from its sending */
    EARLY_LOOK = 32,  /* silence counts from before the look that saw the heartbeat */
    FORGET = 64,      /* a queue without URLs is released as if its taker had asked the host */
    NO_WAIT_BEAT = 128,   /* a heartbeat counts before a replica has it */
    NO_WAIT_DEAD = 256,   /* hosts are taken before a replica knows that the session is dead */
    LONG_STALL = 512,     /* a part of a lease more than `stall` */
    NOT_AGAIN = 1024,     /* hosts are taken although a failover has made the session live again */
    NO_MARK = 2048,       /* a release before the delay is over does not say so */
    ANY_OWNER = 4096,     /* a release of a host that another session owns is accepted */
    TRUST_MARK = 8192,    /* after a lost answer to a pick: who is marked has asked the host */
    FROM_SENDING = 16384, /* the delay runs from the sending of a request, not from its arrival */
    NO_WITHDRAW = 32768,  /* a request may be on its way for any time */
    NO_DISCARD = 65536    /* a request on its way arrives although its session has ended */
};

enum group { GROUP_NONE, GROUP_BUCKET, GROUP_SESSION0 };

typedef struct config {
    const char *name;
    unsigned off;
    const times *times;
    uint8_t sessions, watched;
    uint8_t group; /* of keys that fails over once */
    bool faulty;   /* the search must find a fault */
    bool large;    /* not in the short test */
} config;

enum { LIVE, DEAD, OVER };                                 /* of a session, in Redis */
enum { IDLE, PICKED, HELD, BUSY, CHECKED, ENDED };         /* of a session, by itself */
enum { NO_RECOVERY, DECLARED, FENCED, CONFIRMED, REAPED }; /* of a recovery */
enum { LAG = 2 };                                          /* heartbeats that a failover may lose */

typedef struct bucket {
    uint8_t list, ready;  /* there is a URL; the host waits for an owner */
    uint8_t owner, tired; /* tired: who may have asked the host last */
    uint8_t fenced;       /* sessions, as bits */
} bucket;

typedef struct state {
    uint8_t since; /* the truth: time since the last request to the host */
    bucket bucket;
    uint8_t session[SESSIONS];
    struct local {
        uint8_t pc;
        uint8_t tired;  /* of the queue: wait a delay first */
        uint8_t wait;   /* until the host may be asked */
        uint8_t permit; /* since the heartbeat that counts */
        uint8_t stall;  /* since the last check */
        uint8_t way;    /* a request is on its way: 1 + time since it was sent */
        uint8_t beat;   /* a heartbeat waits for its confirmation: 1 + time since it was sent */
    } local[SESSIONS];
    /* The observer, which is any other worker: how long a heartbeat has not changed, at most, and
     * its recovery of one session at a time. */
    uint8_t silent[WATCHED];
    uint8_t recovery, patient;
    /* Failover. */
    uint8_t copied, failed_over; /* the replica's copy exists; it took over */
    uint8_t wrote;               /* sessions that wrote to the bucket since the copy, as bits */
    uint8_t lost;                /* sessions whose writes are lost, as bits */
    uint8_t lag;                 /* heartbeats of session 0 since the copy */
    uint8_t redo;                /* heartbeats that session 0 lost */
    bucket copy;
    uint8_t copy_state, copy_silent;
} state;

enum action {
    TICK,
    PICK,
    PICK_LOST,
    CONFIRM,
    TAKE_EMPTY,
    BEGIN,
    CHECK,
    SEND,
    ARRIVE,
    EMPTIED,
    PUSH,
    RELEASE,
    BEAT,
    BEAT_OK,
    REFUSED,
    LEAVE,
    DECLARE,
    FENCE,
    CONFIRM_DEAD,
    REAP,
    GONE,
    COPY,
    FAILOVER
};
static const char *const action_names[] = {"time passes",
                                           "picks",
                                           "picks, the answer is lost",
                                           "pick confirmed",
                                           "finds no URL",
                                           "begins with the host",
                                           "last check",
                                           "sends a request",
                                           "REQUEST ARRIVES",
                                           "acknowledges the last URL",
                                           "a URL is pushed",
                                           "releases",
                                           "heartbeat",
                                           "heartbeat confirmed",
                                           "is refused",
                                           "leaves",
                                           "is declared dead",
                                           "is fenced",
                                           "its death is confirmed",
                                           "host taken from",
                                           "is gone",
                                           "replica has its copy",
                                           "FAILOVER"};

#include "search.h"

/* ---- Keys ---- */

/* A replica has this group: its older copy can no longer win. */
static void wait_for(const search *x, state *s, enum group group)
{
    if (group == x->config->group && s->copied == 1 && !s->failed_over) {
        s->copied = 2;
        s->wrote = s->lag = 0;
        memset(&s->copy, 0, sizeof s->copy);
        s->copy_state = s->copy_silent = 0;
    }
}

/* Its connections are closed. */
static void end_local(const search *x, struct local *l)
{
    uint8_t way = off(x, NO_DISCARD) ? l->way : 0;
    memset(l, 0, sizeof *l);
    l->pc = ENDED;
    l->way = way;
}

static void end_session(search *x, const state *from, unsigned who)
{
    state s = *from;
    end_local(x, &s.local[who]);
    s.wrote &= (uint8_t) ~(1u << who);
    s.lost &= (uint8_t) ~(1u << who);
    reach(x, &s, REFUSED, who);
}

/* Writes of a session to the bucket are numbered: false, the one before is missing. */
static bool may_write(const state *s, unsigned who)
{
    return !(s->lost >> who & 1);
}

static void written(state *s, unsigned who)
{
    if (s->copied == 1 && !s->failed_over)
        s->wrote |= (uint8_t)(1u << who);
}

/* ---- A worker ---- */

static void step_idle(search *x, const state *from, unsigned who)
{
    state s = *from;
    bucket *b = &s.bucket;
    if (!b->ready)
        return;
    if (b->fenced >> who & 1 || !may_write(from, who)) {
        end_session(x, from, who);
        return;
    }
    s.local[who].tired = b->tired != NONE && b->tired != who;
    b->ready = 0;
    b->owner = (uint8_t)who;
    if (!off(x, LATE_MARK))
        b->tired = (uint8_t)who;
    written(&s, who);
    s.local[who].pc = off(x, NO_WAIT_PICK) ? HELD : PICKED;
    reach(x, &s, PICK, who);
    /* If the answer is lost, nothing is left that tells who had asked the host. */
    s.local[who].tired = !off(x, TRUST_MARK);
    reach(x, &s, PICK_LOST, who);
}

static void step_picked(search *x, const state *from, unsigned who)
{
    state s = *from;
    if (!may_write(from, who)) {
        end_session(x, from, who);
        return;
    }
    wait_for(x, &s, GROUP_BUCKET);
    s.local[who].pc = HELD;
    reach(x, &s, CONFIRM, who);
}

static void release(search *x, const state *from, unsigned who, bool rested)
{
    state s = *from;
    bucket *b = &s.bucket;
    if ((b->owner != who && !off(x, ANY_OWNER)) || !may_write(from, who)) {
        end_session(x, from, who);
        return;
    }
    b->owner = NONE;
    b->ready = b->list;
    if (!rested)
        b->tired = (uint8_t)who;
    else if (b->tired == who)
        b->tired = NONE;
    s.local[who].pc = IDLE;
    s.local[who].tired = 0;
    written(&s, who);
    reach(x, &s, RELEASE, who);
}

static void step_held(search *x, const state *from, unsigned who)
{
    state s = *from;
    struct local *l = &s.local[who];
    if (!from->bucket.list && off(x, FORGET)) {
        release(x, from, who, !l->tired);
        return;
    }
    if (l->tired && !off(x, NO_REST))
        l->wait = x->config->times->delay;
    l->tired = 0;
    l->pc = BUSY;
    reach(x, &s, from->bucket.list ? BEGIN : TAKE_EMPTY, who);
}

static void step_busy(search *x, const state *from, unsigned who)
{
    const struct local *l = &from->local[who];
    if (l->way) /* of its URL, and of the host, nothing is done yet */
        return;
    if (from->bucket.list && l->wait == 0 &&
        (l->permit <= x->config->times->permit || off(x, NO_EXPIRY))) {
        state s = *from;
        s.local[who].pc = CHECKED;
        reach(x, &s, CHECK, who);
    }
    if (from->bucket.list) {
        state s = *from;
        if (from->bucket.owner != who || !may_write(from, who)) {
            end_session(x, from, who);
        } else {
            s.bucket.list = 0;
            written(&s, who);
            reach(x, &s, EMPTIED, who);
        }
    }
    /* Before the delay is over: given to others. */
    release(x, from, who, l->wait == 0 || off(x, NO_MARK));
}

static void step_checked(search *x, const state *from, unsigned who)
{
    state s = *from;
    s.local[who].pc = BUSY;
    s.local[who].wait = x->config->times->delay;
    s.local[who].stall = 0;
    s.local[who].way = 1;
    reach(x, &s, SEND, who);
}

/* The confirmation of TCP comes no earlier. */
static void arrive(search *x, const state *from, unsigned who)
{
    state s = *from;
    struct local *l = &s.local[who];
    if (!l->way)
        return;
    if (from->since < x->config->times->delay)
        fault(x, "two requests to one host within its delay");
    s.since = 0;
    l->way = 0;
    if (l->pc != ENDED && !off(x, FROM_SENDING))
        l->wait = x->config->times->delay;
    reach(x, &s, ARRIVE, who);
}

static void beat(search *x, const state *from, unsigned who)
{
    state s = *from;
    struct local *l = &s.local[who];
    bool waits = who == 0 && x->config->group == GROUP_SESSION0 && !off(x, NO_WAIT_BEAT);
    if (l->beat) {
        /* The answer, or the confirmation. */
        if (waits && s.redo) {
            end_session(x, from, who);
            return;
        }
        l->permit = off(x, FROM_ANSWER) ? 0 : (uint8_t)(l->beat - 1);
        l->beat = 0;
        if (waits)
            wait_for(x, &s, GROUP_SESSION0);
        reach(x, &s, BEAT_OK, who);
        return;
    }
    if (from->session[who] != LIVE || (who == 0 && s.redo)) {
        end_session(x, from, who);
        return;
    }
    s.silent[who] = 0;
    if (who == 0 && x->config->group == GROUP_SESSION0 && s.copied == 1 && !s.failed_over &&
        ++s.lag > LAG)
        return;
    if (waits || off(x, FROM_ANSWER))
        l->beat = 1;
    else
        l->permit = 0;
    reach(x, &s, BEAT, who);
}

/* Its transfers are over, or given up. Its hosts are released, then it declares itself dead. */
static void leave(search *x, const state *from, unsigned who)
{
    state s = *from;
    end_local(x, &s.local[who]);
    if (s.bucket.owner == who && may_write(from, who)) {
        s.bucket.owner = NONE;
        s.bucket.ready = s.bucket.list;
        s.bucket.tired = (uint8_t)who;
        written(&s, who);
    }
    s.session[who] = DEAD;
    s.silent[who] = 0;
    s.recovery = DECLARED;
    s.patient = (uint8_t)who;
    reach(x, &s, LEAVE, who);
}

static void step_session(search *x, const state *s, unsigned who)
{
    static void (*const step[])(search *, const state *, unsigned) = {[IDLE] = step_idle,
                                                                      [PICKED] = step_picked,
                                                                      [HELD] = step_held,
                                                                      [BUSY] = step_busy,
                                                                      [CHECKED] = step_checked};
    const struct local *l = &s->local[who];
    if (l->pc == ENDED)
        return;
    step[l->pc](x, s, who);
    /* One that is not watched never dies: its permit is always a new one. */
    if (who >= x->config->watched)
        return;
    beat(x, s, who);
    if (s->session[who] == LIVE && l->pc != CHECKED && s->recovery == NO_RECOVERY)
        leave(x, s, who);
}

/* ---- The observer ---- */

static void recover(search *x, const state *from)
{
    state s = *from;
    const times *t = x->config->times;
    unsigned w = from->patient, enough = t->lease - (off(x, EARLY_LOOK) ? t->blind : 0u);
    switch (from->recovery) {
    case NO_RECOVERY:
        for (w = 0; w < x->config->watched; w++) {
            s = *from;
            if (s.session[w] != LIVE || s.silent[w] < enough)
                continue;
            s.session[w] = DEAD;
            s.silent[w] = 0;
            s.recovery = DECLARED;
            s.patient = (uint8_t)w;
            reach(x, &s, DECLARE, w);
        }
        return;
    case DECLARED:
        s.bucket.fenced |= (uint8_t)(1u << w);
        s.recovery = FENCED;
        reach(x, &s, FENCE, w);
        return;
    case FENCED:
        if (!off(x, NO_WAIT_DEAD)) {
            wait_for(x, &s, GROUP_BUCKET);
            if (w == 0)
                wait_for(x, &s, GROUP_SESSION0);
        }
        /* Lost by a failover: the observer begins again. */
        if (s.session[w] == LIVE && !off(x, NOT_AGAIN)) {
            s.recovery = NO_RECOVERY;
            s.patient = 0;
        } else {
            s.recovery = CONFIRMED;
        }
        reach(x, &s, CONFIRM_DEAD, w);
        return;
    case CONFIRMED:
        if (s.bucket.owner == w) {
            s.bucket.owner = NONE;
            s.bucket.ready = 1;
        }
        s.recovery = REAPED;
        reach(x, &s, REAP, w);
        return;
    default:
        if (s.session[w] == DEAD)
            s.session[w] = OVER;
        s.recovery = NO_RECOVERY;
        s.patient = 0;
        reach(x, &s, GONE, w);
    }
}

/* ---- Failover ---- */

static void fail_over(search *x, const state *from)
{
    state s = *from;
    if (s.failed_over || s.copied == 2 || x->config->group == GROUP_NONE)
        return;
    if (!s.copied) {
        s.copied = 1;
        if (x->config->group == GROUP_BUCKET)
            s.copy = s.bucket;
        else
            s.copy_state = s.session[0], s.copy_silent = s.silent[0];
        reach(x, &s, COPY, 0);
        return;
    }
    if (x->config->group == GROUP_BUCKET) {
        s.bucket = s.copy;
        s.lost = s.wrote;
    } else {
        s.session[0] = s.copy_state;
        s.silent[0] = s.copy_silent;
        s.redo = s.lag;
    }
    memset(&s.copy, 0, sizeof s.copy);
    s.copy_state = s.copy_silent = s.wrote = s.lag = 0;
    s.failed_over = 1;
    reach(x, &s, FAILOVER, 0);
}

/* ---- Time ---- */

static uint8_t later(uint8_t age, unsigned most)
{
    return (uint8_t)(age < most ? age + 1 : age);
}

static void tick(search *x, const state *from)
{
    state s = *from;
    const times *t = x->config->times;
    unsigned most = t->stall + (off(x, LONG_STALL) ? 1u : 0u);
    for (unsigned w = 0; w < x->config->sessions; w++) {
        struct local *l = &s.local[w];
        /* Withdrawn: it may have arrived until now. */
        bool withdrawn = l->way > t->way && !off(x, NO_WITHDRAW);
        l->way = withdrawn ? 0 : l->way ? later(l->way, t->way + 1u) : 0;
        if (l->pc == ENDED)
            continue;
        if (l->pc == CHECKED && l->stall == most)
            return;
        l->stall = l->pc == CHECKED ? (uint8_t)(l->stall + 1) : 0;
        l->wait = l->wait > 0 ? (uint8_t)(l->wait - 1) : 0;
        if (withdrawn)
            l->wait = t->delay;
        if (w < x->config->watched)
            l->permit = later(l->permit, t->permit + 1u);
        if (l->beat)
            l->beat = later(l->beat, t->permit + 2u);
    }
    s.since = later(s.since, t->delay);
    for (unsigned w = 0; w < x->config->watched; w++)
        if (s.session[w] == LIVE)
            s.silent[w] = later(s.silent[w], t->lease);
    if (s.copied == 1 && !s.failed_over && x->config->group == GROUP_SESSION0 &&
        s.copy_state == LIVE)
        s.copy_silent = later(s.copy_silent, t->lease);
    reach(x, &s, TICK, 0);
}

static void expand(search *x, const state *s)
{
    tick(x, s);
    for (unsigned who = 0; who < x->config->sessions; who++) {
        step_session(x, s, who);
        arrive(x, s, who);
    }
    if (!s->bucket.list) {
        state c = *s;
        c.bucket.list = 1;
        c.bucket.ready = c.bucket.owner == NONE;
        reach(x, &c, PUSH, 0);
    }
    recover(x, s);
    fail_over(x, s);
}

/* ---- Running ---- */

static void begin(search *x)
{
    state s;
    memset(&s, 0, sizeof s);
    s.since = x->config->times->delay;
    s.bucket.list = s.bucket.ready = 1;
    s.bucket.owner = s.bucket.tired = NONE;
    for (unsigned w = x->config->sessions; w < SESSIONS; w++)
        s.local[w].pc = ENDED;
    reach(x, &s, TICK, 0);
}

static void at_end(search *x, const state *s)
{
    (void)x, (void)s;
}

static bool is_failure(enum action action)
{
    return action == COPY || action == FAILOVER;
}

static const config configs[] = {
    {"two", 0, &tenths, 2, 1, GROUP_NONE, false, false},
    {"three", 0, &fifths, 3, 2, GROUP_NONE, false, false},
    {"fail-bucket", 0, &tenths, 2, 1, GROUP_BUCKET, false, false},
    {"fail-three", 0, &fifths, 3, 2, GROUP_BUCKET, false, true},
    {"fail-session", 0, &tenths, 2, 1, GROUP_SESSION0, false, false},
    {"no-rest", NO_REST, &tenths, 2, 1, GROUP_NONE, true, false},
    {"no-expiry", NO_EXPIRY, &tenths, 2, 1, GROUP_NONE, true, false},
    {"late-mark", LATE_MARK, &tenths, 2, 1, GROUP_NONE, true, false},
    {"from-answer", FROM_ANSWER, &tenths, 2, 1, GROUP_NONE, true, false},
    {"long-stall", LONG_STALL, &tenths, 2, 1, GROUP_NONE, true, false},
    {"early-look", EARLY_LOOK, &tenths, 2, 1, GROUP_NONE, true, false},
    {"forget", FORGET, &tenths, 2, 1, GROUP_NONE, true, false},
    {"no-mark", NO_MARK, &tenths, 2, 1, GROUP_NONE, true, false},
    {"trust-mark", TRUST_MARK, &tenths, 2, 1, GROUP_NONE, true, false},
    {"from-sending", FROM_SENDING, &tenths, 2, 1, GROUP_NONE, true, false},
    {"no-withdraw", NO_WITHDRAW, &tenths, 2, 1, GROUP_NONE, true, false},
    {"no-discard", NO_DISCARD, &tenths, 2, 1, GROUP_NONE, true, false},
    {"any-owner", ANY_OWNER, &fifths, 3, 2, GROUP_NONE, true, false},
    {"no-wait-pick", NO_WAIT_PICK, &fifths, 2, 1, GROUP_BUCKET, true, false},
    {"no-wait-beat", NO_WAIT_BEAT, &fifths, 2, 1, GROUP_SESSION0, true, false},
    {"no-wait-dead", NO_WAIT_DEAD, &fifths, 2, 1, GROUP_SESSION0, true, false},
    {"not-again", NOT_AGAIN, &fifths, 2, 1, GROUP_SESSION0, true, false},
};

int main(int argc, char **argv)
{
    return run_wanted(configs, sizeof configs / sizeof configs[0], argc, argv);
}
