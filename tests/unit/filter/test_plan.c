/* Planning: the classic formulas, the table of geometries, every subset of parameters, and invalid
 * ones. */
#include "test_trust.h"

#include "filter/plan.h"

#include <math.h>

static seen_parameters parameters_of(uint64_t capacity, double rate, uint64_t bits, uint32_t hashes)
{
    return (seen_parameters){.size = sizeof(seen_parameters),
                             .capacity = capacity,
                             .error_rate = rate,
                             .bits = bits,
                             .hashes = hashes};
}

static seen_plan plan_of(uint64_t capacity, double rate, uint64_t bits, uint32_t hashes)
{
    seen_parameters parameters = parameters_of(capacity, rate, bits, hashes);
    seen_plan plan = {0};
    OK(seen_plan_make(&parameters, &plan, error));
    return plan;
}

static bool close_to(double a, double b, double share)
{
    return fabs(a - b) <= share * fabs(b);
}

/* The rate by simulation. Keys that start at word s are Poisson with an eighth of the mean; a word
 * is hit by the keys that start at it or up to q - 1 words before it; a cell of it stays unset with
 * probability (1 - 1/C) to the power of their number. Averaged over this many random lines. */
static double poisson(rng *r, double mean)
{
    double limit = exp(-mean), product = 1;
    for (double n = 0;; n++) {
        product *= (double)(rng_next(r) >> 11) / 9007199254740992.0;
        if (product <= limit)
            return n;
    }
}

static double rate_by_drawing(unsigned cells, unsigned spread, unsigned probes, double mean)
{
    enum { DRAWS = 60000 };
    rng r = {probes * 1000 + cells};
    double sum = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        double start[8], product = 1;
        for (int s = 0; s < 8; s++)
            start[s] = poisson(&r, mean / 8);
        for (unsigned w = 0; w < probes; w++) {
            double hits = 0;
            for (unsigned back = 0; back < probes; back++)
                hits += start[(w + 8 - back) & 7];
            product *= 1 - pow(1 - 8.0 / cells, hits);
        }
        sum += product;
    }
    return pow(sum / DRAWS, spread);
}

static void test_classic(void **state)
{
    (void)state;
    assert_true(close_to(seen_classic_bits(1, 0.001), 14.4, 0.002));
    assert_true(close_to(seen_classic_rate(1, 20, 10), 0.0000889, 0.001));
    assert_true(close_to(seen_classic_hashes(20, 1), 13.86, 0.001));
    assert_true(close_to(seen_classic_bits(1000, 0.01), 9585.06, 1e-6));
    assert_true(close_to(seen_classic_rate(1000, 9585.06, 7), 0.01, 0.01));
    seen_plan plan = plan_of(1, 0.001, 0, 0);
    assert_true(close_to(plan.classic_bits, 14.38, 0.001));
    assert_true(close_to(plan.classic_hashes, 9.97, 0.001));
    /* k = 10 at m/n = 20: with one cell per line and one shard this is exactly the classic
     * filter. */
    plan = plan_of(100000, 0, 2000000, 10);
    assert_int_equal(plan.shards, 1);
    assert_true(close_to(plan.predicted_rate, 0.0000889, 0.002));
    plan = plan_of(1000000, 0, 20000000, 10);
    assert_int_equal(plan.spread, 10);
    assert_int_equal(plan.probes, 1);
    double classic = seen_classic_rate(1000000, (double)plan.bits, 10);
    assert_true(close_to(plan.predicted_rate, classic, 0.002));
}

static void test_table(void **state)
{
    (void)state;
    static const struct {
        double rate, classic;
        unsigned spread, probes;
        double bits;
    } TABLE[] = {
        {0.1, 4.79, 1, 3, 4.84},    {0.03, 7.30, 1, 5, 7.45},   {0.01, 9.59, 1, 6, 9.95},
        {1e-3, 14.38, 1, 8, 15.72}, {1e-4, 19.17, 2, 6, 19.89}, {1e-6, 28.76, 2, 8, 31.45},
        {1e-9, 43.13, 3, 8, 47.17},
    };
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        seen_plan plan = plan_of(100000000, TABLE[i].rate, 0, 0);
        assert_int_equal(plan.spread, TABLE[i].spread);
        assert_int_equal(plan.probes, TABLE[i].probes);
        assert_true(close_to(plan.bits_per_key, TABLE[i].bits, 0.004));
        assert_true(close_to(plan.classic_bits / 1e8, TABLE[i].classic, 0.001));
        assert_true(close_to(plan.overhead, plan.bits_per_key / TABLE[i].classic, 0.002));
    }
}

/* The predicted rate is correct for bloom and counting and for any load. */
static void test_rate_formula(void **state)
{
    (void)state;
    for (unsigned probes = 1; probes <= 8; probes++)
        for (int kind = 0; kind < 2; kind++)
            for (double share = 0.4; share < 1.7; share *= 2) {
                sn_geometry g = {(seen_kind)kind, 1, probes, 1, 1000};
                unsigned cells = sn_geometry_cells(&g);
                double mean = share * cells / probes, keys = mean * 1000;
                double got = sn_plan_rate(&g, keys), want = rate_by_drawing(cells, 1, probes, mean);
                if (!close_to(got, want, 0.04))
                    fail_msg("q=%u load %g: %g, not %g", probes, share, got, want);
                g = (sn_geometry){(seen_kind)kind, 3, probes, 1, 3000};
                assert_true(close_to(sn_plan_rate(&g, keys), got * got * got, 1e-9));
            }
    sn_geometry g = {SEEN_BLOOM, 1, 6, 1, 1000};
    assert_true(sn_plan_rate(&g, 0) == 0 && sn_plan_rate(&g, -1) == 0);
    assert_true(sn_plan_rate(&g, 1e12) <= 1);
}

/* Small probabilities are accurate. Compared with inclusion and exclusion with 60 digits. */
static void test_rate_digits(void **state)
{
    (void)state;
    static const struct {
        seen_kind kind;
        double mean, rate;
    } EXACT[] = {
        {SEEN_COUNTING, 0.2, 2.2753746793045044e-09}, {SEEN_COUNTING, 0.5, 3.367361006840745e-08},
        {SEEN_COUNTING, 1, 3.6590275139828706e-07},   {SEEN_BLOOM, 3, 1.5590267428689735e-09},
        {SEEN_BLOOM, 6, 5.9465519609356614e-08},      {SEEN_BLOOM, 8, 2.988001382739608e-07}};
    for (size_t i = 0; i < 6; i++) {
        sn_geometry g = {EXACT[i].kind, 1, 8, 1, 1000};
        double got = sn_plan_rate(&g, 1000 * EXACT[i].mean);
        if (!close_to(got, EXACT[i].rate, 1e-12))
            fail_msg("mean %g: %.17g, not %.17g", EXACT[i].mean, got, EXACT[i].rate);
    }
}

/* Marks the cells of a key, or returns whether all of them are marked. */
static bool visit(const sn_geometry *g, seen_hash h, bool *marked, bool mark)
{
    unsigned cells = sn_geometry_cells(g), word_cells = cells / SN_LINE_WORDS;
    uint64_t f;
    sn_place_shard(g, h, &f);
    for (unsigned j = 0; j < g->spread; j++) {
        uint64_t w = sn_place_cells(h.lo, j);
        bool *line = marked + sn_place_line(g, f, j) * cells;
        for (unsigned i = 0; i < g->probes; i++) {
            unsigned word = sn_place_word(w, i);
            unsigned cell = g->kind ? sn_place_nibble(w, word) : sn_place_bit(w, word);
            if (mark)
                line[word * word_cells + cell] = true;
            else if (!line[word * word_cells + cell])
                return false;
        }
    }
    return true;
}

static double count_false_positives(const sn_geometry *g, unsigned keys)
{
    enum { FALSE_POSITIVES = 2500, ABSENT_KEYS = 1000 };
    bool marked[40 * 512];
    rng r = {keys};
    double wrong = 0, asked = 0;
    assert_true(sn_geometry_lines(g) <= 40);
    for (; wrong < FALSE_POSITIVES; asked += ABSENT_KEYS) {
        memset(marked, 0, sizeof marked);
        for (unsigned i = 0; i < keys; i++)
            visit(g, (seen_hash){rng_next(&r), rng_next(&r)}, marked, true);
        for (unsigned i = 0; i < ABSENT_KEYS; i++)
            wrong += visit(g, (seen_hash){rng_next(&r), rng_next(&r)}, marked, false);
    }
    return wrong / asked;
}

/* A filter of few lines has a higher error rate than a large one with the same fill, as
 * predicted. */
static void test_few_lines(void **state)
{
    (void)state;
    static const struct {
        seen_kind kind;
        unsigned lines, hashes, keys;
    } LIST[] = {{SEEN_BLOOM, 1, 8, 44},    {SEEN_BLOOM, 1, 12, 29},   {SEEN_BLOOM, 1, 6, 25},
                {SEEN_BLOOM, 1, 20, 40},   {SEEN_BLOOM, 2, 10, 70},   {SEEN_BLOOM, 16, 40, 330},
                {SEEN_COUNTING, 1, 6, 14}, {SEEN_COUNTING, 4, 10, 35}};
    for (size_t i = 0; i < sizeof LIST / sizeof *LIST; i++) {
        sn_geometry g = {LIST[i].kind, LIST[i].hashes, 1, 1, LIST[i].lines};
        double output_text = sn_plan_rate(&g, LIST[i].keys),
               got = count_false_positives(&g, LIST[i].keys);
        if (got > 1.05 * output_text || got < 0.92 * output_text)
            fail_msg("%u keys, %u hashes, %u lines: %g, not %g", LIST[i].keys, LIST[i].hashes,
                     LIST[i].lines, got, output_text);
    }
}

/* So the planned filter for few keys is within its error rate. */
static void test_few_keys(void **state)
{
    (void)state;
    static const struct {
        seen_kind kind;
        unsigned keys;
        double rate;
    } REQUESTS[] = {{SEEN_BLOOM, 30, 3e-4},    {SEEN_BLOOM, 60, 3e-4},
                    {SEEN_BLOOM, 40, 0.003},   {SEEN_COUNTING, 75, 0.01},
                    {SEEN_COUNTING, 12, 0.01}, {SEEN_COUNTING, 70, 0.001},
                    {SEEN_BLOOM, 241, 0.003}};
    for (size_t i = 0; i < sizeof REQUESTS / sizeof *REQUESTS; i++) {
        sn_geometry g;
        double rate = REQUESTS[i].rate;
        assert_true(sn_plan_geometry(REQUESTS[i].kind, REQUESTS[i].keys, rate, &g));
        /* One whole line more may leave so much room that there are no false positives. */
        if (sn_plan_rate(&g, REQUESTS[i].keys) < rate / 10)
            continue;
        double got = count_false_positives(&g, REQUESTS[i].keys);
        if (got > 1.05 * rate)
            fail_msg("%u keys at %g: %g", REQUESTS[i].keys, rate, got);
    }
}

/* The rate increases with the number of keys and decreases with the number of lines, for any
 * fill. */
static void test_few_lines_in_order(void **state)
{
    (void)state;
    for (unsigned hashes = 1; hashes <= 64; hashes += 9)
        for (int kind = 0; kind < 2; kind++)
            for (unsigned lines = 1; lines < 300; lines += 1 + lines / 3)
                for (double keys = 1; keys < 30 * lines; keys *= 1.5) {
                    sn_geometry g = {(seen_kind)kind, hashes, 1, 1, lines};
                    double rate = sn_plan_rate(&g, keys);
                    assert_true(rate >= 0 && rate <= 1 && sn_plan_rate(&g, keys * 1.1) >= rate);
                    g.shard_lines++;
                    assert_true(sn_plan_rate(&g, keys) <= rate);
                }
}

static void test_overhead(void **state)
{
    (void)state;
    static const uint64_t SIZES[] = {1000, 1000000, 100000000};
    double worst[3] = {0};
    for (double rate = 0.2; rate > 0.999e-9; rate *= 0.86)
        for (int i = 0; i < 3; i++) {
            seen_plan plan = plan_of(SIZES[i], rate, 0, 0);
            double share = (double)plan.bits / seen_classic_bits((double)SIZES[i], rate);
            assert_true(close_to(share, plan.overhead, 1e-9));
            assert_true(plan.predicted_rate <= rate * (1 + 1e-8));
            if (share > worst[i])
                worst[i] = share;
            /* Because lines and hashes are integers, a small filter may need one more line. */
            if ((double)plan.bits > 1.10 * plan.classic_bits + (SIZES[i] > 1000 ? 0 : 512))
                fail_msg("%g at %llu keys: %.3f x classic", rate, (unsigned long long)SIZES[i],
                         share);
        }
    printf("worst memory: %.3f, %.3f, %.3f x classic at 10^3, 10^6, 10^8 keys\n", worst[0],
           worst[1], worst[2]);
}

/* Fewer lines, or fewer cells in as many, within the given memory. */
static void test_swift(void **state)
{
    (void)state;
    for (double rate = 0.3; rate > 1e-15; rate /= 1.7) {
        sn_geometry least, swift;
        assert_true(sn_plan_geometry(SEEN_BLOOM, 1e7, rate, &least));
        assert_true(sn_plan_geometry_fast(SEEN_BLOOM, 1e7, rate, 1.15, &swift));
        assert_true(sn_geometry_valid(&swift));
        assert_true(sn_plan_rate(&swift, 1e7) <= rate * (1 + 1e-8));
        double bits = 8 * (double)sn_geometry_bytes(&swift);
        assert_true(bits <= 1.16 * seen_classic_bits(1e7, rate));
        assert_true(swift.spread <= least.spread);
        if (swift.spread == least.spread)
            assert_true(swift.probes <= least.probes);
    }
    sn_geometry g;
    assert_false(sn_plan_geometry_fast(SEEN_BLOOM, 1e7, 1e-19, 1.15, &g));
    /* Only a filter without lines fits into exactly the classic size. */
    assert_false(sn_plan_geometry_fast(SEEN_BLOOM, 1e7, 1e-6, 0.99, &g));
}

static void test_sizes(void **state)
{
    (void)state;
    static const double RATES[] = {0.5, 0.01, 1e-6, 1e-12, 1e-18};
    for (int kind = 0; kind < 2; kind++)
        for (size_t r = 0; r < 5; r++)
            for (double n = 1; n <= 1e12; n = ceil(n * 9.7)) {
                seen_parameters parameters = parameters_of((uint64_t)n, RATES[r], 0, 0);
                parameters.kind = (seen_kind)kind;
                seen_plan plan;
                OK(seen_plan_make(&parameters, &plan, error));
                sn_geometry g = sn_plan_to_geometry(&plan);
                assert_true(sn_geometry_valid(&g));
                assert_int_equal(plan.capacity, parameters.capacity);
                assert_true(plan.predicted_rate <= RATES[r] * (1 + 1e-8));
                assert_true(plan.predicted_rate == seen_plan_rate(&plan, n));
                assert_int_equal(plan.bits, plan.lines * 512);
                assert_int_equal(plan.bytes, plan.lines * 64);
                assert_int_equal(plan.lines % plan.shards, 0);
                assert_int_equal(plan.hashes, plan.spread * plan.probes);
                assert_true(seen_plan_rate(&plan, n * 1.1) >= plan.predicted_rate);
            }
    plan_of(1000000000000, 1e-9, 0, 0);
}

/* Every subset of the four parameters of an existing filter is sufficient or refused. */
static void test_subsets(void **state)
{
    (void)state;
    static const uint64_t SIZES[] = {50, 1000, 250000, 100000000};
    for (size_t i = 0; i < 4; i++)
        for (unsigned set = 0; set < 16; set++) {
            uint64_t n = SIZES[i];
            double classic = seen_classic_bits((double)n, 0.01);
            seen_parameters parameters =
                parameters_of(set & 1 ? n : 0, set & 2 ? 0.01 : 0,
                              set & 4 ? (uint64_t)(classic * 1.3) + 1024 : 0, set & 8 ? 7 : 0);
            seen_plan plan = {0};
            seen_error e = {0};
            bool enough = (set & 1 && set & 14) || (set & 4 && set & 10);
            seen_status status = seen_plan_make(&parameters, &plan, &e);
            if (enough != (status == SEEN_OK))
                fail_msg("subset %u at %llu keys: %s %s", set, (unsigned long long)n,
                         seen_status_text(status), e.message);
            if (!enough) {
                assert_int_equal(status, SEEN_ERR_ARGUMENT);
                assert_true(strlen(e.message) > 20);
                assert_int_equal(plan.lines, 0);
                continue;
            }
            sn_geometry g = sn_plan_to_geometry(&plan);
            assert_true(sn_geometry_valid(&g) && plan.capacity > 0);
            assert_true(plan.predicted_rate <= plan.error_rate * (1 + 1e-8));
            assert_true(!(set & 1) || plan.capacity == n);
            assert_true(!(set & 2) || plan.error_rate == 0.01);
            assert_true(!(set & 4) || plan.bits <= parameters.bits);
            assert_true(!(set & 4) || (double)plan.bits + 100000 > (double)parameters.bits * 0.98);
            assert_true(!(set & 8) || plan.hashes == 7);
            if ((set & 12) == 12)
                assert_true(plan.spread == 7 && plan.probes == 1);
        }
}

/* Never more memory than given, except for the one line that a filter needs. */
static void test_memory_is_a_limit(void **state)
{
    (void)state;
    for (uint64_t bits = 1; bits < 40000; bits = bits * 5 / 4 + 97)
        for (double rate = 0.3; rate > 1e-18; rate /= 2000)
            for (int kind = 0; kind < 2; kind++) {
                seen_parameters parameters = parameters_of(0, rate, bits, 0);
                parameters.kind = (seen_kind)kind;
                seen_plan plan;
                seen_status status = seen_plan_make(&parameters, &plan, NULL);
                assert_true(status == SEEN_OK || (status == SEEN_ERR_ARGUMENT && bits < 1024));
                if (status == SEEN_OK)
                    assert_true(plan.bits <= (bits < 512 ? 512 : bits) && plan.capacity >= 1);
                parameters = parameters_of(bits / 20 + 1, 0, bits, 0);
                OK(seen_plan_make(&parameters, &plan, error));
                assert_true(plan.bits <= (bits < 512 ? 512 : bits));
            }
}

/* Memory and a rate give the largest possible capacity. */
static void test_capacity_is_largest(void **state)
{
    (void)state;
    for (uint64_t bits = 2048; bits < UINT64_C(1) << 42; bits *= 13)
        for (double rate = 0.1; rate > 1e-8; rate /= 30) {
            seen_parameters parameters = parameters_of(0, rate, bits, 0);
            seen_plan plan;
            OK(seen_plan_make(&parameters, &plan, error));
            assert_true(seen_plan_rate(&plan, (double)plan.capacity) <= rate);
            assert_true(seen_plan_rate(&plan, (double)plan.capacity * 1.0001 + 2) > rate);
        }
}

static void give_back(seen_parameters parameters, const seen_plan *answer)
{
    parameters.capacity = answer->capacity;
    seen_plan plan;
    seen_error e;
    if (seen_plan_make(&parameters, &plan, &e) != SEEN_OK)
        fail_msg("kind %d, %llu lines: %s", parameters.kind, (unsigned long long)answer->lines,
                 e.message);
    parameters.bits = answer->bits;
    if (seen_plan_make(&parameters, &plan, &e) != SEEN_OK)
        fail_msg("kind %d, just %llu lines: %s", parameters.kind, (unsigned long long)answer->lines,
                 e.message);
    assert_true(plan.bits <= parameters.bits &&
                plan.predicted_rate <= parameters.error_rate * (1 + 1e-8));
}

/* A plan is feasible for any of the given parameters; and the planned memory holds the requested
 * capacity, within a tenth. */
static void test_plans_are_parameters(void **state)
{
    (void)state;
    rng r = {test_seed()};
    for (int i = 0; i < 700; i++) {
        double rate = exp(-0.6 - 40.8 * (double)(rng_next(&r) % 1000) / 1000);
        double large = i % 2 ? 24 : 9, size = large * (double)(rng_next(&r) % 1000) / 1000;
        seen_parameters parameters = parameters_of((uint64_t)exp(size), rate, 0, 0);
        parameters.kind = (seen_kind)(i / 2 % 2);
        seen_plan plan, other;
        OK(seen_plan_make(&parameters, &plan, error));
        give_back(parameters, &plan);
        parameters.capacity = 0;
        parameters.bits = plan.bits;
        OK(seen_plan_make(&parameters, &other, error));
        assert_true((double)other.capacity >= 0.9 * (double)plan.capacity);
        parameters.bits = (uint64_t)(2000 * exp(fmin(size, 18)));
        OK(seen_plan_make(&parameters, &plan, error));
        give_back(parameters, &plan);
    }
}

/* What is possible with a given number of hashes is possible without giving it. */
static void test_possible_without_hashes(void **state)
{
    (void)state;
    static const double RATES[] = {0.2, 0.01, 1e-3, 1e-6, 1e-12};
    for (double n = 10; n < 2e6; n *= 10)
        for (size_t i = 0; i < 5; i++)
            for (double times = 1; times < 1.3; times += 0.02) {
                uint64_t bits = (uint64_t)(times * seen_classic_bits(n, RATES[i]));
                unsigned hashes = (unsigned)lround(-log2(RATES[i]));
                seen_parameters parameters = parameters_of((uint64_t)n, RATES[i], bits, hashes);
                seen_plan plan;
                if (seen_plan_make(&parameters, &plan, NULL) != SEEN_OK)
                    continue;
                parameters.hashes = 0;
                OK(seen_plan_make(&parameters, &plan, error));
            }
}

#define REFUSED(...)                                                                               \
    do {                                                                                           \
        seen_parameters parameters = __VA_ARGS__;                                                  \
        seen_plan plan = {.lines = 4711};                                                          \
        FAILS(SEEN_ERR_ARGUMENT, seen_plan_make(&parameters, &plan, error));                       \
        assert_int_equal(plan.lines, 4711);                                                        \
    } while (0)

/* Far more memory than needed: the rate is nearly 0, and all values stay finite. */
static void test_plenty(void **state)
{
    (void)state;
    seen_plan plan = plan_of(68, 0, UINT64_C(42880953483264), 64);
    assert_true(plan.error_rate > 0 && plan.predicted_rate <= plan.error_rate);
    assert_true(isfinite(plan.classic_bits) && isfinite(plan.overhead));
    plan = plan_of(1, 0, UINT64_C(1) << 40, 0);
    assert_true(plan.error_rate > 0 && isfinite(plan.overhead));
}

/* A capacity and any number of hashes are sufficient, even if they are optimal for a rate below the
 * minimum. */
static void test_capacity_and_hashes(void **state)
{
    (void)state;
    for (uint32_t hashes = 1; hashes <= 64; hashes++)
        for (double n = 1; n < 2e12; n *= 1000) {
            seen_plan plan = plan_of((uint64_t)n, 0, 0, hashes);
            assert_int_equal(plan.hashes, hashes);
            assert_true(plan.predicted_rate <= fmax(ldexp(1, -(int)hashes), 1e-18) * 1.000001);
        }
}

/* A filter that is just too small: the message shows that the two rates differ. */
static void test_nearly(void **state)
{
    (void)state;
    seen_parameters parameters = parameters_of(1000000, 0.01, 9585058, 7);
    seen_error why = {0};
    seen_plan plan;
    assert_int_equal(seen_plan_make(&parameters, &plan, &why), SEEN_ERR_ARGUMENT);
    const char *rate = strstr(why.message, "error rate of ");
    assert_non_null(rate);
    double is = strtod(rate + strlen("error rate of "), NULL), asked = 0;
    assert_int_equal(sscanf(strstr(rate, "not "), "not %lf", &asked), 1);
    assert_true(asked == 0.01 && is > asked);
}

static void test_refusals(void **state)
{
    (void)state;
    REFUSED(parameters_of(0, 0, 0, 0));
    REFUSED(parameters_of(1000, 0, 0, 0));
    REFUSED(parameters_of(0, 0.01, 0, 7));
    REFUSED(parameters_of(1000, -1, 0, 0));
    REFUSED(parameters_of(1000, (double)NAN, 0, 0));
    REFUSED(parameters_of(1000, (double)INFINITY, 0, 0));
    REFUSED(parameters_of(1000, -(double)INFINITY, 0, 0));
    REFUSED(parameters_of(1000, 1, 0, 0));
    REFUSED(parameters_of(1000, 1e300, 0, 0));
    REFUSED(parameters_of(1000, 1e-300, 0, 0));
    REFUSED(parameters_of(1000, 5e-324, 0, 0));
    REFUSED(parameters_of(1000000000001, 0.01, 0, 0));
    REFUSED(parameters_of(UINT64_MAX, 0.01, 0, 0));
    REFUSED(parameters_of(0, 0.01, UINT64_MAX, 0));
    REFUSED(parameters_of(1000, 0, 0, 65));
    REFUSED(parameters_of(1000, 0, 0, UINT32_MAX));
    REFUSED(parameters_of(1000000, 0.001, 10000, 0)); /* 10 bits for 1000 keys */
    REFUSED(parameters_of(1000000, 1e-9, 20000000, 3));
    REFUSED(parameters_of(262144, 0, 2570, 0)); /* every cell would be set */
    REFUSED(parameters_of(262144, 0, 2570, 3));
    REFUSED(parameters_of(412317122560, 1.1e-13, 0, 2)); /* exceeds the maximum memory */
    REFUSED(parameters_of(1000000000000, 1e-18, 0, 1));
    REFUSED(parameters_of(68, 7.1e-15, 0, 1));
    REFUSED(parameters_of(1000000, 0.01, 20000000, 64));
    REFUSED(parameters_of(20, 1e-18, 512, 0));
    seen_parameters parameters = parameters_of(1000, 0.01, 0, 0);
    seen_plan plan;
    parameters.kind = (seen_kind)9;
    FAILS(SEEN_ERR_ARGUMENT, seen_plan_make(&parameters, &plan, error));
    parameters = parameters_of(1000, 0.01, 0, 0);
    parameters.size = 8;
    FAILS(SEEN_ERR_ARGUMENT, seen_plan_make(&parameters, &plan, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_plan_make(NULL, &plan, error));
    assert_int_equal(seen_plan_make(NULL, &plan, NULL), SEEN_ERR_ARGUMENT);
}

static void test_valid(void **state)
{
    (void)state;
    const sn_geometry good = {SEEN_BLOOM, 2, 8, 8, 1000};
    assert_true(sn_geometry_valid(&good));
#define INVALID(field, value)                                                                      \
    do {                                                                                           \
        sn_geometry g = good;                                                                      \
        g.field = value;                                                                           \
        assert_false(sn_geometry_valid(&g));                                                       \
    } while (0)
    INVALID(kind, (seen_kind)2);
    INVALID(spread, 0);
    INVALID(spread, 65);
    INVALID(spread, 3);
    INVALID(probes, 0);
    INVALID(probes, 9);
    INVALID(shards, 0);
    INVALID(shards, UINT64_MAX);
    INVALID(shards, UINT64_C(1) << 32);
    INVALID(shard_lines, 0);
    INVALID(shard_lines, 1001);
    INVALID(shard_lines, UINT64_MAX - 1);
    sn_geometry huge = {SEEN_BLOOM, 1, 8, UINT32_MAX, UINT32_MAX};
    assert_false(sn_geometry_valid(&huge));
}

/* The number of keys estimated from the share of set cells, compared with the inverse function. */
static void test_estimate(void **state)
{
    (void)state;
    for (unsigned probes = 1; probes <= 8; probes++) {
        sn_geometry g = {SEEN_BLOOM, 2, probes, 1, 1000};
        double cells = 512000, keys = 20000;
        double fill = 1 - exp(-keys * 2 * probes / cells);
        assert_true(close_to(sn_plan_keys(&g, fill), keys, 0.001));
        assert_true(sn_plan_keys(&g, 0) == 0);
        assert_true(isfinite(sn_plan_keys(&g, 1)));
    }
}

/* The sizes of shards suit a Redis string and a lock stripe. */
static void test_shards(void **state)
{
    (void)state;
    for (double n = 1000; n < 1e11; n *= 1.37) {
        seen_plan plan = plan_of((uint64_t)n, 1e-4, 0, 0);
        uint64_t each = plan.lines / plan.shards;
        assert_true(plan.shards == 1 ? plan.lines < 4100 : plan.shards % 8 == 0);
        assert_true(each * 64 + 32 <= 1 << 18);
        assert_int_equal(each % plan.spread, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classic),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_rate_formula),
        cmocka_unit_test(test_rate_digits),
        cmocka_unit_test(test_few_lines),
        cmocka_unit_test(test_few_keys),
        cmocka_unit_test(test_few_lines_in_order),
        cmocka_unit_test(test_overhead),
        cmocka_unit_test(test_swift),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_subsets),
        cmocka_unit_test(test_memory_is_a_limit),
        cmocka_unit_test(test_capacity_is_largest),
        cmocka_unit_test(test_plans_are_parameters),
        cmocka_unit_test(test_possible_without_hashes),
        cmocka_unit_test(test_plenty),
        cmocka_unit_test(test_capacity_and_hashes),
        cmocka_unit_test(test_nearly),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
