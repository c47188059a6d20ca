/* Fill and error rate of a set in Redis: from all of a small one, from a sample of a large one. */
#include "base/error.h"
#include "filter/kernel.h"
#include "filter/plan.h"
#include "local/lookup.h"
#include "redis/shards.h"
#include "set/layers.h"

#include <math.h>
#include <stdlib.h>

enum {
    WHOLE_BYTES = 16 << 20, /* up to this size a filter is measured completely */
    SAMPLE_SHARDS = 32,
    SAMPLE_LINES = 1024,
};

typedef struct measure {
    double rate, set, cells; /* of the layer */
    sn_tally tally;          /* of the sampled lines */
    bool sampled;
} measure;

/* Counts the cells of a layer: all lines of all shards, or some lines of some. */
static seen_status measure_layer(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                 uint32_t layer, bool whole, char *lines, measure *m,
                                 seen_error *error)
{
    const sn_geometry *g = &view->image.layer[layer].geometry;
    uint64_t shards = whole || g->shards < SAMPLE_SHARDS ? g->shards : SAMPLE_SHARDS;
    uint64_t parts = g->probes == 1 ? 1 : g->spread, part = g->shard_lines / parts;
    double cells = 0, counted = 0;
    for (uint64_t s = 0; s < shards; s++) {
        uint64_t shard = s * g->shards / shards;
        sn_tally tally = {0};
        for (uint64_t p = 0; p < parts; p++) {
            uint64_t n = whole || part < SAMPLE_LINES ? part : SAMPLE_LINES;
            uint64_t from = shard * g->shard_lines + p * part + (n < part ? (part - n) / 2 : 0);
            for (uint64_t at = 0; at < n; at += SN_COPY_LINES) {
                uint64_t now = n - at < SN_COPY_LINES ? n - at : SN_COPY_LINES;
                seen_status status = sn_redis_fetch(set, ch, layer, from + at, now, lines, error);
                if (status != SEEN_OK)
                    return status;
                sn_tally_lines(g, lines, now, &tally);
            }
            m->sampled |= n < part;
        }
        m->rate += sn_tally_rate(g, &tally) / (double)shards;
        counted += (double)tally.set;
        m->tally.set += tally.set;
        m->tally.lines += tally.lines;
        m->tally.cover += tally.cover;
        cells += (double)tally.lines * sn_geometry_cells(g);
    }
    m->sampled |= shards < g->shards;
    m->cells = (double)sn_geometry_lines(g) * sn_geometry_cells(g);
    m->set = counted / cells * m->cells;
    return SEEN_OK;
}

static char *line_buffer(const sn_redis_set *set, seen_error *error)
{
    char *lines = aligned_alloc(SN_LINE_BYTES, (size_t)SN_COPY_LINES * SN_LINE_BYTES);
    if (!lines)
        sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", set->base.where);
    return lines;
}

/* If a sample has found few keys all lines are read, unless there are too many. */
seen_status sn_redis_estimate(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                              uint32_t layer, sn_sample *sample, seen_error *error)
{
    const sn_geometry *g = &view->image.layer[layer].geometry;
    char *lines = line_buffer(set, error);
    if (!lines)
        return SEEN_ERR_MEMORY;
    measure m = {0};
    seen_status status = measure_layer(set, ch, view, layer, false, lines, &m, error);
    if (status == SEEN_OK && m.sampled && sn_geometry_bytes(g) <= WHOLE_BYTES &&
        m.tally.set < (uint64_t)SN_SAMPLE_ENOUGH * g->probes) {
        m = (measure){0};
        status = measure_layer(set, ch, view, layer, true, lines, &m, error);
    }
    free(lines);
    if (status == SEEN_OK)
        *sample = sn_sample_from_tally(&view->image.layer[layer], &m.tally);
    return status;
}

/* Whether a recount is due, as in memory. */
static bool recount_due(sn_redis_set *set, uint64_t capacity, uint64_t removed)
{
    pthread_mutex_lock(&set->lock);
    set->removed += removed;
    bool due = set->removed / 4 >= capacity;
    if (due)
        set->removed = 4 * capacity - (capacity + 1) / 2;
    pthread_mutex_unlock(&set->lock);
    return due;
}

/* Errors are ignored: the keys are removed, and the counter is no worse than before. */
void sn_redis_recount(sn_redis_set *set, sn_channel *ch, uint64_t removed)
{
    sn_redis_view view = sn_redis_get_view(set);
    uint32_t current = view.image.current;
    const sn_layer *layer = &view.image.layer[current];
    if (sn_geometry_bytes(&layer->geometry) > WHOLE_BYTES ||
        !recount_due(set, layer->capacity, removed))
        return;
    uint64_t low, high;
    measure m = {0};
    char *lines = line_buffer(set, NULL);
    if (!lines || sn_redis_flush_counts(set, ch, NULL) != SEEN_OK ||
        sn_redis_read_bounds(ch, &view, current, &low, &high, NULL) != SEEN_OK ||
        measure_layer(set, ch, &view, current, true, lines, &m, NULL) != SEEN_OK)
        goto out;
    double keys = sn_sample_from_tally(layer, &m.tally).keys;
    uint64_t told = keys < (double)low ? low : keys > (double)high ? high : (uint64_t)keys;
    double drawn = (double)told + (keys - (double)told) / 4;
    if (keys < (double)low || keys > (double)high)
        sn_redis_adjust_count(ch, &view, current, lround(drawn) - (int64_t)told, NULL);
out:
    free(lines);
}

seen_status sn_redis_measure(seen_set *base, seen_info *info, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    seen_status status = sn_client_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    char *lines = line_buffer(set, error);
    if (!lines)
        status = SEEN_ERR_MEMORY;
    sn_redis_view view = sn_redis_get_view(set);
    double wrong = 0, keys = 0, set_cells = 0, cells = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < view.image.layers; i++)
        bytes += sn_geometry_bytes(&view.image.layer[i].geometry);
    bool sampled = false;
    for (uint32_t i = 0; i < view.image.layers && status == SEEN_OK; i++) {
        measure m = {0};
        if (!sn_layers_live(&view.image, i))
            continue;
        status = measure_layer(set, ch, &view, i, bytes <= WHOLE_BYTES, lines, &m, error);
        if (status != SEEN_OK)
            break;
        double here = sn_plan_keys(&view.image.layer[i].geometry, m.set / m.cells);
        keys += sn_layers_keys(&view.image, here, wrong);
        wrong += m.rate * (1 - wrong); /* 1 - (1 - wrong) * (1 - rate), without cancellation */
        set_cells += m.set;
        cells += m.cells;
        sampled |= m.sampled;
    }
    sn_client_return(set->redis, ch);
    free(lines);
    if (status != SEEN_OK)
        return status;
    info->fill = cells > 0 ? set_cells / cells : 0;
    info->keys_estimated = keys;
    info->error_rate_now = wrong;
    info->sampled = sampled;
    return SEEN_OK;
}
