/* seen.h - approximate set membership: has this key been seen before?
 *
 * A set stores keys in a few bits each (a Bloom filter). For each key it answers SEEN_NEW or
 * SEEN_BEFORE. SEEN_NEW is always correct. SEEN_BEFORE may be a false positive; the rate of false
 * positives is chosen when the set is created. A set cannot list its keys and does not count how
 * often a key was added.
 *
 *     seen_set *set;
 *     seen_options options = {.size = sizeof options, .capacity = 1000000, .error_rate = 0.01};
 *     if (seen_create(NULL, &options, 0, &set, NULL) != SEEN_OK) ...
 *     seen_answer answer;
 *     seen_add(set, "key", 3, &answer, NULL);
 *     seen_close(set);
 *
 * Ownership: the caller owns every handle it receives and releases it with seen_close. Keys,
 * hashes, options and strings are only read during the call.
 *
 * Threads: any number of threads may add, check, remove, sync and query one set concurrently. If
 * several threads add the same new key, exactly one gets SEEN_NEW. One thread opens and closes a
 * set.
 *
 * Processes: several processes may open the same file; the guarantees between threads also hold
 * between processes. Locks and connections do not survive fork: the child must open the set again.
 * Until then every call on the inherited handle except seen_close fails with SEEN_ERR_FORKED. A set
 * in memory becomes two independent sets.
 *
 * Errors: every call that can fail returns a seen_status, which is never an answer. The last
 * argument may be NULL; otherwise it receives a message that names the file or server and says what
 * to do. Unless documented otherwise, a call that fails changes neither the set nor its output
 * arguments.
 *
 * Versions: structs filled by the caller start with their own size and may grow in later versions.
 * Set the fields you do not use to zero.
 */
#ifndef SEEN_H
#define SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEEN_VERSION_MAJOR 0
#define SEEN_VERSION_MINOR 1
#define SEEN_VERSION_PATCH 0
#define SEEN_FORMAT_VERSION 2

#if defined(__GNUC__)
#define SEEN_API __attribute__((visibility("default")))
#else
#define SEEN_API
#endif

/* ---- Status, answers, errors ---------------------------------------------------------------- */

typedef enum seen_status {
    SEEN_OK = 0,
    SEEN_ERR_MEMORY = 1,       /* an allocation failed */
    SEEN_ERR_ARGUMENT = 2,     /* an invalid value or combination of values */
    SEEN_ERR_IO = 3,           /* a system call to read, write, map or sync failed */
    SEEN_ERR_FORMAT = 4,       /* damaged, truncated or not a filter */
    SEEN_ERR_EXISTS = 5,       /* already exists */
    SEEN_ERR_NOT_FOUND = 6,    /* no such file or filter */
    SEEN_ERR_MISMATCH = 7,     /* parameters, seed or kind differ */
    SEEN_ERR_FULL = 8,         /* at capacity, and the set is SEEN_FULL_REFUSE */
    SEEN_ERR_KIND = 9,         /* not supported by this kind of set */
    SEEN_ERR_PERMISSION = 10,  /* permission denied */
    SEEN_ERR_NETWORK = 11,     /* the server did not answer in time */
    SEEN_ERR_SERVER = 12,      /* the server answered with an error */
    SEEN_ERR_UNSUPPORTED = 13, /* not included in this build */
    SEEN_ERR_CHANGED = 14,     /* modified concurrently */
    SEEN_ERR_SPACE = 15,       /* disk full, or the server is out of memory */
    SEEN_ERR_FORKED = 16       /* opened by the parent process; open it again */
} seen_status;

/* The answer for one key. One byte, to keep arrays of answers small. */
typedef uint8_t seen_answer;
#define SEEN_NEW ((seen_answer)0)     /* never added; always correct */
#define SEEN_BEFORE ((seen_answer)1)  /* added before, or a false positive */
#define SEEN_UNKNOWN ((seen_answer)2) /* the call failed before it processed this key */

typedef struct seen_error {
    seen_status status;
    char message[500]; /* one sentence; control characters are escaped */
} seen_error;

/* A short English description of a status. Never NULL. */
SEEN_API const char *seen_status_text(seen_status status);

/* The version of the library, for example "0.1.0". */
SEEN_API const char *seen_version(void);

/* ---- Kinds and modes ------------------------------------------------------------------------ */

typedef enum seen_kind {
    SEEN_BLOOM = 0,   /* one bit per cell: add, check, merge */
    SEEN_COUNTING = 1 /* four bits per cell: also remove; four times the memory */
} seen_kind;

typedef enum seen_growth {
    SEEN_FIXED = 0,   /* one filter with a given capacity */
    SEEN_GROWING = 1, /* grows as needed and stays within the error rate */
    SEEN_WINDOW = 2   /* generations; the oldest is dropped. SEEN_BLOOM only */
} seen_growth;

typedef enum seen_hash_kind {
    SEEN_XXH3 = 0,   /* XXH3, 128 bits: fast */
    SEEN_SIPHASH = 1 /* SipHash-2-4, 128 bits: for keys an attacker may choose */
} seen_hash_kind;

typedef enum seen_when_full {
    SEEN_FULL_REFUSE = 0, /* adding a key beyond the capacity fails with SEEN_ERR_FULL */
    SEEN_FULL_GO_ON = 1   /* accept it; seen_get_info reports the rising error rate */
} seen_when_full;

/* Redis only. */
typedef enum seen_layout {
    SEEN_LAYOUT_SHARDS = 0, /* strings of up to 256 KiB, same layout as a file */
    SEEN_LAYOUT_BITMAP = 1  /* one Redis bitmap; the k positions of a key are spread over it */
} seen_layout;

/* ---- Planning ------------------------------------------------------------------------------- */

/* The requested parameters: any sufficient subset of the four; 0 means "not given". */
typedef struct seen_parameters {
    size_t size; /* sizeof(seen_parameters) */
    seen_kind kind;
    uint64_t capacity; /* n: keys */
    double error_rate; /* p: share of absent keys that are false positives, at capacity */
    uint64_t bits;     /* m: total memory in bits; rounded to lines of 512 bits */
    uint32_t hashes;   /* k: cells per key */
} seen_parameters;

/* The resulting geometry. */
typedef struct seen_plan {
    size_t size;
    seen_kind kind;
    uint64_t capacity;     /* number of keys for which error_rate holds */
    double error_rate;     /* the requested rate, or the predicted one if none was given */
    double predicted_rate; /* of this geometry at capacity; at most error_rate */
    uint64_t bits;         /* memory in bits: a multiple of 512 */
    uint64_t bytes;        /* bits / 8 */
    uint32_t hashes;       /* k = spread * probes */
    uint32_t spread;       /* g: lines per key */
    uint32_t probes;       /* q: cells per line */
    uint64_t lines;        /* 64 bytes each */
    uint64_t shards;       /* equal parts; all lines of one key are in one shard */
    double bits_per_key;
    double classic_bits;   /* size in bits of a classic filter with this capacity and rate */
    double classic_hashes; /* the optimal k of that filter */
    double overhead;       /* bits / classic_bits, with one bit per cell for all kinds */
} seen_plan;

/* Computes the geometry of a filter.
 *   parameters   capacity with error_rate, bits or hashes; bits with error_rate or hashes; or more.
 *                bits and hashes together fix both, with one cell per line (the classic filter).
 *   plan         filled on success
 * Fails with SEEN_ERR_ARGUMENT if parameters are missing or contradict each other, if the rate is
 * not between 0 and 1, or for more than 10^12 keys. Takes microseconds to milliseconds. */
SEEN_API seen_status seen_plan_make(const seen_parameters *parameters, seen_plan *plan,
                                    seen_error *error);

/* The predicted false-positive rate of a plan with `keys` distinct keys added. */
SEEN_API double seen_plan_rate(const seen_plan *plan, double keys);

/* The classic formulas: m = -n ln p / (ln 2)^2, k = (m/n) ln 2, rate = (1 - e^(-kn/m))^k. */
SEEN_API double seen_classic_bits(double capacity, double error_rate);
SEEN_API double seen_classic_hashes(double bits, double capacity);
SEEN_API double seen_classic_rate(double capacity, double bits, double hashes);

/* ---- Sets ----------------------------------------------------------------------------------- */

typedef struct seen_set seen_set;

/* How to create a set. Zero selects the default, given in brackets. */
typedef struct seen_options {
    size_t size; /* sizeof(seen_options) */
    seen_kind kind;
    seen_growth growth;
    seen_hash_kind hash;
    seen_when_full when_full;

    /* As in seen_parameters. For SEEN_GROWING the capacity is a hint for the first layer.
     * SEEN_FIXED with neither capacity nor bits creates a growing set, so by default a set is never
     * full. */
    uint64_t capacity;
    double error_rate; /* [0.01 unless implied by bits or hashes] */
    uint64_t bits;     /* fixed only */
    uint32_t hashes;   /* fixed only */

    bool seed_given; /* [false: random seed] */
    uint64_t seed[2];

    uint32_t generations; /* window: 2 to 32 [8] */
    /* window: how long keys are remembered. 0: by count instead of time: at least the last
     * `capacity` keys reported as new are remembered (with `renew`: the last additions, a key
     * counting once per generation). */
    uint64_t window_seconds;
    /* window: when the age of a key starts. false: when it was last reported as new, so a key that
     * is added repeatedly is new again once per window. true: at its last addition, so a key that
     * is added repeatedly is not reported as new again. Checking a key does not renew it. */
    bool renew;

    seen_layout layout;   /* Redis */
    uint64_t ttl_seconds; /* Redis: expire after this long without use; 0: never */
    uint32_t connect_ms;  /* Redis: connection timeout [2000] */
    uint32_t command_ms;  /* Redis: command timeout [5000] */
    uint32_t retry_ms;    /* Redis: total time to retry for [10000; cluster: 60000] */
    const char *tls_ca;   /* rediss://: PEM file of trusted CAs [the system's] */
    const char *tls_cert; /* rediss://: PEM file of the client certificate [none] */
    const char *tls_key;  /* rediss://: PEM file of its private key [none] */

    /* Text of at most SEEN_NOTE_MAX bytes, stored with the set and returned by seen_get_info. The
     * seen command uses it to store how lines are turned into keys. [none] */
    const char *note;
} seen_options;

#define SEEN_NOTE_MAX 255

/* Flags of seen_create and seen_open. */
#define SEEN_REPLACE 1u   /* create: replace an existing regular file, atomically */
#define SEEN_IF_ABSENT 2u /* create: if it exists with the same parameters, open it */
#define SEEN_READ_ONLY 4u /* open: for checking, info, and as a source of copy and merge */
#define SEEN_ALONE 8u     /* file: exclude other writers, fail if there is one; no lock per call */

/* Creates an empty set.
 *   where    NULL: in memory. A path: a file, created atomically.
 *            redis://[user:password@]host[:port][/db]/NAME, redis-cluster:// or redis+unix://:
 *            in Redis; rediss:// and rediss-cluster:// with TLS.
 *   options  NULL: all defaults, a growing set with an error rate of 0.01
 *   flags    SEEN_REPLACE, SEEN_IF_ABSENT, SEEN_ALONE; others are an error
 *   set      receives the handle
 * Errors: SEEN_ERR_EXISTS without SEEN_REPLACE or SEEN_IF_ABSENT; SEEN_ERR_MISMATCH if the set
 * exists and SEEN_IF_ABSENT is given, but the parameters differ. Disk space for a file is reserved
 * here, so a full disk is reported here and not later. */
SEEN_API seen_status seen_create(const char *where, const seen_options *options, unsigned flags,
                                 seen_set **set, seen_error *error);

/* Opens an existing set. A damaged or truncated file, or one that is not a filter, is refused and
 * not changed. `options` gives timeouts and TLS files and may be NULL; its filter parameters are
 * ignored. The cost does not depend on the size of the set, except that the missing blocks of a
 * sparse file are allocated once. */
SEEN_API seen_status seen_open(const char *where, const seen_options *options, unsigned flags,
                               seen_set **set, seen_error *error);

/* Creates an empty set with the same geometry and seed as `like`, so that the two can be merged.
 * `where` and `flags` as in seen_create. `options` gives the Redis settings (layout, ttl_seconds,
 * timeouts, TLS) and may be NULL; its other fields are ignored. */
SEEN_API seen_status seen_create_like(const char *where, const seen_set *like,
                                      const seen_options *options, unsigned flags, seen_set **set,
                                      seen_error *error);

/* Makes all additions durable: after SEEN_OK they survive a crash and a power failure.
 * SEEN_ERR_CHANGED: the file was removed or replaced while it was open.
 * Redis: after SEEN_OK, one replica of each server that has replicas holds the additions. Whether
 * Redis writes them to disk, and additions lost in a failover before the call, depend on the
 * configuration of the servers (docs/redis.md, "Nothing lost"). */
SEEN_API seen_status seen_sync(seen_set *set, seen_error *error);

/* Syncs and closes the set. The handle is invalid afterwards, even on failure. NULL is ignored. */
SEEN_API seen_status seen_close_checked(seen_set *set, seen_error *error);

/* Closes the set. Does not wait for the disk, unless a growing file has grown since the last sync.
 * NULL is ignored. */
SEEN_API void seen_close(seen_set *set);

/* The path or address the set was opened with, without the password; NULL for a set in memory.
 * Valid until the set is closed. */
SEEN_API const char *seen_where(const seen_set *set);

/* ---- One key -------------------------------------------------------------------------------- */

/* Adds one key and returns whether it was already present.
 *   key, len   any bytes; the empty key is valid
 *   answer     SEEN_NEW: never added before. SEEN_BEFORE: added before, or a false positive.
 *              May be NULL.
 * Errors: SEEN_ERR_FULL; those of the store. Cost: one hash and `spread` cache lines. For many keys
 * seen_add_many is several times faster. */
SEEN_API seen_status seen_add(seen_set *set, const void *key, size_t len, seen_answer *answer,
                              seen_error *error);

/* Returns whether a key is present. Does not modify the set. */
SEEN_API seen_status seen_check(seen_set *set, const void *key, size_t len, seen_answer *answer,
                                seen_error *error);

/* Undoes one addition of a key; counting sets only.
 *   answer     SEEN_BEFORE: the key was present and has been removed. SEEN_NEW: the key is absent;
 *              nothing changed. May be NULL.
 * Remove only keys that were added: removing a false positive decrements cells of other keys. */
SEEN_API seen_status seen_remove(seen_set *set, const void *key, size_t len, seen_answer *answer,
                                 seen_error *error);

/* ---- Many keys: the fast path --------------------------------------------------------------- */

typedef struct seen_key {
    const void *data;
    size_t len;
} seen_key;

/* The same for many keys, in order: a key that occurs twice in one call is new the first time only.
 * On failure answers[i] is SEEN_UNKNOWN for each key that was not processed; the other answers are
 * valid. `answers` may be NULL. */
SEEN_API seen_status seen_add_many(seen_set *set, const seen_key *keys, size_t count,
                                   seen_answer *answers, seen_error *error);
SEEN_API seen_status seen_check_many(seen_set *set, const seen_key *keys, size_t count,
                                     seen_answer *answers, seen_error *error);
SEEN_API seen_status seen_remove_many(seen_set *set, const seen_key *keys, size_t count,
                                      seen_answer *answers, seen_error *error);

/* ---- Hash once, look up in many sets -------------------------------------------------------- */

typedef struct seen_hash {
    uint64_t lo, hi;
} seen_hash;

typedef struct seen_hasher {
    seen_hash_kind kind;
    uint64_t seed[2];
} seen_hasher;

/* The hasher of a set. Sets with equal hashers accept the same hashes. */
SEEN_API seen_hasher seen_hasher_of(const seen_set *set);

/* A hasher with a seed from the system's random source. */
SEEN_API seen_status seen_hasher_random(seen_hash_kind kind, seen_hasher *hasher,
                                        seen_error *error);

/* The 128-bit hash of a key. Stable: later versions return the same hash for the same input. */
SEEN_API seen_hash seen_hash_key(const seen_hasher *hasher, const void *key, size_t len);
SEEN_API void seen_hash_many(const seen_hasher *hasher, const seen_key *keys, size_t count,
                             seen_hash *hashes);

/* As seen_add_many etc., for keys already hashed with the set's hasher. */
SEEN_API seen_status seen_add_hashes(seen_set *set, const seen_hash *hashes, size_t count,
                                     seen_answer *answers, seen_error *error);
SEEN_API seen_status seen_check_hashes(seen_set *set, const seen_hash *hashes, size_t count,
                                       seen_answer *answers, seen_error *error);
SEEN_API seen_status seen_remove_hashes(seen_set *set, const seen_hash *hashes, size_t count,
                                        seen_answer *answers, seen_error *error);

/* ---- Info ----------------------------------------------------------------------------------- */

typedef struct seen_info {
    size_t size; /* in: sizeof(seen_info) */
    seen_kind kind;
    seen_growth growth;
    seen_hash_kind hash;
    seen_when_full when_full;
    const char *store;    /* "memory", "file", "redis", "redis-cluster" */
    uint64_t capacity;    /* keys within the error rate; growing: of the current layers */
    double error_rate;    /* guaranteed up to the capacity */
    uint64_t bits, bytes; /* of all layers */
    uint32_t hashes, spread, probes; /* of the newest layer */
    uint32_t layers;                 /* layers or generations in use */
    uint64_t shards;                 /* of the newest layer */
    uint64_t seed[2];
    uint32_t format_version;
    uint32_t generations;         /* window */
    uint64_t window_seconds;      /* window */
    bool renew;                   /* window: every addition of a key renews it */
    double fill;                  /* share of non-zero cells */
    double keys_estimated;        /* distinct keys, estimated from fill; window: the sum over the
                                     generations, counting a key once in each that has it */
    double error_rate_now;        /* estimated from fill */
    bool sampled;                 /* fill and the two estimates come from a sample */
    char note[SEEN_NOTE_MAX + 1]; /* as given at creation, or empty */
} seen_info;

/* Fills *info. Reads the whole set (for a large set in Redis: a sample). */
SEEN_API seen_status seen_get_info(seen_set *set, seen_info *info, seen_error *error);

/* The same with fill, keys_estimated and error_rate_now set to 0. Does not read the set (Redis: a
 * few round trips). */
SEEN_API seen_status seen_get_shape(const seen_set *set, seen_info *info, seen_error *error);

/* ---- Windows, merging, copies --------------------------------------------------------------- */

/* Starts the next generation of a window and drops the oldest. */
SEEN_API seen_status seen_rotate(seen_set *set, seen_error *error);

/* Merges `from` into `into`. If both are the same file, nothing changes.
 * Errors: SEEN_ERR_MISMATCH if geometry, seed or number of generations differ; SEEN_ERR_FULL if
 * `into` is SEEN_FULL_REFUSE and the union would exceed its error rate; SEEN_ERR_KIND for counting
 * sets that have grown; SEEN_ERR_CHANGED if a window keeps rotating during the merge.
 * A merge that fails midway, or a crash, leaves `into` with part of the keys; merging again
 * completes it (bloom only: counters would be added twice). A growing set may then have additional
 * empty layers.
 * Growing sets in memory and in files can be merged regardless of their sizes and error
 * rates; the rate of the result is at most the sum of both. They cannot be merged with growing sets
 * in Redis. */
SEEN_API seen_status seen_merge(seen_set *into, seen_set *from, seen_error *error);

/* Copies a set bit for bit to another store; `where` as in seen_create. A file is created
 * atomically; SEEN_REPLACE replaces an existing one.
 * Errors: SEEN_ERR_CHANGED if a window keeps rotating during the copy; SEEN_ERR_KIND if a growing
 * set in memory or in a file is to be copied to Redis. */
SEEN_API seen_status seen_copy(seen_set *from, const char *where, unsigned flags,
                               const seen_options *options, seen_error *error);

/* Writes all `len` bytes and returns SEEN_OK. Another status aborts seen_save, which returns it. */
typedef seen_status (*seen_write)(void *context, const void *data, size_t len);

/* Reads 1 to `len` bytes into `data` and stores their number in *got; 0 at the end of the input.
 * Any status other than SEEN_OK aborts seen_load, which returns it. */
typedef seen_status (*seen_read)(void *context, void *data, size_t len, size_t *got);

/* Serializes a set from any store. The output is a valid filter file. It contains all keys added
 * before the call; keys added concurrently may be missing. Reads the set once; a window is copied
 * into memory first. */
SEEN_API seen_status seen_save(seen_set *set, seen_write write, void *context, seen_error *error);

/* Creates a set in memory from the output of seen_save or the contents of a filter file. Reads up
 * to the end of the set and not beyond. SEEN_ERR_FORMAT: truncated, damaged or not a filter. */
SEEN_API seen_status seen_load(seen_read read, void *context, seen_set **set, seen_error *error);

/* Deletes a filter: the file, or all its keys in Redis. A symbolic link is refused with
 * SEEN_ERR_ARGUMENT: give the path of the file itself. */
SEEN_API seen_status seen_drop(const char *where, const seen_options *options, seen_error *error);

/* ---- URLs ----------------------------------------------------------------------------------- */

typedef enum seen_url_result {
    SEEN_URL_OK = 0,
    SEEN_URL_INVALID = 1,      /* not a valid URL: bad host, bad port, or relative without a base */
    SEEN_URL_OTHER_SCHEME = 2, /* valid, but not http or https: mailto:, javascript:, ftp: … */
    SEEN_URL_TOO_LONG = 3,     /* the buffer is too small */
    SEEN_URL_NO_MEMORY = 4     /* an allocation failed (internationalized hosts only) */
} seen_url_result;

/* Normalization beyond the URL standard, off by default: URLs that differ only in one of these
 * usually, but not always, lead to the same page. */
#define SEEN_URL_SORT_QUERY 1u    /* sort parameters by name; equal names keep their order */
#define SEEN_URL_DROP_TRACKING 2u /* utm_*, gclid, fbclid and the like (docs/url.md) */
#define SEEN_URL_DROP_SESSION 4u  /* PHPSESSID, sid and the like; ;jsessionid=… in the path */
#define SEEN_URL_DROP_WWW 8u      /* www. in front of a host of two labels or more */
#define SEEN_URL_DROP_SLASH 16u   /* trailing slashes of the path, except the first slash */
#define SEEN_URL_ANY_SCHEME 32u   /* https becomes http; ports 80 and 443 are removed */
#define SEEN_URL_NO_VALUES 64u    /* keep only the names of parameters, sorted, without repeats */
#define SEEN_URL_SIMILAR 128u /* replace numbers, UUIDs and hashes in the path by placeholders */

/* A hint that the base was returned by seen_url_canonical. It does not change the result; simple
 * relative links are resolved faster. */
#define SEEN_URL_CANONICAL_BASE (1u << 31)

typedef struct seen_url_options {
    size_t size;    /* sizeof(seen_url_options) */
    uint32_t flags; /* SEEN_URL_…; unknown bits are ignored */
    /* Names of query parameters to drop, in addition to the flags. A trailing `*` matches any
     * suffix. Compared bytewise with the canonical form of a name. */
    const char *const *drop;
    size_t drop_count;
} seen_url_options;

/* The buffer size that suffices for any URL of len bytes with a base of base_len bytes. */
#define SEEN_URL_BOUND(len, base_len) (3 * ((size_t)(len) + (size_t)(base_len)) + 320)

/* Writes the canonical form of an http or https URL: parsed and resolved as in the WHATWG URL
 * standard, without the fragment, with percent-escapes in upper case, and with escaped letters,
 * digits and - . _ ~ unescaped. The function is idempotent.
 *   url, len    any bytes
 *   base        base URL for a relative url; not used for an absolute one. May be NULL
 *   options     NULL: none
 *   out         receives *out_len printable ASCII bytes, without a NUL; must not overlap url or
 *               base. Contents are undefined unless the result is SEEN_URL_OK
 *   out_len     on SEEN_URL_TOO_LONG, a sufficient capacity. Unchanged on other failures
 * Cost: linear, except for sorting a query. A URL that is already canonical is scanned once and
 * copied. */
SEEN_API seen_url_result seen_url_canonical(const char *url, size_t len, const char *base,
                                            size_t base_len, const seen_url_options *options,
                                            char *out, size_t capacity, size_t *out_len);

typedef struct seen_url_span {
    size_t at; /* offset in the URL */
    size_t len;
} seen_url_span;

typedef struct seen_url_parts {
    seen_url_span scheme;   /* http or https */
    seen_url_span userinfo; /* without the @; usually empty */
    seen_url_span host;     /* an IPv6 address includes its brackets */
    seen_url_span port;     /* digits; empty for the default port */
    seen_url_span path;     /* begins with / */
    seen_url_span query;    /* without the ?; see has_query */
    uint16_t port_number;   /* 80 or 443 if port is empty */
    bool has_query;         /* true for `/a?` (empty query), false for `/a` */
} seen_url_parts;

/* Splits a canonical URL into its parts. Returns SEEN_URL_INVALID, and leaves *parts unchanged, if
 * the bytes are not structured like a canonical URL; does not verify that they are canonical. */
SEEN_API seen_url_result seen_url_split(const char *url, size_t len, seen_url_parts *parts);

#ifdef __cplusplus
}
#endif
#endif
