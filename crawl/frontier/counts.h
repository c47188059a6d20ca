/* Counters of a crawl, over all of its runs. */
#ifndef SN_CRAWL_FRONTIER_COUNTS_H
#define SN_CRAWL_FRONTIER_COUNTS_H

#include <stdint.h>

typedef struct sn_crawl_counts {
    uint64_t pages;     /* responses, including redirects */
    uint64_t ok;        /* ... with 2xx */
    uint64_t redirects; /* ... with 3xx and a Location */
    uint64_t bytes;     /* of bodies, after decompression */
    uint64_t links;     /* found, distinct per page */
    uint64_t failed;    /* given up; listed in the state folder's `failed` */
    uint64_t robots;    /* not fetched: robots.txt */
    uint64_t retried;
    uint64_t truncated;  /* bodies truncated at a limit */
    uint64_t found;      /* URLs that were new */
    uint64_t dropped;    /* links over a limit */
    uint64_t host_limit; /* not fetched: max_host_pages */
    double lost;         /* expected number of new URLs lost to false positives of the seen-set */
} sn_crawl_counts;

#endif
