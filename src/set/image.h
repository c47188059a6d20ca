/* The image: all metadata of a set, in its stored form.
 *
 * A file starts with two copies of one page (docs/format.md); Redis stores the same values in a
 * hash. Rates are stored as integers: rate64 = floor(rate * 2^64). */
#ifndef SN_SET_IMAGE_H
#define SN_SET_IMAGE_H

#include "filter/geometry.h"
#include "filter/tags.h"

enum {
    SN_IMAGE_BYTES = 4096,
    SN_IMAGE_LAYERS = 48,        /* enough for 10^12 keys from the smallest first layer */
    SN_IMAGE_COUNTERS_AT = 8192, /* one u64 per layer: keys added */
    SN_IMAGE_DATA_AT = 16384,
    SN_IMAGE_ALIGN = 4096,
    SN_GENERATIONS_MAX = 32,
};

/* The longest window by time, in seconds: sums of times and windows must not overflow. */
#define SN_WINDOW_SECONDS_MAX (UINT64_C(1) << 40)

typedef struct sn_layer {
    sn_geometry geometry;
    uint64_t offset;     /* of its first line in a file */
    uint64_t capacity;   /* keys */
    uint64_t rate64;     /* of this layer */
    uint64_t born;       /* when it began to accept keys, seconds since 1970 */
    uint64_t generation; /* counts from 1; 0: not in use yet (a window's spare slots) */
    uint64_t added;      /* keys added so far; not part of the stored page */
} sn_layer;

/* A partition of tag lines. */
typedef struct sn_extent {
    uint64_t offset; /* of its first line in a file, or in the arena of a set in memory */
    uint64_t homes;  /* home lines */
    uint64_t stash_words;
    uint64_t counts[2]; /* tags and stash words in use; not part of the stored page */
} sn_extent;

enum { SN_BOOT_BYTES = 16 };

typedef struct sn_image {
    seen_kind kind;
    seen_growth growth;
    seen_hash_kind hash;
    seen_when_full when_full;
    uint64_t seed[2];
    uint64_t capacity; /* as requested; growing: of the first layer */
    uint64_t rate64;
    uint32_t generations;
    uint64_t window_seconds;
    bool renew;        /* window: every addition renews a key */
    bool wide;         /* growing, in Redis: large steps (sn_layers_next); not in the page */
    uint64_t sequence; /* incremented with every change of the image */
    uint32_t current;  /* the layer that takes new keys */
    char note[SEEN_NOTE_MAX + 1]; /* user text, padded with zeros */
    uint32_t layers;
    sn_layer layer[SN_IMAGE_LAYERS];

    /* A growing set of tag lines (filter/tags.h): extra is not 0, and there are no layers. */
    uint32_t extra;
    /* Boot ID of the system on which a page that was not synced is valid. All zero: durable. */
    unsigned char boot[SN_BOOT_BYTES];
    sn_extent part[SN_TAGS_PARTS];
} sn_image;

static inline bool sn_image_has_tags(const sn_image *image)
{
    return image->extra != 0;
}

static inline uint64_t sn_extent_bytes(const sn_extent *extent)
{
    return sn_tags_bytes(extent->homes, extent->stash_words);
}

uint64_t sn_image_rate_to64(double rate);
double sn_image_rate_from64(uint64_t rate64);

/* What to do about a file that is damaged: the end of a reason. */
#define SN_IMAGE_RESTORE "; restore it from a backup, or create it again"

/* Encodes a page; decodes and validates one. `file_bytes` limits the offsets of layers; 0: unknown.
 * *why is set to the reason and what to do about it. */
void sn_image_encode(const sn_image *image, unsigned char page[SN_IMAGE_BYTES]);
bool sn_image_decode(const unsigned char page[SN_IMAGE_BYTES], uint64_t file_bytes, sn_image *image,
                     const char **why);

/* The better of the two header pages of a file, on a system with this boot ID. */
bool sn_image_choose(const unsigned char pages[2 * SN_IMAGE_BYTES], uint64_t file_bytes,
                     const unsigned char boot[SN_BOOT_BYTES], sn_image *image, const char **why);

/* The format version of a file with this image: 1 for layers, 2 for tag lines. */
uint32_t sn_image_version(const sn_image *image);

/* Whether these are the first bytes of a filter file. */
bool sn_image_is_magic(const unsigned char *head, size_t len);

/* Assigns an offset to every layer or partition, one after the other; returns the size of the
 * file. */
uint64_t sn_image_lay_out(sn_image *image);
/* The offset after the last layer or partition. */
uint64_t sn_image_end(const sn_image *image);

#endif
