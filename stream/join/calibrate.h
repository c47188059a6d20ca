/* Measures the properties of this machine that matter for choosing a strategy: speed of reading the
 * inputs and of random access. */
#ifndef SN_STREAM_JOIN_CALIBRATE_H
#define SN_STREAM_JOIN_CALIBRATE_H

/* Memory used for the measurement: larger than the caches. */
enum { SN_JOIN_REGION = 64 << 20 };

/* Nanoseconds per random access to a large table, with many in flight. Measured once per process,
 * which takes about ten milliseconds. */
double sn_join_random_ns(void);

/* Reading speed in bytes per second if this share of the inputs is in the page cache. */
double sn_join_read_speed(double cached);

#endif
