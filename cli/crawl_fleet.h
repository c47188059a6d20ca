/* `seen crawl --join`, and the commands about a shared crawl. */
#ifndef SN_CLI_CRAWL_FLEET_H
#define SN_CLI_CRAWL_FLEET_H

#include "cli/cli.h"
#include "crawl/crawl.h"

/* Runs `crawl status`, `crawl pause` and so on, by the name of the command; the operand is the
 * address. */
int sn_cli_fleet_run(sn_args *args);

/* Uses the settings of the crawl, or creates a new one if there are start URLs. */
bool sn_cli_fleet_load(sn_crawl_options *options, bool urls, void **keep, seen_error *error);
/* SEEN_ERR_MISMATCH if the options of this worker differ from those of the crawl, if there is one.
 */
seen_status sn_cli_fleet_check(const sn_args *args, const sn_crawl_options *options,
                               seen_error *error);
/* What a worker remembers of its earlier sessions. */
typedef struct sn_cli_fleet_past {
    bool joined;    /* there was one */
    char crawl[17]; /* the ID of its crawl */
    uint64_t pause; /* seconds that it waited for its network the last time; 0: not yet */
} sn_cli_fleet_past;
/* The session of this worker ended: waits a moment; false if the run is not to be repeated.
 * Otherwise the options get the crawl that is to be joined again. */
bool sn_cli_fleet_again(const sn_args *args, seen_status status, const sn_crawl_result *result,
                        const seen_error *error, sn_cli_fleet_past *past,
                        sn_crawl_options *options);

#endif
