/* Finding line ends.
 *
 * The scan compares 64 bytes at a time with the terminator, builds a 64-bit mask of the matches and
 * writes the positions of its set bits. Most masks have very few bits, so the first four positions
 * are always written and only the count depends on the mask: an unpredictable branch costs more
 * than four stores. */
#include "stream/io/lines.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/error.h"

enum { STEP = 64, EAGER = 2 };

size_t sn_lines_scan_plain(const char *bytes, size_t length, char terminator, uint32_t *ends,
                           size_t room)
{
    size_t found = 0;
    for (size_t i = 0; i < length && found < room; i++)
        if (bytes[i] == terminator)
            ends[found++] = (uint32_t)(i + 1);
    return found;
}

/* `ends` must have capacity for 64 more than `room`; up to 63 bytes behind `length` are read. */
typedef size_t scan_function(const char *bytes, size_t length, char terminator, uint32_t *ends,
                             size_t room, size_t *scanned);

static inline size_t write_positions(uint64_t mask, uint32_t base, uint32_t *ends)
{
    size_t count = (size_t)__builtin_popcountll(mask);
    for (size_t first = 0;; first += EAGER) {
        for (unsigned i = 0; i < EAGER; i++) {
            /* The |1<<63 keeps ctz defined once the mask is empty; that entry is not counted. */
            ends[first + i] = base + (uint32_t)__builtin_ctzll(mask | 1ull << 63) + 1;
            mask &= mask - 1;
        }
        if (count <= first + EAGER)
            return count;
    }
}

static inline uint64_t only_first(uint64_t mask, size_t bytes)
{
    return bytes >= 64 ? mask : mask & ((1ull << bytes) - 1);
}

static size_t scan_words(const char *bytes, size_t length, char terminator, uint32_t *ends,
                         size_t room, size_t *scanned)
{
    size_t found = 0, at = 0;
    for (; at < length && found < room; at += STEP) {
        size_t here = length - at < STEP ? length - at : STEP;
        uint64_t mask = 0;
        for (size_t i = 0; i < here; i++)
            mask |= (uint64_t)(bytes[at + i] == terminator) << i;
        found += write_positions(mask, (uint32_t)at, ends + found);
    }
    *scanned = at < length ? at : length;
    return found;
}

#if defined(__x86_64__)
__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))) static size_t
scan_avx2(const char *bytes, size_t length, char terminator, uint32_t *ends, size_t room,
          size_t *scanned)
{
    const __m256i wanted = _mm256_set1_epi8(terminator);
    size_t found = 0, at = 0;
    for (; at < length && found < room; at += STEP) {
        __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + at));
        __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + at + 32));
        uint64_t mask = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
        mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)) << 32;
        mask = only_first(mask, length - at);
        found += write_positions(mask, (uint32_t)at, ends + found);
    }
    *scanned = at < length ? at : length;
    return found;
}
#endif

static scan_function *best_scan(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return scan_avx2;
#endif
    return scan_words;
}

size_t sn_lines_scan(const char *bytes, size_t length, char terminator, uint32_t *ends, size_t room,
                     size_t *scanned)
{
    return best_scan()(bytes, length, terminator, ends, room, scanned);
}

/* Reserves `ends` entries after start[0], plus the 64 that a scan may overrun. */
static seen_status reserve_starts(sn_block *block, size_t ends, seen_error *error)
{
    size_t need = ends + 1 + STEP + EAGER;
    if (need <= block->start_room)
        return SEEN_OK;
    uint32_t *start = realloc(block->start, need * sizeof *start);
    if (!start)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for %zu lines", ends);
    block->start = start;
    block->start_room = need;
    return SEEN_OK;
}

seen_status sn_lines_split(sn_block *block, seen_error *error)
{
    size_t found = 0, at = 0;
    size_t room = block->length / 48 + 64;
    do {
        seen_status status = reserve_starts(block, room, error);
        if (status != SEEN_OK)
            return status;
        size_t scanned;
        size_t more = sn_lines_scan(block->bytes + at, block->length - at, block->terminator,
                                    block->start + 1 + found, room - found, &scanned);
        if (at)
            for (size_t i = 0; i < more; i++)
                block->start[1 + found + i] += (uint32_t)at;
        found += more;
        at += scanned;
        room = found + found / 2 + (block->length - at) / 8 + 64;
    } while (at < block->length);
    block->start[0] = 0;
    block->unfinished = block->start[found] < block->length;
    if (block->unfinished)
        block->start[++found] = (uint32_t)block->length;
    block->lines = found;
    return sn_block_columns(block, found, error);
}

size_t sn_lines_count(const char *bytes, size_t length, char terminator)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += bytes[i] == terminator;
    return count;
}

size_t sn_lines_last_end(const char *bytes, size_t length, char terminator)
{
    const char *last = memrchr(bytes, terminator, length);
    return last ? (size_t)(last - bytes) + 1 : 0;
}
