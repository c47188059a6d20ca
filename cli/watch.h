/* Runs a long job in a separate thread, while the main thread draws the progress and converts a
 * signal to a stop request. */
#ifndef SN_CLI_WATCH_H
#define SN_CLI_WATCH_H

#include "cli/cli.h"
#include "stream/io/input.h"
#include "stream/io/stop.h"
#include "stream/pipeline/keys.h"
#include "stream/pipeline/pipeline.h"

typedef struct sn_watch {
    sn_stop stop;
    sn_meter meter;
    sn_input *input; /* whose position is shown; may be NULL */
    const char *what;
    uint64_t total;    /* bytes of all passes; 0 or UINT64_MAX: unknown */
    uint64_t capacity; /* keys that fill the set, to show how full it is; 0: not shown */
} sn_watch;

/* False after a message. */
bool sn_watch_begin(sn_watch *watch, const char *what);
void sn_watch_end(sn_watch *watch);

typedef seen_status sn_watch_job(void *context, seen_error *error);

/* Runs the job to its end and returns its status. */
seen_status sn_watch_run(sn_watch *watch, const sn_args *args, sn_watch_job *job, void *context,
                         seen_error *error);

/* Options about lines and threads. */
sn_keys_options sn_args_keys(sn_args *args);
const sn_record_spec *sn_args_record_spec(const sn_args *args); /* NULL: whole lines */
const seen_url_options *sn_args_rewrite(const sn_args *args);   /* --print canonical, or NULL */
/* The options that define keys, as text to be stored with a filter; false if it is too long. */
bool sn_args_describe(sn_args *args, char note[SEEN_NOTE_MAX + 1]);
/* Applies the key options stored with a filter; SEEN_ERR_MISMATCH if the command line contradicts
 * them. Call it before sn_args_keys. */
seen_status sn_filter_keys(sn_args *args, const seen_set *set, const char *where,
                           seen_error *error);
/* Opens the filter at `where`; if there is none, creates a growing one (-m: of that size), with -n
 * keys and the rate -p, by default 1e-6 and the estimated lines of `input`. */
seen_status sn_filter_open(sn_args *args, const char *where, sn_input *input, seen_set **set,
                           seen_error *error);
/* Closes it. A filter that sn_filter_open created and that is still empty is deleted if the command
 * failed: a wrong option leaves nothing behind. */
void sn_filter_close(const sn_args *args, const char *where, seen_set *set, bool failed);
/* At the end of a run: warns if plain fields had quotes, or if line ends were mixed. */
void sn_args_warn_records(const sn_args *args);
/* `filter`: the address of the filter that is used, or NULL. */
sn_pipeline_options sn_args_pipeline(const sn_args *args, const char *filter, sn_watch *watch);

#endif
