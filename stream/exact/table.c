/* The exact table: five entries of 96 bits per cache line. */
#include "stream/exact/table.h"

#include "stream/exact/table_add.h"
#include "stream/exact/table_find.h"
#include "stream/exact/table_grow.h"

#include <math.h>

/* In most lists new keys become rarer: of n keys about n^b are distinct, where b is the current
 * share of new keys divided by their share so far. If they do not become rarer, b is 1 or more, and
 * the current share is used for the keys to come. */
uint64_t sn_forecast_add(sn_forecast *f, const seen_answer *answers, size_t count, double expected)
{
    size_t fresh = 0;
    for (size_t i = 0; i < count; i++)
        fresh += answers[i] == SEEN_NEW;
    f->keys += count;
    f->fresh += fresh;
    /* Averaged over about the last tenth of the keys. */
    double now = (double)fresh / (double)(count + 1);
    double weight = 10.0 * (double)count / (double)(f->keys + 1);
    f->recent += (now - f->recent) * (weight < 1 ? weight : 1);
    double keys = (double)f->keys, so_far = (double)f->fresh;
    if (expected <= keys || !f->fresh)
        return 0;
    double b = f->recent * keys / so_far;
    double likely =
        b < 1 ? so_far * pow(expected / keys, b) : so_far + (expected - keys) * f->recent;
    return (uint64_t)likely;
}
