/* For kernels in which a single line already gives a boolean result; see bloom_body.h. */
#ifndef SN_FILTER_BLOOM_PLAIN_H
#define SN_FILTER_BLOOM_PLAIN_H

#include "seen.h"

#include <stdbool.h>

/* The verdict is the final answer. */
typedef bool verdict;

static inline verdict both(verdict a, verdict b)
{
    return a & b;
}

static inline bool found(verdict v, bool add)
{
    (void)add;
    return v;
}

enum { GROUP = 4 };

static inline void tell(const verdict v[GROUP], bool add, seen_answer *answers)
{
    for (int i = 0; i < GROUP; i++)
        answers[i] = (seen_answer)(add ? v[i] : (answers[i] | v[i]));
}

#endif
