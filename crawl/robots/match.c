/* Matches paths with the rules.
 *
 * Plain patterns (most of them) are sorted bytewise, and each has a link to the longest other
 * pattern that is a prefix of it. Everything between a path's longest pattern and the path itself
 * in that order begins with that pattern, so it is the nearest one before the path, or one of its
 * parents:
 *
 *     /a   /a/b   /a/b/c   /a/d        path /a/bx: nearest before it is /a/b/c; no;
 *      ^-----'  ^----'                 its parent /a/b is a prefix of the path: found
 *
 * Patterns with "*" are tried one by one, in order of precedence, until one matches or can no
 * longer win. Each piece between stars is searched once, from the end of the one before it: the
 * leftmost match is always sufficient, so there is no backtracking. */
#include "crawl/robots/internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_plain(uint8_t c)
{
    static const char others[] = "-._~:/?#[]@!&'()+,;=";
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c != '\0' && strchr(others, c));
}

static bool is_unreserved(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t put_encoded(char *to, uint8_t c)
{
    static const char digits[] = "0123456789ABCDEF";
    to[0] = '%';
    to[1] = digits[c >> 4];
    to[2] = digits[c & 15];
    return 3;
}

size_t sn_robots_normal(const char *from, size_t len, bool pattern, char *to)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        uint8_t c = (uint8_t)from[i];
        int high = c == '%' && len - i > 2 ? hex_digit((uint8_t)from[i + 1]) : -1;
        int low = high >= 0 ? hex_digit((uint8_t)from[i + 2]) : -1;
        bool special = pattern && (c == '*' || (c == '$' && i + 1 == len));
        bool plain = is_plain(c) || c == '%'; /* one that does not begin an escape is literal */
        if (low >= 0) {
            c = (uint8_t)(high << 4 | low);
            i += 2;
            if (is_unreserved(c))
                to[n++] = (char)c;
            else
                n += put_encoded(to + n, c);
        } else if (special) {
            if (c == '$' || n == 0 || to[n - 1] != '*')
                to[n++] = (char)c;
        } else if (plain) {
            to[n++] = (char)c;
        } else {
            n += put_encoded(to + n, c);
        }
    }
    return n;
}

/* As in the escapes of a normal path. */
static bool is_upper_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

/* Whether this position is within a percent-escape, after its "%". */
static bool in_escape(const char *path, size_t len, size_t at)
{
    for (size_t back = 1; back <= 2 && back <= at; back++) {
        const char *p = path + at - back;
        if (at - back + 2 < len && *p == '%' && is_upper_hex(p[1]) && is_upper_hex(p[2]))
            return true;
    }
    return false;
}

/* The first position from `at` on at which a piece occurs that does not begin within an escape;
 * `len`: none. */
static size_t find_piece(const char *path, size_t len, size_t at, const char *piece,
                         size_t piece_len)
{
    if (piece_len == 0)
        return at;
    for (;; at++) {
        const char *found = at < len ? memmem(path + at, len - at, piece, piece_len) : NULL;
        if (!found)
            return len;
        at = (size_t)(found - path);
        if (!in_escape(path, len, at))
            return at;
    }
}

bool sn_robots_match(const char *pattern, size_t pattern_len, const char *path, size_t path_len)
{
    bool to_end = pattern_len > 0 && pattern[pattern_len - 1] == '$';
    if (to_end)
        pattern_len--;
    const char *end = pattern + pattern_len;
    const char *star = pattern_len > 0 ? memchr(pattern, '*', pattern_len) : NULL;
    size_t piece = star ? (size_t)(star - pattern) : pattern_len, at = piece;
    if (piece > path_len || memcmp(pattern, path, piece) != 0)
        return false;
    if (!star)
        return !to_end || at == path_len;
    for (;;) {
        pattern = star + 1;
        star = pattern < end ? memchr(pattern, '*', (size_t)(end - pattern)) : NULL;
        piece = (size_t)((star ? star : end) - pattern);
        if (piece > path_len - at)
            return false;
        if (!star && to_end)
            return memcmp(pattern, path + path_len - piece, piece) == 0 &&
                   (piece == 0 || !in_escape(path, path_len, path_len - piece));
        size_t found = find_piece(path, path_len, at, pattern, piece);
        if (piece > 0 && found == path_len)
            return false;
        if (!star)
            return true;
        at = found + piece;
    }
}

/* ---- order ---- */

static int compare_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

/* Equal patterns: Allow first, so that it is the one that is kept. */
static int by_rank(const void *left, const void *right, void *text)
{
    const sn_robots_rule *a = left, *b = right;
    const char *base = text;
    if (a->wild != b->wild)
        return a->wild - b->wild;
    if (a->wild && a->len != b->len)
        return a->len < b->len ? 1 : -1;
    if (a->wild && a->allow != b->allow)
        return b->allow - a->allow;
    int order = compare_bytes(base + a->at, a->len, base + b->at, b->len);
    return order != 0 ? order : b->allow - a->allow;
}

static bool begins(const sn_robots *robots, const sn_robots_rule *rule, const char *with,
                   size_t len)
{
    return rule->len <= len && memcmp(robots->text + rule->at, with, rule->len) == 0;
}

static uint32_t parent_of(const sn_robots *robots, uint32_t i)
{
    const sn_robots_rule *rule = &robots->rules[i];
    uint32_t parent = i > 0 ? i - 1 : SN_ROBOTS_NO_PARENT;
    while (parent != SN_ROBOTS_NO_PARENT &&
           !begins(robots, &robots->rules[parent], robots->text + rule->at, rule->len))
        parent = robots->rules[parent].parent;
    return parent;
}

void sn_robots_sort_rules(sn_robots *robots)
{
    sn_robots_rule *rules = robots->rules;
    size_t kept = 0;
    if (robots->rule_count == 0)
        return;
    qsort_r(rules, robots->rule_count, sizeof *rules, by_rank, robots->text);
    for (size_t i = 0; i < robots->rule_count; i++) {
        const sn_robots_rule *last = kept > 0 ? &rules[kept - 1] : NULL;
        bool again = last && last->wild == rules[i].wild && last->len == rules[i].len &&
                     memcmp(robots->text + last->at, robots->text + rules[i].at, last->len) == 0;
        if (again)
            continue;
        rules[kept] = rules[i];
        if (!rules[kept].wild) {
            robots->plain_count = kept + 1;
            rules[kept].parent = parent_of(robots, (uint32_t)kept);
        }
        kept++;
    }
    robots->rule_count = kept;
}

/* ---- matching ---- */

static const sn_robots_rule *longest_plain(const sn_robots *robots, const char *path, size_t len)
{
    size_t low = 0, high = robots->plain_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const sn_robots_rule *rule = &robots->rules[mid];
        if (compare_bytes(robots->text + rule->at, rule->len, path, len) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    uint32_t i = low > 0 ? (uint32_t)low - 1 : SN_ROBOTS_NO_PARENT;
    while (i != SN_ROBOTS_NO_PARENT && !begins(robots, &robots->rules[i], path, len))
        i = robots->rules[i].parent;
    return i != SN_ROBOTS_NO_PARENT ? &robots->rules[i] : NULL;
}

static bool decide(const sn_robots *robots, const char *path, size_t len)
{
    const sn_robots_rule *best = longest_plain(robots, path, len);
    for (size_t i = robots->plain_count; i < robots->rule_count; i++) {
        const sn_robots_rule *rule = &robots->rules[i];
        if (best && (rule->len < best->len || (rule->len == best->len && !rule->allow)))
            break;
        if (sn_robots_match(robots->text + rule->at, rule->len, path, len)) {
            best = rule;
            break;
        }
    }
    return !best || best->allow;
}

bool sn_robots_allowed(const sn_robots *robots, const char *path, size_t len)
{
    static const char robots_txt[] = "/robots.txt";
    if (len == sizeof robots_txt - 1 && memcmp(path, robots_txt, len) == 0)
        return true;
    if (robots->rule_count == 0)
        return true;
    char few[3 * 1024];
    char *normal = few;
    if (len > sizeof few / 3)
        normal = len < SIZE_MAX / 3 ? malloc(3 * len) : NULL;
    if (!normal)
        return false;
    bool allowed = decide(robots, normal, sn_robots_normal(path, len, false, normal));
    if (normal != few)
        free(normal);
    return allowed;
}
