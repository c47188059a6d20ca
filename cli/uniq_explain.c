/* The costs of a run of `uniq` or `count`, as text and as JSON. */
#include "cli/uniq.h"

static void explain_json(const sn_uniq_options *options, const sn_uniq_plan *plan, bool pipe)
{
    sn_json json;
    sn_json_open(&json, stdout, false);
    sn_json_object(&json, NULL);
    sn_json_bool(&json, "exact", !options->approx && !options->filter);
    sn_json_number(&json, "error_rate", plan->error_rate);
    sn_json_bool(&json, "lines_known", plan->lines != UINT64_MAX);
    sn_json_u64(&json, "memory_expected", plan->memory);
    if (plan->lines != UINT64_MAX) {
        sn_uniq_cost cost = sn_uniq_cost_of(options, plan, pipe, 2e9);
        sn_json_u64(&json, "lines_estimated", plan->lines);
        sn_json_u64(&json, "bytes_estimated", plan->bytes);
        sn_json_number(&json, "temporary_at_most", cost.temporary);
        sn_json_u64(&json, "readings", cost.readings);
        sn_json_number(&json, "seconds_estimated", cost.seconds);
    }
    sn_json_end(&json);
}

void sn_cli_uniq_explain(const sn_args *args, const sn_uniq_options *options,
                         const sn_uniq_plan *plan, bool pipe)
{
    char a[SN_TEXT], b[SN_TEXT];
    if (args->json) {
        explain_json(options, plan, pipe);
        return;
    }
    bool known = plan->lines != UINT64_MAX;
    if (known)
        printf("input       about %s lines, %s\n", sn_show_words(a, (double)plan->lines),
               sn_show_size(b, (double)plan->bytes));
    else
        printf("input       of unknown size\n");
    if (options->approx || options->filter)
        printf("result      approximate: error rate %s\n", sn_show_rate(a, plan->error_rate));
    else
        printf("result      exact\n");
    printf("memory      %s%s\n", sn_show_size(a, (double)plan->memory),
           options->approx || options->filter ? plan->growing ? " at first; it grows as needed" : ""
           : known                            ? " if all lines are distinct"
                                              : " at most");
    if (!known) {
        printf("temporary   what does not fit in memory, at 16 bytes a line%s\n",
               pipe ? ", and a copy of these lines" : "");
        return;
    }
    sn_uniq_cost cost = sn_uniq_cost_of(options, plan, pipe, 500e6);
    if (cost.temporary > 0)
        printf("temporary   %s of files if all lines are distinct\n",
               sn_show_size(a, cost.temporary));
    else
        printf("temporary   no files\n");
    printf("readings    %u\n", cost.readings);
    printf("time        about %s with a disk of 500 MB a second\n",
           sn_show_seconds(a, cost.seconds));
    cost = sn_uniq_cost_of(options, plan, pipe, 5e9);
    printf("            about %s with a disk of 5 GB a second\n", sn_show_seconds(a, cost.seconds));
}
