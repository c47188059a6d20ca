/* Internal interfaces of the engine of `common` and `except`. */
#ifndef SN_STREAM_JOIN_INTERNAL_H
#define SN_STREAM_JOIN_INTERNAL_H

#include "stream/exact/approx.h"
#include "stream/exact/spill.h"
#include "stream/exact/table.h"
#include "stream/io/copy.h"
#include "stream/join/join.h"
#include "stream/join/keep.h"

/* An input, and its temporary copy if it cannot be read again. */
typedef struct sn_join_source {
    sn_input *input; /* the one to read: the caller's, or `own` */
    sn_input *own;
    sn_copy copy;
    bool used;    /* read at least once */
    bool counted; /* read to its end: `lines` is valid */
    uint64_t lines;
} sn_join_source;

/* The mark of entries whose line was printed. Marks 0 and 1 are used in turn for being in each
 * B. */
enum { SN_JOIN_PRINTED = 2 };

typedef struct sn_join {
    const sn_join_options *options;
    sn_join_parameters parameters;
    sn_join_plan plan;
    sn_join_result *result;
    sn_pipeline_options pipeline;
    const sn_keys_options *keys; /* of the side currently read */
    seen_hasher hasher;
    sn_join_source a;
    sn_join_source *b;
    size_t b_count;
    sn_output *output;

    seen_set *filter; /* of B */
    seen_set *small;  /* of the candidates; if built from a table it holds sn_table_stored of the
                       * hashes */
    sn_approx once;   /* approx, unique: the printed lines */
    sn_table *table;
    int mark; /* mark of the entries that are in B; -1: all are */
    int need; /* while marking: the mark that an entry must already have, or -1 */
    atomic_bool full;
    _Atomic uint64_t candidates;

    sn_copy saved; /* lines of candidates, or all lines of a pipe */
    bool saving;
    bool save_all;
    uint64_t saved_lines;
    double saved_max; /* bytes; above that A is read again instead */

    sn_spill *spill; /* open for writing */
    bool spill_numbers;
    sn_keep keep;
    uint64_t skip; /* lines of A already printed by an abandoned strategy */

    seen_answer print; /* print lines with this answer */
} sn_join;

typedef enum sn_join_end {
    SN_JOIN_DONE,
    SN_JOIN_FULL /* no room in the table: another strategy is needed */
} sn_join_end;

/* ---- Passes (pass.c) ------------------------------------------------------------------------ */

/* Reads a source once, from its beginning. *end tells whether a table ran out of room. */
seen_status sn_join_pass(sn_join *s, const char *what, sn_join_source *source,
                         const sn_pipeline_steps *steps, sn_join_end *end, seen_error *error);

/* Whether a stop was requested. */
bool sn_join_stopped(const sn_join *s);

seen_status sn_join_make_filter(sn_join *s, double keys, uint64_t bytes, seen_set **set,
                                seen_error *error);
seen_status sn_join_fill_filter(sn_join *s, sn_join_source *source, seen_error *error);
seen_status sn_join_fill_table(sn_join *s, sn_join_source *source, const char *what,
                               sn_join_end *end, seen_error *error);
seen_status sn_join_find_candidates(sn_join *s, sn_join_end *end, seen_error *error);
seen_status sn_join_make_small(sn_join *s, seen_error *error);

/* Marks the entries that are in B, from B number `first` on; s->mark is the resulting mark. */
seen_status sn_join_confirm(sn_join *s, size_t first, const char *what, seen_error *error);

/* Looks up A's lines in the table or the filter and prints them. */
seen_status sn_join_print(sn_join *s, sn_join_source *source, const char *what, sn_join_end *end,
                          seen_error *error);

/* Prints A's lines according to the map. */
seen_status sn_join_print_map(sn_join *s, seen_error *error);

seen_status sn_join_copy(sn_join *s, sn_join_source *source, const char *what, seen_error *error);

/* Decides lines of A in order, with a table of B: answers[i] is SEEN_BEFORE if the line's bit in
 * the map is to be set (see sn_join_bit_means_print). False if the table has no room. */
bool sn_join_decide(sn_join *s, const seen_hash *hashes, size_t count, seen_answer *answers);

/* Frees the filters and the table. */
void sn_join_release(sn_join *s);

/* ---- Strategies (slices.c) ------------------------------------------------------------------ */

seen_status sn_join_run_spill(sn_join *s, bool filtered, seen_error *error);

/* ---- calibrate.c: what this machine is like, for choosing a strategy ---- */

/* Memory used for the measurement, larger than the caches, and what the program itself takes. */
enum { SN_JOIN_REGION = 64 << 20, SN_JOIN_PROGRAM = 16 << 20 };

/* Nanoseconds per random access to a large table, with many in flight. Measured once per process,
 * which takes about ten milliseconds. */
double sn_join_random_ns(void);

/* Reading speed in bytes per second if this share of the inputs is in the page cache. */
double sn_join_read_speed(double cached);

#endif
