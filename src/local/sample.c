/* How many keys a layer holds, as a sample of its lines tells.
 *
 * A key touches g lines, drawn evenly. Of S lines out of L one touch stands for u = L / (g S) keys.
 * The number of touches is a Poisson number t, so that the estimate u t is off by u sqrt(t). Where
 * all lines are looked at all touches are known: of the variance 1 - S / L is left.
 *
 * Where touches hit the same cells they cannot be told apart: with x hits a cell, q cells a touch
 * and C cells a line (e^x - 1 - x) / (x q) is added, and q q / C of that, because lines that got
 * more touches than others have more such hits. A half full layer with q = 6 and C = 512 has 1.08
 * times the variance of the touches, and 0.08 times where all lines are looked at.
 *
 * Few touches tell little, and none not that there are no keys: one is added under the root. And a
 * counter is held against the deviation that it would imply itself, because that is the question:
 * could this sample come from so many keys? It counts those that were answered as new: as many may
 * be missing as the layer makes mistakes. */
#include "filter/plan.h"
#include "local/local.h"
#include "set/layers.h"

#include <math.h>

enum { RUN = 64 };

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

sn_sample sn_local_tell(const sn_layer *layer, const sn_tally *tally)
{
    const sn_geometry *g = &layer->geometry;
    double fill = (double)tally->set / ((double)tally->lines * sn_geometry_cells(g));
    double lines = (double)sn_geometry_lines(g);
    double keys = sn_plan_keys(g, fill);
    double hits = keys * g->spread * g->probes / (lines * sn_geometry_cells(g));
    double same = hits > 1e-6 ? expm1(hits) / hits - 1 : 0, probes = g->probes;
    return (sn_sample){.keys = sn_layers_news(layer, keys),
                       .per_line = keys * g->spread / lines,
                       .lines = (double)tally->lines,
                       .rate = sn_tally_rate(g, tally),
                       .unit = lines / ((double)tally->lines * g->spread),
                       .variance = 1 - (double)tally->lines / lines +
                                   same / probes * (1 + probes * probes / sn_geometry_cells(g))};
}

sn_sample sn_local_sample(const sn_layer *layer, const char *bits, uint64_t most)
{
    const sn_geometry *g = &layer->geometry;
    double lines = (double)sn_geometry_lines(g);
    uint64_t sampled = SN_SAMPLE_QUICK;
    sn_tally tally = look(g, bits, sampled);
    while (tally.set < (uint64_t)SN_SAMPLE_ENOUGH * g->probes && (double)tally.lines < lines &&
           sampled < most) {
        sampled *= 4;
        tally = look(g, bits, sampled);
    }
    return sn_local_tell(layer, &tally);
}

double sn_local_deviation(const sn_sample *sample, double keys)
{
    return sample->unit * sqrt(keys / sample->unit * sample->variance + 1) + 1;
}

bool sn_local_credible(const sn_sample *sample, uint64_t told)
{
    double keys = (double)told;
    /* Poisson numbers go further up than down: five would be doubted once in 70,000 times. */
    double most = 6 * sn_local_deviation(sample, keys);
    return keys <= sample->keys + most && keys >= sample->keys * (1 - sample->rate) - most;
}

/* Where lines hold many keys by the deviation of a sample, also if all lines were looked at. */
uint64_t sn_local_safely(seen_growth growth, const sn_sample *sample)
{
    double off = sn_local_deviation(sample, sample->keys);
    if (sample->per_line > 1)
        off = sample->keys / sqrt(sample->per_line * sample->lines) + 1;
    double keys = sample->keys + (growth == SEEN_WINDOW ? -off : off);
    return keys > 0 ? (uint64_t)keys : 0;
}

/* The sum of two counters counts common keys twice; the cells know better. There are as many as the
 * larger one says, unless a window has turned since and emptied the generation. */
uint64_t sn_local_unite(seen_growth growth, const sn_sample *sample, uint64_t mine, uint64_t theirs)
{
    uint64_t safe = sn_local_safely(growth, sample), sum = mine + theirs;
    uint64_t least = mine > theirs ? mine : theirs;
    if (safe < least && sn_local_credible(sample, least))
        safe = least;
    return sum < safe ? sum : safe;
}

/* A key that is mistaken for one that is there is not counted when it comes, and may be counted
 * when it or the other one goes. Both happen as often, and the counter walks at random, by the root
 * of twice the mistakes. The cells do not walk, but tell a number that is a little off: at 1% as
 * much as the counter after four times the capacity has gone. Up to there it is left alone. From
 * there on it is drawn to what the cells tell, a quarter of the way for every half of the capacity,
 * so that neither error shows. (In a layer of many lines the walk is nothing, and a sample would
 * tell less.) */
void sn_local_recount(sn_local *l, const sn_view *view, uint64_t removed)
{
    const sn_layer *layer = &view->image.layer[view->image.current];
    l->removed += removed;
    if (l->removed / 4 < layer->capacity || sn_geometry_lines(&layer->geometry) > SN_SAMPLE_CAREFUL)
        return;
    l->removed = 4 * layer->capacity - (layer->capacity + 1) / 2;
    sn_tally tally = look(&layer->geometry, view->bits[view->image.current], SN_SAMPLE_CAREFUL);
    sn_sample sample = sn_local_tell(layer, &tally);
    uint64_t *added = &l->added[view->image.current];
    double told = (double)__atomic_load_n(added, __ATOMIC_RELAXED);
    __atomic_store_n(added, (uint64_t)lround(told + (sample.keys - told) / 4), __ATOMIC_RELAXED);
}

uint64_t sn_local_believe(const sn_local *l, const sn_view *view, uint32_t i, uint64_t told)
{
    sn_sample sample = sn_local_sample(&view->image.layer[i], view->bits[i], SN_SAMPLE_QUICK);
    return sn_local_credible(&sample, told) ? told : sn_local_safely(l->base.growth, &sample);
}
