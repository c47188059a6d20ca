/* Computes a geometry from the requested parameters, and the error rate of a geometry.
 *
 * A key touches g lines, q cells in each. The number of keys that touch one line has a Poisson
 * distribution with mean L = g n / lines. With B cells in a line, a cell is set by one key with
 * probability q / B, so that
 *
 *     cover(L, q) = sum over i of Poisson(i; L) (1 - (1 - q/B)^i)^q    (nearly; see cover())
 *     rate        = cover(L, q)^g
 *
 * For a rate p and given g and q, the equation cover(L, q) = p^(1/g) determines L and with it the
 * memory, independent of n: bits per key = g B / L. A larger g is closer to the classic filter and
 * costs more cache misses; the planner uses the smallest g within a tenth of its memory.
 *
 * Shards do not hold equal numbers of keys. The number in one shard is Poisson, too, and the rate
 * is convex in it: three points of Gauss-Hermite quadrature account for that. */
#include "filter/plan.h"

#include "base/error.h"

#include <math.h>
#include <pthread.h>

static const double LN2 = 0.69314718055994530942;

/* Allowed memory relative to the classic filter; the rest of the tenth is for rounding. */
#define OVERHEAD_MAX 1.095

/* Below this many lines a filter is small, and rounding to whole lines matters. */
enum { SMALL = 1024 };

/* 4 PiB: anything larger is an input error. */
#define LINES_MAX ldexp(1, 52 - 6)

static double power(double x, unsigned n)
{
    double r = 1;
    for (; n; n >>= 1, x *= x)
        if (n & 1)
            r *= x;
    return r;
}

/* The same probability if the words of a line were filled independently: the sum over i in the
 * textbook formula. It has no cancellation, and is used if the filter is almost empty, or if the
 * words are independent. */
static double cover_sparse(double mean, unsigned probes, unsigned cells)
{
    double keep = 1.0 - (double)probes / cells;
    double mode = floor(mean);
    int sign; /* lgamma itself stores the sign in a global variable */
    double top = exp(-mean + mode * log(mean) - lgamma_r(mode + 1, &sign));
    double sum = 0, weight = top, unset = pow(keep, mode);
    for (double i = mode; weight > 1e-30 * top && weight > 1e-300; i++) {
        sum += weight * power(1 - unset, probes);
        weight *= mean / (i + 1);
        unset *= keep;
    }
    weight = top;
    unset = pow(keep, mode);
    for (double i = mode; i > 0 && weight > 1e-30 * top && weight > 1e-300; i--) {
        weight *= i / mean;
        unset /= keep;
        sum += weight * power(1 - unset, probes);
    }
    return sum;
}

/* The probability that the q cells of an absent key, one in each of q adjacent words, are all set
 * in a line that was touched by a Poisson number of keys with this mean. A key that hits a word is
 * likely to hit its neighbours too, so the words are not independent. By inclusion and exclusion
 * over the set S of the key's cells that are not set, with W the words of a random key and C the
 * cells of a word: cover = sum over S of (-1)^|S| exp(-mean (1 - E[(1 - 1/C)^|S and W|]))
 *
 * The contribution of a set S depends only on how many of the eight W share how many words with it,
 * and few of those counts are distinct: they are computed once for each q, together with the factor
 * after the mean for each kind. */
enum { KINDS = SEEN_COUNTING + 1 };

typedef struct cover_term {
    uint64_t meets;    /* eight bits for each number of words from 0 to 7: how many W share that
                        * many words with S */
    double hit[KINDS]; /* the probability that a key sets one of the cells of S */
    double weight;     /* the number of sets with an even number of cells minus those with an odd
                        * number */
} cover_term;

static cover_term cover_terms[SN_LINE_WORDS + 1][1 << SN_LINE_WORDS];
static unsigned cover_count[SN_LINE_WORDS + 1];

static double cover_hit(uint64_t meets, seen_kind kind)
{
    sn_geometry g = {.kind = kind};
    double miss = 1.0 - (double)SN_LINE_WORDS / sn_geometry_cells(&g), kept = 1, keep = 0;
    unsigned left = SN_LINE_WORDS;
    for (unsigned words = 0; words < SN_LINE_WORDS; words++, kept *= miss) {
        unsigned n = meets >> 8 * words & 255;
        keep += n * kept;
        left -= n;
    }
    return 1 - (keep + left * kept) / SN_LINE_WORDS;
}

static void add_cover_term(unsigned probes, uint64_t meets, int weight)
{
    cover_term *terms = cover_terms[probes];
    unsigned i = 0;
    while (i < cover_count[probes] && terms[i].meets != meets)
        i++;
    terms[i].meets = meets;
    terms[i].weight += weight;
    for (unsigned kind = 0; kind < KINDS; kind++)
        terms[i].hit[kind] = cover_hit(meets, (seen_kind)kind);
    cover_count[probes] += i == cover_count[probes];
}

static void make_cover_terms(void)
{
    for (unsigned probes = 1; probes <= SN_LINE_WORDS; probes++) {
        unsigned all = (1u << probes) - 1;
        for (unsigned set = 0; set <= all; set++) {
            uint64_t meets = 0;
            for (unsigned first = 0; first < SN_LINE_WORDS; first++) {
                unsigned words = all << first;
                unsigned common = (unsigned)__builtin_popcount(set & (words | words >> 8) & 255);
                meets +=
                    common < 8 ? UINT64_C(1) << 8 * common : 0; /* the remaining ones share 8 */
            }
            add_cover_term(probes, meets, __builtin_popcount(set) % 2 ? -1 : 1);
        }
    }
}

static double cover(double mean, const sn_geometry *g)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!(mean > 0))
        return 0;
    pthread_once(&once, make_cover_terms);
    double sum = 0;
    for (unsigned t = 0; t < cover_count[g->probes]; t++) {
        const cover_term *term = &cover_terms[g->probes][t];
        sum += term->weight * exp(-mean * term->hit[g->kind]);
    }
    /* A small sum is a difference of large terms; keys that touch all words fill each
     * independently. */
    if (sum < (g->probes == SN_LINE_WORDS ? 1e-4 : 1e-9))
        sum = cover_sparse(mean, g->probes, sn_geometry_cells(g));
    return sum < 1 ? sum : 1;
}

static double rate_at_mean(const sn_geometry *g, double mean)
{
    return power(cover(mean, g), g->spread);
}

/* The factor by which the error rate of a classic filter with few lines exceeds that of one with
 * many.
 *
 * The share of set cells varies, and the rate, its k-th power, is convex in it: because of the
 * variance of that share the mean rate grows by a factor of about exp(k^2 / 7 cells) in a filter
 * that is half full. The cells of one key are not quite independent either: they coincide less
 * often than random ones, and an absent key that shares some cells with a key tends to share more.
 * The combined factor, fitted to measured false positives with 4 to 40 cells per key in filters of
 * 128 to 32,768 cells, from an eighth to four fifths full, is exp(k^2 unset / set max(0.6 / cells,
 * 0.06 / cells^0.6)), within 5% of the measurements (up to a quarter more in a single line of
 * counters). From FEW lines on it is below one percent for the usual k. Below the measured range
 * the share of set cells is assumed to be larger, so that more keys or fewer lines never lower the
 * rate. */
static double few_lines(const sn_geometry *g, double set)
{
    enum { FEW = 256 };
    uint64_t lines = sn_geometry_lines(g);
    if (g->probes > 1 || lines >= FEW)
        return 1;
    double cells = (double)lines * sn_geometry_cells(g), k = g->spread;
    double weight = k * k * fmax(0.6 / cells, 0.06 / pow(cells, 0.6));
    set = fmax(set, fmax(weight / k, 0.1));
    return exp(weight * fmax(1 / set - 1, 0));
}

double sn_plan_rate(const sn_geometry *g, double keys)
{
    if (!(keys > 0))
        return 0;
    double mean = (double)g->spread * keys / (double)sn_geometry_lines(g);
    if (g->shards == 1)
        return fmin(1, rate_at_mean(g, mean) * few_lines(g, cover(mean, g)));
    double away = sqrt(3.0 * (double)g->shards / keys);
    double low = away < 1 ? rate_at_mean(g, mean * (1 - away)) : 0;
    return low / 6 + rate_at_mean(g, mean) * 2 / 3 + rate_at_mean(g, mean * (1 + away)) / 6;
}

/* Whether a key is a false positive is a Bernoulli trial with the current rate: integrates the rate
 * and rate (1 - rate) by Simpson's rule. (The trials are not independent: many false positives
 * leave the filter emptier and make the next ones rarer, so the variance is slightly smaller.) */
double sn_plan_new_keys(const sn_geometry *g, double keys, double *variance)
{
    enum { STEPS = 32 };
    double mistaken = 0, spread = 0;
    for (int i = 0; i <= STEPS; i++) {
        double rate = sn_plan_rate(g, keys * i / STEPS);
        double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        mistaken += weight * rate;
        spread += weight * rate * (1 - rate);
    }
    *variance = spread * keys / (3 * STEPS);
    return keys - mistaken * keys / (3 * STEPS);
}

double seen_plan_rate(const seen_plan *plan, double keys)
{
    sn_geometry g = sn_plan_to_geometry(plan);
    return sn_plan_rate(&g, keys);
}

double sn_plan_keys(const sn_geometry *g, double fill)
{
    double cells = (double)sn_geometry_lines(g) * sn_geometry_cells(g);
    double touched = (double)g->spread * g->probes;
    if (fill >= 1)
        fill = 1 - 0.5 / cells;
    return -log1p(-fill) * cells / touched;
}

/* ---- classic formulas ---- */

double seen_classic_bits(double capacity, double error_rate)
{
    return -capacity * log(error_rate) / (LN2 * LN2);
}

double seen_classic_hashes(double bits, double capacity)
{
    return bits / capacity * LN2;
}

double seen_classic_rate(double capacity, double bits, double hashes)
{
    return pow(-expm1(-hashes * capacity / bits), hashes);
}

/* ---- shards ---- */

enum {
    SHARDED_FROM = 4096, /* lines (256 KiB): smaller filters have one shard */
    SHARD_LINES_MAX =
        4095, /* just under 256 KiB: a server zeroes it in a fraction of a millisecond */
    SHARD_LINES_MIN = 1024, /* 64 KiB, if there is a choice */
    SHARD_MULTIPLE = 8,     /* shards come in multiples of eight: threads lock groups of them */
    CUTS = 64,              /* number of candidates that are tried */
};

/* The share of memory wasted by a shard of this many lines as a Redis string: the allocator rounds
 * up to one of four sizes per power of two, and the string has a header. */
static double allocator_waste(uint64_t lines)
{
    uint64_t need = lines * SN_LINE_BYTES + 32, step = 4096;
    while (step * 8 < need)
        step *= 2;
    uint64_t given = (need + step - 1) / step * step;
    return (double)given / (double)(lines * SN_LINE_BYTES) - 1;
}

static uint64_t round_up(uint64_t x, uint64_t to)
{
    return (x + to - 1) / to * to;
}

/* Divides `lines` into shards; each has a multiple of `parts` lines. Rounds up, or down with `down`
 * (but never below one line per part). */
static void cut_shards(uint64_t lines, uint64_t parts, bool down, sn_geometry *g)
{
    uint64_t shards = 1;
    if (lines >= SHARDED_FROM) {
        uint64_t first = round_up((lines + SHARD_LINES_MAX - 1) / SHARD_LINES_MAX, SHARD_MULTIPLE);
        double best = INFINITY;
        shards = first;
        /* On a tie, fewer and larger shards are preferred. */
        for (uint64_t s = first, n = 0; n < CUTS && (s == first || lines / s >= SHARD_LINES_MIN);
             s += SHARD_MULTIPLE, n++) {
            double waste = allocator_waste(round_up((lines + s - 1) / s, parts));
            if (waste < best - 0.005) {
                best = waste;
                shards = s;
            }
        }
    }
    uint64_t each =
        down ? lines / shards / parts * parts : round_up((lines + shards - 1) / shards, parts);
    g->shards = shards;
    g->shard_lines = each ? each : parts;
}

/* Divides exactly these lines in one of several ways, if no line is lost: line counts returned by
 * the planner are the result of such a division. */
static bool cut_whole(uint64_t lines, uint64_t parts, unsigned way, sn_geometry *g)
{
    uint64_t first = round_up((lines + SHARD_LINES_MAX - 1) / SHARD_LINES_MAX, SHARD_MULTIPLE);
    g->shards = first + (uint64_t)way * SHARD_MULTIPLE;
    g->shard_lines = lines / g->shards;
    return lines >= SHARDED_FROM && lines % (g->shards * parts) == 0;
}

static uint64_t parts_of(const sn_geometry *g)
{
    return g->probes == 1 ? 1 : g->spread;
}

/* ---- geometry from capacity and rate ---- */

/* The mean at which g lines of q cells reach the rate. */
static double solve_mean(const sn_geometry *g, double rate)
{
    double low = 0, high = 1;
    while (rate_at_mean(g, high) < rate && high < 1e6)
        high *= 2;
    for (int i = 0; i < 45; i++) {
        double mid = (low + high) / 2;
        if (rate_at_mean(g, mid) < rate)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Bits per key of (g, q) at this rate; a cell of a counting filter counts as one bit. */
static double cells_per_key(const sn_geometry *g, double rate)
{
    return (double)g->spread * sn_geometry_cells(g) / solve_mean(g, rate);
}

/* Picks spread and probes. k = 0: any product; otherwise spread * probes = k. */
static bool choose_spread(seen_kind kind, double rate, unsigned k, sn_geometry *best)
{
    double classic = seen_classic_bits(1, rate);
    if (k)
        classic = -(double)k / log1p(-pow(rate, 1.0 / k));
    for (unsigned spread = 1; spread <= SN_SPREAD_MAX; spread++) {
        double least = INFINITY;
        for (unsigned probes = 1; probes <= SN_LINE_WORDS; probes++) {
            sn_geometry g = {.kind = kind, .spread = spread, .probes = probes};
            if (k && spread * probes != k)
                continue;
            double need = cells_per_key(&g, rate);
            if (need < least) {
                least = need;
                *best = g;
            }
        }
        if (least <= classic * OVERHEAD_MAX)
            return true;
    }
    return false;
}

/* Computes the size of (spread, probes) for this many keys: the fewest lines whose predicted rate
 * is within the error rate, or more than LINES_MAX. */
static void size_lines(sn_geometry *g, double keys, double rate)
{
    double lines = ceil((double)g->spread * keys / solve_mean(g, rate));
    uint64_t parts = parts_of(g);
    for (;;) {
        cut_shards((uint64_t)lines, parts, false, g);
        if (sn_plan_rate(g, keys) <= rate * (1 + 1e-9) || lines > LINES_MAX)
            return;
        lines += fmax(1, floor(lines * 0.0005));
    }
}

/* In a small filter rounding to whole lines matters: every (spread, probes) is tried, and the first
 * one within the tenth is used, or else the smallest filter. A candidate that would need more lines
 * than the best so far is skipped: some would overflow. */
static void size_small(sn_geometry *best, double keys, double rate)
{
    double allowed = 1.10 * seen_classic_bits(keys, rate) / sn_geometry_cells(best);
    for (unsigned spread = 1; spread <= SN_SPREAD_MAX; spread++) {
        for (unsigned probes = 1; probes <= SN_LINE_WORDS; probes++) {
            sn_geometry g = {.kind = best->kind, .spread = spread, .probes = probes};
            uint64_t parts = parts_of(&g);
            uint64_t fewer = (sn_geometry_lines(best) - 1) / parts * parts;
            if (fewer == 0)
                continue;
            cut_shards(fewer, parts, true, &g);
            if (sn_plan_rate(&g, keys) > rate)
                continue;
            size_lines(&g, keys, rate);
            if (sn_geometry_lines(&g) < sn_geometry_lines(best))
                *best = g;
        }
        if ((double)sn_geometry_lines(best) <= allowed)
            return;
    }
}

/* The first (spread, probes) that stays within `most` times the classic memory. */
static bool choose_fewest(seen_kind kind, double rate, double most, sn_geometry *g)
{
    double allowed = most * seen_classic_bits(1, rate);
    for (unsigned spread = 1; spread <= SN_SPREAD_MAX; spread++)
        for (unsigned probes = 1; probes <= SN_LINE_WORDS; probes++) {
            *g = (sn_geometry){.kind = kind, .spread = spread, .probes = probes};
            if (cells_per_key(g, rate) <= allowed)
                return true;
        }
    return false;
}

/* Computes the size for the chosen spread and probes. */
static bool size_chosen(sn_geometry *g, double keys, double rate, unsigned k)
{
    /* Few hashes with a low error rate may need more than LINES_MAX. */
    if (!((double)g->spread * keys / solve_mean(g, rate) < LINES_MAX / 2))
        return false;
    size_lines(g, keys, rate);
    if (!k && sn_geometry_lines(g) < SMALL &&
        (double)sn_geometry_lines(g) * sn_geometry_cells(g) > 1.10 * seen_classic_bits(keys, rate))
        size_small(g, keys, rate);
    return sn_geometry_valid(g);
}

static bool size_filter(seen_kind kind, double keys, double rate, unsigned k, sn_geometry *g)
{
    return rate >= SN_PLAN_RATE_MIN && choose_spread(kind, rate, k, g) &&
           size_chosen(g, keys, rate, k);
}

bool sn_plan_geometry(seen_kind kind, double keys, double rate, sn_geometry *g)
{
    return size_filter(kind, keys, rate, 0, g);
}

bool sn_plan_geometry_fast(seen_kind kind, double keys, double rate, double most, sn_geometry *g)
{
    return rate >= SN_PLAN_RATE_MIN && choose_fewest(kind, rate, most, g) &&
           size_chosen(g, keys, rate, 0);
}

bool sn_geometry_valid(const sn_geometry *g)
{
    if (g->kind != SEEN_BLOOM && g->kind != SEEN_COUNTING)
        return false;
    if (g->spread < 1 || g->spread > SN_SPREAD_MAX || g->probes < 1 || g->probes > SN_LINE_WORDS)
        return false;
    if (g->shards < 1 || g->shards > UINT32_MAX || g->shard_lines < 1 ||
        g->shard_lines > UINT32_MAX)
        return false;
    return g->shard_lines % parts_of(g) == 0 && sn_geometry_lines(g) <= (uint64_t)LINES_MAX;
}

/* ---- requested parameters ---- */

static unsigned cell_bits(seen_kind kind)
{
    return kind == SEEN_COUNTING ? 4 : 1;
}

/* The largest n that stays within the error rate. */
static double solve_capacity(const sn_geometry *g, double rate)
{
    double low = 0, high = 1;
    while (high < 1e13 && sn_plan_rate(g, high) <= rate)
        high *= 2;
    for (int i = 0; i < 64 && high - low > 0.5; i++) {
        double mid = (low + high) / 2;
        if (sn_plan_rate(g, mid) <= rate)
            low = mid;
        else
            high = mid;
    }
    return floor(low);
}

static uint64_t lines_of(uint64_t bits)
{
    return bits / 512 ? bits / 512 : 1;
}

/* The best probes for this spread, if better than the current result; divided into shards as usual,
 * or in one of the ways that lose no line. With more parts than lines only a classic filter
 * fits. */
enum { USUAL = -1 };

static void try_spread(sn_geometry *out, double *best, seen_kind kind, unsigned spread,
                       uint64_t lines, int cut, double keys)
{
    for (unsigned probes = 1; probes <= SN_LINE_WORDS; probes++) {
        sn_geometry g = {.kind = kind, .spread = spread, .probes = probes};
        if (lines < parts_of(&g))
            continue;
        if (cut == USUAL)
            cut_shards(lines, parts_of(&g), true, &g);
        else if (!cut_whole(lines, parts_of(&g), (unsigned)cut, &g))
            continue;
        double rate = sn_plan_rate(&g, keys);
        if (rate < *best) {
            *best = rate;
            *out = g;
        }
    }
}

/* The best (g, q) for a given memory and capacity: the smallest spread that loses at most a tenth
 * of the memory compared to a classic filter with the same rate, or whose rate is good enough:
 * plenty of memory does not justify more cache misses. */
static void fit_memory(sn_geometry *out, seen_kind kind, uint64_t bits, double keys)
{
    uint64_t lines = lines_of(bits);
    double cells = (double)bits / cell_bits(kind), best = INFINITY;
    for (unsigned spread = 1; spread <= SN_SPREAD_MAX && spread <= lines; spread++) {
        double before = best;
        try_spread(out, &best, kind, spread, lines, USUAL, keys);
        /* In a filter that is much too small more lines only increase the rate. */
        if (best >= before || best <= SN_PLAN_RATE_MIN ||
            cells <= seen_classic_bits(keys, best) * OVERHEAD_MAX)
            return;
    }
}

/* The same if a rate is given too: the smallest spread that reaches it, or else the best one.
 * Memory sizes returned by the planner are divided as they were then, and lose no line. */
static void fit_rate(sn_geometry *out, seen_kind kind, uint64_t bits, double keys, double rate)
{
    uint64_t lines = lines_of(bits);
    double best = INFINITY;
    for (int cut = USUAL; cut < CUTS; cut++)
        for (unsigned spread = 1; spread <= SN_SPREAD_MAX && best > rate; spread++)
            try_spread(out, &best, kind, spread, lines, cut, keys);
}

/* In a small filter rounding to whole lines matters: every (spread, probes) is tried, and the first
 * spread that holds as many keys as the tenth requires is used, or else the one that holds the
 * most. */
static void fit_small(sn_geometry *best, uint64_t lines, double rate)
{
    double cells = (double)(lines * sn_geometry_cells(best)), keys = solve_capacity(best, rate);
    for (unsigned spread = 1; spread <= SN_SPREAD_MAX; spread++) {
        if (cells <= 1.10 * seen_classic_bits(keys, rate))
            return;
        for (unsigned probes = 1; probes <= SN_LINE_WORDS; probes++) {
            sn_geometry g = {.kind = best->kind, .spread = spread, .probes = probes};
            if (lines < parts_of(&g))
                continue;
            cut_shards(lines, parts_of(&g), true, &g);
            if (sn_plan_rate(&g, keys + 1) > rate)
                continue;
            keys = solve_capacity(&g, rate);
            *best = g;
        }
    }
}

/* Memory and a rate are given: computes the capacity and the geometry. */
static bool fit_capacity(sn_geometry *out, seen_kind kind, uint64_t bits, double rate)
{
    uint64_t lines = lines_of(bits);
    if (!choose_spread(kind, rate, 0, out))
        return false;
    /* Fewer lines than parts: a classic filter fits into any number of lines. */
    if (lines < parts_of(out))
        *out = (sn_geometry){.kind = kind, .spread = (uint32_t)ceil(-log2(rate)), .probes = 1};
    cut_shards(lines, parts_of(out), true, out);
    if (lines < SMALL)
        fit_small(out, lines, rate);
    return true;
}

static seen_status refuse(seen_error *error, const char *why)
{
    return sn_error_set(error, SEEN_ERR_ARGUMENT, "%s", why);
}

static seen_status check_parameters(const seen_parameters *w, seen_error *error)
{
    int given = (w->capacity != 0) + (w->error_rate != 0) + (w->bits != 0) + (w->hashes != 0);
    if (w->kind != SEEN_BLOOM && w->kind != SEEN_COUNTING)
        return refuse(error, "the kind is neither bloom nor counting");
    if (w->error_rate != 0 && !(w->error_rate > 0 && w->error_rate < 1))
        return refuse(error, "the error rate must be between 0 and 1, such as 0.01 or 1%");
    if (w->error_rate != 0 && w->error_rate < SN_PLAN_RATE_MIN)
        return refuse(
            error,
            "error rates below 1e-18 are not possible with a 128-bit hash; use 1e-18 or more");
    if (w->capacity > SN_PLAN_KEYS_MAX)
        return refuse(error, "the capacity is above 10^12 keys; use several filters");
    if (w->bits > UINT64_C(1) << 52)
        return refuse(error, "the memory is above 512 TiB; use several filters");
    if (w->hashes > SN_SPREAD_MAX)
        return refuse(error, "more than 64 hashes per key have no benefit; use 64 or fewer");
    if (given < 2)
        return refuse(error, "two parameters are needed, such as capacity and error rate, or "
                             "memory and capacity");
    if (!w->capacity && !w->bits)
        return refuse(error, "error rate and hashes determine the bits per key, not the size; "
                             "also give a capacity or a memory size");
    return SEEN_OK;
}

/* Capacity and a rate or hashes are given, but no memory. The number of hashes is taken as optimal
 * for a filter that is half full; the last few only apply to rates below the minimum. */
static bool plan_by_capacity(const seen_parameters *w, sn_geometry *g)
{
    double rate = w->error_rate != 0 ? w->error_rate : fmax(pow(0.5, w->hashes), SN_PLAN_RATE_MIN);
    return size_filter(w->kind, (double)w->capacity, rate, w->hashes, g);
}

static bool plan_by_memory(const seen_parameters *w, sn_geometry *g)
{
    if (w->hashes) {
        *g = (sn_geometry){.kind = w->kind, .spread = w->hashes, .probes = 1};
        cut_shards(lines_of(w->bits), 1, true, g);
        return true;
    }
    if (w->capacity && w->error_rate != 0) {
        fit_rate(g, w->kind, w->bits, (double)w->capacity, w->error_rate);
        return true;
    }
    if (w->capacity) {
        fit_memory(g, w->kind, w->bits, (double)w->capacity);
        return true;
    }
    return fit_capacity(g, w->kind, w->bits, w->error_rate);
}

static seen_status refuse_numbers(const seen_parameters *w, const sn_geometry *g, seen_error *error)
{
    double rate = sn_plan_rate(g, (double)w->capacity);
    int digits = 3; /* as many as needed to distinguish the two rates */
    while (digits < 17 && rate / w->error_rate - 1 < pow(10, 1 - digits))
        digits++;
    return sn_error_set(error, SEEN_ERR_ARGUMENT,
                        "these parameters contradict each other: %llu keys in %llu bits%s have an "
                        "error rate of %.*g, not %.*g; omit one of them, or give more memory",
                        (unsigned long long)w->capacity, (unsigned long long)w->bits,
                        w->hashes ? " with these hashes" : "", digits, rate, digits, w->error_rate);
}

static void fill_plan(seen_plan *plan, const seen_parameters *w, const sn_geometry *g, double keys)
{
    double rate = sn_plan_rate(g, keys);
    uint64_t lines = sn_geometry_lines(g), bits = lines * 512;
    /* Never 0, which means "not given": the lowest rate that can be stored is 2^-64. */
    double asked = w->error_rate != 0 ? w->error_rate : fmax(rate, ldexp(1, -64));
    double classic = seen_classic_bits(keys, asked);
    *plan = (seen_plan){
        .size = sizeof *plan,
        .kind = w->kind,
        .capacity = (uint64_t)keys,
        .error_rate = asked,
        .predicted_rate = rate,
        .bits = bits,
        .bytes = bits / 8,
        .hashes = g->spread * g->probes,
        .spread = g->spread,
        .probes = g->probes,
        .lines = lines,
        .shards = g->shards,
        .bits_per_key = (double)bits / keys,
        .classic_bits = classic,
        .classic_hashes = seen_classic_hashes(classic, keys),
        .overhead = (double)bits / cell_bits(w->kind) / classic,
    };
}

seen_status seen_plan_make(const seen_parameters *parameters, seen_plan *plan, seen_error *error)
{
    if (!parameters || !plan || parameters->size != sizeof *parameters)
        return refuse(error, "seen_plan_make: parameters->size is not sizeof(seen_parameters)");
    seen_status status = check_parameters(parameters, error);
    if (status != SEEN_OK)
        return status;
    sn_geometry g = {0};
    if (!(parameters->bits ? plan_by_memory(parameters, &g) : plan_by_capacity(parameters, &g)))
        return refuse(error, parameters->hashes
                                 ? "no filter of up to 64 hashes and 2 PiB reaches that "
                                   "rate with these hashes; omit the hashes"
                                 : "the error rate is too high; use 0.6 or less");
    double keys = (double)parameters->capacity;
    if (parameters->bits && parameters->capacity && parameters->error_rate != 0 &&
        sn_plan_rate(&g, keys) > parameters->error_rate * (1 + 1e-9))
        return refuse_numbers(parameters, &g, error);
    if (!parameters->capacity && parameters->error_rate != 0)
        keys = solve_capacity(&g, parameters->error_rate);
    else if (!parameters->capacity)
        keys = floor((double)g.shards * (double)g.shard_lines * sn_geometry_cells(&g) * LN2 /
                     parameters->hashes);
    if (keys > (double)SN_PLAN_KEYS_MAX)
        keys = (double)SN_PLAN_KEYS_MAX;
    if (keys < 1)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%.4g bits are not enough for one key at that rate; give more memory",
                            (double)parameters->bits);
    if (sn_plan_rate(&g, keys) >= 1)
        return sn_error_set(
            error, SEEN_ERR_ARGUMENT,
            "%.4g keys would set every cell of %.4g bits, and every absent key would "
            "be a false positive; give more memory",
            keys, (double)parameters->bits);
    fill_plan(plan, parameters, &g, keys);
    return SEEN_OK;
}

sn_geometry sn_plan_to_geometry(const seen_plan *plan)
{
    return (sn_geometry){
        .kind = plan->kind,
        .spread = plan->spread,
        .probes = plan->probes,
        .shards = plan->shards ? plan->shards : 1,
        .shard_lines = plan->shards ? plan->lines / plan->shards : plan->lines,
    };
}
