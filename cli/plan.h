/* The parts of `seen plan`. */
#ifndef SN_CLI_PLAN_H
#define SN_CLI_PLAN_H

#include <stdio.h>

#include "seen.h"

/* The curve of error against keys, as an SVG picture. */
void sn_cli_plan_svg(FILE *out, const seen_plan *plan);

/* The planner as one self-contained page, opened at this plan. */
void sn_cli_plan_html(FILE *out, const seen_parameters *parameters);

/* The size of a hash set of the same keys: keys of 64 bytes, and only their 128-bit hashes. */
double sn_cli_plan_set_bytes(double keys);
double sn_cli_plan_hashes_bytes(double keys);

#endif
