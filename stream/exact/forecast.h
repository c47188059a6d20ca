/* Predicts the number of distinct keys from the share of new keys so far, so that a table can grow
 * in few large steps instead of many small ones. */
#ifndef SN_STREAM_FORECAST_H
#define SN_STREAM_FORECAST_H

#include <stddef.h>
#include <stdint.h>

#include "seen.h"

typedef struct sn_forecast {
    uint64_t keys;
    uint64_t fresh; /* new keys among them */
    double recent;  /* share of new keys among the most recent ones */
} sn_forecast;

/* Processes the answers of some keys and returns how many distinct keys are likely among `expected`
 * keys; 0: no forecast. */
uint64_t sn_forecast_add(sn_forecast *forecast, const seen_answer *answers, size_t count,
                         double expected);

#endif
