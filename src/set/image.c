/* The image: everything about a set but its bits, in the form that is stored. */
#include "set/image.h"

#include "filter/plan.h"
#include "hash/hash.h"

#include <math.h>

static const unsigned char MAGIC[8] = {0x89, 'S', 'E', 'E', 'N', '\r', '\n', 0x1a};

enum { LAYERS_AT = 128, LAYER_BYTES = 64, CHECKSUM_AT = SN_IMAGE_BYTES - 8 };

uint64_t sn_rate_to64(double rate)
{
    double scaled = ldexp(rate, 64);
    return scaled >= 18446744073709549568.0 ? UINT64_MAX : scaled < 1 ? 1 : (uint64_t)scaled;
}

double sn_rate_from64(uint64_t rate64)
{
    return ldexp((double)rate64, -64);
}

bool sn_image_is_magic(const unsigned char *head, size_t len)
{
    return len >= sizeof MAGIC && memcmp(head, MAGIC, sizeof MAGIC) == 0;
}

void sn_image_encode(const sn_image *image, unsigned char page[SN_IMAGE_BYTES])
{
    memset(page, 0, SN_IMAGE_BYTES);
    memcpy(page, MAGIC, sizeof MAGIC);
    sn_store32(page + 8, SEEN_FORMAT_VERSION);
    sn_store32(page + 12, SN_IMAGE_BYTES);
    sn_store32(page + 16, (uint32_t)image->kind);
    sn_store32(page + 20, (uint32_t)image->growth);
    sn_store32(page + 24, (uint32_t)image->hash);
    sn_store32(page + 28, (uint32_t)image->when_full);
    sn_store64(page + 32, image->seed[0]);
    sn_store64(page + 40, image->seed[1]);
    sn_store64(page + 48, image->capacity);
    sn_store64(page + 56, image->rate64);
    sn_store32(page + 64, image->generations);
    sn_store32(page + 68, image->layers);
    sn_store64(page + 72, image->window_seconds);
    sn_store32(page + 80, image->current);
    sn_store64(page + 88, image->sequence);
    for (uint32_t i = 0; i < image->layers; i++) {
        const sn_layer *layer = &image->layer[i];
        unsigned char *at = page + LAYERS_AT + i * LAYER_BYTES;
        sn_store64(at, layer->offset);
        sn_store64(at + 8, layer->capacity);
        sn_store64(at + 16, layer->rate64);
        sn_store64(at + 24, layer->born);
        sn_store32(at + 32, layer->geometry.spread);
        sn_store32(at + 36, layer->geometry.probes);
        sn_store64(at + 40, layer->geometry.shards);
        sn_store64(at + 48, layer->geometry.shard_lines);
        sn_store64(at + 56, layer->generation);
    }
    sn_store64(page + CHECKSUM_AT, sn_hash_checksum(page, CHECKSUM_AT));
}

static bool layer_decode(const unsigned char *at, seen_kind kind, uint64_t end, uint64_t file_bytes,
                         sn_layer *layer)
{
    *layer = (sn_layer){
        .geometry = {.kind = kind,
                     .spread = sn_load32(at + 32),
                     .probes = sn_load32(at + 36),
                     .shards = sn_load64(at + 40),
                     .shard_lines = sn_load64(at + 48)},
        .offset = sn_load64(at),
        .capacity = sn_load64(at + 8),
        .rate64 = sn_load64(at + 16),
        .born = sn_load64(at + 24),
        .generation = sn_load64(at + 56),
    };
    if (!sn_geometry_valid(&layer->geometry) || layer->capacity == 0 ||
        layer->capacity > SN_PLAN_KEYS_MAX || layer->rate64 == 0)
        return false;
    uint64_t bytes = sn_geometry_bytes(&layer->geometry);
    if (layer->offset < end || layer->offset % SN_IMAGE_ALIGN != 0 ||
        layer->offset > UINT64_MAX / 2)
        return false;
    return file_bytes == 0 || layer->offset + bytes <= file_bytes;
}

static bool numbers_agree(const sn_image *image)
{
    bool window = image->growth == SEEN_WINDOW;
    if ((unsigned)image->kind > SEEN_COUNTING || (unsigned)image->growth > SEEN_WINDOW ||
        (unsigned)image->hash > SEEN_SIPHASH || (unsigned)image->when_full > SEEN_FULL_GO_ON)
        return false;
    if (image->layers == 0 || image->layers > SN_IMAGE_LAYERS || image->current >= image->layers)
        return false;
    if (image->growth == SEEN_FIXED && image->layers != 1)
        return false;
    if (image->growth == SEEN_GROWING && image->current != image->layers - 1)
        return false;
    if (window && (image->generations < 2 || image->generations > SN_GENERATIONS_MAX ||
                   image->layers != image->generations))
        return false;
    return image->capacity != 0 && image->capacity <= SN_PLAN_KEYS_MAX && image->rate64 != 0 &&
           image->window_seconds <= SN_WINDOW_SECONDS_MAX;
}

/* The generations of a window turn: the lines of any may come to the place of any other. */
static bool same_lines(const sn_geometry *a, const sn_geometry *b)
{
    return a->spread == b->spread && a->probes == b->probes && a->shards == b->shards &&
           a->shard_lines == b->shard_lines;
}

bool sn_image_decode(const unsigned char page[SN_IMAGE_BYTES], uint64_t file_bytes, sn_image *image,
                     const char **why)
{
    if (!sn_image_is_magic(page, SN_IMAGE_BYTES)) {
        *why = "it is not a seen filter; check the name";
        return false;
    }
    if (sn_load64(page + CHECKSUM_AT) != sn_hash_checksum(page, CHECKSUM_AT)) {
        *why = "its header is damaged (the checksum does not match)" SN_IMAGE_ANEW;
        return false;
    }
    if (sn_load32(page + 8) != SEEN_FORMAT_VERSION || sn_load32(page + 12) != SN_IMAGE_BYTES) {
        *why = "it was written by another version of the format; use the seen that made it";
        return false;
    }
    sn_image out = {
        .kind = (seen_kind)sn_load32(page + 16),
        .growth = (seen_growth)sn_load32(page + 20),
        .hash = (seen_hash_kind)sn_load32(page + 24),
        .when_full = (seen_when_full)sn_load32(page + 28),
        .seed = {sn_load64(page + 32), sn_load64(page + 40)},
        .capacity = sn_load64(page + 48),
        .rate64 = sn_load64(page + 56),
        .generations = sn_load32(page + 64),
        .layers = sn_load32(page + 68),
        .window_seconds = sn_load64(page + 72),
        .current = sn_load32(page + 80),
        .sequence = sn_load64(page + 88),
    };
    *why = "its header holds impossible numbers" SN_IMAGE_ANEW;
    if (!numbers_agree(&out))
        return false;
    uint64_t end = SN_IMAGE_DATA_AT;
    for (uint32_t i = 0; i < out.layers; i++) {
        if (!layer_decode(page + LAYERS_AT + i * LAYER_BYTES, out.kind, end, file_bytes,
                          &out.layer[i])) {
            *why = "it is truncated, or its header holds impossible numbers" SN_IMAGE_ANEW;
            return false;
        }
        if (out.growth == SEEN_WINDOW &&
            !same_lines(&out.layer[i].geometry, &out.layer[0].geometry))
            return false;
        end = out.layer[i].offset + sn_geometry_bytes(&out.layer[i].geometry);
    }
    *image = out;
    return true;
}

bool sn_image_choose(const unsigned char pages[2 * SN_IMAGE_BYTES], uint64_t file_bytes,
                     sn_image *image, const char **why)
{
    bool good = false;
    for (size_t i = 0; i < 2; i++) {
        sn_image read;
        if (sn_image_decode(pages + i * SN_IMAGE_BYTES, file_bytes, &read, why) &&
            (!good || read.sequence > image->sequence)) {
            *image = read;
            good = true;
        }
    }
    return good;
}

static uint64_t align_up(uint64_t x)
{
    return (x + SN_IMAGE_ALIGN - 1) / SN_IMAGE_ALIGN * SN_IMAGE_ALIGN;
}

uint64_t sn_image_end(const sn_image *image)
{
    uint64_t end = SN_IMAGE_DATA_AT;
    for (uint32_t i = 0; i < image->layers; i++)
        end = align_up(image->layer[i].offset + sn_geometry_bytes(&image->layer[i].geometry));
    return end;
}

uint64_t sn_image_lay_out(sn_image *image)
{
    uint64_t at = SN_IMAGE_DATA_AT;
    for (uint32_t i = 0; i < image->layers; i++) {
        image->layer[i].offset = at;
        at = align_up(at + sn_geometry_bytes(&image->layer[i].geometry));
    }
    return at;
}
