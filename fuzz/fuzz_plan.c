/* Any parameters: refused with a reason, or a valid geometry that fulfils them. */
#include "filter/plan.h"
#include "seen.h"
#include "set/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static void check_plan(const seen_parameters *w, const seen_plan *p)
{
    sn_geometry g = sn_plan_to_geometry(p);
    check(sn_geometry_valid(&g));
    check(p->capacity >= 1 && p->capacity <= SN_PLAN_KEYS_MAX);
    check(p->predicted_rate >= 0 && p->predicted_rate <= 1);
    check(p->predicted_rate <= p->error_rate * (1 + 1e-6));
    check(p->predicted_rate == seen_plan_rate(p, (double)p->capacity));
    check(p->bits == p->lines * 512 && p->bytes == p->lines * 64);
    check(p->hashes == p->spread * p->probes && p->kind == w->kind);
    check(!w->capacity || p->capacity == w->capacity);
    check(w->error_rate == 0 || p->error_rate == w->error_rate);
    check(!w->bits || p->bits <= (w->bits < 512 ? 512 : w->bits));
    check(!w->hashes || p->hashes == w->hashes);
    check(isfinite(p->bits_per_key) && isfinite(p->classic_bits) && isfinite(p->overhead));
}

/* The same parameters as options of a set: a valid image, or a reason. */
static void check_options(const seen_parameters *w, uint8_t more)
{
    seen_options o = {.size = sizeof o,
                      .kind = w->kind,
                      .growth = (seen_growth)(more % 3),
                      .capacity = w->capacity,
                      .error_rate = w->error_rate,
                      .bits = w->bits,
                      .hashes = w->hashes,
                      .generations = more / 3};
    sn_image image;
    seen_error e = {0};
    if (sn_layers_begin(&o, &image, &e) != SEEN_OK) {
        check(strlen(e.message) > 10);
        return;
    }
    unsigned char page[SN_IMAGE_BYTES];
    const char *why = NULL;
    sn_image back;
    sn_image_encode(&image, page);
    check(sn_image_decode(page, 0, &back, &why));
    if (image.growth == SEEN_GROWING && image.layers < SN_IMAGE_LAYERS) {
        sn_layer next;
        if (sn_layers_next(&image, &next, &e) == SEEN_OK)
            check(sn_geometry_valid(&next.geometry) && next.capacity > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t raw[40] = {0};
    memcpy(raw, data, size < sizeof raw ? size : sizeof raw);
    seen_parameters w = {.size = sizeof w, .kind = (seen_kind)(raw[0] % 2)};
    memcpy(&w.capacity, raw + 1, 8);
    memcpy(&w.error_rate, raw + 9, 8);
    memcpy(&w.bits, raw + 17, 8);
    memcpy(&w.hashes, raw + 25, 4);
    /* Most values are mapped to realistic ranges. */
    if (raw[0] & 2)
        w.capacity >>= raw[29] % 64;
    if (raw[0] & 4)
        w.error_rate = ldexp((double)(raw[9] | 1), -8 - raw[10] % 64);
    if (raw[0] & 8)
        w.bits >>= raw[30] % 64;
    if (raw[0] & 16)
        w.hashes %= 70;
    if (raw[31] & 1)
        w.capacity = 0;
    if (raw[31] & 2)
        w.error_rate = 0;
    if (raw[31] & 4)
        w.bits = 0;
    if (raw[31] & 8)
        w.hashes = 0;
    seen_plan plan = {.lines = 4711};
    seen_error e = {0};
    if (seen_plan_make(&w, &plan, &e) == SEEN_OK)
        check_plan(&w, &plan);
    else
        check(plan.lines == 4711 && e.status == SEEN_ERR_ARGUMENT && strlen(e.message) > 20);
    /* Planning dominates the time: do it once per input. */
    if (raw[33] % 2 == 0)
        check_options(&w, raw[32]);
    return 0;
}
