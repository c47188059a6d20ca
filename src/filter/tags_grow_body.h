/* Growth: a partition of tag lines rewritten into a larger one. See tags.h. Compiled once per CPU
 * level, as tags_body.h is.
 *
 * Both are ordered by position, so this is one pass over two streams. An old line overlaps two or
 * three new ones; comparing a tag's distance from the start of its line with the starts of the new
 * lines gives the target. New lines are assembled in buffers and stored once:
 *
 *     old   |   line j      |   line j + 1    |
 *     new   |  i   |  i + 1   |  i + 2  | i + 3 ...
 *
 * Tags whose cell is cut by a line boundary, or that would get too short, are rare. They take the
 * slow path: as cells, to every line that they overlap.
 *
 * A file with vector instructions for it defines VECTOR_GROWTH, the type `fields`, and
 *     fields_of(slots, extra)   where the extra bits of each slot of a line are
 *     split_line, split_codes, pack_line   as below */

#include "filter/tags.h"

enum {
    RING = 8,    /* new lines being assembled */
    ROOM = 256,  /* tags per new line, which overlaps two old lines */
    FULL = 128,  /* tags beyond which a line gets only those of home slots */
    LATE = 1024, /* tags per block for its overflow lines */
    PAST = 8     /* entries past the end of a list that may be read or written */
};

#ifndef VECTOR_GROWTH

typedef int fields;

INLINE fields fields_of(unsigned slots, unsigned extra)
{
    (void)slots;
    (void)extra;
    return 0;
}

/* Puts a tag at the end of the new line it belongs to, or of `slow`, which has *kept tags. A tag of
 * 0 is none. Which line it is cannot be predicted: it is written to all, and one end moves on. */
INLINE void split_code(uint64_t code, const sn_tags_cuts *cut, uint64_t *end[3], uint64_t *slow,
                       unsigned *kept, unsigned width)
{
    const bool is = code != 0;
    uint64_t top = code << (64 - width), marker = top & -top;
    uint64_t from = (top ^ marker) - cut->base, reach = marker + (marker - 1);
    if (__builtin_expect(((cut->second - from < reach) | (cut->third - from < reach) |
                          (~from < reach) | (marker > cut->longest)) &
                             is,
                         0)) {
        slow[(*kept)++] = code;
        return;
    }
    bool second = from > cut->second, third = from > cut->third;
    *end[0] = *end[1] = *end[2] = code << cut->rise & ((UINT64_C(1) << width) - 1);
    end[0] += !second & is;
    end[1] += second & !third & is;
    end[2] += third & is;
}

/* The tags of a home line. Writes up to eight tags beyond the ends. Returns how many went to
 * `slow`.
 */
INLINE unsigned split_line(const fields *f, const char *line, const sn_tags_cuts *cut,
                           uint64_t *end[3], uint64_t *slow, unsigned slots, unsigned extra)
{
    unsigned kept = 0;
    (void)f;
    for (unsigned i = 0; i < slots; i++) {
        uint64_t lane = sn_tags_lane(line, i);
        uint64_t code = sn_tags_bits(line, 16 * slots + i * extra, extra) << 16 | lane;
        split_code(lane ? code : 0, cut, end, slow, &kept, 16 + extra);
    }
    return kept;
}

/* The same for tags that are already taken out of a line; there is room for eight more to be read.
 */
INLINE unsigned split_codes(const uint64_t *code, unsigned count, const sn_tags_cuts *cut,
                            uint64_t *end[3], uint64_t *slow, unsigned width)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++)
        split_code(code[i], cut, end, slow, &kept, width);
    return kept;
}

/* Stores a whole line. */
INLINE void pack_line(char *line, const uint64_t *code, unsigned count, unsigned slots,
                      unsigned extra, bool flag)
{
    uint64_t word[SN_LINE_WORDS + 1] = {0};
    for (unsigned i = 0; i < count; i++) {
        unsigned at = 16 * slots + i * extra, shift = at % 64;
        uint64_t high = code[i] >> 16;
        word[i / 4] |= (code[i] & 0xffff) << 16 * (i % 4);
        word[at / 64] |= high << shift;
        if (shift + extra > 64)
            word[at / 64 + 1] |= high >> (64 - shift);
    }
    word[7] |= (uint64_t)flag << 63;
    for (unsigned i = 0; i < SN_LINE_WORDS; i++)
        sn_tags_set_word(line, i, word[i]);
}

#endif

typedef struct writer {
    sn_tags_shape shape;
    const sn_tags_part *from, *to;
    uint64_t next; /* the next new line to be finished */
    uint64_t tags;
    bool failed;
    unsigned count[RING];
    uint64_t code[RING][ROOM];
    unsigned late;
    uint64_t over[LATE]; /* tags, preceded by the number of their home line */
} writer;

/* The starts of the lines of a partition: ceil(j * 2^64 / homes), in sequence. */
typedef struct line_starts {
    uint64_t homes, step, rest, at, error;
} line_starts;

static line_starts line_starts_of(uint64_t homes)
{
    const sn_u128 all = (sn_u128)1 << 64;
    return (line_starts){
        .homes = homes, .step = (uint64_t)(all / homes), .rest = (uint64_t)(all % homes)};
}

INLINE uint64_t next_line_start(line_starts *r)
{
    r->at += r->step;
    r->error += r->rest;
    if (r->error >= r->homes) {
        r->error -= r->homes;
        r->at++;
    }
    return r->at + (r->error != 0);
}

/* ---- finished lines ---- */

static bool stash_late(writer *p, uint64_t home, uint64_t code)
{
    uint64_t first, last, mask = (UINT64_C(1) << p->shape.width) - 1;
    sn_tags_cell cell = sn_tags_cell_of(&p->shape, p->to->level, sn_tags_span_of(p->to, home),
                                        code & mask, &first, &last);
    return sn_tags_stash_put(p->to, home, sn_tags_cell_word(&cell));
}

/* Writes the overflow lines of the block that ends before `next`. */
static void finish_block(writer *p)
{
    const unsigned slots = p->shape.over_slots;
    uint64_t base = p->next - SN_TAGS_HOMES, code[SN_TAGS_OVERS][32 + PAST];
    unsigned count[SN_TAGS_OVERS] = {0};
    bool flag[SN_TAGS_OVERS] = {false};
    for (unsigned i = 0; i < p->late; i++) {
        uint64_t home = base + (p->over[i] >> p->shape.width);
        unsigned at = sn_tags_first_over(home), tries = 0;
        for (; tries < SN_TAGS_OVERS && count[at] == slots; tries++) {
            flag[at] = true;
            at = (at + 1) % SN_TAGS_OVERS;
        }
        if (tries < SN_TAGS_OVERS)
            code[at][count[at]++] = p->over[i];
        else if (!stash_late(p, home, p->over[i]))
            p->failed = true;
    }
    for (unsigned n = 0; n < SN_TAGS_OVERS; n++)
        pack_line(sn_tags_over(p->to, base, n), code[n], count[n], slots, p->shape.extra + 5,
                  flag[n]);
    p->late = 0;
}

INLINE void finish_line(writer *p, unsigned slots, unsigned extra)
{
    uint64_t home = p->next++;
    unsigned *count = &p->count[home % RING], kept = *count < slots ? *count : slots;
    const uint64_t *code = p->code[home % RING];
    pack_line(sn_tags_line(p->to, home), code, kept, slots, extra, *count > slots);
    if (p->late + *count - kept > LATE) {
        p->failed = true;
        *count = kept;
    }
    for (unsigned i = kept; i < *count; i++)
        p->over[p->late++] = code[i] | (home % SN_TAGS_HOMES) << p->shape.width;
    p->tags += *count;
    *count = 0;
    if (p->next % SN_TAGS_HOMES == 0)
        finish_block(p);
}

/* ---- slow path ---- */

/* Not twice: the copies of a divided cell may meet in a line, and would double when it is divided
 * again. The first of them may have come by the fast path. */
static void put(writer *p, uint64_t home, uint64_t code)
{
    unsigned at = home % RING;
    for (unsigned i = 0; i < p->count[at]; i++)
        if (p->code[at][i] == code)
            return;
    if (p->count[at] >= FULL)
        p->failed = true;
    else
        p->code[at][p->count[at]++] = code;
}

static void put_cell(writer *p, const sn_tags_cell *cell, uint64_t first, uint64_t last)
{
    if (cell->bits < p->to->level + p->shape.least) {
        sn_u128 half = (sn_u128)1 << (127 - cell->bits);
        uint64_t middle = (uint64_t)((cell->start + half) >> 64);
        sn_tags_cell part = {cell->start, cell->bits + 1};
        if (first < middle)
            put_cell(p, &part, first, last < middle ? last : middle - 1);
        part.start += half;
        if (last >= middle)
            put_cell(p, &part, first > middle ? first : middle, last);
        return;
    }
    uint64_t code = sn_tags_cell_code(&p->shape, p->to->level, cell);
    uint64_t end = sn_tags_home(p->to, last);
    for (uint64_t home = sn_tags_home(p->to, first); home <= end; home++)
        put(p, home, code);
}

static void move_slowly(writer *p, sn_tags_span line, const uint64_t *code, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t first, last;
        sn_tags_cell cell =
            sn_tags_cell_of(&p->shape, p->from->level, line, code[i], &first, &last);
        put_cell(p, &cell, first, last);
    }
}

/* ---- one old line ---- */

/* The tags in the overflow lines of an old block, by home line. */
typedef struct overs {
    unsigned count[SN_TAGS_HOMES];
    uint64_t code[SN_TAGS_HOMES][SN_TAGS_OVERS * 32 + PAST];
} overs;

static void read_overs(const writer *p, uint64_t home, overs *o)
{
    const sn_tags_shape *s = &p->shape;
    memset(o->count, 0, sizeof o->count);
    for (unsigned n = 0; n < SN_TAGS_OVERS; n++) {
        const char *line = sn_tags_over(p->from, home, n);
        for (unsigned i = 0; i < s->over_slots; i++) {
            uint64_t code = sn_tags_slot(line, i, s->over_slots, s->extra + 5);
            if (code == 0)
                continue;
            unsigned in = (unsigned)(code >> s->width);
            o->code[in][o->count[in]++] = code & ((UINT64_C(1) << s->width) - 1);
        }
    }
}

/* Where the old line from `start` to `last` is cut. False: it overlaps more than three new lines.
 */
INLINE bool find_cuts(const writer *p, uint64_t start, uint64_t last, const uint64_t *begins,
                      uint64_t home, sn_tags_cuts *cut)
{
    const unsigned level = p->from->level;
    uint64_t second = begins[(home + 1) % RING], third = begins[(home + 2) % RING],
             fourth = begins[(home + 3) % RING];
    cut->base = start << level;
    cut->second = second && second <= last ? ((second - start) << level) - 1 : UINT64_MAX;
    cut->third = third && third <= last ? ((third - start) << level) - 1 : UINT64_MAX;
    return !(fourth && fourth <= last);
}

/* Distributes the tags of old line j, and those of it in the overflow lines, to new lines from
 * `home` on. */
INLINE void move_line(writer *p, const fields *f, uint64_t j, sn_tags_span line, uint64_t home,
                      const sn_tags_cuts *cut, const overs *o, unsigned slots, unsigned extra)
{
    const unsigned in = j % SN_TAGS_HOMES,
                   at[3] = {home % RING, (home + 1) % RING, (home + 2) % RING};
    uint64_t *end[3], slow[64 + PAST];
    for (unsigned i = 0; i < 3; i++)
        end[i] = p->code[at[i]] + p->count[at[i]];
    unsigned kept = split_line(f, sn_tags_line(p->from, j), cut, end, slow, slots, extra);
    const uint64_t *over = o->code[in];
    unsigned count = o->count[in];
    if (count > 0 && count <= 32) {
        bool room = true;
        for (unsigned i = 0; i < 3; i++)
            room &= end[i] + count <= p->code[at[i]] + FULL;
        if (room) {
            count = split_codes(over, count, cut, end, slow + kept, 16 + extra);
            over = slow + kept;
        }
    }
    for (unsigned i = 0; i < 3; i++)
        p->count[at[i]] = (unsigned)(end[i] - p->code[at[i]]);
    move_slowly(p, line, slow, kept);
    move_slowly(p, line, over, count);
}

/* The slow path for a whole line, which overlaps four new ones. */
static void move_wide(writer *p, uint64_t j, sn_tags_span line, const overs *o)
{
    const sn_tags_shape *s = &p->shape;
    uint64_t code[32];
    unsigned count = 0;
    for (unsigned i = 0; i < s->slots; i++)
        if (sn_tags_lane(sn_tags_line(p->from, j), i))
            code[count++] = sn_tags_slot(sn_tags_line(p->from, j), i, s->slots, s->extra);
    move_slowly(p, line, code, count);
    move_slowly(p, line, o->code[j % SN_TAGS_HOMES], o->count[j % SN_TAGS_HOMES]);
}

INLINE void move_all(writer *p, unsigned slots, unsigned extra, unsigned rise)
{
    const fields f = fields_of(slots, extra);
    line_starts old = line_starts_of(p->from->homes), new = line_starts_of(p->to->homes);
    uint64_t begins[RING] = {0}, known = 0, start = 0;
    sn_tags_cuts cut = {.longest = UINT64_C(1) << (63 - p->shape.least - rise), .rise = rise};
    overs o;
    for (uint64_t j = 0; j < p->from->homes && !p->failed; j++) {
        uint64_t next = j + 1 == p->from->homes ? 0 : next_line_start(&old);
        sn_tags_span line = {start, next - 1};
        uint64_t home = sn_tags_home(p->to, start);
        if (j % SN_TAGS_HOMES == 0)
            read_overs(p, j, &o);
        while (p->next < home)
            finish_line(p, slots, extra);
        while (known < home + 3) {
            known++;
            begins[known % RING] = known < p->to->homes ? next_line_start(&new) : 0;
        }
        if (find_cuts(p, start, line.last, begins, home, &cut))
            move_line(p, &f, j, line, home, &cut, &o, slots, extra);
        else
            move_wide(p, j, line, &o);
        start = next;
    }
    while (p->next < p->to->homes)
        finish_line(p, slots, extra);
}

static bool add_cell(void *context, const sn_tags_cell *cell, uint64_t first, uint64_t last)
{
    const writer *p = context;
    return sn_tags_add_cell(&p->shape, p->to, cell, first, last);
}

/* A divided cell may have one copy in a line and one in the stash, and a stash word does not
 * determine its line: existing tags are not added again. */
static bool move_stash(writer *p)
{
    sn_tags_part stash = *p->from;
    stash.homes = 0;
    return sn_tags_walk(&p->shape, &stash, add_cell, p);
}

/* Word by word: a lookup that is about to be retried may still read the memory. */
static void clear(uint64_t *words, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        __atomic_store_n(words + i, 0, __ATOMIC_RELAXED);
}

/* The common rates, with the number of slots known to the compiler. */
#define MOVE(name, slots, extra, rise)                                                             \
    __attribute__((noinline)) static void name(writer *p)                                          \
    {                                                                                              \
        move_all(p, slots, extra, rise);                                                           \
    }

MOVE(move_1, 30, 1, 0)
MOVE(move_1_up, 30, 1, 1)
MOVE(move_4, 25, 4, p->to->level - p->from->level)
MOVE(move_14, 17, 14, p->to->level - p->from->level)
MOVE(move_any, p->shape.slots, p->shape.extra, p->to->level - p->from->level)

static bool body_rewrite(const sn_tags_shape *shape, const sn_tags_part *from,
                         const sn_tags_part *to)
{
    writer p;
    p.shape = *shape;
    p.from = from;
    p.to = to;
    p.next = p.tags = p.late = 0;
    p.failed = false;
    memset(p.count, 0, sizeof p.count);
    to->counts[0] = to->counts[1] = 0;
    if (to->homes < from->homes || to->homes / 2 > from->homes) {
        clear((uint64_t *)(void *)to->lines, sn_tags_bytes(to->homes, to->stash_words) / 8);
        return sn_tags_walk(shape, from, add_cell, &p);
    }
    clear(to->stash, to->stash_words); /* every line is stored whole */
    if (shape->extra == 1)
        (to->level == from->level ? move_1 : move_1_up)(&p);
    else if (shape->extra == 4)
        move_4(&p);
    else if (shape->extra == 14)
        move_14(&p);
    else
        move_any(&p);
    __atomic_store_n(&to->counts[0], p.tags, __ATOMIC_RELAXED);
    return !p.failed && move_stash(&p);
}
