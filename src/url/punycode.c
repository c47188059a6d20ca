/* Punycode (RFC 3492), encoding only: the ASCII characters of a label, then for each other
 * character, in ascending order, its distance from the previous one as a variable-length base 36
 * number. */
#include "url/url.h"

enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, BIAS = 72, FIRST = 0x80 };

static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
    uint32_t k = 0;
    delta /= first ? DAMP : 2;
    delta += delta / points;
    for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
        delta /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static bool put_number(sn_url_out *out, uint32_t number, uint32_t bias)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    for (uint32_t k = BASE;; k += BASE) {
        uint32_t t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
        if (number < t)
            return sn_url_put(out, digits[number]);
        if (!sn_url_put(out, digits[t + (number - t) % (BASE - t)]))
            return false;
        number = (number - t) / (BASE - t);
    }
}

/* The smallest code point that is at least `least`. */
static uint32_t find_next(const uint32_t *points, size_t count, uint32_t least)
{
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        if (points[i] >= least && points[i] < next)
            next = points[i];
    }
    return next;
}

bool sn_url_put_punycode(sn_url_out *out, const uint32_t *points, size_t count)
{
    uint32_t done = 0, delta = 0, n = FIRST, bias = BIAS;
    if (count > SN_URL_LABEL_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (points[i] >= FIRST)
            continue;
        if (!sn_url_put(out, (char)points[i]))
            return false;
        done++;
    }
    uint32_t ascii = done;
    if (ascii > 0 && !sn_url_put(out, '-'))
        return false;
    while (done < count) {
        uint32_t next = find_next(points, count, n);
        delta += (next - n) * (done + 1); /* below 2^21 * 64: a label is short */
        n = next;
        for (size_t i = 0; i < count; i++) {
            delta += points[i] < n;
            if (points[i] != n)
                continue;
            if (!put_number(out, delta, bias))
                return false;
            bias = adapt(delta, done + 1, done == ascii);
            delta = 0;
            done++;
        }
        delta++;
        n++;
    }
    return true;
}
