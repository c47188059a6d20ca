/* Tag lines: a filter that grows at constant cost per lookup.
 *
 * A key is stored as a tag, a short prefix of its hash, in one of the slots of its home line. A
 * lookup reads the home line, and an overflow line if the home line has overflowed. Slots are
 * filled in order of arrival and never move, so readers need no lock and a crash leaves no partial
 * entries. When a partition is full it is rewritten into a larger one: a tag determines the new
 * lines it belongs to, for any number of lines.
 *
 *     partition  p  = h.hi >> 58                 64 partitions, each with its own size
 *     position   x  = h.hi << 6 | h.lo >> 58     64 bits, followed by the tail h.lo << 6
 *     home line  j  = mulhi(x, homes)            homes: a multiple of 32
 *     level      k  = floor(log2(homes))
 *
 *     block      32 home lines, then 4 overflow lines, 64 bytes each
 *     partition  blocks, then the stash: 64-bit words
 *
 *     line, 512 bits     0            16 slots                                  511
 *                        | lane 0 | lane 1 | ... | extra 0 | extra 1 | ... | 0 | flag |
 *                          16 bits each            E bits each (overflow line: E + 5)
 *
 * A tag has W = 16 + E bits: l <= W - 1 bits of the hash after the first k bits of x, then a marker
 * bit of one, then zeros. Its low 16 bits are the lane, the rest the extra bits. A new key gets l =
 * W - 1; each time the level rises, the first bit of a tag becomes part of the line's address and l
 * decreases by one. A lane of 0 is an empty slot. A tag in an overflow line is preceded by the
 * number of its home line in the block (5 bits).
 *
 * So a tag represents a cell: all positions that begin with its k + l bits. If a new line boundary
 * divides a cell, both lines get the tag; each copy counts for the part of the cell in its own
 * line.
 *
 * The flag of a home line: there are tags of it in the overflow lines. The first of these is line
 * (j >> 3) & 3 of the block's four. The flag of an overflow line: it is full and further tags are
 * in the next one, after all four in the stash. A stash word is the known bits of x, a marker,
 * zeros; it is found by linear probing from block * words / blocks.
 *
 * Order of writes: extra bits, lane; tag, flag. A reader concurrent with one writer per partition
 * sees each tag completely or not at all. Sources: one home line and shared overflow from the
 * prefix filter (Even, Even, Morrison 2022), shrinking tags from the taffy filter (Apple 2022). */
#ifndef SN_FILTER_TAGS_H
#define SN_FILTER_TAGS_H

#include "filter/geometry.h"

enum {
    SN_TAGS_PARTS = 64,
    SN_TAGS_HOMES = 32, /* home lines of a block */
    SN_TAGS_OVERS = 4,  /* overflow lines of a block */
    SN_TAGS_BLOCK = SN_TAGS_HOMES + SN_TAGS_OVERS,
    SN_TAGS_EXTRA_MAX = 40,
    SN_TAGS_LEVEL_MAX = 40,
};

/* Parameters common to all partitions of a set; derived from the extra bits. */
typedef struct sn_tags_shape {
    unsigned extra;      /* E */
    unsigned width;      /* W = 16 + E */
    unsigned slots;      /* of a home line */
    unsigned over_slots; /* of an overflow line */
    unsigned least;      /* minimum bits of a tag */
    unsigned steps;      /* sizes of a partition in each doubling */
    double load;         /* tags for each slot of the home lines when a partition grows */
} sn_tags_shape;

/* A partition in memory owned by the caller. Immutable once readers can see it. */
typedef struct sn_tags_part {
    char *lines;     /* 64-byte aligned */
    uint64_t *stash; /* after the lines */
    uint64_t homes;
    uint64_t stash_words;
    uint64_t limit;   /* number of tags at which it grows */
    uint64_t *counts; /* tags, stash words in use; written by the writer of the partition */
    unsigned level;
} sn_tags_part;

/* Frees a partition whose lines and counts were allocated with malloc. */
void sn_tags_part_free(sn_tags_part *part);

/* Creates a partition in these lines. */
sn_tags_part sn_tags_part_in(const sn_tags_shape *shape, char *lines, uint64_t homes,
                             uint64_t stash_words, uint64_t *counts);

/* All positions that begin with `bits` known bits. */
typedef struct sn_tags_cell {
    sn_u128 start;
    unsigned bits;
} sn_tags_cell;

/* ---- from a hash to its line ---- */

static inline unsigned sn_tags_part_of(seen_hash h)
{
    return (unsigned)(h.hi >> 58);
}

static inline uint64_t sn_tags_position(seen_hash h)
{
    return h.hi << 6 | h.lo >> 58;
}

static inline uint64_t sn_tags_home(const sn_tags_part *part, uint64_t x)
{
    return sn_mulhi(x, part->homes);
}

static inline char *sn_tags_line(const sn_tags_part *part, uint64_t home)
{
    return part->lines + (home + home / SN_TAGS_HOMES * SN_TAGS_OVERS) * SN_LINE_BYTES;
}

static inline char *sn_tags_over(const sn_tags_part *part, uint64_t home, unsigned n)
{
    uint64_t line = home / SN_TAGS_HOMES * SN_TAGS_BLOCK + SN_TAGS_HOMES + n;
    return part->lines + line * SN_LINE_BYTES;
}

/* The first overflow line to probe. */
static inline unsigned sn_tags_first_over(uint64_t home)
{
    return (unsigned)(home >> 3) & (SN_TAGS_OVERS - 1);
}

/* The tag of a new key. Levels are never 0: a partition has at least 32 home lines. */
static inline uint64_t sn_tags_code(unsigned width, unsigned level, seen_hash h)
{
    uint64_t x = sn_tags_position(h), tail = h.lo << 6;
    uint64_t window = x << level | tail >> (64 - level);
    return window >> (65 - width) << 1 | 1;
}

/* ---- lines ---- */

static inline uint64_t sn_tags_word(const char *line, unsigned i)
{
    return le64toh(__atomic_load_n((const uint64_t *)(const void *)line + i, __ATOMIC_RELAXED));
}

static inline void sn_tags_set_word(char *line, unsigned i, uint64_t word)
{
    __atomic_store_n((uint64_t *)(void *)line + i, htole64(word), __ATOMIC_RELEASE);
}

/* The last 32 bits: the flag is the highest. */
static inline uint32_t sn_tags_last(const char *line)
{
    return le32toh(__atomic_load_n((const uint32_t *)(const void *)line + 15, __ATOMIC_RELAXED));
}

static inline uint16_t sn_tags_lane(const char *line, unsigned i)
{
    return le16toh(__atomic_load_n((const uint16_t *)(const void *)line + i, __ATOMIC_RELAXED));
}

/* `count` bits (at most 63) of a line, starting at bit `at`. */
static inline uint64_t sn_tags_bits(const char *line, unsigned at, unsigned count)
{
    unsigned i = at / 64, shift = at % 64;
    uint64_t bits = sn_tags_word(line, i) >> shift;
    if (shift + count > 64)
        bits |= sn_tags_word(line, i + 1) << (64 - shift);
    return bits & ((UINT64_C(1) << count) - 1);
}

static inline void sn_tags_set_bits(char *line, unsigned at, unsigned count, uint64_t bits)
{
    unsigned i = at / 64, shift = at % 64;
    uint64_t mask = (UINT64_C(1) << count) - 1;
    sn_tags_set_word(line, i, (sn_tags_word(line, i) & ~(mask << shift)) | bits << shift);
    if (shift + count > 64) {
        unsigned over = 64 - shift;
        uint64_t next = sn_tags_word(line, i + 1) & ~(mask >> over);
        sn_tags_set_word(line, i + 1, next | bits >> over);
    }
}

/* The tag in slot i of a line with this many slots and extra bits; 0 if it is empty. */
static inline uint64_t sn_tags_slot(const char *line, unsigned i, unsigned slots, unsigned extra)
{
    uint64_t lane = sn_tags_lane(line, i);
    if (lane == 0 || extra == 0)
        return lane;
    return sn_tags_bits(line, 16 * slots + i * extra, extra) << 16 | lane;
}

/* The extra bits are written first: a tag whose lane is still 0 does not exist. */
static inline void sn_tags_set_slot(char *line, unsigned i, unsigned slots, unsigned extra,
                                    uint64_t code)
{
    if (extra)
        sn_tags_set_bits(line, 16 * slots + i * extra, extra, code >> 16);
    __atomic_store_n((uint16_t *)(void *)line + i, htole16((uint16_t)code), __ATOMIC_RELEASE);
}

static inline bool sn_tags_flag(const char *line)
{
    return sn_tags_word(line, 7) >> 63;
}

static inline void sn_tags_set_flag(char *line)
{
    uint64_t word = sn_tags_word(line, 7);
    if (!(word >> 63))
        sn_tags_set_word(line, 7, word | UINT64_C(1) << 63);
}

/* ---- sizes ---- */

sn_tags_shape sn_tags_shape_of(unsigned extra);

/* The number of extra bits that keeps `rate` up to 10^12 keys in a set that starts at this level; 0
 * if there is none. */
unsigned sn_tags_extra_for(double rate, unsigned level);

/* Home lines of partition p after so many steps. The partitions are a 64th of a step apart, so that
 * they grow one after the other. */
uint64_t sn_tags_homes_at(const sn_tags_shape *shape, unsigned p, unsigned step);

/* The first step at which every partition has room for its share of this many keys. */
unsigned sn_tags_step_for(const sn_tags_shape *shape, double keys);

uint64_t sn_tags_stash_words(const sn_tags_shape *shape, uint64_t homes);
uint64_t sn_tags_limit(const sn_tags_shape *shape, uint64_t homes);

/* Bytes of a partition: lines and stash. */
uint64_t sn_tags_bytes(uint64_t homes, uint64_t stash_words);

/* Whether parameters read from a file are a valid partition. */
bool sn_tags_valid(unsigned extra, uint64_t homes, uint64_t stash_words);

static inline unsigned sn_tags_level(uint64_t homes)
{
    return 63 - (unsigned)__builtin_clzll(homes);
}

/* ---- kernels ---- */

typedef struct sn_tags_kernel {
    const char *name;
    /* Sets answers[i]; at most SN_TAGS_LOOKUP keys. parts: the current partitions; each pointer is
     * replaced atomically. */
    void (*check)(const sn_tags_shape *shape, sn_tags_part *const *parts, const seen_hash *hashes,
                  size_t count, seen_answer *answers);
    /* One key of this partition. */
    void (*check_one)(const sn_tags_shape *shape, const sn_tags_part *part, seen_hash hash,
                      seen_answer *answer);
    /* Adds the keys hashes[order[i]], all of one partition, in this order, and sets
     * answers[order[i]]. Returns how many keys found no room and are undecided; their indices are
     * moved to the front of `order`. The partition must then grow. */
    size_t (*add)(const sn_tags_shape *shape, const sn_tags_part *part, const seen_hash *hashes,
                  uint16_t *order, size_t count, seen_answer *answers);
    /* Writes all tags of `from` to `to`, whose contents before do not matter, and counts them.
     * False: no room; `to` is too small. Readers may use `from`; `to` belongs to the caller. */
    bool (*rewrite)(const sn_tags_shape *shape, const sn_tags_part *from, const sn_tags_part *to);
} sn_tags_kernel;

/* The maximum number of keys per call: of an addition, and of a lookup. */
enum { SN_TAGS_BATCH = 8192, SN_TAGS_LOOKUP = 1024 };

const sn_tags_kernel *sn_tags_kernel_best(void);
/* All kernels that this CPU supports; the first is the scalar reference. */
size_t sn_tags_kernel_list(const sn_tags_kernel *list[4]);

extern const sn_tags_kernel sn_tags_scalar;
#if defined(__x86_64__)
extern const sn_tags_kernel sn_tags_avx2;
extern const sn_tags_kernel sn_tags_avx512;
#elif defined(__aarch64__)
extern const sn_tags_kernel sn_tags_neon;
#endif

/* ---- the stash: for kernels ---- */

bool sn_tags_stash_has(const sn_tags_part *part, uint64_t home, uint64_t x);
/* Whether exactly this word is present. */
bool sn_tags_stash_has_word(const sn_tags_part *part, uint64_t home, uint64_t word);
/* False: no room. */
bool sn_tags_stash_put(const sn_tags_part *part, uint64_t home, uint64_t word);
/* The word of a key. */
uint64_t sn_tags_stash_word(const sn_tags_shape *shape, const sn_tags_part *part, seen_hash h);

/* ---- growth and merge ---- */

/* How the tags of an old line are distributed to three new ones. Distances are from the start of
 * the old line, scaled by 2^level. */
typedef struct sn_tags_cuts {
    uint64_t base;          /* the start of the old line, scaled */
    uint64_t second, third; /* less one, where those lines begin; all ones: not in this line */
    uint64_t longest;       /* the longest marker whose tag does not get too short */
    unsigned rise;          /* of the level */
} sn_tags_cuts;

/* The positions of one line. */
typedef struct sn_tags_span {
    uint64_t first, last;
} sn_tags_span;

sn_tags_span sn_tags_span_of(const sn_tags_part *part, uint64_t home);

/* The cell of a tag in a line; *first and *last: the part of it in this line. */
sn_tags_cell sn_tags_cell_of(const sn_tags_shape *shape, unsigned level, sn_tags_span line,
                             uint64_t code, uint64_t *first, uint64_t *last);
/* The tag of a cell, which has at least shape->least and at most width - 1 bits after the level;
 * and its stash word. */
uint64_t sn_tags_cell_code(const sn_tags_shape *shape, unsigned level, const sn_tags_cell *cell);
uint64_t sn_tags_cell_word(const sn_tags_cell *cell);

typedef bool sn_tags_visit(void *context, const sn_tags_cell *cell, uint64_t first, uint64_t last);

/* Calls visit for every tag of a partition: its cell, and the positions of the cell that are in the
 * line of the tag. Stops and returns false if a visit returns false. */
bool sn_tags_walk(const sn_tags_shape *shape, const sn_tags_part *part, sn_tags_visit *visit,
                  void *context);

/* Adds one cell, or the part of it from `first` to `last`, unless exactly this tag is present.
 * False: no room; it may then be present in part, and must be added again after the partition has
 * grown. */
bool sn_tags_add_cell(const sn_tags_shape *shape, const sn_tags_part *part,
                      const sn_tags_cell *cell, uint64_t first, uint64_t last);

/* ---- statistics ---- */

typedef struct sn_tags_tally {
    double tags;  /* slots and stash words in use */
    double keys;  /* tags that are not the second copy of a divided cell */
    double rate;  /* the sum of the cells: the false-positive rate of this partition */
    double slots; /* in all lines */
    uint64_t stash_words;
} sn_tags_tally;

sn_tags_tally sn_tags_measure(const sn_tags_shape *shape, const sn_tags_part *part);

/* Estimates the number of tags of the partition from at most this many of its blocks; *exact if all
 * were read. */
double sn_tags_estimate(const sn_tags_shape *shape, const sn_tags_part *part, uint64_t blocks,
                        bool *exact);

#endif
