/* How a set grows.
 *
 * Growing (Almeida, Baquero, Preguica and Hutchison, Scalable Bloom Filters, 2007): when the last
 * layer is full a new one is opened. An absent key is a false positive if it is one in any layer,
 * so the rates of the layers must sum to the error rate of the set for any number of layers.
 * Halving a rate costs every key of the layer 1.44 bits, so a geometric series makes the last
 * layers expensive, which hold most of the keys. There are at most 48 layers: the first 25, which
 * suffice from the smallest set to 10^9 keys, share 85 percent of the error rate equally, and the
 * others the rest. A given capacity is usually accurate: then the first layer gets four tenths, and
 * slightly more memory instead of more lines and cells per key, so that it is as fast as a fixed
 * set; the others share the rest in the same way.
 *
 * Large steps waste memory that is not filled yet, small steps need many layers, and each costs
 * time and requires a lower rate. The capacity grows by a constant factor, an integer root of ten,
 * and starts at one of its powers: round numbers of keys just fit and are the cheapest. With a
 * small given capacity the factor is larger, so that 48 layers reach 10^12 keys from there, too.
 *
 *     memory
 *       |                  ______________
 *       |         ________|  layer 2     |   each column: a filter with the capacity of two
 *       |  ______| layer 1|              |   fifths of all before it (three fifths if
 *       | | l. 0 |        |              |   the rate is low: a further layer is cheap there)
 *       +-----------------------------------> keys
 *
 * Window: g generations, of which g - 1 hold the requested window and one is being filled; each
 * gets 1/g of the error rate. */
#include "set/layers.h"

#include "base/clock.h"
#include "base/error.h"
#include "filter/plan.h"

#include <math.h>

#define FIRST_LAYER_BITS (UINT64_C(16) << 20) /* a huge page */
#define FIRST_GIVEN 0.4

/* Below this the last layers would get less than the lowest supported rate. */
#define RATE_STRICT 1e-15

/* The share of the remaining error rate that layer i gets. */
static double share(uint32_t i, double rate)
{
    enum { NEAR = 25 };
    static const double FAR_PART = 0.15;
    if (i >= NEAR || rate < RATE_STRICT)
        return 1.0 / (SN_IMAGE_LAYERS - i);
    double each = (1 - FAR_PART) / NEAR;
    return each / (1 - i * each);
}

/* The number of steps per factor of ten in capacity. */
static double steps_of(double rate)
{
    return rate > 1e-5 ? 7 : 5;
}

/* The largest capacity in the series that is not above `keys`; one percent more than a round
 * number, because the keys of the batch that fills a layer come on top. */
static uint64_t round_capacity(double keys, double rate)
{
    double steps = steps_of(rate);
    return (uint64_t)(1.01 * pow(10, floor(log10(keys / 1.01) * steps) / steps));
}

static seen_status too_strict(seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_ARGUMENT,
                        "the error rate is too low to be shared by all layers; use 1e-12 or more");
}

static seen_status make_layer(sn_layer *layer, seen_kind kind, double capacity, double rate,
                              seen_error *error)
{
    if (capacity > (double)SN_PLAN_KEYS_MAX)
        return sn_error_set(error, SEEN_ERR_FULL, "a set holds at most 10^12 keys; use several");
    *layer = (sn_layer){.capacity = (uint64_t)capacity, .rate64 = sn_image_rate_to64(rate)};
    return sn_plan_geometry(kind, capacity, rate, &layer->geometry) ? SEEN_OK : too_strict(error);
}

/* The same layer with fewer lines and cells per key, for slightly more memory. */
static seen_status make_fast(sn_layer *layer, seen_error *error)
{
    static const double MEMORY = 1.12;
    return sn_plan_geometry_fast(layer->geometry.kind, (double)layer->capacity,
                                 sn_image_rate_from64(layer->rate64), MEMORY, &layer->geometry)
               ? SEEN_OK
               : too_strict(error);
}

static uint64_t total_capacity(const sn_image *image)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < image->layers; i++)
        total += image->layer[i].capacity;
    return total;
}

/* The error rate left by all layers before this one. */
static double rate_left(const sn_image *image)
{
    double left = sn_image_rate_from64(image->rate64);
    for (uint32_t i = 0; i < image->layers; i++)
        left -= sn_image_rate_from64(image->layer[i].rate64);
    return left;
}

/* In Redis every layer costs a lookup per command and about 100 bytes, and the memory of small
 * layers does not matter: steps of 4 up to 64 MiB, then of 2. */
#define WIDE_BYTES (UINT64_C(64) << 20)

static uint64_t total_bytes(const sn_image *image)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < image->layers; i++)
        bytes += sn_geometry_bytes(&image->layer[i].geometry);
    return bytes;
}

/* The size of a layer relative to all before it: the usual step, or what is needed to reach 10^12
 * keys with the remaining layers. */
static double step_of(const sn_image *image, double total)
{
    double usual = pow(10, 1 / steps_of(sn_image_rate_from64(image->rate64)));
    if (image->wide)
        usual = total_bytes(image) < WIDE_BYTES ? 4 : 2;
    double least = pow((double)SN_PLAN_KEYS_MAX / total, 1.0 / (SN_IMAGE_LAYERS - image->layers));
    return fmax(usual, least) - 1;
}

seen_status sn_layers_next(const sn_image *image, sn_layer *layer, seen_error *error)
{
    if (image->layers == SN_IMAGE_LAYERS)
        return sn_error_set(error, SEEN_ERR_FULL,
                            "the set has the maximum of 48 layers; create a larger one");
    double left = rate_left(image), total = (double)total_capacity(image);
    if (!(left > 0))
        return too_strict(error);
    double part = image->wide ? 1.0 / 8 : share(image->layers, sn_image_rate_from64(image->rate64));
    double rate = left * part;
    seen_status status =
        make_layer(layer, image->kind, ceil(step_of(image, total) * total), rate, error);
    layer->generation = image->layers + 1;
    return status;
}

/* A false positive is not counted, although the layer was planned for it. Up to this rate that is
 * one key in a hundred, and the rate stays within its bound. */
static bool often_mistaken(const sn_layer *layer)
{
    return sn_image_rate_from64(layer->rate64) > 0.05;
}

double sn_layers_new_keys(const sn_layer *layer, double keys)
{
    double variance;
    return often_mistaken(layer) ? sn_plan_new_keys(&layer->geometry, keys, &variance) : keys;
}

/* By chance there may be fewer false positives: the full capacity must always be accepted. */
uint64_t sn_layers_limit(const sn_layer *layer)
{
    static const double LUCK = 4; /* standard deviations */
    if (!often_mistaken(layer))
        return layer->capacity;
    double capacity = (double)layer->capacity, variance;
    double new_keys = sn_plan_new_keys(&layer->geometry, capacity, &variance);
    return (uint64_t)fmin(capacity, ceil(new_keys + LUCK * sqrt(variance)));
}

uint64_t sn_layers_span(const sn_image *image)
{
    uint64_t parts = image->generations > 1 ? image->generations - 1 : 1;
    return (image->window_seconds + parts - 1) / parts;
}

bool sn_layers_live(const sn_image *image, uint32_t i)
{
    if (image->growth != SEEN_WINDOW)
        return true;
    if (image->layer[i].generation == 0)
        return false;
    if (image->window_seconds == 0)
        return true;
    /* It accepted its last key when its time expired, or before that when the next generation
     * began. */
    uint64_t ended = image->layer[i].born + sn_layers_span(image);
    uint64_t next = image->layer[(i + 1) % image->layers].born;
    if (i != image->current && next < ended)
        ended = next;
    return sn_clock_now() <= ended + image->window_seconds;
}

static seen_status begin_fixed(const seen_options *o, double rate, sn_image *image,
                               seen_error *error)
{
    seen_parameters parameters = {.size = sizeof parameters,
                                  .kind = o->kind,
                                  .capacity = o->capacity,
                                  .error_rate = rate,
                                  .bits = o->bits,
                                  .hashes = o->hashes};
    seen_plan plan;
    seen_status status = seen_plan_make(&parameters, &plan, error);
    if (status != SEEN_OK)
        return status;
    image->capacity = plan.capacity;
    image->rate64 = sn_image_rate_to64(plan.error_rate);
    image->layers = 1;
    image->layer[0] = (sn_layer){.geometry = sn_plan_to_geometry(&plan),
                                 .capacity = plan.capacity,
                                 .rate64 = image->rate64,
                                 .generation = 1};
    return SEEN_OK;
}

/* Whether all further layers get a supported rate. */
static bool shares_enough(const sn_image *image)
{
    double rate = sn_image_rate_from64(image->rate64), left = rate_left(image);
    for (uint32_t i = image->layers; i < SN_IMAGE_LAYERS; i++) {
        double each = left * share(i, rate);
        if (each < SN_PLAN_RATE_MIN)
            return false;
        left -= each;
    }
    return true;
}

/* A table with room for the given capacity, or for about a million keys, with tags long enough for
 * 10^12. At rates above 1% the table for 1% is used: slots shorter than 16 bits would not be
 * faster. */
static seen_status begin_tags(const seen_options *o, double rate, sn_image *image,
                              seen_error *error)
{
    enum { FIRST_LEVEL = 9, FIRST_DOUBLINGS = 4 }; /* 512 home lines a partition */
    if (o->bits || o->hashes)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a growing set takes an error rate, not memory or hashes");
    unsigned step, level = FIRST_LEVEL, extra = 0, before;
    sn_tags_shape shape;
    do { /* the size depends on the extra bits, and they on the size, a little */
        before = extra;
        extra = sn_tags_extra_for(rate, level);
        if (extra == 0)
            return too_strict(error);
        shape = sn_tags_shape_of(extra);
        step = o->capacity ? sn_tags_step_for(&shape, (double)o->capacity)
                           : FIRST_DOUBLINGS * shape.steps;
        level = sn_tags_level(sn_tags_homes_at(&shape, 0, step));
    } while (o->capacity && extra > before);
    uint64_t keys = 0;
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        uint64_t homes = sn_tags_homes_at(&shape, p, step);
        image->part[p] =
            (sn_extent){.homes = homes, .stash_words = sn_tags_stash_words(&shape, homes)};
        keys += sn_tags_limit(&shape, homes);
    }
    image->extra = extra;
    image->rate64 = sn_image_rate_to64(rate);
    image->capacity = o->capacity ? o->capacity : keys;
    return SEEN_OK;
}

static seen_status begin_growing(const seen_options *o, double rate, sn_image *image,
                                 seen_error *error)
{
    if (o->bits || o->hashes)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a growing set takes an error rate, not memory or hashes");
    image->rate64 = sn_image_rate_to64(rate);
    image->capacity = o->capacity;
    double first = rate * (o->capacity ? FIRST_GIVEN : share(0, rate));
    if (!image->capacity) {
        seen_parameters parameters = {.size = sizeof parameters,
                                      .kind = o->kind,
                                      .error_rate = first,
                                      .bits = FIRST_LAYER_BITS};
        seen_plan plan;
        if (seen_plan_make(&parameters, &plan, error) != SEEN_OK)
            return too_strict(error);
        image->capacity = round_capacity((double)plan.capacity, rate);
    }
    image->layers = 1;
    sn_layer *layer = &image->layer[0];
    seen_status status = make_layer(layer, o->kind, (double)image->capacity, first, error);
    layer->generation = 1;
    if (status == SEEN_OK && o->capacity)
        status = make_fast(layer, error);
    if (status == SEEN_OK && !shares_enough(image))
        status = too_strict(error);
    return status;
}

static seen_status begin_window(const seen_options *o, double rate, sn_image *image,
                                seen_error *error)
{
    uint32_t generations = o->generations ? o->generations : 8;
    if (o->kind == SEEN_COUNTING)
        return sn_error_set(
            error, SEEN_ERR_ARGUMENT,
            "a window drops keys by age and cannot be of kind counting; use kind bloom");
    if (generations < 2 || generations > SN_GENERATIONS_MAX)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "a window has 2 to 32 generations");
    if (o->window_seconds > SN_WINDOW_SECONDS_MAX)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a window lasts at most 2^40 seconds; leave the seconds out to keep "
                            "keys by count");
    if (o->bits || o->hashes)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a window takes a capacity and an error rate, not memory or hashes");
    if (!o->capacity)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a window needs a capacity: the number of keys to remember");
    image->capacity = o->capacity;
    image->rate64 = sn_image_rate_to64(rate);
    image->generations = generations;
    image->window_seconds = o->window_seconds;
    image->renew = o->renew;
    image->layers = generations;
    double each = ceil((double)o->capacity / (generations - 1));
    seen_status status = make_layer(&image->layer[0], o->kind, each, rate / generations, error);
    for (uint32_t i = 1; i < generations; i++)
        image->layer[i] = image->layer[0];
    image->layer[0].generation = 1;
    return status;
}

static seen_status check_options(const seen_options *o, seen_error *error)
{
    if (o->size != sizeof *o)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "options->size is not sizeof(seen_options)");
    if ((unsigned)o->kind > SEEN_COUNTING || (unsigned)o->growth > SEEN_WINDOW ||
        (unsigned)o->hash > SEEN_SIPHASH || (unsigned)o->when_full > SEEN_FULL_GO_ON ||
        (unsigned)o->layout > SEEN_LAYOUT_BITMAP)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "an option has an invalid value");
    if (o->error_rate != 0 && !(o->error_rate > 0 && o->error_rate < 1))
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "the error rate must be between 0 and 1, such as 0.01 or 1%%");
    if (o->note && strlen(o->note) > SEEN_NOTE_MAX)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "the note is longer than %d bytes",
                            SEEN_NOTE_MAX);
    if (o->capacity > SN_PLAN_KEYS_MAX)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "the capacity is above 10^12 keys; use several filters");
    return SEEN_OK;
}

static seen_status begin(const seen_options *o, bool tags, sn_image *image, seen_error *error)
{
    seen_status status = check_options(o, error);
    if (status != SEEN_OK)
        return status;
    bool given =
        o->error_rate != 0 || (o->growth == SEEN_FIXED && (o->hashes || (o->bits && o->capacity)));
    double rate = given ? o->error_rate : 0.01;
    *image = (sn_image){.kind = o->kind,
                        .growth = o->growth,
                        .hash = o->hash,
                        .when_full = o->when_full,
                        .sequence = 1};
    if (o->note)
        memcpy(image->note, o->note, strlen(o->note));
    switch (o->growth) {
    case SEEN_GROWING:
        status = tags && o->kind == SEEN_BLOOM ? begin_tags(o, rate, image, error)
                                               : begin_growing(o, rate, image, error);
        break;
    case SEEN_WINDOW:
        status = begin_window(o, rate, image, error);
        break;
    default:
        status = begin_fixed(o, rate, image, error);
    }
    /* A fixed set does not need the time, so that the same keys and seed produce the same file. */
    for (uint32_t i = 0; i < image->layers && o->growth != SEEN_FIXED; i++)
        image->layer[i].born = sn_clock_now();
    if (status == SEEN_OK)
        sn_image_lay_out(image);
    return status;
}

seen_status sn_layers_begin(const seen_options *o, sn_image *image, seen_error *error)
{
    return begin(o, false, image, error);
}

seen_status sn_layers_begin_tags(const seen_options *o, sn_image *image, seen_error *error)
{
    return begin(o, true, image, error);
}

double sn_layers_keys(const sn_image *image, double keys, double wrong)
{
    return image->growth == SEEN_GROWING && wrong < 1 ? keys / (1 - wrong) : keys;
}

bool sn_layers_bounded(const sn_image *image)
{
    if (image->growth == SEEN_WINDOW)
        return image->window_seconds == 0;
    return image->growth == SEEN_GROWING || image->when_full == SEEN_FULL_REFUSE;
}
