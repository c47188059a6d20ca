/* A billion keys: a filter with more than 2^32 bits, no key missing, within the error rate.
 *
 *     billion [KEYS [RATE]]      10^9 keys at 0.01 need 1.3 GB; in memory, through the public
 *     API */
#include "seen.h"

#include "binomial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 16384 };

static seen_hash h[BATCH];
static seen_answer answers[BATCH];

static uint64_t mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static size_t take(uint64_t first, uint64_t left)
{
    size_t n = left < BATCH ? (size_t)left : BATCH;
    for (size_t i = 0; i < n; i++)
        h[i] = (seen_hash){mix64((first + i) * 2 + 1), mix64(~((first + i) * 2))};
    return n;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t count(seen_answer wanted, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += answers[i] == wanted;
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t keys = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 1000000000;
    double rate = argc > 2 ? strtod(argv[2], NULL) : 0.01;
    uint64_t absent_keys = (uint64_t)(30000 / rate);
    seen_options options = {.size = sizeof options, .capacity = keys, .error_rate = rate};
    seen_set *set;
    seen_error e;
    if (seen_create(NULL, &options, 0, &set, &e) != SEEN_OK) {
        fprintf(stderr, "%s\n", e.message);
        return 2;
    }
    seen_info info = {.size = sizeof info};
    seen_get_shape(set, &info, NULL);
    printf("%.4g keys at %g: %.4g bits, 2^32 x %.2f\n", (double)keys, rate, (double)info.bits,
           (double)info.bits / 4294967296.0);
    uint64_t missing = 0, wrong = 0, new_keys = 0;
    double start = seconds();
    for (uint64_t at = 0; at < keys; at += BATCH) {
        size_t n = take(at, keys - at);
        if (seen_add_hashes(set, h, n, answers, &e) != SEEN_OK) {
            fprintf(stderr, "%s\n", e.message);
            return 2;
        }
        new_keys += count(SEEN_NEW, n);
    }
    double added = seconds();
    for (uint64_t at = 0; at < keys; at += BATCH) {
        size_t n = take(at, keys - at);
        seen_check_hashes(set, h, n, answers, NULL);
        missing += n - count(SEEN_BEFORE, n);
    }
    double checked = seconds();
    for (uint64_t at = 0; at < absent_keys; at += BATCH) {
        size_t n = take((UINT64_C(1) << 50) + at, absent_keys - at);
        seen_check_hashes(set, h, n, answers, NULL);
        wrong += count(SEEN_BEFORE, n);
    }
    seen_get_info(set, &info, NULL);
    bool kept = believable((double)absent_keys, (double)wrong, 0, rate * 1.05);
    bool estimate = fabs(info.keys_estimated - (double)keys) < 0.001 * (double)keys;
    printf(
        "missing %llu; measured %.6g among %llu strangers, %.3f x promised; from the bits %.6g\n",
        (unsigned long long)missing, (double)wrong / (double)absent_keys,
        (unsigned long long)absent_keys, (double)wrong / (double)absent_keys / rate,
        info.error_rate_now);
    printf("reported as new %llu, estimated keys %.6g; add %.1f ns, check %.1f ns a key\n",
           (unsigned long long)new_keys, info.keys_estimated, (added - start) / (double)keys * 1e9,
           (checked - added) / (double)keys * 1e9);
    seen_close(set);
    return missing != 0 || !kept || !estimate;
}
