/* Parses numbers: 1,000,000, 5e9, 100M, 4GiB, 1%, 1/1000, 30d.
 *
 * Digits are read exactly, into an integer and a power of ten, because a double cannot represent
 * every 64-bit count; rates go through strtod, formatted from those. */
#include "cli/cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 wide;

/* digits * 10^ten, and the end of the spelling. */
typedef struct decimal {
    uint64_t digits;
    int ten;
    const char *rest;
} decimal;

static bool fail(sn_number_error *why, const char *text, const char *reason)
{
    snprintf(why->text, sizeof why->text, "'%.60s' %s", text, reason);
    return false;
}

/* Parses the exponent at `at` ("e9", "E-6"), or nothing: "5e" and "5eggs" end before the e. */
static const char *read_exponent(const char *at, int *exponent)
{
    *exponent = 0;
    if (*at != 'e' && *at != 'E')
        return at;
    const char *p = at + 1;
    bool minus = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    if (!isdigit((unsigned char)*p))
        return at;
    int value = 0;
    for (; isdigit((unsigned char)*p); p++)
        value = value < 100000 ? value * 10 + (*p - '0') : value;
    *exponent = minus ? -value : value;
    return p;
}

/* Whether a separator at `p` is followed by the digits it needs: 1,000,000 in groups of three, so
 * that a decimal comma (1,5) is not taken for one; 1_000_000 anywhere between digits. */
static bool separates(const char *text, const char *p)
{
    if ((*p != '_' && *p != ',') || p == text || !isdigit((unsigned char)p[-1]))
        return false;
    size_t digits = strspn(p + 1, "0123456789");
    return *p == '_' ? digits > 0 : digits == 3;
}

/* Parses a decimal number without a sign. Digits beyond the nineteenth are refused unless zero. */
static bool read_decimal(const char *text, decimal *out, sn_number_error *why)
{
    const char *p = text;
    bool point = false, any = false;
    *out = (decimal){0};
    int zeros = 0; /* zeros that matter only if another digit follows */
    if (*p == '-')
        return fail(why, text, "is negative");
    for (; isdigit((unsigned char)*p) || (!point && (*p == '.' || separates(text, p))); p++) {
        if (!isdigit((unsigned char)*p)) {
            point = *p == '.';
            continue;
        }
        any = true;
        if (point)
            out->ten--;
        if (*p == '0') {
            zeros++;
            continue;
        }
        for (; zeros >= 0; zeros--) {
            uint64_t digit = zeros ? 0 : (uint64_t)(*p - '0');
            if (__builtin_mul_overflow(out->digits, (uint64_t)10, &out->digits) ||
                __builtin_add_overflow(out->digits, digit, &out->digits))
                return fail(why, text, "has too many digits");
        }
        zeros = 0;
    }
    if (!any)
        return fail(why, text, "is not a number");
    int exponent;
    out->ten += zeros;
    out->rest = read_exponent(p, &exponent);
    out->ten += exponent;
    if (out->digits == 0)
        out->ten = 0;
    return true;
}

/* digits * 10^ten * unit, rounded down; false past 2^64. *whole: nothing was rounded. */
static bool scale(const decimal *number, uint64_t unit, uint64_t *value, bool *whole)
{
    wide v = (wide)number->digits * unit; /* below 2^128 */
    *whole = true;
    for (int ten = number->ten; ten > 0; ten--) {
        if (v > UINT64_MAX)
            return false;
        v *= 10;
        if (ten > 40 && v)
            return false;
    }
    for (int ten = number->ten; ten < 0 && v; ten++) {
        *whole = *whole && v % 10 == 0;
        v /= 10;
    }
    *value = (uint64_t)v;
    return v <= UINT64_MAX;
}

typedef struct unit {
    const char *suffix; /* compared without case */
    uint64_t factor;
} unit;

static const unit *find_unit(const unit *units, size_t count, const char *suffix)
{
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(units[i].suffix, suffix))
            return &units[i];
    return NULL;
}

static const unit count_units[] = {
    {"", 1},           {"k", 1000},       {"M", 1000000},
    {"G", 1000000000}, {"B", 1000000000}, {"T", 1000000000000},
};

bool sn_number_parse_count(const char *text, uint64_t *value, sn_number_error *why)
{
    decimal number;
    if (!read_decimal(text, &number, why))
        return false;
    const unit *u = find_unit(count_units, sizeof count_units / sizeof *count_units, number.rest);
    if (!u)
        return fail(why, text, "is not a count: write it like 1,000,000, 100M, 5B or 5e9");
    uint64_t result;
    bool whole;
    if (!scale(&number, u->factor, &result, &whole))
        return fail(why, text, "is too large");
    if (!whole)
        return fail(why, text, "is not a whole number");
    *value = result;
    return true;
}

static const unit size_units[] = {
    {"", 1},
    {"B", 1},
    {"K", UINT64_C(1) << 10},
    {"M", UINT64_C(1) << 20},
    {"G", UINT64_C(1) << 30},
    {"T", UINT64_C(1) << 40},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
};

bool sn_number_parse_size(const char *text, uint64_t *bytes, sn_number_error *why)
{
    decimal number;
    if (!read_decimal(text, &number, why))
        return false;
    const unit *u = find_unit(size_units, sizeof size_units / sizeof *size_units, number.rest);
    if (!u)
        return fail(why, text, "is not a size: write it like 4GiB, 120MB or 64K");
    uint64_t result;
    bool whole;
    if (!scale(&number, u->factor, &result, &whole))
        return fail(why, text, "is too large");
    *bytes = result;
    return true;
}

static const unit time_units[] = {
    {"", 1000},     {"ms", 1},      {"s", 1000},     {"m", 60000},
    {"min", 60000}, {"h", 3600000}, {"d", 86400000}, {"w", 604800000},
};

bool sn_number_parse_duration(const char *text, uint64_t *ms, sn_number_error *why)
{
    decimal number;
    if (!read_decimal(text, &number, why))
        return false;
    const unit *u = find_unit(time_units, sizeof time_units / sizeof *time_units, number.rest);
    if (!u)
        return fail(why, text, "is not a time: write it like 30d, 12h, 5m, 2s or 500ms");
    uint64_t result;
    bool whole;
    if (!scale(&number, u->factor, &result, &whole) || result > (uint64_t)INT64_MAX)
        return fail(why, text, "is too long");
    *ms = result;
    return true;
}

/* The nearest double; `percent` divides by 100 before it is rounded. */
static bool to_double(const decimal *number, bool percent, double *value)
{
    char spelling[64];
    snprintf(spelling, sizeof spelling, "%llue%d", (unsigned long long)number->digits,
             number->ten - (percent ? 2 : 0));
    *value = strtod(spelling, NULL);
    return isfinite(*value);
}

/* Parses 0.01, 1% or 1/100; `what` is the expected kind, for messages. */
static bool read_part(const char *text, const char *what, double *value, sn_number_error *why)
{
    decimal number, below = {.digits = 1};
    if (!read_decimal(text, &number, why))
        return false;
    bool percent = !strcmp(number.rest, "%"), fraction = *number.rest == '/';
    if (fraction && (!read_decimal(number.rest + 1, &below, why) || *below.rest || !below.digits))
        return fail(why, text, what);
    if (*number.rest && !percent && !fraction)
        return fail(why, text, what);
    double divisor;
    if (!to_double(&number, percent, value) || !to_double(&below, false, &divisor))
        return fail(why, text, "is too large");
    *value /= divisor;
    return true;
}

bool sn_number_parse_rate(const char *text, double *value, sn_number_error *why)
{
    double rate;
    if (!read_part(text, "is not a rate: write it like 0.01, 1%, 1/100 or 1e-6", &rate, why))
        return false;
    if (!(rate > 0 && rate < 1))
        return fail(why, text, "is not a rate: it must be between 0 and 1, both excluded");
    *value = rate;
    return true;
}

bool sn_number_parse_share(const char *text, double *value, sn_number_error *why)
{
    double share;
    if (!read_part(text, "is not a share: write it like 0.1, 50% or 100%", &share, why))
        return false;
    if (!(share >= 0 && share <= 1))
        return fail(why, text, "is not a share: it must be between 0 and 100%");
    *value = share;
    return true;
}

bool sn_number_parse(const char *text, double *value, sn_number_error *why)
{
    decimal number;
    double result;
    if (!read_decimal(text, &number, why))
        return false;
    if (*number.rest)
        return fail(why, text, "is not a number");
    if (!to_double(&number, false, &result))
        return fail(why, text, "is too large");
    *value = result;
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool sn_number_parse_char(const char *text, int *value, sn_number_error *why)
{
    static const char names[] = "tnr0\\";
    static const char bytes[] = "\t\n\r\0\\";
    if (text[0] && !text[1]) {
        *value = (unsigned char)text[0];
        return true;
    }
    if (text[0] == '\\' && text[1] && !text[2]) {
        const char *at = strchr(names, text[1]);
        if (at) {
            *value = (unsigned char)bytes[at - names];
            return true;
        }
    }
    if (text[0] == '\\' && text[1] == 'x' && strlen(text) == 4 && hex_value(text[2]) >= 0 &&
        hex_value(text[3]) >= 0) {
        *value = hex_value(text[2]) * 16 + hex_value(text[3]);
        return true;
    }
    return fail(why, text, "is not one byte: write it like , or \\t or \\x1f");
}

bool sn_number_parse_seed(const char *text, sn_args_seed *seed, sn_number_error *why)
{
    sn_args_seed result = {.given = true};
    if (strlen(text) == 32) { /* as `seen info` prints it, the high word first */
        for (int i = 0; i < 32; i++) {
            int digit = hex_value(text[i]);
            if (digit < 0)
                return fail(why, text, "is not a seed: not all of its 32 digits are hexadecimal");
            result.word[i < 16] = result.word[i < 16] << 4 | (uint64_t)digit;
        }
    } else if (!sn_number_parse_count(text, &result.word[0], why)) {
        return false;
    }
    *seed = result;
    return true;
}
