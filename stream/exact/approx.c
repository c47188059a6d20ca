/* A fixed filter for the expected keys, and a second one for more. */
#include "stream/exact/approx.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 1024, CELLS = 16 };
/* The size of the first filter if the number of keys is unknown. */
#define BLIND_BYTES (32ull << 20)
/* Two lines of eight cells suit rates of about 1e-6. Down to this rate they need slightly more bits
 * than three lines, but are a third faster. */
#define TWO_LINES_FROM 1e-9
#define TWO_LINES_TO 1.2e-6
/* If a smaller share of new keys is recognised as new, the number of keys cannot be computed. */
#define HOPELESS 1e-6
/* The lowest error rate of a growing set. */
#define GROWING_STRICTEST 1e-12

/* The first filter's share of the error rate; the rest is for the second. */
static double first_share(const sn_approx_options *o)
{
    return o->capacity ? 0.95 : 0.5;
}

/* A share below what a filter can reach is rounded up instead of failing in the middle of a run;
 * the rate reported at the end includes it. */
static double part_of(double rate, double share)
{
    double part = rate * share;
    return rate < SN_APPROX_STRICTEST ? part : fmax(part, SN_APPROX_STRICTEST);
}

static uint64_t blind_capacity(double rate)
{
    return (uint64_t)((double)BLIND_BYTES * 8 / (1.1 * seen_classic_bits(1, rate)));
}

static seen_status plan_first(const sn_approx_options *o, seen_parameters *parameters,
                              seen_plan *plan, bool *alone, seen_error *error)
{
    double rate = part_of(o->error_rate, first_share(o));
    *parameters = (seen_parameters){.size = sizeof *parameters,
                                    .capacity = o->capacity ? o->capacity : blind_capacity(rate),
                                    .error_rate = rate};
    if (rate >= TWO_LINES_FROM && rate <= TWO_LINES_TO)
        parameters->hashes = CELLS;
    *plan = (seen_plan){.size = sizeof *plan};
    seen_status status = seen_plan_make(parameters, plan, error);
    *alone = status == SEEN_OK && o->most && plan->bytes > o->most / 2;
    if (!*alone)
        return status;
    *parameters =
        (seen_parameters){.size = sizeof *parameters, .capacity = o->capacity, .bits = o->most * 8};
    if (!o->capacity)
        parameters->error_rate = o->error_rate;
    return seen_plan_make(parameters, plan, error);
}

seen_status sn_approx_plan(const sn_approx_options *options, seen_plan *plan, bool *alone,
                           seen_error *error)
{
    seen_parameters parameters;
    return plan_first(options, &parameters, plan, alone, error);
}

static seen_status make_filter(seen_options options, const seen_hasher *hasher, seen_set **set,
                               seen_error *error)
{
    options.size = sizeof options;
    options.when_full = SEEN_FULL_GO_ON;
    if (hasher) {
        options.hash = hasher->kind;
        options.seed_given = true;
        options.seed[0] = hasher->seed[0];
        options.seed[1] = hasher->seed[1];
    }
    return seen_create(NULL, &options, 0, set, error);
}

seen_status sn_approx_open(sn_approx *approx, const sn_approx_options *options, seen_error *error)
{
    seen_parameters parameters;
    seen_plan plan;
    *approx = (sn_approx){.options = *options};
    seen_status status = plan_first(options, &parameters, &plan, &approx->alone, error);
    if (status == SEEN_OK)
        status = make_filter((seen_options){.capacity = parameters.capacity,
                                            .error_rate = parameters.error_rate,
                                            .bits = parameters.bits,
                                            .hashes = parameters.hashes},
                             options->hasher, &approx->first, error);
    if (status != SEEN_OK)
        return status;
    approx->capacity = plan.capacity;
    approx->hasher = seen_hasher_of(approx->first);
    return SEEN_OK;
}

void sn_approx_close(sn_approx *approx)
{
    seen_close(approx->first);
    seen_close(approx->more);
    *approx = (sn_approx){.first = NULL};
}

/* The first filter is full. */
static seen_status open_more(sn_approx *a, seen_error *error)
{
    double rate = part_of(a->options.error_rate, 1 - first_share(&a->options));
    seen_options options = {.growth = SEEN_GROWING,
                            .error_rate = fmax(rate, GROWING_STRICTEST),
                            .capacity = a->capacity};
    if (a->options.most)
        options =
            (seen_options){.error_rate = rate, .bits = (a->options.most - sn_approx_memory(a)) * 8};
    return make_filter(options, &a->hasher, &a->more, error);
}

static size_t count_new(const seen_answer *answers, size_t count)
{
    size_t fresh = 0;
    for (size_t i = 0; i < count; i++)
        fresh += answers[i] == SEEN_NEW;
    return fresh;
}

static seen_status add_to_first(sn_approx *a, const seen_hash *hashes, size_t count,
                                seen_answer *answers, seen_error *error)
{
    seen_status status = seen_add_hashes(a->first, hashes, count, answers, error);
    if (status == SEEN_OK)
        a->first_keys += count_new(answers, count);
    return status;
}

/* Adds the keys that are not in the first filter to the second. */
static seen_status add_to_more(sn_approx *a, const seen_hash *hashes, size_t count,
                               seen_answer *answers, seen_error *error)
{
    seen_hash rest[CHUNK];
    uint16_t place[CHUNK];
    seen_answer answer[CHUNK];
    size_t n = 0;
    seen_status status = seen_check_hashes(a->first, hashes, count, answers, error);
    if (status != SEEN_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        rest[n] = hashes[i];
        place[n] = (uint16_t)i;
        n += answers[i] == SEEN_NEW;
    }
    status = seen_add_hashes(a->more, rest, n, answer, error);
    if (status != SEEN_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        answers[place[i]] = answer[i];
    a->more_keys += count_new(answer, n);
    return SEEN_OK;
}

seen_status sn_approx_add(sn_approx *approx, const seen_hash *hashes, size_t count,
                          seen_answer *answers, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (size_t n; count && status == SEEN_OK; hashes += n, answers += n, count -= n) {
        n = count;
        if (approx->alone) {
            status = add_to_first(approx, hashes, n, answers, error);
            continue;
        }
        uint64_t left =
            approx->capacity > approx->first_keys ? approx->capacity - approx->first_keys : 0;
        if (left) {
            n = n < left ? n : (size_t)left;
            status = add_to_first(approx, hashes, n, answers, error);
            continue;
        }
        n = n < CHUNK ? n : CHUNK;
        if (!approx->more)
            status = open_more(approx, error);
        if (status == SEEN_OK)
            status = add_to_more(approx, hashes, n, answers, error);
    }
    return status;
}

/* ---- statistics ---- */

uint64_t sn_approx_keys(const sn_approx *approx)
{
    return approx->first_keys + approx->more_keys;
}

static seen_info shape_of(const seen_set *set)
{
    seen_info shape = {.size = sizeof shape};
    if (set)
        seen_get_shape(set, &shape, NULL);
    return shape;
}

uint64_t sn_approx_memory(const sn_approx *approx)
{
    return shape_of(approx->first).bytes + shape_of(approx->more).bytes;
}

static double rate_with(const seen_set *set, double keys)
{
    seen_info shape = shape_of(set);
    seen_plan plan = {.size = sizeof plan,
                      .kind = shape.kind,
                      .capacity = shape.capacity,
                      .bits = shape.bits,
                      .bytes = shape.bytes,
                      .hashes = shape.hashes,
                      .spread = shape.spread,
                      .probes = shape.probes,
                      .lines = shape.bits / 512,
                      .shards = shape.shards};
    return seen_plan_rate(&plan, keys);
}

/* A false positive sets no further cell, so the cells give the number of distinct keys that were
 * presented, of which the share 1 - rate was reported as new. Iterates over the number of presented
 * keys until `keys` of them were new. */
double sn_approx_expect_lost(const seen_set *set, double held, double keys)
{
    enum { STEPS = 64 };
    double came = 0, fresh = 0, lost = 0;
    while (fresh < keys) {
        double step = fmax(keys, came) / STEPS;
        double rate = rate_with(set, held + came + step / 2);
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

/* One filter: the keys it lost, and its error rate. A growing set stays within its rate. */
static double check_filter(const seen_set *set, double keys, double *rate)
{
    seen_info shape = shape_of(set);
    *rate = 0;
    if (!set || !(keys > 0))
        return 0;
    if (shape.growth == SEEN_GROWING) {
        *rate = shape.error_rate;
        return keys * *rate / (1 - *rate);
    }
    double lost = sn_approx_expect_lost(set, 0, keys);
    *rate = isfinite(lost) ? rate_with(set, keys + lost) : 1;
    return lost;
}

double sn_approx_error(const sn_approx *approx, double *wrong)
{
    double first_rate, more_rate, more_keys = (double)approx->more_keys;
    *wrong = check_filter(approx->first, (double)approx->first_keys, &first_rate);
    double more = check_filter(approx->more, more_keys, &more_rate);
    if (first_rate >= 1 || more_rate >= 1) {
        *wrong = INFINITY;
        return 1;
    }
    /* False positives of the first filter never reached the second. */
    *wrong += more + (more_keys + more) * first_rate / (1 - first_rate);
    return first_rate + (1 - first_rate) * more_rate;
}
