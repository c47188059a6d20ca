/* The parts of `seen plan`. */
#ifndef SN_CLI_PLAN_H
#define SN_CLI_PLAN_H

#include "seen.h"

#include <stdio.h>

/* The curve of error against keys, as an SVG picture. */
void sn_cli_plan_svg(FILE *out, const seen_plan *plan);

/* The planner as one self-contained page, opened at this plan. */
void sn_cli_plan_html(FILE *out, const seen_parameters *parameters);

#endif
