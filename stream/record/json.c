/* Looks up JSON values by path, in one pass that also validates the grammar (RFC 8259).
 *
 * Each level keeps a bit mask of the key parts whose paths lead to it; those that end there take
 * the value. Only strings are long, so only the search for their end is vectorized. Bytes above
 * 0x7f are accepted without validating UTF-8. */
#include "stream/record/json.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { DEPTH_MAX = 1000 };

typedef struct scan {
    const sn_record_spec *spec;
    const char *at, *end;
    sn_record_json_span *span;
    unsigned depth;
    const char *wrong; /* error description, or NULL */
} scan;

static bool fail(scan *s, const char *wrong)
{
    if (!s->wrong)
        s->wrong = wrong;
    return false;
}

static inline void skip_space(scan *s)
{
    while (s->at < s->end && (unsigned char)*s->at <= ' ' &&
           (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

/* ---- Strings -------------------------------------------------------------------------------- */

/* The first quote, backslash or control character from `at` on, or `end`. Reads beyond the end. */
static inline const char *find_special(const char *at, const char *end)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    const __m128i control = _mm_set1_epi8(0x1f);
    for (; at < end; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i low = _mm_cmpeq_epi8(_mm_max_epu8(bytes, control), control);
        __m128i found = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)), low);
        int mask = _mm_movemask_epi8(found);
        if (mask) {
            at += __builtin_ctz((unsigned)mask);
            break;
        }
    }
    return at < end ? at : end;
#else
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
        at++;
    return at;
#endif
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of \uXXXX, or -1. */
static int32_t read_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(at[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* Skips the escape at s->at; false if it is invalid. */
static bool skip_escape(scan *s)
{
    const char *letter = s->at + 1;
    if (letter < s->end && *letter == 'u' && read_unit(letter + 1, s->end) >= 0)
        s->at = letter + 5;
    else if (letter < s->end && *letter && strchr("\"\\/bfnrt", *letter))
        s->at = letter + 1;
    else
        return fail(s, "invalid escape in a string");
    return true;
}

static bool skip_string_slowly(scan *s)
{
    for (;; s->at = find_special(s->at, s->end)) {
        if (s->at == s->end)
            return fail(s, "unterminated string");
        if (*s->at == '"') {
            s->at++;
            return true;
        }
        if (*s->at != '\\')
            return fail(s, "control character in a string");
        if (!skip_escape(s))
            return false;
    }
}

/* Skips the string that starts at s->at, including its quotes. *escaped: it contains
 * backslashes. */
static inline bool skip_string(scan *s, bool *escaped)
{
    s->at = find_special(s->at + 1, s->end);
    *escaped = s->at == s->end || *s->at != '"';
    if (*escaped)
        return skip_string_slowly(s);
    s->at++;
    return true;
}

static size_t put_utf8(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3f));
    to[2] = (char)(0x80 | (code >> 6 & 0x3f));
    to[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Decodes \uXXXX at `at`, or a surrogate pair; returns the position behind it. */
static const char *decode_unit(const char *at, const char *end, char *to, size_t *put)
{
    uint32_t code = (uint32_t)read_unit(at + 2, end);
    at += 6;
    if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        int32_t low = read_unit(at + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
            at += 6;
        }
    }
    *put += put_utf8(code, to + *put);
    return at;
}

/* Unescapes a validated string, without its quotes; the result is never longer. */
static size_t unescape(const char *at, const char *end, char *to)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    size_t put = 0;
    while (at < end) {
        if (*at != '\\')
            to[put++] = *at++;
        else if (at[1] == 'u')
            at = decode_unit(at, end, to, &put);
        else {
            to[put++] = bytes[strchr(letters, at[1]) - letters];
            at += 2;
        }
    }
    return put;
}

/* ---- Other scalars -------------------------------------------------------------------------- */

static bool skip_digits(scan *s)
{
    const char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return s->at > from;
}

static bool skip_number(scan *s)
{
    s->at += *s->at == '-';
    bool zero = s->at < s->end && *s->at == '0';
    const char *from = s->at;
    if (!skip_digits(s) || (zero && s->at - from > 1))
        return fail(s, "invalid number");
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (!skip_digits(s))
            return fail(s, "invalid number");
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        if (!skip_digits(s))
            return fail(s, "invalid number");
    }
    return true;
}

static bool skip_word(scan *s, const char *word, size_t length)
{
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0)
        return fail(s, "expected true, false or null");
    s->at += length;
    return true;
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static inline bool is_name(const sn_spec_step *step, const char *name, size_t length)
{
    return step->length == length && memcmp(step->name, name, length) == 0;
}

/* The parts in `active` whose step at `level` is this member. */
static inline uint64_t match_name(const scan *s, uint64_t active, unsigned level, const char *name,
                                  size_t length)
{
    uint64_t found = 0;
    for (; active; active &= active - 1) {
        unsigned p = (unsigned)__builtin_ctzll(active);
        const sn_spec_part *part = &s->spec->part[p];
        if (level < part->steps && is_name(&part->step[level], name, length))
            found |= UINT64_C(1) << p;
    }
    return found;
}

static uint64_t match_index(const scan *s, uint64_t active, unsigned level, uint64_t index)
{
    uint64_t found = 0;
    for (; active; active &= active - 1) {
        unsigned p = (unsigned)__builtin_ctzll(active);
        const sn_spec_part *part = &s->spec->part[p];
        if (level < part->steps && part->step[level].index == index)
            found |= UINT64_C(1) << p;
    }
    return found;
}

/* The same for a name with escapes. A character needs at most the six bytes of \uXXXX, so a longer
 * name equals no step. */
static __attribute__((noinline)) uint64_t
match_escaped(const scan *s, uint64_t active, unsigned level, const char *name, size_t length)
{
    char plain[6 * SN_KEY_NAME];
    if (length > sizeof plain)
        return 0;
    return match_name(s, active, level, plain, unescape(name, name + length, plain));
}

static bool read_value(scan *s, uint64_t active, unsigned level);

/* Reads a value that the parts in `active` lead to, one level deeper. */
static inline bool read_child(scan *s, uint64_t active, unsigned level)
{
    for (uint64_t left = active; left; left &= left - 1)
        s->span[__builtin_ctzll(left)] = (sn_record_json_span){0};
    skip_space(s);
    const char *from = s->at;
    bool escaped;
    bool good =
        from < s->end && *from == '"' ? skip_string(s, &escaped) : read_value(s, active, level + 1);
    if (!good)
        return false;
    for (uint64_t left = active; left; left &= left - 1) {
        unsigned p = (unsigned)__builtin_ctzll(left);
        if (s->spec->part[p].steps == level + 1)
            s->span[p] = (sn_record_json_span){from, (size_t)(s->at - from)};
    }
    skip_space(s);
    return true;
}

static bool read_object(scan *s, uint64_t active, unsigned level)
{
    s->at++;
    skip_space(s);
    if (s->at < s->end && *s->at == '}') {
        s->at++;
        return true;
    }
    for (;;) {
        bool escaped;
        const char *from = s->at;
        if (s->at == s->end || *s->at != '"')
            return fail(s, "expected a quoted name in an object");
        if (!skip_string(s, &escaped))
            return false;
        size_t length = (size_t)(s->at - from) - 2;
        uint64_t found = !active   ? 0
                         : escaped ? match_escaped(s, active, level, from + 1, length)
                                   : match_name(s, active, level, from + 1, length);
        skip_space(s);
        if (s->at == s->end || *s->at != ':')
            return fail(s, "expected a colon after a name");
        s->at++;
        if (!read_child(s, found, level))
            return false;
        if (s->at == s->end || (*s->at != ',' && *s->at != '}'))
            return fail(s, "unterminated object");
        if (*s->at++ == '}')
            return true;
        skip_space(s);
    }
}

static bool read_array(scan *s, uint64_t active, unsigned level)
{
    s->at++;
    skip_space(s);
    if (s->at < s->end && *s->at == ']') {
        s->at++;
        return true;
    }
    for (uint64_t index = 0;; index++) {
        if (!read_child(s, active ? match_index(s, active, level, index) : 0, level))
            return false;
        if (s->at == s->end || (*s->at != ',' && *s->at != ']'))
            return fail(s, "unterminated array");
        if (*s->at++ == ']')
            return true;
    }
}

static bool read_value(scan *s, uint64_t active, unsigned level)
{
    bool escaped, good;
    if (s->at == s->end)
        return fail(s, "expected a value");
    switch (*s->at) {
    case '"':
        return skip_string(s, &escaped);
    case '{':
    case '[':
        if (s->depth == DEPTH_MAX)
            return fail(s, "nested too deeply");
        s->depth++;
        good = *s->at == '{' ? read_object(s, active, level) : read_array(s, active, level);
        s->depth--;
        return good;
    case 't':
        return skip_word(s, "true", 4);
    case 'f':
        return skip_word(s, "false", 5);
    case 'n':
        return skip_word(s, "null", 4);
    default:
        if (*s->at == '-' || (*s->at >= '0' && *s->at <= '9'))
            return skip_number(s);
        return fail(s, "expected a value");
    }
}

const char *sn_record_json_find(const sn_record_spec *spec, const char *text, size_t length,
                                sn_record_json_span *span)
{
    scan s = {.spec = spec, .at = text, .end = text + length, .span = span};
    for (size_t p = 0; p < spec->parts; p++)
        span[p] = (sn_record_json_span){0};
    skip_space(&s);
    if (s.at == s.end)
        return NULL;
    uint64_t all = spec->parts >= 64 ? UINT64_MAX : (UINT64_C(1) << spec->parts) - 1;
    if (!read_value(&s, all, 0))
        return s.wrong;
    skip_space(&s);
    return s.at == s.end ? NULL : "unexpected data after the value";
}

/* ---- Values --------------------------------------------------------------------------------- */

/* Copies an object or array without insignificant white space. */
static size_t compact(sn_record_json_span span, char *to)
{
    size_t put = 0;
    bool inside = false;
    for (size_t i = 0; i < span.length; i++) {
        char c = span.at[i];
        bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (c == '"')
            inside = !inside;
        if (inside || !space)
            to[put++] = c;
        if (inside && c == '\\') /* a validated escape has a second byte */
            to[put++] = span.at[++i];
    }
    return put;
}

const char *sn_record_json_value(sn_record_json_span span, char *to, size_t *length)
{
    const char first = span.at[0];
    *length = span.length;
    if (first == '{' || first == '[') {
        *length = compact(span, to);
        return to;
    }
    if (first != '"')
        return span.at;
    *length = span.length - 2;
    if (!memchr(span.at, '\\', span.length))
        return span.at + 1;
    *length = unescape(span.at + 1, span.at + span.length - 1, to);
    return to;
}
