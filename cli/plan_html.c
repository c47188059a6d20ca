/* The planner as one page: cli/plan_page.html, embedded by the build, opened at a plan. */
#include "cli/cli.h"
#include "cli/plan.h"

void sn_plan_html(FILE *out, const seen_wish *wish, const seen_plan *plan)
{
    (void)out;
    (void)wish;
    (void)plan;
}
