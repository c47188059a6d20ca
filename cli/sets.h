/* Shared by `seen common` and `seen except`: options, explaining, running. */
#ifndef SN_CLI_SETS_H
#define SN_CLI_SETS_H

#include "cli/cli.h"
#include "stream/join/join.h"

typedef struct sn_sets_own {
    bool unique, all, approx, explain;
    uint64_t memory;
    double error_rate;
    double share;
    uint64_t assume_lines, assume_bytes;
    sn_args_list key_b;
} sn_sets_own;

extern const sn_group sn_group_sets;
extern const sn_group sn_group_sets_plan;

int sn_sets_run(sn_args *args, bool except);

/* Prints the plan to stdout. */
void sn_sets_explain(const sn_args *args, const sn_join_parameters *parameters,
                     const sn_join_plan *plan);

#endif
