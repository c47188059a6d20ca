/* `seen except`: prints the lines of A that are not in B. */
#include "cli/sets.h"

static int run_except(sn_args *args)
{
    return sn_sets_run(args, true);
}

const sn_cli_command sn_cli_command_except = {
    .name = "except",
    .summary = "print the lines of A that are not in B",
    .synopsis = "[OPTION]... A B...",
    .about =
        "Prints the lines of A that are not in B, in the order of A, with their duplicates. With "
        "several B, a line must be in none of them (--all: missing from at least one). Exact "
        "unless you say otherwise. Files may be compressed and unsorted; '-' is stdin.\n\n"
        "Lines are compared by 96 bits or more of a hash with a random seed. The memory of the "
        "whole process is bounded by -m (decompressing files with large windows takes up to 256 "
        "MiB more); what does not fit goes to temporary files, or files are read again. Nothing is "
        "sorted. --explain shows the plan. With --approx each file "
        "is read once, and some lines are missing that are not in B; the summary reports how many. "
        "B may also be a FILTER made by 'seen add', or one in Redis; then the result has that "
        "filter's "
        "error rate.\n\n"
        "Files must not change during the run; if they do, the command fails. With --json the "
        "summary is "
        "JSON, on stderr.",
    .operands = "FILE",
    .max_operands = SIZE_MAX,
    .own_size = sizeof(sn_sets_own),
    .groups = {&sn_group_sets, &sn_group_sets_plan, &sn_group_records, &sn_group_remember,
               &sn_group_url, &sn_group_print, &sn_group_timeout, &sn_group_output, &sn_group_json,
               &sn_group_temp, &sn_group_threads, &sn_group_messages},
    .examples = {{"What is new today?", "seen except today.txt yesterday.txt",
                  "printf 'a\\nb\\nc\\n' > today.txt; printf 'c\\nb\\nx\\n' > yesterday.txt"},
                 {"New against every list of the archive, each line once",
                  "seen except -u today.txt archive-*.txt.gz",
                  "printf 'a\\nb\\na\\n' > today.txt; printf 'b\\n' | gzip > archive-1.txt.gz; "
                  "printf 'c\\n' | gzip > archive-2.txt.gz"}},
    .run = run_except,
};
