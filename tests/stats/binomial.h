/* Exact binomial tails, because a normal approximation is too inaccurate to judge a rate. */
#ifndef TESTS_STATS_BINOMIAL_H
#define TESTS_STATS_BINOMIAL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline double binomial_log(double n, double p, double x)
{
    return lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(p) + (n - x) * log1p(-p);
}

/* P(X >= x), or P(X <= x), for n trials of probability p. */
static inline double binomial_tail(double n, double p, double x, bool upper)
{
    double sum = 0, step = upper ? 1 : -1;
    for (double i = x; i >= 0 && i <= n; i += step) {
        double term = exp(binomial_log(n, p, i));
        sum += term;
        bool past = upper ? i > n * p : i < n * p;
        if (past && term < 1e-18)
            break;
    }
    return sum < 1 ? sum : 1;
}

/* Whether this many successes are plausible for a rate between low and high: one in a million
 * correct runs is rejected. */
static inline bool believable(double trials, double successes, double low, double high)
{
    const double doubt = 1e-6;
    double mean = successes / trials;
    if (mean > high)
        return binomial_tail(trials, high, successes, true) > doubt;
    if (mean < low)
        return binomial_tail(trials, low, successes, false) > doubt;
    return true;
}

#endif
