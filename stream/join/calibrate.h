/* How fast this machine is where strategies differ: reading the inputs, and random access. */
#ifndef SN_STREAM_JOIN_CALIBRATE_H
#define SN_STREAM_JOIN_CALIBRATE_H

/* Memory that the measurement takes: more than the caches hold. */
enum { SN_JOIN_REGION = 64 << 20 };

/* Nanoseconds that a random access to a large table takes, many at a time. Measured once in a
 * process, in some ten milliseconds. */
double sn_join_random_ns(void);

/* Bytes a second at which inputs are read of which this share is in the page cache. */
double sn_join_read_speed(double cached);

#endif
