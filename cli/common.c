/* `seen common`: prints the lines of A that are in B. */
#include "cli/sets.h"

static int run_common(sn_args *args)
{
    return sn_sets_run(args, false);
}

const sn_cli_command sn_cli_command_common = {
    .name = "common",
    .summary = "print the lines of A that are also in B",
    .synopsis = "[OPTION]... A B...",
    .about =
        "Prints the lines of A that are in B, in the order of A, with their duplicates. With "
        "several B, a line may be in any of them (--all: must be in each). Exact unless you say "
        "otherwise. Files may be compressed and unsorted; '-' is stdin.\n\n"
        "Lines are compared by 96 bits or more of a hash with a random seed. The memory of the "
        "whole process is bounded by -m (decompressing files with large windows takes up to 256 "
        "MiB more); what does not fit goes to temporary files, or files are read again. Nothing is "
        "sorted. --explain shows the plan. With --approx each file "
        "is read once, and some lines are printed that are not in B; the summary reports how many. "
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
    .examples = {{"Which URLs of the first list are in the second?",
                  "seen common ours.txt theirs.txt",
                  "printf 'a\\nb\\nc\\n' > ours.txt; printf 'c\\nb\\nx\\n' > theirs.txt"},
                 {"In 256 MiB, each line once", "seen common -u -m 256M ours.txt theirs.txt",
                  "printf 'a\\nb\\nc\\n' > ours.txt; printf 'c\\nb\\nx\\n' > theirs.txt"},
                 {"What would 5 billion URLs in each of two files take?",
                  "seen common --explain --assume-lines 5e9 --assume-bytes 64 -m 4GB", NULL}},
    .run = run_common,
};
