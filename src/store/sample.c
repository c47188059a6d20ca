/* How many keys a layer holds, as a sample of its lines tells.
 *
 * A key touches g lines, drawn evenly. Of S lines out of L one touch stands for u = L / (g S) keys.
 * The number of touches is a Poisson number t, so that the estimate u t is off by u sqrt(t). Where
 * touches hit the same cells a little less can be told: with x hits a cell and q cells a touch the
 * variance is larger by 1 - 1/q + (e^x - 1) / (x q), which is 1 for few keys and 1.06 for a half
 * full layer with q = 8. (Where all lines are looked at u is 1 / g and all touches are known: what
 * is left is less than this for any layer that is of use.)
 *
 * Few touches tell little, and none not that there are no keys: one is added under the root. And a
 * counter is held against the deviation that it would imply itself, because that is the question:
 * could this sample come from so many keys? */
#include "filter/plan.h"
#include "store/layers.h"
#include "store/local.h"

#include <math.h>

enum { RUN = 64, ENOUGH = 10000 };

/* Whole pages, because a page that is not in memory costs a read of the disk: keys are spread
 * evenly over the lines, so neighbours are as good a sample as any. */
static sn_tally look(const sn_geometry *g, const char *bits, uint64_t sampled)
{
    uint64_t lines = sn_geometry_lines(g), step = RUN;
    if (lines > sampled)
        step = lines / (sampled / RUN) / RUN * RUN;
    sn_tally tally = {0};
    for (uint64_t line = 0; line < lines; line += step)
        sn_tally_lines(g, bits + line * SN_LINE_BYTES, lines - line < RUN ? lines - line : RUN,
                       &tally);
    return tally;
}

sn_sample sn_local_sample(const sn_layer *layer, const char *bits, uint64_t most)
{
    const sn_geometry *g = &layer->geometry;
    double lines = (double)sn_geometry_lines(g);
    uint64_t sampled = SN_SAMPLE_QUICK;
    sn_tally tally = look(g, bits, sampled);
    while (tally.set < (uint64_t)ENOUGH * g->probes && (double)tally.lines < lines &&
           sampled < most) {
        sampled *= 4;
        tally = look(g, bits, sampled);
    }
    double fill = (double)tally.set / ((double)tally.lines * sn_geometry_cells(g));
    double keys = sn_plan_keys(g, fill);
    double hits = keys * g->spread * g->probes / (lines * sn_geometry_cells(g));
    double crowd = hits > 1e-6 ? expm1(hits) / hits : 1;
    return (sn_sample){.keys = sn_layers_news(layer, keys),
                       .unit = lines / ((double)tally.lines * g->spread),
                       .crowd = 1 + (crowd - 1) / g->probes};
}

static double deviation(const sn_sample *sample, double keys)
{
    return sample->unit * sqrt(keys / sample->unit * sample->crowd + 1) + 1;
}

bool sn_local_credible(const sn_sample *sample, uint64_t told)
{
    double keys = (double)told;
    /* Poisson numbers go further up than down: five would be doubted once in 70,000 times. */
    return fabs(keys - sample->keys) <= 6 * deviation(sample, keys);
}

uint64_t sn_local_safely(const sn_local *l, const sn_sample *sample)
{
    double off = deviation(sample, sample->keys);
    double keys = sample->keys + (l->base.growth == SEEN_WINDOW ? -off : off);
    return keys > 0 ? (uint64_t)keys : 0;
}
