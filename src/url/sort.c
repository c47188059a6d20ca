/* Sorts the parameters of a query in place: a stable merge sort over records of any length, which
 * merges by rotation (Kim and Kutzner, Stable Minimum Storage Merging, 2004), so that it needs no
 * memory and no maximum number of records. Sorting n bytes takes O(n log² n) moves.
 *
 *     merge:  [ a1 | a2 ][ b1 | b2 ]  cut the longer side in the middle, the other at the same key
 *             [ a1 | b1 ][ a2 | b2 ]  rotate a2 and b1, then merge both halves */
#include "url/url.h"

#include <string.h>

static void reverse(char *at, char *end)
{
    while (at < end) {
        char c = *at;
        *at++ = *--end;
        *end = c;
    }
}

/* Swaps [at, middle) and [middle, end). */
static void rotate(char *at, char *middle, char *end)
{
    if (at == middle || middle == end)
        return;
    reverse(at, middle);
    reverse(middle, end);
    reverse(at, end);
}

static bool ends_name(char c)
{
    return c == '=' || c == '&';
}

/* Compares the names of two pieces, each of which begins with '&'; either may be the last. */
static int compare_names(const char *a, const char *a_end, const char *b, const char *b_end)
{
    for (a++, b++;; a++, b++) {
        bool a_done = a == a_end || ends_name(*a), b_done = b == b_end || ends_name(*b);
        if (a_done || b_done)
            return (int)b_done - (int)a_done;
        if (*a != *b)
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
    }
}

/* The first piece of the sorted [start, end) that sorts after `key`: whose name is larger or, if
 * equal_behind, equal. */
static char *find_place(char *start, char *end, const char *key, const char *key_end,
                        bool equal_behind)
{
    while (start < end) {
        char *piece = start + (end - start) / 2;
        while (*piece != '&')
            piece--;
        int order = compare_names(piece, end, key, key_end);
        if (order > 0 || (order == 0 && equal_behind)) {
            end = piece;
        } else {
            char *next = memchr(piece + 1, '&', (size_t)(end - piece - 1));
            start = next ? next : end;
        }
    }
    return start;
}

/* The middle of [start, end), at a piece boundary inside it; NULL if it is a single piece. */
static char *find_cut(char *start, char *end)
{
    char *middle = start + (end - start) / 2, *cut = middle;
    while (cut > start && *cut != '&')
        cut--;
    return cut > start ? cut : memchr(middle + 1, '&', (size_t)(end - middle - 1));
}

/* Merges the sorted [start, middle) and [middle, end). Each iteration passes at most three quarters
 * of the bytes to the recursive call (a longer piece is alone in the next iteration). */
static void merge(char *start, char *middle, char *end)
{
    while (start < middle && middle < end) {
        char *cut_a, *cut_b;
        bool alone;
        if (middle - start >= end - middle) {
            cut_a = find_cut(start, middle);
            alone = !cut_a;
            cut_a = alone ? start : cut_a;
            cut_b = find_place(middle, end, cut_a, middle, true);
        } else {
            cut_b = find_cut(middle, end);
            alone = !cut_b;
            cut_a = find_place(start, middle, alone ? middle : cut_b, end, false);
            cut_b = alone ? end : cut_b;
        }
        rotate(cut_a, middle, cut_b);
        if (alone)
            return;
        char *half = cut_a + (cut_b - middle);
        merge(start, cut_a, half);
        start = half;
        middle = cut_b;
    }
}

void sn_url_sort(char *pieces, size_t len)
{
    char *cut = len > 1 ? find_cut(pieces, pieces + len) : NULL;
    if (!cut)
        return;
    sn_url_sort(pieces, (size_t)(cut - pieces));
    sn_url_sort(cut, len - (size_t)(cut - pieces));
    merge(pieces, cut, pieces + len);
}
