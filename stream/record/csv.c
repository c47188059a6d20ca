/* Records and fields of CSV.
 *
 * Three masks of 64 bits give the positions of quotes, delimiters and newlines. A quote toggles the
 * state, so the exclusive-or of all quotes up to a byte tells whether the byte is quoted:
 *
 *     bytes    a , " b , "  "  c " , d \n
 *     quotes   0 0 1 0 0 1  1  0 1 0 0 0
 *     inside   0 0 1 1 1 0  1  1 0 0 0 0      a doubled quote closes and opens again
 *
 * This is correct if every opening quote is at the start of a field or directly after a closing
 * one. Other quotes are ordinary bytes: they are removed from the mask, first one first, and the
 * mask is recomputed, which is rare in real files. */
#include "stream/record/csv.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/error.h"

enum { STEP = 64, SEGMENT = 16 << 10 };

/* Bits of the state: inside quotes; the previous byte does not allow an opening quote. */
enum { INSIDE = 1, MIDDLE = 2 };

typedef struct masks {
    uint64_t quote, delimiter, newline;
} masks;

typedef void load_function(const char *bytes, char delimiter, masks *m);

bool sn_csv_is_quoted(sn_csv_state state)
{
    return state & INSIDE;
}

/* ---- Masks ---------------------------------------------------------------------------------- */

static inline void load_plain(const char *bytes, char delimiter, masks *m)
{
    *m = (masks){0};
    for (unsigned i = 0; i < STEP; i++) {
        m->quote |= (uint64_t)(bytes[i] == '"') << i;
        m->delimiter |= (uint64_t)(bytes[i] == delimiter) << i;
        m->newline |= (uint64_t)(bytes[i] == '\n') << i;
    }
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))

AVX2 static inline uint64_t match(__m256i low, __m256i high, char wanted)
{
    __m256i all = _mm256_set1_epi8(wanted);
    uint64_t mask = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, all));
    return mask | (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, all)) << 32;
}

AVX2 static inline void load_avx2(const char *bytes, char delimiter, masks *m)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    m->quote = match(low, high, '"');
    m->delimiter = match(low, high, delimiter);
    m->newline = match(low, high, '\n');
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
#endif

/* Bit i of the result is the exclusive-or of bits 0 to i. */
static inline uint64_t prefix_xor(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* Computes the masks of `count` bytes and updates the state. Delimiters and newlines inside quotes
 * are cleared. */
static inline __attribute__((always_inline)) void classify(masks *m, size_t count,
                                                           sn_csv_state *state)
{
    uint64_t valid = count >= STEP ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    uint64_t quote = m->quote & valid, ends = (m->delimiter | m->newline) & valid;
    uint64_t inside = 0 - (*state & INSIDE), first = !(*state & MIDDLE);
    if (quote) {
        for (;;) {
            inside = prefix_xor(quote) ^ (0 - (*state & INSIDE));
            uint64_t wrong = quote & inside & ~((ends | quote) << 1 | first);
            if (!wrong)
                break;
            quote &= ~(wrong & (0 - wrong));
        }
    }
    m->delimiter &= valid & ~inside;
    m->newline &= valid & ~inside;
    unsigned last = count >= STEP ? STEP - 1 : (unsigned)count - 1;
    *state = (inside >> last & 1) * INSIDE | (~(ends | quote) >> last & 1) * MIDDLE;
}

/* ---- Record ends ---------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) size_t last_end(const char *bytes, size_t from,
                                                             size_t to, char delimiter,
                                                             sn_csv_state *state,
                                                             load_function *load)
{
    size_t end = 0;
    for (size_t at = from; at < to; at += STEP) {
        masks m;
        load(bytes + at, delimiter, &m);
        classify(&m, to - at, state);
        if (m.newline)
            end = at + STEP - (size_t)__builtin_clzll(m.newline);
    }
    return end;
}

#if defined(__x86_64__)
AVX2 static size_t last_end_avx2(const char *bytes, size_t from, size_t to, char delimiter,
                                 sn_csv_state *state)
{
    return last_end(bytes, from, to, delimiter, state, load_avx2);
}
#endif

size_t sn_csv_last_end(const char *bytes, size_t from, size_t to, char delimiter,
                       sn_csv_state *state)
{
#if defined(__x86_64__)
    if (has_avx2())
        return last_end_avx2(bytes, from, to, delimiter, state);
#endif
    return last_end(bytes, from, to, delimiter, state, load_plain);
}

size_t sn_csv_ends_plain(const char *bytes, size_t length, char delimiter, uint32_t *ends,
                         size_t room, bool *quoted)
{
    bool inside = false, field_start = true, closed = false;
    size_t found = 0;
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        bool opens = c == '"' && !inside && (field_start || closed);
        closed = c == '"' && inside;
        field_start = !inside && (c == delimiter || c == '\n');
        inside = opens || (inside && !closed);
        if (c == '\n' && !inside) {
            if (found < room)
                ends[found] = (uint32_t)(i + 1);
            found++;
        }
    }
    *quoted = inside;
    return found;
}

size_t sn_csv_first_end(const char *bytes, size_t length, char delimiter)
{
    sn_csv_state state = 0;
    for (size_t at = 0; at < length; at += STEP) {
        masks m;
        load_plain(bytes + at, delimiter, &m);
        classify(&m, length - at, &state);
        if (m.newline)
            return at + (size_t)__builtin_ctzll(m.newline) + 1;
    }
    return length;
}

/* ---- Fields --------------------------------------------------------------------------------- */

static inline size_t write_positions(uint64_t mask, uint32_t base, uint32_t *to)
{
    enum { EAGER = 4 };
    size_t count = (size_t)__builtin_popcountll(mask);
    for (size_t first = 0;; first += EAGER) {
        for (unsigned i = 0; i < EAGER; i++) {
            /* The |1<<63 keeps ctz defined once the mask is empty; that entry is not counted. */
            to[first + i] = base + (uint32_t)__builtin_ctzll(mask | UINT64_C(1) << 63);
            mask &= mask - 1;
        }
        if (count <= first + EAGER)
            return count;
    }
}

/* The results of a scan so far: field ends, and for each record its end and the number of fields up
 * to it. */
typedef struct found {
    uint32_t *mark, *start, *first_mark;
    size_t marks, records;
} found;

static inline __attribute__((always_inline)) void index_fields(const char *bytes, size_t from,
                                                               size_t to, char delimiter,
                                                               sn_csv_state *state, found *f,
                                                               load_function *load)
{
    for (size_t at = from; at < to; at += STEP) {
        masks m;
        load(bytes + at, delimiter, &m);
        classify(&m, to - at, state);
        uint64_t ends = m.delimiter | m.newline;
        for (uint64_t left = m.newline; left; left &= left - 1) {
            uint64_t until = left ^ (left - 1); /* the lowest newline and all before it */
            f->records++;
            f->start[f->records] = (uint32_t)at + (uint32_t)__builtin_ctzll(left) + 1;
            f->first_mark[f->records] =
                (uint32_t)(f->marks + (size_t)__builtin_popcountll(ends & until));
        }
        f->marks += write_positions(ends, (uint32_t)at, f->mark + f->marks);
    }
}

#if defined(__x86_64__)
AVX2 static void index_avx2(const char *bytes, size_t from, size_t to, char delimiter,
                            sn_csv_state *state, found *f)
{
    index_fields(bytes, from, to, delimiter, state, f, load_avx2);
}
#endif

static void index_any(const char *bytes, size_t from, size_t to, char delimiter,
                      sn_csv_state *state, found *f)
{
#if defined(__x86_64__)
    if (has_avx2()) {
        index_avx2(bytes, from, to, delimiter, state, f);
        return;
    }
#endif
    index_fields(bytes, from, to, delimiter, state, f, load_plain);
}

static seen_status grow(uint32_t **array, size_t *room, size_t need, seen_error *error)
{
    if (need <= *room)
        return SEEN_OK;
    need += need / 2;
    uint32_t *grown = realloc(*array, need * sizeof *grown);
    if (!grown)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for %zu fields", need);
    *array = grown;
    *room = need;
    return SEEN_OK;
}

/* Reserves room for the maximum results of one segment. */
static seen_status reserve(sn_block *block, found *f, seen_error *error)
{
    seen_status status =
        grow(&block->mark, &block->mark_room, f->marks + SEGMENT + STEP + 1, error);
    if (status == SEEN_OK)
        status = grow(&block->start, &block->start_room, f->records + SEGMENT + 2, error);
    if (status == SEEN_OK)
        status = grow(&block->first_mark, &block->first_mark_room, f->records + SEGMENT + 2, error);
    f->mark = block->mark;
    f->start = block->start;
    f->first_mark = block->first_mark;
    return status;
}

seen_status sn_csv_split(sn_block *block, char delimiter, seen_error *error)
{
    sn_csv_state state = 0;
    found f = {0};
    seen_status status = reserve(block, &f, error);
    for (size_t at = 0; at < block->length && status == SEEN_OK; at += SEGMENT) {
        size_t to = block->length - at < SEGMENT ? block->length : at + SEGMENT;
        status = reserve(block, &f, error);
        if (status == SEEN_OK)
            index_any(block->bytes, at, to, delimiter, &state, &f);
    }
    if (status != SEEN_OK)
        return status;
    f.start[0] = f.first_mark[0] = 0;
    block->unfinished = f.start[f.records] < block->length;
    if (block->unfinished) { /* a last record without a newline */
        f.mark[f.marks++] = (uint32_t)block->length;
        f.start[++f.records] = (uint32_t)block->length;
        f.first_mark[f.records] = (uint32_t)f.marks;
    }
    block->lines = f.records;
    return sn_block_columns(block, f.records, error);
}

const char *sn_csv_unquote(const char *raw, size_t length, char *to, size_t *value_length)
{
    const char *end = raw + length, *close = memchr(raw + 1, '"', length - 1);
    if (!close || close + 1 == end) {
        *value_length = (size_t)((close ? close : end) - raw) - 1;
        return raw + 1;
    }
    size_t at = 0;
    bool inside = true;
    for (const char *from = raw + 1; from < end; from++) {
        bool quote = *from == '"';
        if (inside && quote && from + 1 < end && from[1] == '"')
            from++;
        else if (inside && quote) {
            inside = false;
            continue;
        }
        to[at++] = *from;
    }
    *value_length = at;
    return to;
}
