/* Tags as cells of the hash space: iterating over them, adding them to another partition, and
 * statistics. See tags.h. */
#include "filter/tags.h"

#include <math.h>

/* The first position of a home line. */
static uint64_t first_of(const sn_tags_part *part, uint64_t home)
{
    return (uint64_t)((((sn_u128)home << 64) + part->homes - 1) / part->homes);
}

sn_tags_span sn_tags_span_of(const sn_tags_part *part, uint64_t home)
{
    sn_tags_span s = {.first = first_of(part, home), .last = UINT64_MAX};
    if (home + 1 < part->homes)
        s.last = first_of(part, home + 1) - 1;
    return s;
}

/* The start of the cell of a tag: the tag contains the bits after the level, the line determines
 * those before. Modulo 2^64, and scaled by 2^level, the distance from the start of the line is the
 * difference of the two. For a cell that begins before its line the distance wraps. */
sn_tags_cell sn_tags_cell_of(const sn_tags_shape *shape, unsigned level, sn_tags_span line,
                             uint64_t code, uint64_t *first, uint64_t *last)
{
    uint64_t top = code << (64 - shape->width), marker = top & -top, bits = top ^ marker;
    uint64_t from = bits - (line.first << level), to = from + marker + (marker - 1);
    sn_tags_cell cell = {.bits = level + (unsigned)__builtin_clzll(marker)};
    sn_u128 start = (sn_u128)line.first << 64;
    if (to < from) {
        *first = line.first;
        cell.start = start - ((sn_u128)-from << (64 - level));
    } else {
        *first = line.first + (from >> level);
        cell.start = start + ((sn_u128)from << (64 - level));
    }
    *last = line.first + (to >> level);
    if (*last > line.last)
        *last = line.last;
    return cell;
}

static bool visit_line(const sn_tags_shape *shape, const sn_tags_part *part, uint64_t home,
                       sn_tags_visit *visit, void *context)
{
    const char *line = sn_tags_line(part, home);
    sn_tags_span s = sn_tags_span_of(part, home);
    for (unsigned i = 0; i < shape->slots; i++) {
        uint64_t first, last, code = sn_tags_slot(line, i, shape->slots, shape->extra);
        if (code == 0)
            continue;
        sn_tags_cell cell = sn_tags_cell_of(shape, part->level, s, code, &first, &last);
        if (!visit(context, &cell, first, last))
            return false;
    }
    return true;
}

static bool visit_overs(const sn_tags_shape *shape, const sn_tags_part *part, uint64_t block,
                        sn_tags_visit *visit, void *context)
{
    uint64_t home = block * SN_TAGS_HOMES;
    for (unsigned n = 0; n < SN_TAGS_OVERS; n++) {
        const char *line = sn_tags_over(part, home, n);
        for (unsigned i = 0; i < shape->over_slots; i++) {
            uint64_t code = sn_tags_slot(line, i, shape->over_slots, shape->extra + 5);
            if (code == 0)
                continue;
            sn_tags_span s = sn_tags_span_of(part, home + (code >> shape->width));
            uint64_t first, last, mask = (UINT64_C(1) << shape->width) - 1;
            sn_tags_cell cell = sn_tags_cell_of(shape, part->level, s, code & mask, &first, &last);
            if (!visit(context, &cell, first, last))
                return false;
        }
    }
    return true;
}

/* A stash word does not determine its line: the whole cell is visited, once for each copy. */
static bool visit_stash(const sn_tags_part *part, sn_tags_visit *visit, void *context)
{
    for (uint64_t i = 0; i < part->stash_words; i++) {
        uint64_t word = le64toh(__atomic_load_n(part->stash + i, __ATOMIC_RELAXED));
        if (word == 0)
            continue;
        uint64_t marker = word & -word, first = word ^ marker;
        sn_tags_cell cell = {(sn_u128)first << 64, (unsigned)__builtin_clzll(marker)};
        if (!visit(context, &cell, first, first + marker + (marker - 1)))
            return false;
    }
    return true;
}

bool sn_tags_walk(const sn_tags_shape *shape, const sn_tags_part *part, sn_tags_visit *visit,
                  void *context)
{
    for (uint64_t home = 0; home < part->homes; home++) {
        if (!visit_line(shape, part, home, visit, context))
            return false;
        if ((home + 1) % SN_TAGS_HOMES == 0 &&
            !visit_overs(shape, part, home / SN_TAGS_HOMES, visit, context))
            return false;
    }
    return visit_stash(part, visit, context);
}

/* ---- adding cells ---- */

/* The first slot with exactly this tag, or the first empty one; `slots` if there is neither. */
static unsigned find_slot(const char *line, unsigned slots, unsigned extra, uint64_t code)
{
    unsigned empty = slots;
    for (unsigned i = 0; i < slots; i++) {
        uint64_t have = sn_tags_slot(line, i, slots, extra);
        if (have == code)
            return i;
        if (have == 0 && empty == slots)
            empty = i;
    }
    return empty;
}

uint64_t sn_tags_cell_word(const sn_tags_cell *cell)
{
    uint64_t marker = UINT64_C(1) << (cell->bits > 63 ? 0 : 63 - cell->bits);
    return ((uint64_t)(cell->start >> 64) & ~(marker | (marker - 1))) | marker;
}

static void count_tag(const sn_tags_part *part)
{
    __atomic_store_n(&part->counts[0], __atomic_load_n(&part->counts[0], __ATOMIC_RELAXED) + 1,
                     __ATOMIC_RELAXED);
}

/* Inserts a tag into a line unless it is present. *done: no other line has to be checked. */
static void put_in_line(const sn_tags_part *part, char *line, unsigned slots, unsigned extra,
                        uint64_t code, bool *done)
{
    unsigned i = find_slot(line, slots, extra, code);
    *done = i < slots;
    if (*done && sn_tags_lane(line, i) == 0) {
        sn_tags_set_slot(line, i, slots, extra, code);
        count_tag(part);
    }
}

static bool put_tag(const sn_tags_shape *shape, const sn_tags_part *part, uint64_t home,
                    uint64_t code, const sn_tags_cell *cell)
{
    bool done;
    char *line = sn_tags_line(part, home), *before = line;
    put_in_line(part, line, shape->slots, shape->extra, code, &done);
    code |= (home % SN_TAGS_HOMES) << shape->width;
    for (unsigned n = 0; !done && n < SN_TAGS_OVERS; n++) {
        line = sn_tags_over(part, home, (sn_tags_first_over(home) + n) % SN_TAGS_OVERS);
        put_in_line(part, line, shape->over_slots, shape->extra + 5, code, &done);
        sn_tags_set_flag(before); /* after the tag */
        before = line;
    }
    if (done)
        return true;
    uint64_t word = sn_tags_cell_word(cell);
    if (sn_tags_flag(before) && sn_tags_stash_has_word(part, home, word))
        return true;
    if (!sn_tags_stash_put(part, home, word))
        return false;
    sn_tags_set_flag(before);
    count_tag(part);
    return true;
}

/* The bits after the level, and the marker. */
uint64_t sn_tags_cell_code(const sn_tags_shape *shape, unsigned level, const sn_tags_cell *cell)
{
    uint64_t window = (uint64_t)(cell->start >> (64 - level));
    uint64_t marker = UINT64_C(1) << (63 - (cell->bits - level));
    return ((window & ~(marker | (marker - 1))) | marker) >> (64 - shape->width);
}

bool sn_tags_add_cell(const sn_tags_shape *shape, const sn_tags_part *part,
                      const sn_tags_cell *cell, uint64_t first, uint64_t last)
{
    sn_tags_cell mine = *cell;
    unsigned most = part->level + shape->width - 1;
    if (mine.bits < part->level + shape->least) { /* too short for a tag: insert both halves */
        sn_u128 half = (sn_u128)1 << (127 - mine.bits);
        uint64_t middle = (uint64_t)((mine.start + half) >> 64);
        mine.bits++;
        if (first < middle &&
            !sn_tags_add_cell(shape, part, &mine, first, last < middle ? last : middle - 1))
            return false;
        mine.start += half;
        return last < middle ||
               sn_tags_add_cell(shape, part, &mine, first > middle ? first : middle, last);
    }
    if (mine.bits > most)
        mine.bits = most;
    uint64_t code = sn_tags_cell_code(shape, part->level, &mine);
    uint64_t to = sn_tags_home(part, last);
    for (uint64_t home = sn_tags_home(part, first); home <= to; home++)
        if (!put_tag(shape, part, home, code, &mine))
            return false;
    return true;
}

/* ---- statistics ---- */

enum { LENGTHS = 64 };

/* The number of cells of each length, each counted in the line in which it starts. */
typedef struct histogram {
    uint64_t tags;
    uint64_t cells[LENGTHS]; /* by the bits after the level */
} histogram;

/* Counts a tag of the line whose first position, shifted by the level, is `line`. The arithmetic is
 * that of sn_tags_cell_of: a cell that begins before its line wraps. */
static void count_cell(histogram *h, const sn_tags_shape *shape, uint64_t line, uint64_t code)
{
    uint64_t top = code << (64 - shape->width), marker = top & -top, from = (top ^ marker) - line;
    h->tags++;
    h->cells[__builtin_clzll(marker)] += from + marker + (marker - 1) >= from;
}

static void count_block(histogram *h, const sn_tags_shape *shape, const sn_tags_part *part,
                        uint64_t home)
{
    uint64_t lines[SN_TAGS_HOMES], mask = (UINT64_C(1) << shape->width) - 1, code;
    for (unsigned n = 0; n < SN_TAGS_HOMES; n++) {
        const char *line = sn_tags_line(part, home + n);
        lines[n] = first_of(part, home + n) << part->level;
        for (unsigned i = 0; i < shape->slots; i++)
            if ((code = sn_tags_slot(line, i, shape->slots, shape->extra)) != 0)
                count_cell(h, shape, lines[n], code);
    }
    for (unsigned n = 0; n < SN_TAGS_OVERS; n++) {
        const char *line = sn_tags_over(part, home, n);
        for (unsigned i = 0; i < shape->over_slots; i++)
            if ((code = sn_tags_slot(line, i, shape->over_slots, shape->extra + 5)) != 0)
                count_cell(h, shape, lines[code >> shape->width], code & mask);
    }
}

/* A cell in the stash may be there once for each of its lines, and is counted each time. */
static bool tally_stash(void *context, const sn_tags_cell *cell, uint64_t first, uint64_t last)
{
    sn_tags_tally *tally = context;
    (void)first, (void)last;
    tally->tags++;
    tally->keys++;
    tally->rate += ldexp(1, -(int)cell->bits);
    return true;
}

sn_tags_tally sn_tags_measure(const sn_tags_shape *shape, const sn_tags_part *part)
{
    sn_tags_tally tally = {0};
    histogram h = {0};
    for (uint64_t home = 0; home < part->homes; home += SN_TAGS_HOMES)
        count_block(&h, shape, part, home);
    visit_stash(part, tally_stash, &tally);
    tally.tags += (double)h.tags;
    for (unsigned i = 0; i < LENGTHS; i++) {
        tally.keys += (double)h.cells[i];
        tally.rate += ldexp((double)h.cells[i], -(int)(part->level + i));
    }
    double lines = (double)part->homes;
    tally.slots =
        lines * (shape->slots + shape->over_slots * (double)SN_TAGS_OVERS / SN_TAGS_HOMES);
    tally.stash_words = part->stash_words;
    return tally;
}

static unsigned used_slots(const char *line, unsigned slots)
{
    unsigned used = 0;
    for (unsigned i = 0; i < slots; i++)
        used += sn_tags_lane(line, i) != 0;
    return used;
}

double sn_tags_estimate(const sn_tags_shape *shape, const sn_tags_part *part, uint64_t blocks,
                        bool *exact)
{
    uint64_t all = part->homes / SN_TAGS_HOMES, step = all / (blocks ? blocks : 1);
    uint64_t used = 0, read = 0;
    if (step == 0)
        step = 1;
    for (uint64_t block = 0; block < all; block += step, read++) {
        uint64_t home = block * SN_TAGS_HOMES;
        for (unsigned i = 0; i < SN_TAGS_HOMES; i++)
            used += used_slots(sn_tags_line(part, home + i), shape->slots);
        for (unsigned n = 0; n < SN_TAGS_OVERS; n++)
            used += used_slots(sn_tags_over(part, home, n), shape->over_slots);
    }
    *exact = step == 1;
    return (double)used * (double)all / (double)read;
}
