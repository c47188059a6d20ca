/* The planner as one page: cli/plan_page.html, embedded by the build, opened at the given
 * parameters. */
#include "cli/cli.h"
#include "cli/plan.h"

#include <string.h>

static const unsigned char page[] = {
#include "plan_page.inc"
};

static const char mark_start[] = "/*START*/", mark_end[] = "/*END*/";

/* The parameters as they would be typed; bits are from whole bytes. */
static void put_parameters(FILE *out, const seen_parameters *parameters)
{
    sn_json json;
    char text[SN_TEXT];
    sn_json_open(&json, out, true);
    sn_json_object(&json, NULL);
    if (parameters->capacity)
        sn_json_string(&json, "n", sn_show_short(text, parameters->capacity));
    if (parameters->error_rate != 0)
        sn_json_string(&json, "p", sn_show_short_rate(text, parameters->error_rate));
    if (parameters->bits)
        sn_json_string(&json, "m", sn_show_short_size(text, parameters->bits / 8));
    if (parameters->hashes)
        sn_json_string(&json, "k", sn_show_short(text, parameters->hashes));
    if (parameters->kind == SEEN_COUNTING)
        sn_json_string(&json, "kind", "counting");
    sn_json_end(&json);
}

void sn_cli_plan_html(FILE *out, const seen_parameters *parameters)
{
    const unsigned char *start = memmem(page, sizeof page, mark_start, strlen(mark_start));
    const unsigned char *end = memmem(page, sizeof page, mark_end, strlen(mark_end));
    if (!start || !end) {
        fwrite(page, 1, sizeof page, out);
        return;
    }
    fwrite(page, 1, (size_t)(start - page), out);
    put_parameters(out, parameters);
    fwrite(end + strlen(mark_end), 1, (size_t)(page + sizeof page - end) - strlen(mark_end), out);
}
