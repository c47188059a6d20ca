/* `seen count`: prints each distinct line with the number of its occurrences. */
#include "cli/uniq.h"

typedef struct count_own {
    uint64_t top, min;
    uint64_t memory;
    bool explain;
} count_own;

static const sn_option own_options[] = {
    {.name = "top",
     .argument = "N",
     .type = SN_COUNT,
     .offset = offsetof(count_own, top),
     .min = 1,
     .max = 10000000,
     .help = "the N lines with the largest counts",
     .preset = "all lines",
     .more = "Lines with equal counts are printed in input order. These lines are held in memory."},
    {.name = "min",
     .argument = "N",
     .type = SN_COUNT,
     .offset = offsetof(count_own, min),
     .min = 1,
     .help = "only lines that occur at least N times",
     .preset = "1"},
    {.letter = 'm',
     .name = "memory",
     .argument = "SIZE",
     .type = SN_SIZE,
     .offset = offsetof(count_own, memory),
     .min = 64,
     .max = UINT64_C(1) << 50,
     .help = "memory: 4GiB, 120MB",
     .preset = "half of what is free",
     .more =
         "A distinct line takes some 20 bytes. What does not fit goes to temporary files (-T)."},
    {.name = "explain",
     .type = SN_FLAG,
     .offset = offsetof(count_own, explain),
     .help = "print time, memory and disk needed, and exit"},
};
static const sn_group own_group = {.title = "What to print",
                                   .options = own_options,
                                   .count = sizeof own_options / sizeof *own_options,
                                   .own = true};

static int run_count(sn_args *args)
{
    const count_own *own = args->own;
    args->memory = own->memory;
    const sn_cli_uniq_own uniq = {
        .count = true, .tabs = true, .top = own->top, .min = own->min, .explain = own->explain};
    return sn_cli_uniq_run(args, &uniq);
}

const sn_cli_command sn_cli_command_count = {
    .name = "count",
    .summary = "print each distinct line with its count",
    .synopsis = "[OPTION]... [FILE]...",
    .about =
        "Prints each distinct line of the files, or of the standard input, as COUNT, tab, LINE, in "
        "the order of first appearance. With --top, the lines with the largest counts, as "
        "'sort | uniq -c | sort -rn | head' does, without sorting the input.\n\n"
        "Counts are exact, and the memory is bounded by -m: what does not fit goes to temporary "
        "files. The input is read twice; of a pipe, the distinct lines are copied to a temporary "
        "file for that (-T). With -k or other keys, the first line of each key is printed. With "
        "--csv and --tsv the count is a first column, named count.",
    .operands = "FILE",
    .max_operands = SIZE_MAX,
    .own_size = sizeof(count_own),
    .groups = {&own_group, &sn_group_records, &sn_group_url, &sn_group_print, &sn_group_output,
               &sn_group_json, &sn_group_temp, &sn_group_threads, &sn_group_messages},
    .examples = {{"The ten most frequent lines", "seen count --top 10 queries.txt",
                  "printf 'a\\nb\\na\\n' > queries.txt"},
                 {"Clients with at least two requests", "seen count --min 2 -k 1 -t ' ' access.log",
                  "printf '1.2.3.4 GET /\\n1.2.3.4 GET /a\\n' > access.log"}},
    .run = run_count,
};
