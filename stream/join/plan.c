/* The planner of `common` and `except`: what each strategy would read, write and hold in memory.
 *
 * Everything is computed from a few parameters, independent of the system, so that --explain, the
 * engine and docs/scale.md agree. There are two kinds of cost, and a pass takes as long as the
 * larger one: bytes divided by the speed of the disk, and lines times nanoseconds divided by
 * threads. The nanoseconds were measured with URLs of 64 bytes; they only have to be accurate
 * enough to choose. */
#include "stream/join/join.h"

#include "base/error.h"
#include "stream/exact/spill.h"
#include "stream/exact/table.h"

#include <math.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
#define DISK 2e9
#define RANDOM_NS 20.0
#define START 0.003 /* startup time of a pass or a temporary file, in seconds */

/* Nanoseconds per line. */
#define LINE_NS 18.0 /* read, find its end, hash */
#define SKIM_NS 10.0 /* the same without the hash */
#define SMALL_NS 6.0 /* a filter that fits into the caches */
#define SPILL_NS 12.0
#define READ_BACK_NS 3.0

/* Costs that depend on the speed of random access. */
static double random_ns(const sn_join_parameters *n)
{
    return n->random_ns > 0 ? n->random_ns : RANDOM_NS;
}

static double filter_ns(const sn_join_parameters *n) /* a filter larger than the caches */
{
    return 6 + 0.3 * random_ns(n);
}

static double add_ns(const sn_join_parameters *n) /* adding to the table, from several threads */
{
    return 50 + 3 * random_ns(n);
}

static double check_ns(const sn_join_parameters *n)
{
    return 15 + 1.5 * random_ns(n);
}

const char *sn_join_strategy_name(sn_join_strategy strategy)
{
    static const char *const names[SN_JOIN_STRATEGIES] = {
        "not chosen", "table of B",     "table of A",  "filter",
        "spill",      "filtered spill", "approximate", "given filter",
    };
    return (unsigned)strategy < SN_JOIN_STRATEGIES ? names[strategy] : "?";
}

/* ---- Memory --------------------------------------------------------------------------------- */

size_t sn_join_line_max(uint64_t memory)
{
    uint64_t most = memory / 16; /* only one long line is in memory at a time */
    return most > SN_BLOCK_MAX - 1 ? SN_BLOCK_MAX - 1 : (size_t)most;
}

/* The memory left for filters, tables and maps; the rest is for blocks of lines, stacks, long lines
 * and the program itself. */
static uint64_t budget_of(uint64_t memory, unsigned threads)
{
    sn_pipeline_options pipeline = {.threads = threads};
    /* The program with its libraries, stacks, and buffers of temporary files. */
    uint64_t fixed =
        4 * MIB + sn_pipeline_memory(&pipeline, false) + threads * (MIB / 8) + memory / 16;
    return memory > fixed + 4 * MIB ? memory - fixed : 4 * MIB;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static double disk_of(const sn_join_parameters *n)
{
    return n->disk > 0 ? n->disk : DISK;
}

/* `ns` is the total for all lines on one thread; `serial_ns` cannot be parallelized. */
static void add_step(sn_join_plan *plan, const sn_join_parameters *n, const char *what, double read,
                     double written, double ns, double serial_ns)
{
    double by_disk = (read + written) / disk_of(n);
    double by_cpu = fmax(ns / n->threads, serial_ns) / 1e9;
    double seconds = fmax(by_disk, by_cpu) + START + (written > 0 ? START : 0);
    plan->step[plan->step_count++] = (sn_join_step){what, read, written, seconds};
    plan->read += read;
    plan->written += written;
    plan->seconds += seconds;
}

/* The error rate of a filter of `bytes` for this many keys. */
static double rate_of(double keys, double bytes)
{
    if (keys < 1)
        return 0;
    if (bytes < 64)
        return 1;
    seen_parameters parameters = {
        .size = sizeof parameters, .capacity = (uint64_t)ceil(keys), .bits = (uint64_t)(bytes * 8)};
    seen_plan plan = {.size = sizeof plan};
    return seen_plan_make(&parameters, &plan, NULL) == SEEN_OK ? fmin(plan.predicted_rate, 1) : 1;
}

static void copy_pipe(sn_join_plan *plan, const sn_join_parameters *n)
{
    if (n->pipe_a)
        add_step(plan, n, "copy A to a temporary file", n->bytes_a, n->text_a, n->lines_a * SKIM_NS,
                 0);
}

/* ---- The strategies ------------------------------------------------------------------------- */

/* Entries of a table that holds B and, if needed, the printed lines of A. */
static double entries_of(const sn_join_parameters *n)
{
    return n->lines_first + (n->except && n->unique ? n->lines_a : 0);
}

static bool plan_table_b(sn_join_plan *plan, const sn_join_parameters *n)
{
    plan->table = plan->budget;
    plan->table_needs = entries_of(n) * SN_TABLE_ENTRY_BYTES;
    add_step(plan, n, "read B into a table", n->bytes_b, 0, n->lines_b * (LINE_NS + add_ns(n)), 0);
    add_step(plan, n, "read A and print", n->bytes_a, 0, n->lines_a * (LINE_NS + check_ns(n)),
             n->unique ? n->lines_a * check_ns(n) : 0);
    /* Output cannot be undone if the table turns out to be too small. */
    if (n->pipe_a && n->except && n->unique)
        return false;
    return plan->table_needs < 0.98 * (double)plan->budget;
}

static uint64_t whole_lines(double bytes)
{
    return bytes < 64 ? 64 : (uint64_t)bytes / 64 * 64;
}

/* A filter over the entries of the table, in the memory left by the table. */
static void plan_small(sn_join_plan *plan, const sn_join_parameters *n, double room)
{
    double want = plan->candidates * 10 / 8;
    plan->small = whole_lines(fmin(want, room));
    plan->small_rate = rate_of(plan->candidates, (double)plan->small);
    double both = fmin(n->share * n->lines_a, n->lines_b);
    plan->survivors = both + plan->small_rate * (n->lines_b - both);
}

static double confirm_ns(const sn_join_plan *plan, const sn_join_parameters *n)
{
    return n->lines_b * (LINE_NS + SMALL_NS) + plan->survivors * check_ns(n);
}

static bool plan_table_a(sn_join_plan *plan, const sn_join_parameters *n)
{
    copy_pipe(plan, n);
    double bytes_a = n->pipe_a ? n->text_a : n->bytes_a;
    plan->candidates = n->lines_a;
    plan->table = plan->budget;
    plan->table_needs = n->lines_a * SN_TABLE_ENTRY_BYTES;
    plan_small(plan, n, (double)plan->budget - plan->table_needs);
    add_step(plan, n, "read A into a table", bytes_a, 0, n->lines_a * (LINE_NS + add_ns(n)), 0);
    add_step(plan, n, "read B and mark", n->bytes_b, 0, confirm_ns(plan, n), 0);
    add_step(plan, n, "read A again and print", bytes_a, 0, n->lines_a * (LINE_NS + check_ns(n)),
             n->unique ? n->lines_a * check_ns(n) : 0);
    return plan->table_needs < 0.95 * (double)plan->budget;
}

/* The size of the filter of B that maximizes the share of A in the table: a larger filter lets
 * fewer absent lines pass, but leaves less memory for the table. */
static double balance(sn_join_plan *plan, const sn_join_parameters *n)
{
    double best = -1;
    for (int bits = 12; bits >= 3 && best < 1; bits--) {
        double bytes = n->lines_first * bits / 8;
        double rate = rate_of(n->lines_first, bytes);
        double free = (double)plan->budget - bytes;
        double share = free / SN_TABLE_ENTRY_BYTES / fmax(n->lines_a, 1) - rate;
        if (free > 0 && share > best) {
            best = share;
            plan->filter = whole_lines(bytes);
            plan->filter_rate = rate;
        }
    }
    return best;
}

static bool plan_filter(sn_join_plan *plan, const sn_join_parameters *n)
{
    double tolerated = balance(plan, n);
    if (tolerated < 0) {
        plan->filter = whole_lines((double)plan->budget / 2);
        plan->filter_rate = rate_of(n->lines_first, (double)plan->filter);
    }
    plan->candidates = fmin(n->lines_a * (n->share + plan->filter_rate), n->lines_a);
    plan->table = plan->budget - plan->filter;
    plan->table_needs = plan->candidates * SN_TABLE_ENTRY_BYTES;
    plan_small(plan, n, (double)plan->budget - plan->table_needs);
    double per_line = n->text_a / fmax(n->lines_a, 1), lines = plan->candidates * per_line;
    plan->saved = !n->except && (n->pipe_a || lines < n->text_a / 4);
    add_step(plan, n, "read B into a filter", n->bytes_b, 0, n->lines_b * (LINE_NS + filter_ns(n)),
             0);
    add_step(plan, n, "read A, keep what may be in B", n->bytes_a,
             plan->saved ? lines
             : n->pipe_a ? n->text_a
                         : 0,
             n->lines_a * (LINE_NS + filter_ns(n)) + plan->candidates * add_ns(n), 0);
    add_step(plan, n, "read B again and confirm", n->bytes_b, 0, confirm_ns(plan, n), 0);
    if (plan->saved)
        add_step(plan, n, "print", lines, 0, plan->candidates * (LINE_NS + check_ns(n)), 0);
    else
        add_step(plan, n, "read A again and print", n->pipe_a ? n->text_a : n->bytes_a, 0,
                 n->lines_a * (LINE_NS + SMALL_NS) + plan->candidates * check_ns(n), 0);
    return !(n->except && n->unique) && tolerated > n->share;
}

/* One bit per line of A, or for as many lines at a time as fit into a quarter of the memory. */
static double plan_map(sn_join_plan *plan, const sn_join_parameters *n)
{
    double bytes = n->lines_a / 8 + 64;
    double most = (double)plan->budget / 4;
    plan->map = (uint64_t)fmin(bytes, most);
    return bytes > most ? n->lines_a * n->share * SN_SPILL_RECORD_BYTES : 0;
}

/* Chooses the number of slices. Returns how often each is read: if the maximum number of slices is
 * reached and a slice does not fit into the table, it is decided in several pieces. */
static double plan_slices(sn_join_plan *plan, double entries)
{
    plan->table = plan->budget - plan->map;
    plan->table_needs = entries * SN_TABLE_ENTRY_BYTES;
    double wanted = fmax(1, ceil(plan->table_needs * 1.08 / (double)plan->table));
    plan->slices = fmin(wanted, SN_SPILL_PARTS_MAX);
    return ceil(wanted / plan->slices);
}

static bool plan_spill(sn_join_plan *plan, const sn_join_parameters *n)
{
    copy_pipe(plan, n);
    double bytes_a = n->pipe_a ? n->text_a : n->bytes_a;
    double notes = plan_map(plan, n);
    double times = plan_slices(plan, entries_of(n));
    double a = n->lines_a * SN_SPILL_RECORD_BYTES, b = n->lines_b * SN_SPILL_RECORD_BYTES;
    add_step(plan, n, "read B, spill its hashes", n->bytes_b, b, n->lines_b * LINE_NS,
             n->lines_b * SPILL_NS);
    add_step(plan, n, "read A, spill its hashes", bytes_a, a, n->lines_a * LINE_NS,
             n->lines_a * SPILL_NS);
    add_step(plan, n, "decide part by part", times * (a + b), notes, 0,
             n->lines_b * (READ_BACK_NS + add_ns(n)) + n->lines_a * (READ_BACK_NS + check_ns(n)));
    add_step(plan, n, "read A again and print", bytes_a + notes, 0, n->lines_a * SKIM_NS, 0);
    return n->room <= 0 || plan->written < n->room;
}

static bool plan_spill_filtered(sn_join_plan *plan, const sn_join_parameters *n)
{
    copy_pipe(plan, n);
    double bytes_a = n->pipe_a ? n->text_a : n->bytes_a;
    double notes = plan_map(plan, n);
    double most = 0.7 * (double)plan->budget;
    plan->filter = whole_lines(fmin(n->lines_first * 10 / 8, most));
    plan->filter_rate = rate_of(n->lines_first, (double)plan->filter);
    plan->candidates = fmin(n->lines_a * (n->share + plan->filter_rate), n->lines_a);
    plan_small(plan, n, (double)plan->budget - (double)plan->filter - 4.5 * (double)MIB);
    double first = plan->survivors * n->lines_first / fmax(n->lines_b, 1);
    double times = plan_slices(plan, first);
    double a = plan->candidates * SN_SPILL_RECORD_BYTES,
           b = plan->survivors * SN_SPILL_RECORD_BYTES;
    add_step(plan, n, "read B into a filter", n->bytes_b, 0, n->lines_b * (LINE_NS + filter_ns(n)),
             0);
    add_step(plan, n, "read A, spill what may be in B", bytes_a, a,
             n->lines_a * (LINE_NS + filter_ns(n)) + plan->candidates * filter_ns(n),
             plan->candidates * SPILL_NS);
    add_step(plan, n, "read B again, spill what may be in A", n->bytes_b, b,
             n->lines_b * (LINE_NS + filter_ns(n)), plan->survivors * SPILL_NS);
    add_step(plan, n, "decide part by part", times * (a + b), notes, 0,
             plan->survivors * (READ_BACK_NS + add_ns(n)) +
                 plan->candidates * (READ_BACK_NS + check_ns(n)));
    add_step(plan, n, "read A again and print", bytes_a + notes, 0, n->lines_a * SKIM_NS, 0);
    return !(n->except && n->unique) && (double)plan->small * 2 >= plan->candidates &&
           (n->room <= 0 || plan->written < n->room);
}

static bool plan_approx(sn_join_plan *plan, const sn_join_parameters *n)
{
    double rate = n->error_rate > 0 ? n->error_rate : 0.001;
    double most = (double)plan->budget * 0.98;
    if (n->unique || n->lines_b > n->lines_first)
        most /= 2; /* a second filter */
    seen_parameters parameters = {.size = sizeof parameters,
                                  .capacity = (uint64_t)fmax(1, ceil(n->lines_first)),
                                  .error_rate = rate};
    seen_plan made = {.size = sizeof made};
    double bytes = seen_plan_make(&parameters, &made, NULL) == SEEN_OK ? (double)made.bytes : most;
    plan->filter = whole_lines(fmin(bytes, most));
    plan->filter_rate = rate_of(n->lines_first, (double)plan->filter);
    add_step(plan, n, "read B into a filter", n->bytes_b, 0, n->lines_b * (LINE_NS + filter_ns(n)),
             0);
    add_step(plan, n, "read A and print", n->bytes_a, 0, n->lines_a * (LINE_NS + filter_ns(n)),
             n->unique ? n->lines_a * filter_ns(n) : 0);
    return true;
}

static bool plan_given(sn_join_plan *plan, const sn_join_parameters *n)
{
    add_step(plan, n, "read A and print", n->bytes_a, 0, n->lines_a * (LINE_NS + filter_ns(n)),
             n->unique ? n->lines_a * filter_ns(n) : 0);
    return true;
}

typedef bool planner(sn_join_plan *plan, const sn_join_parameters *n);

static planner *const planners[SN_JOIN_STRATEGIES] = {
    [SN_JOIN_TABLE_B] = plan_table_b,
    [SN_JOIN_TABLE_A] = plan_table_a,
    [SN_JOIN_FILTER] = plan_filter,
    [SN_JOIN_SPILL] = plan_spill,
    [SN_JOIN_SPILL_FILTERED] = plan_spill_filtered,
    [SN_JOIN_APPROX] = plan_approx,
    [SN_JOIN_GIVEN] = plan_given,
};

static bool try_strategy(const sn_join_parameters *n, sn_join_strategy strategy, sn_join_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->strategy = strategy;
    plan->budget = budget_of(n->memory, n->threads);
    return planners[strategy](plan, n);
}

seen_status sn_join_plan_make(const sn_join_parameters *parameters, sn_join_strategy strategy,
                              sn_join_plan *plan, seen_error *error)
{
    if (parameters->memory < SN_JOIN_MEMORY_MIN)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%llu KiB of memory is too little; give at least %llu MiB with -m",
                            (unsigned long long)(parameters->memory >> 10),
                            (unsigned long long)(SN_JOIN_MEMORY_MIN >> 20));
    if (strategy != SN_JOIN_ANY) {
        /* A table that may be too small is tried anyway, because the run can change its strategy.
         * The same holds for a disk that may be too full. */
        sn_join_parameters wanted = *parameters;
        wanted.room = 0;
        bool fits = try_strategy(&wanted, strategy, plan);
        bool hopeless = parameters->except && parameters->unique &&
                        (strategy == SN_JOIN_FILTER || strategy == SN_JOIN_SPILL_FILTERED);
        if (fits || (!hopeless && strategy <= SN_JOIN_FILTER))
            return SEEN_OK;
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "strategy \"%s\" does not apply to these inputs",
                            sn_join_strategy_name(strategy));
    }
    bool any = false;
    for (sn_join_strategy each = SN_JOIN_TABLE_B; each <= SN_JOIN_SPILL_FILTERED; each++) {
        sn_join_plan made;
        if (parameters->excluded >> each & 1 || !try_strategy(parameters, each, &made))
            continue;
        if (!any || made.seconds < plan->seconds)
            *plan = made;
        any = true;
    }
    if (!any)
        return sn_error_set(error, SEEN_ERR_SPACE,
                            "neither the memory (%llu MiB) nor the space for temporary files "
                            "(%.0f MiB) is enough; give more with -m, or another folder with -T",
                            (unsigned long long)(parameters->memory >> 20),
                            parameters->room / 1048576);
    return SEEN_OK;
}
