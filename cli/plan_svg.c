/* The plan as an SVG picture: error rate by number of keys, with the classic formula for
 * comparison. */
#include "cli/cli.h"
#include "cli/plan.h"

#include <math.h>

enum {
    LEFT = 90,
    TOP = 56,
    WIDTH = 560,
    HEIGHT = 290,
    POINTS = 120,
    ALL_WIDTH = 720,
    ALL_HEIGHT = 430
};

typedef struct axes {
    double keys;  /* at the right edge */
    double first; /* the exponent of ten at the bottom; the top is 1 */
} axes;

static double x_of(const axes *a, double keys)
{
    return LEFT + WIDTH * keys / a->keys;
}

static double y_of(const axes *a, double rate)
{
    double exponent = rate > 0 ? fmax(log10(rate), a->first) : a->first;
    return TOP + HEIGHT * exponent / a->first;
}

static void draw_grid(FILE *out, const axes *a, const seen_plan *plan)
{
    char text[SN_TEXT];
    int step = (int)ceil(-a->first / 8);
    for (int e = 0; e >= (int)a->first; e -= step) {
        double y = y_of(a, pow(10, e));
        fprintf(out, "<line class='grid' x1='%d' y1='%.1f' x2='%d' y2='%.1f'/>\n", LEFT, y,
                LEFT + WIDTH, y);
        if (e == 0)
            fprintf(out, "<text x='%d' y='%.1f' text-anchor='end'>1</text>\n", LEFT - 8, y + 4);
        else
            fprintf(out, "<text x='%d' y='%.1f' text-anchor='end'>1e%d</text>\n", LEFT - 8, y + 4,
                    e);
    }
    for (int i = 0; i <= 4; i++) {
        double keys = (double)plan->capacity * i / 2, x = x_of(a, keys);
        fprintf(out, "<line class='grid' x1='%.1f' y1='%d' x2='%.1f' y2='%d'/>\n", x, TOP, x,
                TOP + HEIGHT);
        fprintf(out, "<text x='%.1f' y='%d' text-anchor='%s'>%s</text>\n", x, TOP + HEIGHT + 20,
                i == 4 ? "end" : "middle", sn_show_words(text, keys));
    }
}

static void draw_titles(FILE *out)
{
    int middle = TOP + HEIGHT / 2;
    fprintf(out, "<text x='%d' y='%d' text-anchor='middle'>distinct keys added</text>\n",
            LEFT + WIDTH / 2, TOP + HEIGHT + 44);
    fprintf(out,
            "<text x='24' y='%d' text-anchor='middle' transform='rotate(-90 24 %d)'>error rate "
            "(log scale)</text>\n",
            middle, middle);
    fprintf(out,
            "<line class='curve' x1='%d' y1='%d' x2='%d' y2='%d'/><text x='%d' y='%d'>this "
            "filter</text>\n",
            LEFT, ALL_HEIGHT - 14, LEFT + 24, ALL_HEIGHT - 14, LEFT + 30, ALL_HEIGHT - 10);
    fprintf(out,
            "<line class='classic' x1='%d' y1='%d' x2='%d' y2='%d'/><text x='%d' y='%d'>textbook "
            "formula, same bits</text>\n",
            LEFT + 130, ALL_HEIGHT - 14, LEFT + 154, ALL_HEIGHT - 14, LEFT + 160, ALL_HEIGHT - 10);
    fprintf(out, "<text class='tool' x='%d' y='%d' text-anchor='end'>seen plan %s</text>\n",
            LEFT + WIDTH, ALL_HEIGHT - 10, seen_version());
}

static void draw_curve(FILE *out, const axes *a, const seen_plan *plan, bool classic)
{
    double cells = (double)plan->bits / (plan->kind == SEEN_COUNTING ? 4 : 1);
    fprintf(out, "<polyline class='%s' points='", classic ? "classic" : "curve");
    for (int i = 1; i <= POINTS; i++) {
        double keys = a->keys * i / POINTS;
        double rate =
            classic ? seen_classic_rate(keys, cells, plan->hashes) : seen_plan_rate(plan, keys);
        if (rate >= pow(10, a->first))
            fprintf(out, "%.1f,%.1f ", x_of(a, keys), y_of(a, rate));
    }
    fputs("'/>\n", out);
}

void sn_cli_plan_svg(FILE *out, const seen_plan *plan)
{
    char keys[SN_TEXT], rate[SN_TEXT], size[SN_TEXT];
    double capacity = (double)plan->capacity;
    axes a = {.keys = 2 * capacity};
    double lowest = seen_plan_rate(plan, a.keys / 8);
    a.first = fmin(-2, fmax(-24, lowest > 0 ? floor(log10(lowest)) : -24));
    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img' "
            "font-family='system-ui, sans-serif' font-size='13'>\n"
            "<title>Error rate of a filter as it fills up</title>\n"
            "<style>svg{background:#fff;color:#222}text{fill:currentColor}"
            ".grid{stroke:currentColor;stroke-opacity:.15}"
            ".curve{fill:none;stroke:#0a66c2;stroke-width:2.5}"
            ".classic{fill:none;stroke:#999;stroke-width:1.5;stroke-dasharray:5 4}"
            ".dot{fill:#0a66c2}"
            "@media(prefers-color-scheme:dark){svg{background:#16181c;color:#ddd}"
            ".curve{stroke:#6cb2ff}.dot{fill:#6cb2ff}}.tool{fill-opacity:.7}</style>\n",
            ALL_WIDTH, ALL_HEIGHT);
    fprintf(out,
            "<text x='%d' y='30' font-size='16'>%s keys in %s, error rate %s when full</text>\n",
            LEFT, sn_show_words(keys, capacity), sn_show_size(size, (double)plan->bytes),
            sn_show_rate(rate, plan->predicted_rate));
    draw_grid(out, &a, plan);
    draw_curve(out, &a, plan, true);
    draw_curve(out, &a, plan, false);
    fprintf(out, "<circle class='dot' cx='%.1f' cy='%.1f' r='5'/>\n", x_of(&a, capacity),
            y_of(&a, plan->predicted_rate));
    draw_titles(out);
    fputs("</svg>\n", out);
}
