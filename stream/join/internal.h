/* Between the files of the engine of `common` and `except`. */
#ifndef SN_STREAM_SETS_INSIDE_H
#define SN_STREAM_SETS_INSIDE_H

#include "stream/exact/cascade.h"
#include "stream/io/copy.h"
#include "stream/join/join.h"
#include "stream/join/keep.h"
#include "stream/exact/spill.h"
#include "stream/exact/table.h"

/* An input, and where it had to be copied to be read again. */
typedef struct sn_sets_source {
    sn_input *input; /* the one to read: the caller's, or `own` */
    sn_input *own;
    sn_copy copy;
    bool used;    /* read at least once */
    bool counted; /* read to its end: `lines` holds */
    uint64_t lines;
} sn_sets_source;

/* The mark of entries whose line was printed; 0 and 1 are for being in one B after the other. */
enum { SN_SETS_PRINTED = 2 };

typedef struct sn_sets {
    const sn_sets_options *options;
    sn_sets_numbers numbers;
    sn_sets_plan plan;
    sn_sets_result *result;
    sn_pipeline_options pipeline;
    seen_hasher hasher;
    sn_sets_source a;
    sn_sets_source *b;
    size_t b_count;
    sn_output *output;

    seen_set *filter; /* of B */
    seen_set *small;  /* of the candidates; one made from a table holds sn_table_kept of hashes */
    sn_cascade once;  /* approx, unique: what was printed */
    sn_table *table;
    int mark; /* of the entries that are in B; -1: all are */
    int need; /* while marking: the mark that an entry must have already, or -1 */
    atomic_bool full;
    _Atomic uint64_t candidates;

    sn_copy aside; /* lines of candidates, or all lines of a pipe */
    bool put_aside;
    bool aside_all;
    uint64_t aside_lines;
    double aside_most; /* bytes; past them A is read again instead */

    sn_spill *spill; /* being written */
    bool spill_numbers;
    uint64_t slice_from, slice_to; /* rounds: of sn_table_unused */
    sn_keep keep;
    uint64_t skip; /* lines of A that were dealt with by a way that was left */

    seen_answer print; /* the answer of the lines to be printed */
} sn_sets;

typedef enum sn_sets_end {
    SN_SETS_DONE,
    SN_SETS_FULL /* no room: another way must be gone */
} sn_sets_end;

/* Reads a source once, from its beginning. *end says whether a table had no room. */
seen_status sn_sets_pass(sn_sets *s, const char *what, sn_sets_source *source,
                         const sn_pipeline_steps *steps, sn_sets_end *end, seen_error *error);

/* Whether a stop was asked for. */
bool sn_sets_stopped(const sn_sets *s);

/* ---- Passes (sets_pass.c) -------------------------------------------------------------------- */

seen_status sn_sets_make_filter(sn_sets *s, double keys, uint64_t bytes, seen_set **set,
                                seen_error *error);
seen_status sn_sets_fill_filter(sn_sets *s, sn_sets_source *source, seen_error *error);
seen_status sn_sets_fill_table(sn_sets *s, sn_sets_source *source, const char *what,
                               sn_sets_end *end, seen_error *error);
seen_status sn_sets_gather(sn_sets *s, sn_sets_end *end, seen_error *error);
seen_status sn_sets_make_small(sn_sets *s, seen_error *error);

/* Marks what is in B, from B number `first` on; s->mark is the mark to be looked for afterwards. */
seen_status sn_sets_confirm(sn_sets *s, size_t first, const char *what, seen_error *error);

/* Asks the table, or the filter, about A's lines and prints. */
seen_status sn_sets_print(sn_sets *s, sn_sets_source *source, const char *what, sn_sets_end *end,
                          seen_error *error);

/* Prints A's lines by the map. */
seen_status sn_sets_print_kept(sn_sets *s, seen_error *error);

seen_status sn_sets_copy(sn_sets *s, sn_sets_source *source, const char *what, seen_error *error);

/* Decides lines of A in order, with a table of B: answers[i] is SEEN_BEFORE where the map gets a
 * bit (see sn_sets_bit_means_print). False where the table has no room. */
bool sn_sets_judge(sn_sets *s, const seen_hash *hashes, size_t count, seen_answer *answers);

/* A bit of the map, or SEEN_BEFORE of sn_sets_judge: to be printed, or else to be left out. */
bool sn_sets_bit_means_print(const sn_sets *s);

/* Gives filters and the table back. */
void sn_sets_release(sn_sets *s);

/* ---- Ways (sets_join.c) ---------------------------------------------------------------------- */

seen_status sn_sets_go_spill(sn_sets *s, bool filtered, seen_error *error);
seen_status sn_sets_go_rounds(sn_sets *s, seen_error *error);

#endif
