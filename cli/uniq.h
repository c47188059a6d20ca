/* Shared by `seen uniq` and `seen count`. */
#ifndef SN_CLI_UNIQ_H
#define SN_CLI_UNIQ_H

#include "cli/cli.h"
#include "stream/uniq/uniq.h"

typedef struct sn_cli_uniq_own {
    bool exact;
    bool approx;
    const char *filter;
    bool count, repeated, all_repeated, unique, duplicates; /* at most one */
    int keep;                                               /* 0: first, 1: last */
    bool count_only;
    const char *dropped;
    bool explain;
    bool source;
    bool tabs; /* `seen count`: COUNT, tab, line */
    uint64_t min, top;
} sn_cli_uniq_own;

/* Runs the command; *own is what its options said. */
int sn_cli_uniq_run(sn_args *args, const sn_cli_uniq_own *own);

/* The plan, for people and as JSON, on stdout. */
void sn_cli_uniq_explain(const sn_args *args, const sn_uniq_options *options,
                         const sn_uniq_plan *plan, bool pipe);

#endif
