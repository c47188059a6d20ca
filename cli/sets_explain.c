/* The plan of `common` and `except`, for people and as JSON. */
#include "cli/sets.h"

static void explain_json(const sn_join_parameters *n, const sn_join_plan *plan)
{
    sn_json json;
    sn_json_open(&json, stdout, false);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "strategy", sn_join_strategy_name(plan->strategy));
    sn_json_number(&json, "lines_a", n->lines_a);
    sn_json_number(&json, "lines_b", n->lines_b);
    sn_json_number(&json, "bytes_a", n->bytes_a);
    sn_json_number(&json, "bytes_b", n->bytes_b);
    sn_json_number(&json, "share_expected", n->share);
    sn_json_u64(&json, "memory", n->memory);
    sn_json_u64(&json, "budget", plan->budget);
    sn_json_u64(&json, "filter_bytes", plan->filter);
    sn_json_number(&json, "filter_rate", plan->filter_rate);
    sn_json_number(&json, "candidates_expected", plan->candidates);
    sn_json_u64(&json, "small_filter_bytes", plan->small);
    sn_json_number(&json, "survivors_expected", plan->survivors);
    sn_json_number(&json, "table_bytes_expected", plan->table_needs);
    sn_json_number(&json, "slices", plan->slices);
    sn_json_u64(&json, "map_bytes", plan->map);
    sn_json_number(&json, "bytes_read", plan->read);
    sn_json_number(&json, "bytes_written", plan->written);
    sn_json_number(&json, "seconds_estimated", plan->seconds);
    sn_json_array(&json, "steps");
    for (size_t i = 0; i < plan->step_count; i++) {
        const sn_join_step *step = &plan->step[i];
        sn_json_object(&json, NULL);
        sn_json_string(&json, "what", step->what);
        sn_json_number(&json, "bytes_read", step->read);
        sn_json_number(&json, "bytes_written", step->written);
        sn_json_end(&json);
    }
    sn_json_end(&json);
    sn_json_end(&json);
}

static void explain_memory(const sn_join_parameters *n, const sn_join_plan *plan)
{
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT];
    printf("memory      %s, of which %s for what follows\n", sn_show_size(a, (double)n->memory),
           sn_show_size(b, (double)plan->budget));
    if (plan->filter)
        printf("filter      %s over the lines of B: %.1f bits a line, error rate %s\n",
               sn_show_size(a, (double)plan->filter),
               (double)plan->filter * 8 / (n->lines_first < 1 ? 1 : n->lines_first),
               sn_show_rate(b, plan->filter_rate));
    if (plan->filter && plan->candidates > 0)
        printf("candidates  %s lines of A, if %.0f%% of them are in B\n",
               sn_show_words(a, plan->candidates), 100 * n->share);
    if (plan->small)
        printf("            %s for a filter over them, which %s lines of B pass\n",
               sn_show_size(a, (double)plan->small), sn_show_words(b, plan->survivors));
    if (plan->table_needs > 0)
        printf("table       %s in all, %s at a time\n", sn_show_size(a, plan->table_needs),
               sn_show_size(b, (double)plan->table));
    if (plan->slices > 0)
        printf("parts       %.0f\n", plan->slices);
    if (plan->map)
        printf("map         %s, one bit a line of A\n", sn_show_size(c, (double)plan->map));
}

void sn_sets_explain(const sn_args *args, const sn_join_parameters *n, const sn_join_plan *plan)
{
    char a[SN_TEXT], b[SN_TEXT];
    if (args->json) {
        explain_json(n, plan);
        return;
    }
    printf("A           %s lines, %s%s\n", sn_show_words(a, n->lines_a),
           sn_show_size(b, n->bytes_a), n->pipe_a ? " (a pipe: taken to be like B)" : "");
    if (plan->strategy != SN_JOIN_GIVEN)
        printf("B           %s lines, %s\n", sn_show_words(a, n->lines_b),
               sn_show_size(b, n->bytes_b));
    printf("strategy    %s\n", sn_join_strategy_name(plan->strategy));
    explain_memory(n, plan);
    printf("steps\n");
    for (size_t i = 0; i < plan->step_count; i++) {
        const sn_join_step *step = &plan->step[i];
        printf("  %zu  %-42s reads %10s", i + 1, step->what, sn_show_size(a, step->read));
        if (step->written > 0)
            printf(", writes %s", sn_show_size(a, step->written));
        printf("\n");
    }
    printf("in all      reads %s", sn_show_size(a, plan->read));
    printf(", writes %s to temporary files\n", sn_show_size(a, plan->written));
    const double disks[] = {500e6, 5e9};
    for (size_t i = 0; i < 2; i++) {
        sn_join_parameters other = *n;
        sn_join_plan timed;
        other.disk = disks[i];
        if (sn_join_plan_make(&other, plan->strategy, &timed, NULL) == SEEN_OK)
            printf("%-11s about %s with a disk of %s a second\n", i ? "" : "time",
                   sn_show_seconds(a, timed.seconds), i ? "5 GB" : "500 MB");
    }
}
