/* The body of a tag kernel, compiled once per CPU level. See tags.h.
 *
 * The including file defines, for a line of 32 lanes of 16 bits,
 *     lanes_matching(line, lane)   one bit for each lane whose known bits agree with `lane`
 *     lanes_empty(line)            one bit for each lane that is 0
 *
 * A lane e has its marker in the lowest bit that is set: e ^ (e - 1) is that bit and all below. It
 * agrees with the lane s of a key if (e ^ s) & ~(e ^ (e - 1)) is 0. With a saturating e - 1 an
 * empty lane never agrees, because s has its lowest bit set.
 *
 * Lookups: while key i is compared the line of key i + AHEAD is found and prefetched. Keys that
 * must look into an overflow line are put on a list and done in a second pass, whose lines are
 * prefetched too. */

#include <stdbool.h>

enum { AHEAD = 64 };

#define INLINE static inline __attribute__((always_inline))
#define PREFETCH(p) __builtin_prefetch((p), 0, 2)

/* Whether a line has a tag that covers the key. */
INLINE bool line_has(const char *line, uint64_t code, unsigned slots, unsigned extra)
{
    uint32_t found = lanes_matching(line, (uint16_t)code) & ((UINT32_C(1) << slots) - 1);
    if (extra == 1) { /* the extra bits are the last 32 of the line, one for each lane */
        uint32_t plane = (uint32_t)(sn_tags_word(line, 7) >> 32);
        return (found & (code >> 16 & 1 ? plane : ~plane)) != 0;
    }
    for (; __builtin_expect(found != 0, 0); found &= found - 1) {
        unsigned i = (unsigned)__builtin_ctz(found);
        if (sn_tags_bits(line, 16 * slots + i * extra, extra) == code >> 16)
            return true;
    }
    return false;
}

INLINE bool line_put(char *line, uint64_t code, unsigned slots, unsigned extra)
{
    uint32_t empty = lanes_empty(line) & ((UINT32_C(1) << slots) - 1);
    if (__builtin_expect(empty == 0, 0))
        return false;
    sn_tags_set_slot(line, (unsigned)__builtin_ctz(empty), slots, extra, code);
    return true;
}

/* ---- lookups ---- */

typedef struct query {
    const sn_tags_part *part;
    const char *line;
    uint64_t code;
} query;

/* Each key is answered by the partition that its pointer names here, in both passes: the pointer
 * may be replaced at any time. */
INLINE query find(const sn_tags_shape *s, sn_tags_part *const *parts, seen_hash h)
{
    const sn_tags_part *part = __atomic_load_n(&parts[sn_tags_part_of(h)], __ATOMIC_ACQUIRE);
    query q = {part, sn_tags_line(part, sn_tags_home(part, sn_tags_position(h))),
               sn_tags_code(s->width, part->level, h)};
    PREFETCH(q.line);
    return q;
}

/* Whether the overflow lines of a key's block, or the stash, have it. */
INLINE bool overflow_has(const sn_tags_shape *s, const sn_tags_part *part, uint64_t home,
                         uint64_t code, uint64_t x)
{
    unsigned first = sn_tags_first_over(home);
    code |= home % SN_TAGS_HOMES << s->width;
    for (unsigned n = 0; n < SN_TAGS_OVERS; n++) {
        const char *line = sn_tags_over(part, home, (first + n) % SN_TAGS_OVERS);
        if (line_has(line, code, s->over_slots, s->extra + 5))
            return true;
        if (!sn_tags_flag(line))
            return false;
    }
    return sn_tags_stash_has(part, home, x);
}

/* A key whose home line does not have it and has overflowed. */
typedef struct waiting {
    const sn_tags_part *part;
    uint64_t code;
    size_t place;
} waiting;

INLINE void prefetch_overflow(const waiting *key, const seen_hash *h)
{
    uint64_t home = sn_tags_home(key->part, sn_tags_position(h[key->place]));
    PREFETCH(sn_tags_over(key->part, home, sn_tags_first_over(home)));
}

static void check_overflow(const sn_tags_shape *s, const seen_hash *h, const waiting *list,
                           size_t count, seen_answer *answers)
{
    enum { OVERFLOW_AHEAD = 32 };
    for (size_t i = 0; i < count && i < OVERFLOW_AHEAD; i++)
        prefetch_overflow(&list[i], h);
    for (size_t i = 0; i < count; i++) {
        const waiting *key = &list[i];
        if (i + OVERFLOW_AHEAD < count)
            prefetch_overflow(&list[i + OVERFLOW_AHEAD], h);
        uint64_t x = sn_tags_position(h[key->place]), home = sn_tags_home(key->part, x);
        bool has = overflow_has(s, key->part, home, key->code, x);
        answers[key->place] = has ? SEEN_BEFORE : SEEN_NEW;
    }
}

INLINE void run_check(const sn_tags_shape *shape, sn_tags_part *const *parts, const seen_hash *h,
                      size_t count, seen_answer *answers, unsigned slots, unsigned extra)
{
    const sn_tags_shape s = *shape;
    query ring[AHEAD];
    waiting list[SN_TAGS_LOOKUP];
    size_t late = 0;
    for (size_t i = 0; i < AHEAD && i < count; i++)
        ring[i] = find(&s, parts, h[i]);
    for (size_t i = 0; i < count; i++) {
        query q = ring[i % AHEAD];
        if (i + AHEAD < count)
            ring[i % AHEAD] = find(&s, parts, h[i + AHEAD]);
        bool has = line_has(q.line, q.code, slots, extra);
        answers[i] = has ? SEEN_BEFORE : SEEN_NEW;
        list[late] = (waiting){q.part, q.code, i};
        late += !has & sn_tags_flag(q.line);
    }
    check_overflow(&s, h, list, late, answers);
}

static void body_check(const sn_tags_shape *s, sn_tags_part *const *parts, const seen_hash *h,
                       size_t count, seen_answer *answers)
{
    if (s->extra == 1)
        run_check(s, parts, h, count, answers, 30, 1);
    else
        run_check(s, parts, h, count, answers, s->slots, s->extra);
}

static void body_check_one(const sn_tags_shape *s, const sn_tags_part *part, seen_hash h,
                           seen_answer *answer)
{
    uint64_t x = sn_tags_position(h), home = sn_tags_home(part, x);
    uint64_t code = sn_tags_code(s->width, part->level, h);
    const char *line = sn_tags_line(part, home);
    bool has =
        s->extra == 1 ? line_has(line, code, 30, 1) : line_has(line, code, s->slots, s->extra);
    if (!has && sn_tags_flag(line))
        has = overflow_has(s, part, home, code, x);
    *answer = has ? SEEN_BEFORE : SEEN_NEW;
}

/* ---- adding ---- */

/* Puts a tag that is in no line yet behind its full home line. The tag first, then the flag that
 * leads to it. */
INLINE bool overflow_put(const sn_tags_shape *s, const sn_tags_part *part, char *home_line,
                         uint64_t home, uint64_t code, seen_hash h)
{
    unsigned first = sn_tags_first_over(home);
    char *before = home_line;
    code |= home % SN_TAGS_HOMES << s->width;
    for (unsigned n = 0; n < SN_TAGS_OVERS; n++) {
        char *line = sn_tags_over(part, home, (first + n) % SN_TAGS_OVERS);
        bool done = line_put(line, code, s->over_slots, s->extra + 5);
        sn_tags_set_flag(before);
        if (done)
            return true;
        before = line;
    }
    if (!sn_tags_stash_put(part, home, sn_tags_stash_word(s, part, h)))
        return false;
    sn_tags_set_flag(before);
    return true;
}

/* The second pass: keys whose home line is full. Returns how many of the list found no room. */
static size_t add_overflow(const sn_tags_shape *s, const sn_tags_part *part, const seen_hash *h,
                           uint16_t *list, size_t count, seen_answer *answers, uint64_t *news)
{
    size_t undone = 0;
    for (size_t i = 0; i < count; i++) {
        seen_hash key = h[list[i]];
        uint64_t x = sn_tags_position(key), home = sn_tags_home(part, x);
        uint64_t code = sn_tags_code(s->width, part->level, key);
        char *line = sn_tags_line(part, home);
        bool has = sn_tags_flag(line) && overflow_has(s, part, home, code, x);
        if (!has && !overflow_put(s, part, line, home, code, key)) {
            list[undone++] = list[i];
            continue;
        }
        *news += !has;
        answers[list[i]] = has ? SEEN_BEFORE : SEEN_NEW;
    }
    return undone;
}

/* A key whose line is full, or has overflowed, goes to the second pass. A second copy of it in the
 * batch finds the same line and comes behind it. */
INLINE size_t run_add(const sn_tags_shape *shape, const sn_tags_part *part, const seen_hash *h,
                      uint16_t *order, size_t count, seen_answer *answers, unsigned slots,
                      unsigned extra)
{
    const sn_tags_shape s = *shape;
    size_t late = 0;
    uint64_t news = 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t place = order[i];
        seen_hash key = h[place];
        uint64_t home = sn_tags_home(part, sn_tags_position(key));
        uint64_t code = sn_tags_code(s.width, part->level, key);
        char *line = sn_tags_line(part, home);
        bool has = line_has(line, code, slots, extra);
        if (has) {
            answers[place] = SEEN_BEFORE;
            continue;
        }
        if (sn_tags_flag(line) || !line_put(line, code, slots, extra)) {
            PREFETCH(sn_tags_over(part, home, sn_tags_first_over(home)));
            order[late++] = place; /* never ahead of what is still to be read */
            continue;
        }
        answers[place] = SEEN_NEW;
        news++;
    }
    late = late ? add_overflow(&s, part, h, order, late, answers, &news) : 0;
    __atomic_store_n(&part->counts[0], __atomic_load_n(&part->counts[0], __ATOMIC_RELAXED) + news,
                     __ATOMIC_RELAXED);
    return late;
}

static size_t body_add(const sn_tags_shape *s, const sn_tags_part *part, const seen_hash *h,
                       uint16_t *order, size_t count, seen_answer *answers)
{
    if (s->extra == 1)
        return run_add(s, part, h, order, count, answers, 30, 1);
    return run_add(s, part, h, order, count, answers, s->slots, s->extra);
}
