/* Estimates the number of keys in a layer from a sample of its lines.
 *
 * A key touches g lines, uniformly distributed. With S sampled lines out of L, one touch represents
 * u = L / (g S) keys. The number of touches t is Poisson-distributed, so the estimate u t has the
 * standard deviation u sqrt(t). If all lines are sampled all touches are known: the variance is
 * multiplied by 1 - S / L.
 *
 * Touches that hit the same cells cannot be distinguished: with x hits per cell, q cells per touch
 * and C cells per line (e^x - 1 - x) / (x q) is added, and q q / C of that, because lines with more
 * touches than others have more such collisions. A half full layer with q = 6 and C = 512 has 1.08
 * times the variance of the touches, and 0.08 times if all lines are sampled.
 *
 * Few touches carry little information, and zero touches do not prove that there are no keys: one
 * is added under the root. A counter is compared using the deviation implied by its own value,
 * because the question is whether this sample could come from that many keys. The counter counts
 * keys reported as new: it may be too low by the number of false positives of the layer. */
#include "filter/plan.h"
#include "local/local.h"
#include "set/layers.h"

#include <math.h>

enum { RUN = 64 };

/* Samples whole pages, because a page that is not in memory costs a disk read: keys are spread
 * uniformly over the lines, so adjacent lines are as good a sample as any. */
static sn_tally tally_sample(const sn_geometry *g, const char *bits, uint64_t sampled)
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

sn_sample sn_sample_from_tally(const sn_layer *layer, const sn_tally *tally)
{
    const sn_geometry *g = &layer->geometry;
    double fill = (double)tally->set / ((double)tally->lines * sn_geometry_cells(g));
    double lines = (double)sn_geometry_lines(g);
    double keys = sn_plan_keys(g, fill);
    double hits = keys * g->spread * g->probes / (lines * sn_geometry_cells(g));
    double same = hits > 1e-6 ? expm1(hits) / hits - 1 : 0, probes = g->probes;
    return (sn_sample){.keys = sn_layers_new_keys(layer, keys),
                       .per_line = keys * g->spread / lines,
                       .lines = (double)tally->lines,
                       .rate = sn_tally_rate(g, tally),
                       .unit = lines / ((double)tally->lines * g->spread),
                       .variance = 1 - (double)tally->lines / lines +
                                   same / probes * (1 + probes * probes / sn_geometry_cells(g))};
}

sn_sample sn_sample_layer(const sn_layer *layer, const char *bits, uint64_t most)
{
    const sn_geometry *g = &layer->geometry;
    double lines = (double)sn_geometry_lines(g);
    uint64_t sampled = SN_SAMPLE_QUICK;
    sn_tally tally = tally_sample(g, bits, sampled);
    while (tally.set < (uint64_t)SN_SAMPLE_ENOUGH * g->probes && (double)tally.lines < lines &&
           sampled < most) {
        sampled *= 4;
        tally = tally_sample(g, bits, sampled);
    }
    return sn_sample_from_tally(layer, &tally);
}

double sn_sample_deviation(const sn_sample *sample, double keys)
{
    return sample->unit * sqrt(keys / sample->unit * sample->variance + 1) + 1;
}

bool sn_sample_plausible(const sn_sample *sample, uint64_t stored)
{
    double keys = (double)stored;
    /* The Poisson distribution is skewed upwards: with a factor of five, one in 70,000 correct
     * counters would be rejected. */
    double most = 6 * sn_sample_deviation(sample, keys);
    return keys <= sample->keys + most && keys >= sample->keys * (1 - sample->rate) - most;
}

/* If lines hold many keys, also adds the deviation of a sample if all lines were read. */
uint64_t sn_sample_safe_count(seen_growth growth, const sn_sample *sample)
{
    double off = sn_sample_deviation(sample, sample->keys);
    if (sample->per_line > 1)
        off = sample->keys / sqrt(sample->per_line * sample->lines) + 1;
    double keys = sample->keys + (growth == SEEN_WINDOW ? -off : off);
    return keys > 0 ? (uint64_t)keys : 0;
}

/* The sum of two counters counts common keys twice; the cells give a better estimate. There are at
 * least as many as the larger counter, unless a window has rotated and cleared the generation. */
uint64_t sn_sample_merge_counters(seen_growth growth, const sn_sample *sample, uint64_t mine,
                                  uint64_t theirs)
{
    uint64_t safe = sn_sample_safe_count(growth, sample), sum = mine + theirs;
    uint64_t least = mine > theirs ? mine : theirs;
    if (safe < least && sn_sample_plausible(sample, least))
        safe = least;
    return sum < safe ? sum : safe;
}

/* A false positive is not counted when it is added, and may be counted when it or the other key is
 * removed. Both are equally frequent, so the counter performs a random walk, by the root of twice
 * the number of false positives. The estimate from the cells does not drift, but has a fixed error:
 * at 1% as large as that of the counter after four times the capacity was removed. Up to there the
 * counter is kept. After that it is moved towards the estimate, by a quarter for every half of the
 * capacity, which bounds both errors. (In a layer of many lines the drift is negligible, and a
 * sample would be less accurate.) */
void sn_sample_recount(sn_local *l, const sn_view *view, uint64_t removed)
{
    const sn_layer *layer = &view->image.layer[view->image.current];
    l->removed += removed;
    if (l->removed / 4 < layer->capacity || sn_geometry_lines(&layer->geometry) > SN_SAMPLE_CAREFUL)
        return;
    l->removed = 4 * layer->capacity - (layer->capacity + 1) / 2;
    sn_tally tally =
        tally_sample(&layer->geometry, view->bits[view->image.current], SN_SAMPLE_CAREFUL);
    sn_sample sample = sn_sample_from_tally(layer, &tally);
    uint64_t *added = &l->added[view->image.current];
    double stored = (double)__atomic_load_n(added, __ATOMIC_RELAXED);
    __atomic_store_n(added, (uint64_t)lround(stored + (sample.keys - stored) / 4),
                     __ATOMIC_RELAXED);
}

uint64_t sn_sample_check_counter(const sn_local *l, const sn_view *view, uint32_t i,
                                 uint64_t stored)
{
    sn_sample sample = sn_sample_layer(&view->image.layer[i], view->bits[i], SN_SAMPLE_QUICK);
    return sn_sample_plausible(&sample, stored) ? stored
                                                : sn_sample_safe_count(l->base.growth, &sample);
}
