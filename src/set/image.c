/* The image: all metadata of a set, in its stored form. */
#include "set/image.h"

#include "filter/plan.h"
#include "hash/hash.h"

#include <math.h>
#include <stdlib.h>

static const unsigned char MAGIC[8] = {0x89, 'S', 'E', 'E', 'N', '\r', '\n', 0x1a};

enum {
    EXTRA_AT = 84, /* version 2 */
    BOOT_AT = 104,
    RECORDS_AT = 128, /* of layers, or of partitions */
    LAYER_BYTES = 64,
    PART_BYTES = 32,
    NOTE_AT = SN_IMAGE_BYTES - 8 - (SEEN_NOTE_MAX + 1),
    CHECKSUM_AT = SN_IMAGE_BYTES - 8,
};

uint64_t sn_image_rate_to64(double rate)
{
    double scaled = ldexp(rate, 64);
    return scaled >= 18446744073709549568.0 ? UINT64_MAX : scaled < 1 ? 1 : (uint64_t)scaled;
}

double sn_image_rate_from64(uint64_t rate64)
{
    return ldexp((double)rate64, -64);
}

bool sn_image_is_magic(const unsigned char *head, size_t len)
{
    return len >= sizeof MAGIC && memcmp(head, MAGIC, sizeof MAGIC) == 0;
}

uint32_t sn_image_version(const sn_image *image)
{
    return sn_image_has_tags(image) ? 2 : 1;
}

/* Whether the page is valid on a system with this boot ID. */
static bool valid_on(const sn_image *image, const unsigned char boot[SN_BOOT_BYTES])
{
    static const unsigned char DURABLE[SN_BOOT_BYTES];
    return memcmp(image->boot, DURABLE, SN_BOOT_BYTES) == 0 ||
           memcmp(image->boot, boot, SN_BOOT_BYTES) == 0;
}

static void tags_encode(const sn_image *image, unsigned char page[SN_IMAGE_BYTES])
{
    sn_store32(page + EXTRA_AT, image->extra);
    memcpy(page + BOOT_AT, image->boot, SN_BOOT_BYTES);
    for (uint32_t p = 0; p < SN_TAGS_PARTS; p++) {
        unsigned char *at = page + RECORDS_AT + (size_t)p * PART_BYTES;
        sn_store64(at, image->part[p].offset);
        sn_store64(at + 8, image->part[p].homes);
        sn_store64(at + 16, image->part[p].stash_words);
    }
}

void sn_image_encode(const sn_image *image, unsigned char page[SN_IMAGE_BYTES])
{
    memset(page, 0, SN_IMAGE_BYTES);
    memcpy(page, MAGIC, sizeof MAGIC);
    sn_store32(page + 8, sn_image_version(image));
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
    /* Files of earlier versions have a zero here and behaved like renew. */
    sn_store32(page + 84, image->growth == SEEN_WINDOW && !image->renew);
    sn_store64(page + 88, image->sequence);
    for (uint32_t i = 0; i < image->layers; i++) {
        const sn_layer *layer = &image->layer[i];
        unsigned char *at = page + RECORDS_AT + i * LAYER_BYTES;
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
    if (sn_image_has_tags(image))
        tags_encode(image, page);
    memcpy(page + NOTE_AT, image->note, sizeof image->note);
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

static uint64_t align_up(uint64_t x)
{
    return (x + SN_IMAGE_ALIGN - 1) / SN_IMAGE_ALIGN * SN_IMAGE_ALIGN;
}

static int by_offset(const void *a, const void *b)
{
    const sn_extent *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Decodes and validates the partitions: each within the file, none overlapping. */
static bool tags_decode(const unsigned char page[SN_IMAGE_BYTES], uint64_t file_bytes,
                        sn_image *image)
{
    sn_extent sorted[SN_TAGS_PARTS];
    for (uint32_t p = 0; p < SN_TAGS_PARTS; p++) {
        const unsigned char *at = page + RECORDS_AT + (size_t)p * PART_BYTES;
        image->part[p] = (sn_extent){
            .offset = sn_load64(at), .homes = sn_load64(at + 8), .stash_words = sn_load64(at + 16)};
        if (!sn_tags_valid(image->extra, image->part[p].homes, image->part[p].stash_words))
            return false;
    }
    memcpy(sorted, image->part, sizeof sorted);
    qsort(sorted, SN_TAGS_PARTS, sizeof *sorted, by_offset);
    uint64_t end = SN_IMAGE_DATA_AT;
    for (uint32_t p = 0; p < SN_TAGS_PARTS; p++) {
        if (sorted[p].offset < end || sorted[p].offset % SN_IMAGE_ALIGN != 0 ||
            sorted[p].offset > UINT64_MAX / 4)
            return false;
        end = sorted[p].offset + sn_extent_bytes(&sorted[p]);
    }
    return file_bytes == 0 || align_up(end) <= file_bytes;
}

static bool tags_agree(const sn_image *image)
{
    return image->kind == SEEN_BLOOM && image->growth == SEEN_GROWING && image->layers == 0 &&
           image->current == 0 && image->generations == 0 && image->window_seconds == 0 &&
           (unsigned)image->hash <= SEEN_SIPHASH && (unsigned)image->when_full <= SEEN_FULL_GO_ON &&
           image->capacity != 0 && image->capacity <= SN_PLAN_KEYS_MAX && image->rate64 != 0;
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

/* The generations of a window rotate: any position may hold the lines of any generation. */
static bool same_lines(const sn_geometry *a, const sn_geometry *b)
{
    return a->spread == b->spread && a->probes == b->probes && a->shards == b->shards &&
           a->shard_lines == b->shard_lines;
}

/* The layers of a file of format 1. */
static bool layers_decode(const unsigned char *page, uint64_t file_bytes, sn_image *image,
                          const char **why)
{
    *why = "its header holds impossible numbers" SN_IMAGE_RESTORE;
    if (!numbers_agree(image))
        return false;
    uint64_t end = SN_IMAGE_DATA_AT;
    for (uint32_t i = 0; i < image->layers; i++) {
        if (!layer_decode(page + RECORDS_AT + i * LAYER_BYTES, image->kind, end, file_bytes,
                          &image->layer[i])) {
            *why = "it is truncated, or its header holds impossible numbers" SN_IMAGE_RESTORE;
            return false;
        }
        if (image->growth == SEEN_WINDOW &&
            !same_lines(&image->layer[i].geometry, &image->layer[0].geometry))
            return false;
        end = image->layer[i].offset + sn_geometry_bytes(&image->layer[i].geometry);
    }
    /* A file is created with a multiple of 4096 bytes. Earlier versions did not round it up when a
     * layer was added. */
    bool grown = image->growth == SEEN_GROWING && image->layers > 1;
    if (file_bytes != 0 && !grown && align_up(end) > file_bytes) {
        *why = "it is truncated" SN_IMAGE_RESTORE;
        return false;
    }
    return true;
}

/* The fields of a page that all versions share; not checked yet. */
static sn_image fields_decode(const unsigned char *page)
{
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
        .renew = sn_load32(page + 20) == SEEN_WINDOW && sn_load32(page + 84) == 0,
        .sequence = sn_load64(page + 88),
    };
    memcpy(out.note, page + NOTE_AT, SEEN_NOTE_MAX); /* the last byte stays zero */
    return out;
}

bool sn_image_decode(const unsigned char page[SN_IMAGE_BYTES], uint64_t file_bytes, sn_image *image,
                     const char **why)
{
    if (!sn_image_is_magic(page, SN_IMAGE_BYTES)) {
        *why = "it is not a seen filter; check the name";
        return false;
    }
    if (sn_load64(page + CHECKSUM_AT) != sn_hash_checksum(page, CHECKSUM_AT)) {
        *why = "its header is damaged (the checksum does not match)" SN_IMAGE_RESTORE;
        return false;
    }
    uint32_t version = sn_load32(page + 8);
    if (version < 1 || version > SEEN_FORMAT_VERSION || sn_load32(page + 12) != SN_IMAGE_BYTES) {
        *why = "it was written by another version of the format; use the seen that made it";
        return false;
    }
    sn_image out = fields_decode(page);
    if (version == 2) {
        out.extra = sn_load32(page + EXTRA_AT);
        memcpy(out.boot, page + BOOT_AT, SN_BOOT_BYTES);
        *why = "it is truncated, or its header holds impossible numbers" SN_IMAGE_RESTORE;
        if (!tags_agree(&out) || !tags_decode(page, file_bytes, &out))
            return false;
        *image = out;
        return true;
    }
    if (!layers_decode(page, file_bytes, &out, why))
        return false;
    *image = out;
    return true;
}

bool sn_image_choose(const unsigned char pages[2 * SN_IMAGE_BYTES], uint64_t file_bytes,
                     const unsigned char boot[SN_BOOT_BYTES], sn_image *image, const char **why)
{
    bool good = false;
    for (size_t i = 0; i < 2; i++) {
        sn_image read;
        if (sn_image_decode(pages + i * SN_IMAGE_BYTES, file_bytes, &read, why) &&
            valid_on(&read, boot) && (!good || read.sequence > image->sequence)) {
            *image = read;
            good = true;
        }
    }
    return good;
}

uint64_t sn_image_end(const sn_image *image)
{
    uint64_t end = SN_IMAGE_DATA_AT;
    for (uint32_t p = 0; sn_image_has_tags(image) && p < SN_TAGS_PARTS; p++) {
        uint64_t past = align_up(image->part[p].offset + sn_extent_bytes(&image->part[p]));
        end = past > end ? past : end;
    }
    for (uint32_t i = 0; i < image->layers; i++)
        end = align_up(image->layer[i].offset + sn_geometry_bytes(&image->layer[i].geometry));
    return end;
}

uint64_t sn_image_lay_out(sn_image *image)
{
    uint64_t at = SN_IMAGE_DATA_AT;
    for (uint32_t p = 0; sn_image_has_tags(image) && p < SN_TAGS_PARTS; p++) {
        image->part[p].offset = at;
        at = align_up(at + sn_extent_bytes(&image->part[p]));
    }
    for (uint32_t i = 0; i < image->layers; i++) {
        image->layer[i].offset = at;
        at = align_up(at + sn_geometry_bytes(&image->layer[i].geometry));
    }
    return at;
}
