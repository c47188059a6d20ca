/* A growing series of fixed filters. */
#include "stream/exact/cascade.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum { CHUNK = 1024, CELLS = 16, SMALLEST = 64 << 10 };
/* The size of the first filter if the number of keys is unknown. */
#define BLIND_BYTES (32ull << 20)
/* Two lines of eight cells suit rates of about 1e-6 with little waste. Down to this rate they need
 * slightly more bits than three lines would, but are a third faster. */
#define TWO_LINES_FROM 1e-9
#define TWO_LINES_TO 1.2e-6

/* If the share of new keys reported as new is below this, the number of keys cannot be
 * estimated. */
#define HOPELESS 1e-6

/* The share of the error rate that filter i gets. The shares of all filters sum to 1. */
static double share(bool estimated, size_t i)
{
    double first = estimated ? 0.95 : 0.5;
    double rest = 1 - first;
    if (i == 0)
        return first;
    for (; i > 0; i--)
        rest /= 2;
    return rest;
}

/* The error rate of filter i. A share below what a filter can reach is rounded up instead of
 * failing in the middle of a run; the rate reported at the end includes it. */
static double part_of(double rate, bool estimated, size_t i)
{
    double part = rate * share(estimated, i);
    return rate < SN_CASCADE_STRICTEST ? part : fmax(part, SN_CASCADE_STRICTEST);
}

static void wish_for(seen_wish *wish, uint64_t capacity, double rate)
{
    *wish = (seen_wish){.size = sizeof *wish, .capacity = capacity, .error_rate = rate};
    if (rate >= TWO_LINES_FROM && rate <= TWO_LINES_TO)
        wish->hashes = CELLS;
}

static uint64_t blind_capacity(double rate)
{
    return (uint64_t)((double)BLIND_BYTES * 8 / (1.1 * seen_classic_bits(1, rate)));
}

static void first_wish(const sn_cascade_options *o, seen_wish *wish)
{
    double rate = part_of(o->error_rate, o->capacity != 0, 0);
    if (!o->memory) {
        wish_for(wish, o->capacity ? o->capacity : blind_capacity(rate), rate);
        return;
    }
    *wish = (seen_wish){.size = sizeof *wish, .capacity = o->capacity, .bits = o->memory * 8};
    if (!o->capacity)
        wish->error_rate = o->error_rate;
}

seen_status sn_cascade_plan(const sn_cascade_options *options, seen_plan *plan, seen_error *error)
{
    seen_wish wish;
    first_wish(options, &wish);
    *plan = (seen_plan){.size = sizeof *plan};
    return seen_plan_make(&wish, plan, error);
}

static seen_status open_filter(sn_cascade *c, const seen_wish *wish, const seen_hasher *hasher,
                               seen_error *error)
{
    if (c->count == SN_CASCADE_MAX)
        return sn_error_set(error, SEEN_ERR_FULL,
                            "there are more different lines than this can hold; use --exact");
    seen_options options = {.size = sizeof options,
                            .when_full = SEEN_FULL_GO_ON,
                            .capacity = wish->capacity,
                            .error_rate = wish->error_rate,
                            .bits = wish->bits,
                            .hashes = wish->hashes};
    if (hasher) {
        options.hash = hasher->kind;
        options.seed_given = true;
        options.seed[0] = hasher->seed[0];
        options.seed[1] = hasher->seed[1];
    }
    seen_info shape = {.size = sizeof shape};
    seen_status status = seen_create(NULL, &options, 0, &c->set[c->count], error);
    if (status != SEEN_OK)
        return status;
    status = seen_get_shape(c->set[c->count], &shape, error);
    c->capacity[c->count] = shape.capacity;
    c->keys[c->count] = 0;
    c->count++;
    return status;
}

seen_status sn_cascade_open(sn_cascade *cascade, const sn_cascade_options *options,
                            seen_error *error)
{
    *cascade =
        (sn_cascade){.rate = options->error_rate, .grows = !options->memory, .most = options->most};
    cascade->first_rate = options->error_rate * share(options->capacity != 0, 0);
    seen_wish wish;
    first_wish(options, &wish);
    seen_status status = open_filter(cascade, &wish, options->hasher, error);
    if (status != SEEN_OK) {
        sn_cascade_close(cascade);
        return status;
    }
    cascade->hasher = seen_hasher_of(cascade->set[0]);
    return SEEN_OK;
}

void sn_cascade_close(sn_cascade *cascade)
{
    for (size_t i = 0; i < cascade->count; i++)
        seen_close(cascade->set[i]);
    *cascade = (sn_cascade){.count = 0};
}

/* Reduces the parameters if they exceed the memory limit; false if the rest is not worth a filter,
 * since every key is looked up in each filter. */
static bool fit(const sn_cascade *c, seen_wish *wish)
{
    seen_plan plan = {.size = sizeof plan};
    uint64_t used = sn_cascade_memory(c), left = c->most > used ? c->most - used : 0;
    if (!c->most || (seen_plan_make(wish, &plan, NULL) == SEEN_OK && plan.bytes <= left))
        return true;
    *wish = (seen_wish){.size = sizeof *wish, .error_rate = wish->error_rate, .bits = left * 8};
    return left >= used / 4 && left >= SMALLEST;
}

/* Opens the next filter, with three times the capacity of all before it, because every new key is
 * looked up in each filter. */
static seen_status grow(sn_cascade *c, seen_error *error)
{
    uint64_t total = 0;
    for (size_t i = 0; i < c->count; i++)
        total += c->capacity[i];
    bool estimated = c->first_rate > 0.9 * c->rate;
    seen_wish wish;
    wish_for(&wish, 3 * total, part_of(c->rate, estimated, c->count));
    c->grows = fit(c, &wish);
    if (!c->grows)
        return SEEN_OK;
    return open_filter(c, &wish, &c->hasher, error);
}

static size_t count_new(const seen_answer *answers, size_t count)
{
    size_t old = 0;
    for (size_t i = 0; i < count; i++)
        old += answers[i];
    return count - old;
}

/* Keys not found in any filter so far, and their positions in the chunk. */
typedef struct rest {
    seen_hash hash[CHUNK];
    uint16_t place[CHUNK];
    seen_answer answer[CHUNK];
    size_t count;
} rest;

static void keep_new(rest *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++) {
        r->hash[kept] = r->hash[i];
        r->place[kept] = r->place[i];
        kept += r->answer[i] == SEEN_NEW;
    }
    r->count = kept;
}

/* Looks up keys in the filters [0, count), largest first. answers[] becomes SEEN_BEFORE for keys
 * that are found; the others remain in *r. */
static seen_status ask(const sn_cascade *c, size_t count, rest *r, seen_answer *answers,
                       seen_error *error)
{
    for (size_t i = count; i-- > 0 && r->count;) {
        seen_status status = seen_check_hashes(c->set[i], r->hash, r->count, r->answer, error);
        if (status != SEEN_OK)
            return status;
        for (size_t k = 0; k < r->count; k++)
            answers[r->place[k]] |= r->answer[k];
        keep_new(r);
    }
    return SEEN_OK;
}

static void begin_chunk(rest *r, const seen_hash *hashes, size_t count, seen_answer *answers)
{
    memcpy(r->hash, hashes, count * sizeof *hashes);
    memset(answers, SEEN_NEW, count);
    for (size_t i = 0; i < count; i++)
        r->place[i] = (uint16_t)i;
    r->count = count;
}

static seen_status add_chunk(sn_cascade *c, const seen_hash *hashes, size_t count,
                             seen_answer *answers, seen_error *error)
{
    rest r;
    begin_chunk(&r, hashes, count, answers);
    size_t last = c->count - 1;
    seen_status status = ask(c, last, &r, answers, error);
    if (status == SEEN_OK)
        status = seen_add_hashes(c->set[last], r.hash, r.count, r.answer, error);
    if (status != SEEN_OK)
        return status;
    for (size_t k = 0; k < r.count; k++)
        answers[r.place[k]] = r.answer[k];
    c->keys[last] += count_new(r.answer, r.count);
    return SEEN_OK;
}

seen_status sn_cascade_add(sn_cascade *cascade, const seen_hash *hashes, size_t count,
                           seen_answer *answers, seen_error *error)
{
    while (count) {
        size_t last = cascade->count - 1;
        uint64_t left = cascade->capacity[last] - cascade->keys[last];
        if (cascade->keys[last] >= cascade->capacity[last])
            left = 0;
        if (!left && cascade->grows) {
            seen_status status = grow(cascade, error);
            if (status != SEEN_OK)
                return status;
            continue;
        }
        size_t n = count;
        if (cascade->grows && n > left)
            n = (size_t)left;
        if (last && n > CHUNK)
            n = CHUNK;
        seen_status status = last ? add_chunk(cascade, hashes, n, answers, error)
                                  : seen_add_hashes(cascade->set[0], hashes, n, answers, error);
        if (status != SEEN_OK)
            return status;
        if (!last)
            cascade->keys[0] += count_new(answers, n);
        hashes += n;
        answers += n;
        count -= n;
    }
    return SEEN_OK;
}

seen_status sn_cascade_check(sn_cascade *cascade, const seen_hash *hashes, size_t count,
                             seen_answer *answers, seen_error *error)
{
    if (cascade->count == 1)
        return seen_check_hashes(cascade->set[0], hashes, count, answers, error);
    rest r;
    while (count) {
        size_t n = count < CHUNK ? count : CHUNK;
        begin_chunk(&r, hashes, n, answers);
        seen_status status = ask(cascade, cascade->count, &r, answers, error);
        if (status != SEEN_OK)
            return status;
        hashes += n;
        answers += n;
        count -= n;
    }
    return SEEN_OK;
}

/* ---- Statistics ----------------------------------------------------------------------------- */

uint64_t sn_cascade_keys(const sn_cascade *cascade)
{
    uint64_t keys = 0;
    for (size_t i = 0; i < cascade->count; i++)
        keys += cascade->keys[i];
    return keys;
}

static seen_info shape_of(const seen_set *set)
{
    seen_info shape = {.size = sizeof shape};
    seen_get_shape(set, &shape, NULL);
    return shape;
}

uint64_t sn_cascade_memory(const sn_cascade *cascade)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < cascade->count; i++)
        bytes += shape_of(cascade->set[i]).bytes;
    return bytes;
}

static seen_plan plan_of(const seen_set *set)
{
    seen_info shape = shape_of(set);
    return (seen_plan){.size = sizeof(seen_plan),
                       .kind = shape.kind,
                       .capacity = shape.capacity,
                       .bits = shape.bits,
                       .bytes = shape.bytes,
                       .hashes = shape.hashes,
                       .spread = shape.spread,
                       .probes = shape.probes,
                       .lines = shape.bits / 512,
                       .shards = shape.shards};
}

/* A false positive sets no further cell, so the cells give the number of distinct keys that were
 * presented, of which the share 1 - rate was reported as new. Iterates over the number of presented
 * keys until `keys` of them were new. */
double sn_cascade_expect_lost(const seen_set *set, double held, double keys)
{
    enum { STEPS = 64 };
    seen_plan plan = plan_of(set);
    double came = 0, fresh = 0, lost = 0;
    while (fresh < keys) {
        double step = fmax(keys, came) / STEPS;
        double rate = seen_plan_rate(&plan, held + came + step / 2);
        if (1 - rate < HOPELESS)
            return INFINITY;
        if (fresh + step * (1 - rate) >= keys)
            return lost + (keys - fresh) / (1 - rate) * rate;
        fresh += step * (1 - rate);
        lost += step * rate;
        came += step;
    }
    return lost;
}

/* The error rate of all filters together, and the expected number of false positives. */
static double judge(const sn_cascade *cascade, double *wrong)
{
    double rate = 0;
    *wrong = 0;
    for (size_t i = 0; i < cascade->count && cascade->keys[i]; i++) {
        double keys = (double)cascade->keys[i];
        double lost = sn_cascade_expect_lost(cascade->set[i], 0, keys);
        if (rate >= 1 || !isfinite(lost)) {
            *wrong = INFINITY;
            return 1;
        }
        /* False positives of the filters before it never reached this one. */
        *wrong += lost + (keys + lost) * rate / (1 - rate);
        seen_plan plan = plan_of(cascade->set[i]);
        rate += (1 - rate) * seen_plan_rate(&plan, keys + lost);
    }
    return rate;
}

double sn_cascade_expect_wrong(const sn_cascade *cascade)
{
    double wrong;
    judge(cascade, &wrong);
    return wrong;
}

double sn_cascade_rate_now(const sn_cascade *cascade)
{
    double wrong;
    return judge(cascade, &wrong);
}
