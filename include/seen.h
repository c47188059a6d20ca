/* seen.h - have I seen this before?
 *
 * A set remembers keys in a few bits each. Asked about a key it answers SEEN_BEFORE or SEEN_NEW.
 * "New" is certain; "before" is wrong at a rate that was chosen when the set was made. A set
 * cannot list its keys, and cannot tell how often a key was added.
 *
 *     seen_set *set;
 *     seen_options options = {.size = sizeof options, .capacity = 1000000, .error_rate = 0.01};
 *     if (seen_create(NULL, &options, 0, &set, NULL) != SEEN_OK) ...
 *     seen_answer answer;
 *     seen_add(set, "key", 3, &answer, NULL);
 *     seen_close(set);
 *
 * Ownership  What a call hands out through a pointer to a handle is yours; give it back with
 *            seen_close. Keys, hashes, options and strings are only read during the call.
 * Threads    Any number of threads may add, check, remove, sync and ask for info on one set at
 *            once; of several that add the same new key exactly one is told SEEN_NEW. Opening and
 *            closing a set is for one thread.
 * Processes  A set in a file may be open in several processes; the same holds between them. Locks
 *            and connections are not inherited: after fork the child opens the set again. Until it
 *            does, every call on the parent's handle but seen_close fails with SEEN_ERR_FORKED. A
 *            set in memory becomes two sets, one in each process.
 * Errors     Every call that can fail returns a seen_status. A status is never an answer. The last
 *            argument, which may be NULL, receives a sentence that names the file or server and
 *            says what to do. On failure nothing has changed and outputs are as they were, except
 *            where a comment says otherwise.
 * Versions   Structs that callers fill start with their own size and may grow; leave the rest zero.
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
    SEEN_ERR_ARGUMENT = 2,     /* a number or a combination that makes no sense */
    SEEN_ERR_IO = 3,           /* the system refused to read, write, map or sync */
    SEEN_ERR_FORMAT = 4,       /* damaged, truncated or foreign */
    SEEN_ERR_EXISTS = 5,       /* already there */
    SEEN_ERR_NOT_FOUND = 6,    /* no such file or filter */
    SEEN_ERR_MISMATCH = 7,     /* other numbers, another seed or another kind */
    SEEN_ERR_FULL = 8,         /* at capacity, and the set was told to refuse then */
    SEEN_ERR_KIND = 9,         /* this kind of set cannot do that */
    SEEN_ERR_PERMISSION = 10,  /* not allowed */
    SEEN_ERR_NETWORK = 11,     /* the server did not answer in time */
    SEEN_ERR_SERVER = 12,      /* the server answered with an error */
    SEEN_ERR_UNSUPPORTED = 13, /* this build has no such part */
    SEEN_ERR_CHANGED = 14,     /* the set changed underneath */
    SEEN_ERR_SPACE = 15,       /* the disk, or the server's memory, is full */
    SEEN_ERR_FORKED = 16       /* opened by the parent process; open it again */
} seen_status;

/* What a set knows about a key. One byte, so that arrays of answers are small. */
typedef uint8_t seen_answer;
#define SEEN_NEW ((seen_answer)0)     /* certainly never added */
#define SEEN_BEFORE ((seen_answer)1)  /* added before, or one of the rare mistakes */
#define SEEN_UNKNOWN ((seen_answer)2) /* the call failed before this key was decided */

typedef struct seen_error {
    seen_status status;
    char message[500]; /* a sentence; control characters are escaped */
} seen_error;

/* A few words for a status, in English. Never NULL. */
SEEN_API const char *seen_status_text(seen_status status);

/* "0.1.0". */
SEEN_API const char *seen_version(void);

/* ---- Choices -------------------------------------------------------------------------------- */

typedef enum seen_kind {
    SEEN_BLOOM = 0,   /* one bit a cell: add, check, merge */
    SEEN_COUNTING = 1 /* four bits a cell: also remove; four times the memory */
} seen_kind;

typedef enum seen_growth {
    SEEN_FIXED = 0,   /* one filter of a known capacity */
    SEEN_GROWING = 1, /* no capacity needed; always within the promised rate */
    SEEN_WINDOW = 2   /* generations; the oldest is forgotten. SEEN_BLOOM only */
} seen_growth;

typedef enum seen_hash_kind {
    SEEN_XXH3 = 0,   /* XXH3, 128 bits: fast */
    SEEN_SIPHASH = 1 /* SipHash-2-4, 128 bits: for keys chosen by an enemy */
} seen_hash_kind;

typedef enum seen_when_full {
    SEEN_FULL_REFUSE = 0, /* adding a key past the capacity fails with SEEN_ERR_FULL */
    SEEN_FULL_GO_ON = 1   /* goes on; seen_info reports the rising rate */
} seen_when_full;

/* Redis only. */
typedef enum seen_layout {
    SEEN_LAYOUT_SHARDS = 0, /* strings of up to 256 KiB, the layout of a file */
    SEEN_LAYOUT_BITMAP = 1  /* one plain bitmap key with k positions over the whole of it */
} seen_layout;

/* ---- Planning ------------------------------------------------------------------------------- */

/* What is wanted: any sufficient choice of the four numbers; 0 means "not given". */
typedef struct seen_wish {
    size_t size; /* sizeof(seen_wish) */
    seen_kind kind;
    uint64_t capacity; /* n: keys */
    double error_rate; /* p: false positives among keys never added, at capacity */
    uint64_t bits;     /* m: memory in bits, all of it; whole lines of 512 bits are used */
    uint32_t hashes;   /* k: cells per key */
} seen_wish;

/* What is built for it. */
typedef struct seen_plan {
    size_t size;
    seen_kind kind;
    uint64_t capacity;     /* keys at which the rate is error_rate */
    double error_rate;     /* asked for, or where not given the predicted one */
    double predicted_rate; /* of this very geometry, at capacity; at most error_rate */
    uint64_t bits;         /* memory in bits: a multiple of 512 */
    uint64_t bytes;        /* bits / 8 */
    uint32_t hashes;       /* k = spread * probes */
    uint32_t spread;       /* g: lines per key */
    uint32_t probes;       /* q: cells per line */
    uint64_t lines;        /* 64 bytes each */
    uint64_t shards;       /* equal slices; all lines of a key are in one */
    double bits_per_key;
    double classic_bits;   /* of the textbook filter with this capacity and rate, all of it */
    double classic_hashes; /* its best k */
    double overhead;       /* bits / classic_bits, the kind's cell width taken out */
} seen_plan;

/* Works out the whole geometry.
 *   wish     capacity with error_rate, bits or hashes; bits with error_rate or hashes; or more.
 *            bits and hashes together fix both, with one cell per line (the classic filter).
 *   plan     filled on success
 * Refused with the reason: too few numbers, contradictions, a rate outside (0, 1), more than
 * 10^12 keys. Cost: microseconds to milliseconds. */
SEEN_API seen_status seen_plan_make(const seen_wish *wish, seen_plan *plan, seen_error *error);

/* The predicted false-positive rate of a plan's geometry with `keys` distinct keys in it. */
SEEN_API double seen_plan_rate(const seen_plan *plan, double keys);

/* The textbook: m = -n ln p / (ln 2)^2, k = (m/n) ln 2, rate = (1 - e^(-kn/m))^k. */
SEEN_API double seen_classic_bits(double capacity, double error_rate);
SEEN_API double seen_classic_hashes(double bits, double capacity);
SEEN_API double seen_classic_rate(double capacity, double bits, double hashes);

/* ---- Sets ----------------------------------------------------------------------------------- */

typedef struct seen_set seen_set;

/* What to make. A zero means the default, which stands in brackets. */
typedef struct seen_options {
    size_t size; /* sizeof(seen_options) */
    seen_kind kind;
    seen_growth growth;
    seen_hash_kind hash;
    seen_when_full when_full;

    /* As in seen_wish; growing: a hint for the first layer. A fixed set with neither capacity nor
     * bits grows instead: a set is never full by default. */
    uint64_t capacity;
    double error_rate; /* [0.01 where neither bits nor hashes say otherwise] */
    uint64_t bits;     /* fixed only */
    uint32_t hashes;   /* fixed only */

    bool seed_given; /* [a random seed] */
    uint64_t seed[2];

    uint32_t generations; /* window: how many [8], 2 to 32 */
    /* window: by time; 0: by count: the last `capacity` keys reported as new at least are
     * remembered (with `renew`: the last additions; a key counts once in each generation). */
    uint64_t window_seconds;
    /* window: what a key's age counts from. false: from when it was last reported as new, so that a
     * key that keeps coming is new again after a window. true: from its last addition, so that it
     * is never new again as long as it keeps coming. Checking a key does not renew it. */
    bool renew;

    seen_layout layout;   /* Redis */
    uint64_t ttl_seconds; /* Redis: expire when not touched for so long; 0: never */
    uint32_t connect_ms;  /* Redis: [2000] */
    uint32_t command_ms;  /* Redis: [5000] */
    uint32_t retry_ms;    /* Redis: how long to go on trying after a loss [10000; cluster: 60000] */
    const char *tls_ca;   /* rediss://: PEM file of the authorities to trust [the system's] */
    const char *tls_cert; /* rediss://: PEM file of our own certificate [none], and */
    const char *tls_key;  /* of its key */

    /* A text of at most SEEN_NOTE_MAX bytes that is stored with the set; seen_get_info returns it.
     * The command stores here how its keys are made. [none] */
    const char *note;
} seen_options;

#define SEEN_NOTE_MAX 255

/* Flags of seen_create and seen_open. */
#define SEEN_REPLACE 1u   /* create: replace an existing regular file, atomically */
#define SEEN_IF_ABSENT 2u /* create: open it where it exists, provided that its numbers agree */
#define SEEN_READ_ONLY 4u /* open: check, info, and copy or merge from it; nothing changes it */
#define SEEN_ALONE                                                                                 \
    8u /* file: no other process writes; saves a lock per call. Refused if one does */

/* Makes an empty set.
 *   options  NULL: all defaults, a set that grows and has an error rate of 0.01
 *   flags    SEEN_REPLACE, SEEN_IF_ABSENT, SEEN_ALONE; others are refused
 *   where    NULL: in memory. A path: a file, made whole or not at all, usable at once.
 *            redis://[user:password@]host[:port][/db]/NAME, redis-cluster:// or redis+unix://:
 *            in Redis; rediss:// and rediss-cluster:// with TLS.
 *   set      the handle
 * Errors: SEEN_ERR_EXISTS without SEEN_REPLACE or SEEN_IF_ABSENT; SEEN_ERR_MISMATCH where
 * SEEN_IF_ABSENT finds other numbers. A file's space is reserved, so that a full disk shows here.
 */
SEEN_API seen_status seen_create(const char *where, const seen_options *options, unsigned flags,
                                 seen_set **set, seen_error *error);

/* Opens what seen_create made. A damaged, truncated or foreign file is refused and not changed.
 * `options` gives time-outs and the like and may be NULL; its numbers are not looked at. Cost:
 * does not depend on the size (a copy with holes: its blocks are reserved once). */
SEEN_API seen_status seen_open(const char *where, const seen_options *options, unsigned flags,
                               seen_set **set, seen_error *error);

/* Makes an empty set with the same geometry and seed as `like`, so that the two can be merged;
 * `where` and `flags` as in seen_create. `options` gives what is specific to Redis (layout,
 * ttl_seconds, timeouts, TLS) and may be NULL; its other fields are ignored. */
SEEN_API seen_status seen_create_like(const char *where, const seen_set *like,
                                      const seen_options *options, unsigned flags, seen_set **set,
                                      seen_error *error);

/* Makes what was added durable: when it returns SEEN_OK it survives a crash and a power cut.
 * SEEN_ERR_CHANGED: the file was removed, or another one took its name, while it was open.
 * In Redis: a replica of each server that has any has it; its disk, and servers that a replica
 * replaced since the additions, are the operator's affair (docs/redis.md, "Nothing lost"). */
SEEN_API seen_status seen_sync(seen_set *set, seen_error *error);

/* Syncs and gives the handle back, which is gone whatever the status. NULL is ignored. */
SEEN_API seen_status seen_close_checked(seen_set *set, seen_error *error);

/* Gives the handle back without waiting for the disk, unless a growing file has grown since it was
 * synced. NULL is ignored. */
SEEN_API void seen_close(seen_set *set);

/* Where the set is stored: the path or the address it was opened with, without the password. NULL:
 * in memory. Valid until the set is closed. */
SEEN_API const char *seen_where(const seen_set *set);

/* ---- One key -------------------------------------------------------------------------------- */

/* Records one key and tells whether it was there already.
 *   key, len   any bytes; a zero-length key is a key
 *   answer     SEEN_NEW: certainly never added before. SEEN_BEFORE: added before, or one of the
 *              rare mistakes whose rate was chosen when the set was made. May be NULL.
 * Errors: SEEN_ERR_FULL; those of the store. Cost: one hash, spread cache lines. Many keys?
 * seen_add_many is several times faster. */
SEEN_API seen_status seen_add(seen_set *set, const void *key, size_t len, seen_answer *answer,
                              seen_error *error);

/* Tells whether a key was added, and changes nothing. */
SEEN_API seen_status seen_check(seen_set *set, const void *key, size_t len, seen_answer *answer,
                                seen_error *error);

/* Takes one addition of a key back; counting sets only.
 *   answer     SEEN_BEFORE: it was there, and is removed. SEEN_NEW: it is not there; nothing
 *              changed. May be NULL.
 * Remove only what was really added: a mistaken SEEN_BEFORE would take the cells of other keys. */
SEEN_API seen_status seen_remove(seen_set *set, const void *key, size_t len, seen_answer *answer,
                                 seen_error *error);

/* ---- Many keys: the fast path --------------------------------------------------------------- */

typedef struct seen_key {
    const void *data;
    size_t len;
} seen_key;

/* The same for many keys in one call, in order: a key that stands twice in one call is new the
 * first time only. On failure answers[i] is SEEN_UNKNOWN where key i was not decided; the others
 * hold. `answers` may be NULL. */
SEEN_API seen_status seen_add_many(seen_set *set, const seen_key *keys, size_t count,
                                   seen_answer *answers, seen_error *error);
SEEN_API seen_status seen_check_many(seen_set *set, const seen_key *keys, size_t count,
                                     seen_answer *answers, seen_error *error);
SEEN_API seen_status seen_remove_many(seen_set *set, const seen_key *keys, size_t count,
                                      seen_answer *answers, seen_error *error);

/* ---- Hash once, ask many -------------------------------------------------------------------- */

typedef struct seen_hash {
    uint64_t lo, hi;
} seen_hash;

typedef struct seen_hasher {
    seen_hash_kind kind;
    uint64_t seed[2];
} seen_hasher;

/* The hasher of a set. Sets with equal hashers take the same hashes. */
SEEN_API seen_hasher seen_hasher_of(const seen_set *set);

/* A hasher with a seed from the system's random source. */
SEEN_API seen_status seen_hasher_random(seen_hash_kind kind, seen_hasher *hasher,
                                        seen_error *error);

/* The 128-bit hash of a key; frozen: the same for ever for the same hasher and bytes. */
SEEN_API seen_hash seen_hash_key(const seen_hasher *hasher, const void *key, size_t len);
SEEN_API void seen_hash_many(const seen_hasher *hasher, const seen_key *keys, size_t count,
                             seen_hash *hashes);

/* seen_add_many and so on, with the hashes already taken by the set's hasher. */
SEEN_API seen_status seen_add_hashes(seen_set *set, const seen_hash *hashes, size_t count,
                                     seen_answer *answers, seen_error *error);
SEEN_API seen_status seen_check_hashes(seen_set *set, const seen_hash *hashes, size_t count,
                                       seen_answer *answers, seen_error *error);
SEEN_API seen_status seen_remove_hashes(seen_set *set, const seen_hash *hashes, size_t count,
                                        seen_answer *answers, seen_error *error);

/* ---- What is it, how full, how wrong -------------------------------------------------------- */

typedef struct seen_info {
    size_t size; /* in: sizeof(seen_info) */
    seen_kind kind;
    seen_growth growth;
    seen_hash_kind hash;
    seen_when_full when_full;
    const char *store;    /* "memory", "file", "redis", "redis-cluster" */
    uint64_t capacity;    /* keys within the promised rate; growing: of the layers so far */
    double error_rate;    /* promised */
    uint64_t bits, bytes; /* of all layers */
    uint32_t hashes, spread, probes; /* of the layer that takes new keys */
    uint32_t layers;                 /* layers or generations in use */
    uint64_t shards;                 /* of the layer that takes new keys */
    uint64_t seed[2];
    uint32_t format_version;
    uint32_t generations;    /* window */
    uint64_t window_seconds; /* window */
    bool renew;              /* window: every addition of a key renews it */
    double fill;             /* the share of cells that are set */
    double keys_estimated;   /* distinct keys, from the cells that are set; window: the sum over its
                                generations, in each of which a key may be */
    double error_rate_now;   /* from the cells that are set */
    bool sampled;            /* the last three come from a sample */
    char note[SEEN_NOTE_MAX + 1]; /* as it was given at creation, or empty */
} seen_info;

/* Fills *info. Cost: reads every bit (a large set in Redis: a sample). */
SEEN_API seen_status seen_get_info(seen_set *set, seen_info *info, seen_error *error);

/* The same without fill, keys_estimated and error_rate_now, which are 0. Cost: nothing (Redis: a
 * few round trips). */
SEEN_API seen_status seen_get_shape(const seen_set *set, seen_info *info, seen_error *error);

/* ---- Windows, unions, copies ---------------------------------------------------------------- */

/* Starts the next generation of a window; the oldest is forgotten. */
SEEN_API seen_status seen_rotate(seen_set *set, seen_error *error);

/* Adds everything in `from` to `into`; where both have the same file nothing changes. Refused with
 * a reason where geometry, seed or the number of generations differ, with SEEN_ERR_FULL where
 * `into` refuses when full and the union would break its rate, and with SEEN_ERR_KIND for counting
 * sets that have grown. Where one of two windows turns meanwhile they are merged once more;
 * SEEN_ERR_CHANGED where it never stops turning. A crash in the middle leaves `into` with some of
 * it; merging again completes it (bloom only: counters would count twice), and so it does where a
 * disk, a server or a window that never stops turning made it fail in the middle. A growing set
 * that cannot open all the layers it needs keeps those that it could, which are empty.
 * Growing sets in memory and in files can be merged whatever their sizes; their error rates add up,
 * and `from` may have the lower one. They cannot be merged with growing sets in Redis. */
SEEN_API seen_status seen_merge(seen_set *into, seen_set *from, seen_error *error);

/* Copies a set, bit for bit, to another store; `where` as in seen_create. A file appears whole or
 * not at all. With SEEN_REPLACE an existing one is replaced. A window that turns meanwhile is
 * copied to a file once more; SEEN_ERR_CHANGED where it never stops turning.
 * SEEN_ERR_KIND: a growing set in memory or in a file cannot be copied to Redis. */
SEEN_API seen_status seen_copy(seen_set *from, const char *where, unsigned flags,
                               const seen_options *options, seen_error *error);

/* Takes all of the `len` bytes and returns SEEN_OK. Any other status stops seen_save, which then
 * returns it. */
typedef seen_status (*seen_write)(void *context, const void *data, size_t len);

/* Puts 1 to `len` bytes into `data` and their number into *got; at the end, 0. A status other than
 * SEEN_OK stops seen_load, which then returns it. */
typedef seen_status (*seen_read)(void *context, void *data, size_t len, size_t *got);

/* Writes a set, in any store, as bytes: exactly the bytes of its file, so that they can be written
 * to one and opened. Keys added concurrently may be missing; all added before the call are in it.
 * Cost: reads every bit once; a window is copied into memory first. */
SEEN_API seen_status seen_save(seen_set *set, seen_write write, void *context, seen_error *error);

/* Makes a set in memory from the bytes that seen_save wrote, or from those of a file. Truncated,
 * damaged or foreign bytes are refused with SEEN_ERR_FORMAT. Reads to the end of the set, and not
 * beyond it. */
SEEN_API seen_status seen_load(seen_read read, void *context, seen_set **set, seen_error *error);

/* Removes a filter for good: the file, or every key of it in Redis. A symbolic link is refused with
 * SEEN_ERR_ARGUMENT: name the file. */
SEEN_API seen_status seen_drop(const char *where, const seen_options *options, seen_error *error);

/* ---- URLs ----------------------------------------------------------------------------------- */

typedef enum seen_url_result {
    SEEN_URL_OK = 0,
    SEEN_URL_INVALID = 1,      /* no browser would go there: a bad host, a bad port, no base */
    SEEN_URL_OTHER_SCHEME = 2, /* mailto:, javascript:, ftp: … : well, but not http or https */
    SEEN_URL_TOO_LONG = 3,     /* the buffer is too small */
    SEEN_URL_NO_MEMORY = 4     /* an allocation failed (international hosts only) */
} seen_url_result;

/* What to forget beyond the standard. All of it is off by default: two URLs that differ in one of
 * these usually show the same page, but not always. */
#define SEEN_URL_SORT_QUERY 1u    /* parameters by name; equal names stay in their order */
#define SEEN_URL_DROP_TRACKING 2u /* utm_*, gclid, fbclid and the like (docs/url.md) */
#define SEEN_URL_DROP_SESSION 4u  /* PHPSESSID, sid and the like; ;jsessionid=… in the path */
#define SEEN_URL_DROP_WWW 8u      /* www. in front of a host of two labels or more */
#define SEEN_URL_DROP_SLASH 16u   /* slashes at the end of the path, except the first */
#define SEEN_URL_ANY_SCHEME 32u   /* https becomes http, and neither default port is kept */
#define SEEN_URL_NO_VALUES 64u    /* only the names of parameters, sorted, each once */
#define SEEN_URL_SIMILAR 128u     /* numbers, UUIDs and hashes in the path become one each */

/* Not about the result but about speed: the base is itself a result of seen_url_canonical, so that
 * plain relative links are resolved without parsing. */
#define SEEN_URL_CANONICAL_BASE (1u << 31)

typedef struct seen_url_options {
    size_t size;    /* sizeof(seen_url_options) */
    uint32_t flags; /* SEEN_URL_…; bits without a name are ignored */
    /* Names of query parameters to drop, whatever the flags. A `*` at the end stands for any
     * ending. Compared byte by byte with the canonical spelling of a name. */
    const char *const *drop;
    size_t drop_count;
} seen_url_options;

/* A buffer of so many bytes is enough for any URL of len bytes on a base of base_len. */
#define SEEN_URL_BOUND(len, base_len) (3 * ((size_t)(len) + (size_t)(base_len)) + 320)

/* Gives the canonical form of an http or https URL: parsed and resolved as the WHATWG URL standard
 * does, without its fragment, escapes in upper case, escaped letters, digits and - . _ ~ unescaped.
 * The canonical form of a canonical form is itself.
 *   url, len    any bytes
 *   base        what a relative URL is relative to; looked at only if url needs it. NULL: nothing
 *   options     NULL: none
 *   out         gets *out_len printable ASCII bytes, without a NUL; must not overlap url or base.
 *               Contents are undefined unless the result is SEEN_URL_OK
 *   out_len     SEEN_URL_TOO_LONG: a capacity that is enough. Other failures leave it as it was
 * Cost: a canonical URL is scanned once and copied. Linear; sorting a query a bit more. */
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
    seen_url_span host;     /* an IPv6 address has its brackets */
    seen_url_span port;     /* digits; empty where it is the scheme's own */
    seen_url_span path;     /* begins with / */
    seen_url_span query;    /* without the ?; see has_query */
    uint16_t port_number;   /* 80 and 443 filled in */
    bool has_query;         /* `/a?` has an empty one, `/a` has none */
} seen_url_parts;

/* Takes a canonical URL apart. Answers SEEN_URL_INVALID, and leaves *parts alone, where the bytes
 * do not have the shape of one; it does not check that they are canonical in every detail. */
SEEN_API seen_url_result seen_url_split(const char *url, size_t len, seen_url_parts *parts);

#ifdef __cplusplus
}
#endif
#endif
