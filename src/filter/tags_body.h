/* The body of a tag kernel, compiled once per CPU level. See tags.h.
 *
 * The including file defines, for a line of 32 lanes of 16 bits,
 *     lanes_matching(line, lane)   one bit for each lane whose known bits match `lane`
 *     lanes_empty(line)            one bit for each lane that is 0
 *     HAVE_MATCHING(extra)         whether there is, for home lines with this many extra bits,
 *     tags_matching(line, code, extra)   lanes_matching, and the extra bits match
 *
 * The marker of a lane e is its lowest set bit: e ^ (e - 1) is that bit and all below. It matches
 * the lane s of a key if (e ^ s) & ~(e ^ (e - 1)) is 0. With a saturating e - 1 an empty lane never
 * matches, because s has its lowest bit set.
 *
 * Lookups: while key i is compared, the line of key i + DISTANCE is computed and prefetched into
 * the L2 cache, which can have many misses outstanding, and that of key i + NEAR into L1. Keys that
 * need an overflow line are collected and handled in later passes. */

#include "filter/kernel.h"

#include <stdbool.h>
#include <string.h>

enum { DISTANCE = 64, NEAR = 16, GROUP = 16 };

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll_count(16)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define PREFETCH(p) __builtin_prefetch((p), 0, 2)
#define PREFETCH_NEAR(p) __builtin_prefetch((p), 0, 3)

/* The differences between `extra` bits of a line, starting at bit `at`, and those of a tag. */
INLINE uint64_t differ_at(const char *line, unsigned at, unsigned extra, uint64_t code)
{
    uint64_t mask = (UINT64_C(1) << extra) - 1;
#ifdef SN_SCALAR_ONLY
    return (sn_tags_bits(line, at, extra) ^ code >> 16) & mask;
#else
    enum { LAST = SN_LINE_BYTES - 8 };
    unsigned byte = at / 8, past = (byte + LAST / 8) / SN_LINE_BYTES; /* 1: beyond LAST */
    uint64_t word;
    byte -= (byte - LAST) & -past; /* branch-free, as the slot is unpredictable */
    memcpy(&word, line + byte, sizeof word);
    return (le64toh(word) >> (at - 8 * byte) ^ code >> 16) & mask;
#endif
}

typedef struct verdict {
    bool has, flag;
} verdict;

/* For one extra bit: the slots where it is that of the key. These bits are the last 32 of a line.
 */
INLINE uint32_t plane_of(uint32_t last, uint64_t code, unsigned slots)
{
    uint32_t flip = (uint32_t)(code >> 16 & 1) - 1;
    return (last ^ flip) & ((UINT32_C(1) << slots) - 1);
}

/* Whether a line has a tag that covers the key, and its flag. Bits of `code` above the tag are
 * ignored. Branch-free: most lines have no matching lane, or only the one of the key, and which one
 * is unpredictable. */
INLINE verdict line_look(const char *line, uint64_t code, unsigned slots, unsigned extra)
{
    if (HAVE_MATCHING(extra))
        return (verdict){(tags_matching(line, code, extra) & ((UINT32_C(1) << slots) - 1)) != 0,
                         sn_tags_flag(line)};
    uint32_t found = lanes_matching(line, (uint16_t)code) & ((UINT32_C(1) << slots) - 1);
    uint32_t last = sn_tags_last(line);
    if (extra == 1)
        return (verdict){(found & plane_of(last, code, slots)) != 0, last >> 31};
    unsigned i = (unsigned)__builtin_ctz(found | UINT32_C(1) << (slots - 1));
    bool has = (found != 0) & (differ_at(line, 16 * slots + i * extra, extra, code) == 0);
    for (found &= found - 1; __builtin_expect((found != 0) & !has, 0); found &= found - 1) {
        i = (unsigned)__builtin_ctz(found);
        has = differ_at(line, 16 * slots + i * extra, extra, code) == 0;
    }
    return (verdict){has, last >> 31};
}

INLINE bool line_has(const char *line, uint64_t code, unsigned slots, unsigned extra)
{
    return line_look(line, code, slots, extra).has;
}

/* ---- lookups ---- */

INLINE uint64_t over_code(const sn_tags_shape *s, uint64_t home, uint64_t code)
{
    return code | home % SN_TAGS_HOMES << s->width;
}

/* Whether the overflow lines of a key's block, or the stash, contain it. */
static bool overflow_has(const sn_tags_shape *s, const sn_tags_part *part, uint64_t home,
                         uint64_t code, uint64_t x)
{
    unsigned first = sn_tags_first_over(home);
    code = over_code(s, home, code);
    for (unsigned n = 0; n < SN_TAGS_OVERS; n++) {
        const char *line = sn_tags_over(part, home, (first + n) % SN_TAGS_OVERS);
        if (line_has(line, code, s->over_slots, s->extra + 5))
            return true;
        if (!sn_tags_flag(line))
            return false;
    }
    return sn_tags_stash_has(part, home, x);
}

/* The partitions at the start of a lookup: each key is looked up in one partition, even if its
 * overflow lines are read later. */
typedef struct views {
    const char *lines[SN_TAGS_PARTS];
    uint64_t homes[SN_TAGS_PARTS];
    uint64_t shift[SN_TAGS_PARTS]; /* from a position to its tag; unless tags are deep */
    const sn_tags_part *part[SN_TAGS_PARTS];
} views;

/* Returns whether tags are deep: some extend beyond the 64 bits of a position. */
INLINE bool take_views(const sn_tags_shape *s, sn_tags_part *const *parts, views *v)
{
    bool deep = false;
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        const sn_tags_part *part = __atomic_load_n(&parts[p], __ATOMIC_ACQUIRE);
        v->lines[p] = part->lines;
        v->homes[p] = part->homes;
        v->shift[p] = 64 - part->level - s->width;
        v->part[p] = part;
        deep |= part->level + s->width > 64;
    }
    return deep;
}

/* With bits above the tag that do not belong to it. */
INLINE uint64_t code_in(const views *v, unsigned p, seen_hash h, uint64_t x, unsigned width,
                        bool deep)
{
    return deep ? sn_tags_code(width, v->part[p]->level, h) : x >> v->shift[p] | 1;
}

/* Keys whose home lines are on their way to the cache. */
typedef struct queue {
    const char *line[DISTANCE];
    uint64_t code[DISTANCE];
} queue;

INLINE void find(queue *q, size_t at, const views *v, seen_hash h, unsigned width, bool deep)
{
    unsigned p = sn_tags_part_of(h);
    uint64_t x = sn_tags_position(h), home = sn_mulhi(x, v->homes[p]);
    const char *line = v->lines[p] + (home + home / SN_TAGS_HOMES * SN_TAGS_OVERS) * SN_LINE_BYTES;
    PREFETCH(line);
    q->line[at] = line;
    q->code[at] = code_in(v, p, h, x, width, deep);
}

/* The first overflow line of a key, and the key's lane in it. */
typedef struct over_query {
    const char *line;
    uint16_t lane, place;
} over_query;

INLINE over_query find_over(const views *v, seen_hash h, unsigned n, uint16_t place, unsigned width,
                            bool deep)
{
    unsigned p = sn_tags_part_of(h);
    uint64_t x = sn_tags_position(h), home = sn_mulhi(x, v->homes[p]);
    uint64_t line = home / SN_TAGS_HOMES * SN_TAGS_BLOCK + SN_TAGS_HOMES +
                    (sn_tags_first_over(home) + n) % SN_TAGS_OVERS;
    over_query q = {v->lines[p] + line * SN_LINE_BYTES, (uint16_t)code_in(v, p, h, x, width, deep),
                    place};
    PREFETCH(q.line);
    return q;
}

/* Whether an overflow line in which the lane of a key matches has its tag. */
static bool over_has(const sn_tags_shape *s, const views *v, const char *line, seen_hash h)
{
    const sn_tags_part *part = v->part[sn_tags_part_of(h)];
    uint64_t home = sn_tags_home(part, sn_tags_position(h));
    uint64_t code = over_code(s, home, sn_tags_code(s->width, part->level, h));
    return line_has(line, code, s->over_slots, s->extra + 5);
}

/* Looks up the keys that are not in their home line, which has overflowed: a pass over their first
 * overflow lines, one over the second ones of those that are full, and so on, finally the stash.
 * Each pass prefetches its lines before it reads them. */
INLINE void check_over(const sn_tags_shape *s, const views *v, const seen_hash *h, uint16_t *list,
                       size_t count, seen_answer *answers, bool deep)
{
    over_query queries[SN_TAGS_LOOKUP];
    const uint32_t all = (UINT32_C(1) << s->over_slots) - 1;
    for (unsigned n = 0; n < SN_TAGS_OVERS && count > 0; n++) {
        size_t left = 0;
        for (size_t i = 0; i < count; i++)
            queries[i] = find_over(v, h[list[i]], n, list[i], s->width, deep);
        for (size_t i = 0; i < count; i++) {
            const over_query *q = &queries[i];
            bool has = false;
            PREFETCH_NEAR(q[i + NEAR < count ? NEAR : 0].line);
            if (__builtin_expect((lanes_matching(q->line, q->lane) & all) != 0, 0)) {
                has = over_has(s, v, q->line, h[q->place]);
                answers[q->place] = has ? SEEN_BEFORE : SEEN_NEW;
            }
            list[left] = q->place;
            left += !has & sn_tags_flag(q->line);
        }
        count = left;
    }
    for (size_t i = 0; i < count; i++) {
        const sn_tags_part *part = v->part[sn_tags_part_of(h[list[i]])];
        uint64_t x = sn_tags_position(h[list[i]]);
        if (sn_tags_stash_has(part, sn_tags_home(part, x), x))
            answers[list[i]] = SEEN_BEFORE;
    }
}

/* What was read for GROUP keys: the lanes that match, and the last 32 bits of the line. */
typedef struct group {
    uint64_t code[GROUP];
    uint32_t last[GROUP], found[GROUP];
} group;

/* Answers the keys of a group, the first of which is key i. Those that may be in an overflow line
 * are appended to `list`; returns its length. */
INLINE size_t answer_group(const group *g, size_t i, seen_answer *answers, uint16_t *list,
                           size_t waiting, unsigned slots, unsigned extra);

#ifndef VECTOR_ANSWERS
INLINE size_t answer_group(const group *g, size_t i, seen_answer *answers, uint16_t *list,
                           size_t waiting, unsigned slots, unsigned extra)
{
    UNROLL
    for (unsigned j = 0; j < GROUP; j++) {
        uint32_t found = g->found[j] & ((UINT32_C(1) << slots) - 1);
        if (extra == 1)
            found &= plane_of(g->last[j], g->code[j], slots);
        answers[i + j] = found ? SEEN_BEFORE : SEEN_NEW;
        list[waiting] = (uint16_t)(i + j);
        waiting += (found == 0) & g->last[j] >> 31;
    }
    return waiting;
}
#endif

/* The lanes that match; with one extra bit without regard to it, which is decided for a group at
 * once. Beyond the slots there may be others. */
INLINE uint32_t look(const char *line, uint64_t code, unsigned slots, unsigned extra)
{
    if (extra == 1)
        return lanes_matching(line, (uint16_t)code);
    return HAVE_MATCHING(extra) ? tags_matching(line, code, extra)
                                : line_has(line, code, slots, extra);
}

INLINE void run_check(const sn_tags_shape *shape, const views *v, const seen_hash *h, size_t count,
                      seen_answer *answers, unsigned slots, unsigned extra, bool deep)
{
    const sn_tags_shape s = *shape;
    queue q;
    group g;
    uint16_t list[SN_TAGS_LOOKUP + GROUP];
    size_t waiting = 0, i = 0;
    for (size_t j = 0; j < DISTANCE && j < count; j++)
        find(&q, j, v, h[j], 16 + extra, deep);
    for (; i + DISTANCE + GROUP <= count; i += GROUP) {
        const size_t at = i % DISTANCE;
        memcpy(g.code, q.code + at, sizeof g.code);
        UNROLL
        for (size_t j = 0; j < GROUP; j++) {
            const char *line = q.line[at + j];
            g.last[j] = sn_tags_last(line);
            g.found[j] = look(line, q.code[at + j], slots, extra);
            find(&q, at + j, v, h[i + DISTANCE + j], 16 + extra, deep);
            PREFETCH_NEAR(q.line[(at + j + NEAR) % DISTANCE]);
        }
        waiting = answer_group(&g, i, answers, list, waiting, slots, extra);
    }
    for (; i < count; i++) {
        const size_t at = i % DISTANCE;
        verdict got = line_look(q.line[at], q.code[at], slots, extra);
        answers[i] = got.has ? SEEN_BEFORE : SEEN_NEW;
        list[waiting] = (uint16_t)i;
        waiting += !got.has & got.flag;
        if (i + DISTANCE < count)
            find(&q, at, v, h[i + DISTANCE], 16 + extra, deep);
    }
    check_over(&s, v, h, list, waiting, answers, deep);
}

/* The common rates have separate loops, with the number of slots known to the compiler. */
#define CHECK(name, slots, extra, deep)                                                            \
    __attribute__((noinline)) static void name(const sn_tags_shape *s, const views *v,             \
                                               const seen_hash *h, size_t count,                   \
                                               seen_answer *answers)                               \
    {                                                                                              \
        run_check(s, v, h, count, answers, slots, extra, deep);                                    \
    }

CHECK(check_1, 30, 1, false)   /* 1% */
CHECK(check_4, 25, 4, false)   /* 0.1% */
CHECK(check_14, 17, 14, false) /* 1e-6 */
CHECK(check_any, s->slots, s->extra, false)
CHECK(check_deep, s->slots, s->extra, true)

INLINE bool has_one(const sn_tags_shape *s, const sn_tags_part *part, const char *line, seen_hash h,
                    uint64_t home, uint64_t x)
{
    uint64_t code = sn_tags_code(s->width, part->level, h);
    bool has =
        s->extra == 1 ? line_has(line, code, 30, 1) : line_has(line, code, s->slots, s->extra);
    return has || (sn_tags_flag(line) && overflow_has(s, part, home, code, x));
}

static void body_check_one(const sn_tags_shape *s, const sn_tags_part *part, seen_hash h,
                           seen_answer *answer)
{
    uint64_t x = sn_tags_position(h), home = sn_tags_home(part, x);
    *answer = has_one(s, part, sn_tags_line(part, home), h, home, x) ? SEEN_BEFORE : SEEN_NEW;
}

enum { FEW = 32 };

/* For so few keys that reading all partitions first would cost more. */
static void check_few(const sn_tags_shape *s, sn_tags_part *const *parts, const seen_hash *h,
                      size_t count, seen_answer *answers)
{
    const sn_tags_part *part[FEW];
    const char *line[FEW];
    uint64_t home[FEW];
    for (size_t i = 0; i < count; i++) {
        part[i] = __atomic_load_n(&parts[sn_tags_part_of(h[i])], __ATOMIC_ACQUIRE);
        home[i] = sn_tags_home(part[i], sn_tags_position(h[i]));
        line[i] = sn_tags_line(part[i], home[i]);
        PREFETCH(line[i]);
    }
    for (size_t i = 0; i < count; i++) {
        bool has = has_one(s, part[i], line[i], h[i], home[i], sn_tags_position(h[i]));
        answers[i] = has ? SEEN_BEFORE : SEEN_NEW;
    }
}

static void body_check(const sn_tags_shape *s, sn_tags_part *const *parts, const seen_hash *h,
                       size_t count, seen_answer *answers)
{
    views v;
    if (count <= FEW)
        check_few(s, parts, h, count, answers);
    else if (take_views(s, parts, &v))
        check_deep(s, &v, h, count, answers);
    else if (s->extra == 1)
        check_1(s, &v, h, count, answers);
    else if (s->extra == 4)
        check_4(s, &v, h, count, answers);
    else if (s->extra == 14)
        check_14(s, &v, h, count, answers);
    else
        check_any(s, &v, h, count, answers);
}

/* ---- adding ---- */

/* What is the same for all keys of a call. */
typedef struct target {
    const sn_tags_part *part;
    char *lines;
    uint64_t homes;
    unsigned level, shift;
} target;

INLINE uint64_t target_code(const target *t, seen_hash h, uint64_t x, unsigned width, bool deep)
{
    return deep ? sn_tags_code(width, t->level, h)
                : (x >> t->shift | 1) & ((UINT64_C(1) << width) - 1);
}

typedef struct place {
    char *line;
    uint64_t code;
} place;

INLINE place find_place(const target *t, seen_hash h, unsigned width, bool deep)
{
    uint64_t x = sn_tags_position(h), home = sn_mulhi(x, t->homes);
    place at = {t->lines + (home + home / SN_TAGS_HOMES * SN_TAGS_OVERS) * SN_LINE_BYTES,
                target_code(t, h, x, width, deep)};
    PREFETCH(at.line);
    return at;
}

/* Puts a tag into the first empty slot if `put`; otherwise the stores go to a line that nothing
 * reads, because a branch would often be mispredicted. */
INLINE void put_if(bool put, char *line, char *nowhere, uint32_t empty, uint64_t code,
                   unsigned slots, unsigned extra)
{
    char *to = put ? line : nowhere;
    __asm__("" : "+r"(to));
    sn_tags_set_slot(to, (unsigned)__builtin_ctz(empty | UINT32_C(1) << (slots - 1)), slots, extra,
                     code);
}

/* The overflow lines of one block, for a key with this home line. The n-th is reached through the
 * flag of `before`. */
typedef struct over_place {
    char *before, *line;
    uint64_t code, home;
} over_place;

INLINE over_place find_over_place(const sn_tags_shape *s, const sn_tags_part *part, seen_hash h,
                                  unsigned n)
{
    uint64_t home = sn_tags_home(part, sn_tags_position(h));
    unsigned first = sn_tags_first_over(home);
    over_place at = {.home = home,
                     .line = sn_tags_over(part, home, (first + n) % SN_TAGS_OVERS),
                     .before = n == 0 ? sn_tags_line(part, home)
                                      : sn_tags_over(part, home, (first + n - 1) % SN_TAGS_OVERS),
                     .code = over_code(s, home, sn_tags_code(s->width, part->level, h))};
    PREFETCH_NEAR(at.line);
    return at;
}

enum { LATE_KEYS = 128 };
#define FLAG (UINT64_C(1) << 63)

/* The keys whose lines are all full: to the stash. Returns how many found no room; their places are
 * moved to `undone`. */
static size_t add_stash(const sn_tags_shape *s, const sn_tags_part *part, const seen_hash *h,
                        const uint16_t *list, size_t count, seen_answer *answers, uint64_t *fresh,
                        uint16_t *undone)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        seen_hash key = h[list[i]];
        over_place at = find_over_place(s, part, key, SN_TAGS_OVERS);
        if (sn_tags_flag(at.before) && sn_tags_stash_has(part, at.home, sn_tags_position(key))) {
            answers[list[i]] = SEEN_BEFORE;
        } else if (sn_tags_stash_put(part, at.home, sn_tags_stash_word(s, part, key))) {
            sn_tags_set_flag(at.before);
            answers[list[i]] = SEEN_NEW;
            ++*fresh;
        } else {
            undone[left++] = list[i];
        }
    }
    return left;
}

/* The keys whose home line is full, or has overflowed: a pass over their first overflow lines, one
 * over the second ones of those that are full too, and so on. A tag is written before the flag that
 * leads to it; one whose flag is missing was left by a process that was killed, and does not count.
 * Returns how many found no room. */
INLINE size_t run_over(const sn_tags_shape *s, const sn_tags_part *part, const seen_hash *h,
                       uint16_t *list, size_t count, seen_answer *answers, uint64_t *fresh,
                       uint16_t *undone, unsigned slots, unsigned extra)
{
    over_place places[LATE_KEYS];
    for (unsigned n = 0; n < SN_TAGS_OVERS && count > 0; n++) {
        size_t left = 0;
        for (size_t i = 0; i < count; i++)
            places[i] = find_over_place(s, part, h[list[i]], n);
        for (size_t i = 0; i < count; i++) {
            const over_place *at = &places[i];
            verdict got = line_look(at->line, at->code, slots, extra);
            bool has = got.has & sn_tags_flag(at->before);
            uint32_t empty = lanes_empty(at->line) & ((UINT32_C(1) << slots) - 1);
            uint16_t key = list[i];
            if (!has) {
                if (empty != 0)
                    sn_tags_set_slot(at->line, (unsigned)__builtin_ctz(empty), slots, extra,
                                     at->code);
                sn_tags_set_word(at->before, 7, sn_tags_word(at->before, 7) | FLAG);
                *fresh += empty != 0;
            }
            answers[key] = has ? SEEN_BEFORE : SEEN_NEW;
            list[left] = key;
            left += !has & (empty == 0);
        }
        count = left;
    }
    return count ? add_stash(s, part, h, list, count, answers, fresh, undone) : 0;
}

static size_t add_over(const sn_tags_shape *s, const sn_tags_part *part, const seen_hash *h,
                       uint16_t *list, size_t count, seen_answer *answers, uint64_t *fresh,
                       uint16_t *undone)
{
    return s->extra == 1 ? run_over(s, part, h, list, count, answers, fresh, undone, 23, 6)
                         : run_over(s, part, h, list, count, answers, fresh, undone, s->over_slots,
                                    s->extra + 5);
}

/* Home lines. A key whose line is full, or has overflowed, goes to a list of later ones; a second
 * copy of it in the batch finds the same line and comes behind it. */
INLINE size_t run_add(const sn_tags_shape *shape, const sn_tags_part *part, const seen_hash *h,
                      uint16_t *order, size_t count, seen_answer *answers, unsigned slots,
                      unsigned extra, bool deep)
{
    const target t = {part, part->lines, part->homes, part->level, 64 - part->level - (16 + extra)};
    const uint32_t all = (UINT32_C(1) << slots) - 1;
    _Alignas(SN_LINE_BYTES) char nowhere[SN_LINE_BYTES] = {0};
    place ring[DISTANCE];
    uint16_t list[LATE_KEYS];
    size_t late = 0, undone = 0;
    uint64_t fresh = 0;
    for (size_t i = 0; i < DISTANCE && i < count; i++)
        ring[i] = find_place(&t, h[order[i]], 16 + extra, deep);
    for (size_t i = 0; i < count; i++) {
        const place at = ring[i % DISTANCE];
        const uint16_t key = order[i];
        if (i + DISTANCE < count)
            ring[i % DISTANCE] = find_place(&t, h[order[i + DISTANCE]], 16 + extra, deep);
        PREFETCH_NEAR(ring[(i + NEAR < count ? i + NEAR : i) % DISTANCE].line);
        verdict got = line_look(at.line, at.code, slots, extra);
        uint32_t empty = lanes_empty(at.line) & all;
        bool put = !got.has & !got.flag & (empty != 0);
        put_if(put, at.line, nowhere, empty, at.code, slots, extra);
        answers[key] = got.has ? SEEN_BEFORE : SEEN_NEW;
        fresh += put;
        list[late] = key;
        late += !got.has & !put;
        if (__builtin_expect(late == LATE_KEYS, 0)) {
            undone += add_over(shape, part, h, list, late, answers, &fresh, order + undone);
            late = 0;
        }
    }
    if (late > 0)
        undone += add_over(shape, part, h, list, late, answers, &fresh, order + undone);
    __atomic_store_n(&part->counts[0], __atomic_load_n(&part->counts[0], __ATOMIC_RELAXED) + fresh,
                     __ATOMIC_RELAXED);
    return undone;
}

#define ADD(name, slots, extra, deep)                                                              \
    __attribute__((noinline)) static size_t name(const sn_tags_shape *s, const sn_tags_part *part, \
                                                 const seen_hash *h, uint16_t *order,              \
                                                 size_t count, seen_answer *answers)               \
    {                                                                                              \
        return run_add(s, part, h, order, count, answers, slots, extra, deep);                     \
    }

ADD(add_1, 30, 1, false)
ADD(add_4, 25, 4, false)
ADD(add_14, 17, 14, false)
ADD(add_any, s->slots, s->extra, false)
ADD(add_deep, s->slots, s->extra, true)

static size_t body_add(const sn_tags_shape *s, const sn_tags_part *part, const seen_hash *h,
                       uint16_t *order, size_t count, seen_answer *answers)
{
    if (part->level + s->width > 64)
        return add_deep(s, part, h, order, count, answers);
    if (s->extra == 1)
        return add_1(s, part, h, order, count, answers);
    if (s->extra == 4)
        return add_4(s, part, h, order, count, answers);
    if (s->extra == 14)
        return add_14(s, part, h, order, count, answers);
    return add_any(s, part, h, order, count, answers);
}
