/* Sets in addressable memory: on the heap or in a mapped file.
 *
 * local.c contains the common part: layers, locks, batches. Allocation, durability and locking
 * between processes belong to the backing (heap.c, file.c).
 *
 * Locks, outermost first:
 *
 * - mode, a reader-writer lock. A single thread that adds a large batch holds it for writing and
 *   processes the batch directly. Several such threads hold it for reading, and each sorts its
 *   batch into stripes. Growing, rotating, removing and merging hold it for writing.
 * - all, a spinlock: all stripes at once. A thread that adds a few keys to a fixed set needs no
 *   other lock (few.c). There the holder of mode for writing holds it, too.
 * - enter and leave of the backing lock out other processes while this one modifies bits (file).
 * - stripe, one spinlock per range of shards. All lines of a key are in one shard, so the holder of
 *   a key's stripe may read all layers and modify bits with plain stores. For a single key of a
 *   fixed set no other lock is needed (few.c).
 *
 * Few keys do without mode because its cache line would move between the processors several times
 * in a call. For the same reason several threads that add small batches take turns: each is faster
 * alone than together with another, and a spinlock leaves the cache lines where they are.
 *
 * Checking takes no lock: it reads the view, which is replaced atomically and not freed before the
 * set is closed. A growing set has few views. A window rotates indefinitely: its views are
 * reference-counted by readers and reused when the count is zero. */
#ifndef SN_LOCAL_LOCAL_H
#define SN_LOCAL_LOCAL_H

#include "base/thread.h"
#include "filter/kernel.h"
#include "set/store.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SN_STRIPES_LEAST = 4, SN_STRIPES = 16 };

typedef struct sn_view {
    struct sn_view *older;
    atomic_uint holders; /* of a window's view: number of calls that read it without a lock */
    sn_image image;
    char *bits[SN_IMAGE_LAYERS];
} sn_view;

typedef struct sn_local sn_local;
typedef struct sn_local_scratch sn_local_scratch;

/* Padded: threads that hold different locks do not share a cache line. */
typedef struct sn_local_lock {
    sn_spinlock lock;
    atomic_ullong room; /* keys: reserved in the counter, not added yet (few.c) */
    char apart[2 * SN_LINE_BYTES - 16];
} sn_local_lock;

typedef struct sn_local_backing {
    const char *store;
    /* Allocates zeroed lines for a layer; sets layer->offset. */
    seen_status (*open_layer)(sn_local *local, sn_layer *layer, char **bits, seen_error *error);
    /* Makes the view's image the valid one, durably, and then installs the view. On failure the
     * memory of a layer that only this view has is freed; the caller keeps the view. */
    seen_status (*publish)(sn_local *local, sn_view *view, seen_error *error);
    /* Whether enter() takes a lock between processes, which costs system calls. */
    bool (*locks)(const sn_local *local);
    /* Called around every change of bits. enter() also adopts changes published by other
     * processes. */
    seen_status (*enter)(sn_local *local, seen_error *error);
    void (*leave)(sn_local *local);
    /* Adopts changes published by other processes; cheap if there are none. NULL: no other process
     * can publish any. */
    seen_status (*refresh)(sn_local *local, seen_error *error);
    seen_status (*sync)(sn_local *local, seen_error *error);
    void (*free)(sn_local *local);
} sn_local_backing;

struct sn_local {
    seen_set base;
    const sn_local_backing *backing;
    const sn_kernel *kernel;
    _Atomic(sn_view *) view;
    atomic_ullong sequence;  /* of the view; set after it */
    pthread_mutex_t older;   /* protects the chain of old views */
    atomic_ullong in_flight; /* window: keys being added by threads of this process */
    uint64_t *added;         /* one counter per layer; shared with other processes in a file */
    uint64_t limit;          /* fixed: number of new keys at which it is full */
    uint64_t removed;        /* counting: removed keys (sn_sample_recount); exclusive access */
    bool few;                /* few keys are added without `mode` */
    bool keep_room;          /* locks keep reserved room between calls (few.c) */
    unsigned stripes;        /* number in use: a power of two, up to SN_STRIPES */
    pthread_rwlock_t mode;
    pthread_mutex_t scratch_lock;
    sn_local_scratch *scratch; /* currently unused */
    atomic_int crowd;          /* above zero: several threads were adding recently */
    char apart[SN_LINE_BYTES];
    sn_local_lock all, stripe[SN_STRIPES];
};

/* Initializes a zeroed sn_local (or a struct that starts with one); the backing installs the view.
 */
seen_status sn_local_init(sn_local *local, const sn_local_backing *backing, const sn_image *image,
                          const char *where, seen_error *error);
void sn_local_destroy(sn_local *local);

static inline seen_status sn_local_refresh(sn_local *local, seen_error *error)
{
    return local->backing->refresh ? local->backing->refresh(local, error) : SEEN_OK;
}

/* Divides a set whose geometry does not change into at most so many stripes. */
void sn_local_divide(sn_local *local, const sn_image *image, unsigned stripes);

/* The stripe of a key, if `stripes` are in use. */
static inline unsigned sn_local_stripe_of(seen_hash hash, unsigned stripes)
{
    return (unsigned)(hash.hi >> 1 >> (63 - (unsigned)__builtin_ctz(stripes)));
}

/* Locks one of the stripes in the bit set `left`: the first that is free, starting at `from`. */
unsigned sn_local_take_stripe(sn_local *local, unsigned from, unsigned stripes, unsigned left);

/* ---- few keys (few.c) ---- */

enum { SN_FEW = 32 };

/* Adds at most SN_FEW keys to a fixed set. Returns false if they must be added as a large batch,
 * because the set is almost full; none was added. */
bool sn_few_add(sn_local *local, const seen_hash *hashes, size_t count, seen_answer *answers);

/* The holder of `mode` for writing: waits until no few keys are being added, and returns their
 * unused room to the counter. Others wait until sn_few_admit. */
void sn_few_exclude(sn_local *local);
void sn_few_admit(sn_local *local);

/* The room that is reserved in the counter, but unused; without a lock. */
uint64_t sn_few_room(const sn_local *local);

seen_status sn_local_check_one(seen_set *set, seen_hash hash, seen_answer *answer,
                               seen_error *error);
seen_status sn_local_add_one(seen_set *set, seen_hash hash, seen_answer *answer, seen_error *error);

/* ---- views ---- */

/* A view to fill in, which is then installed or returned. */
sn_view *sn_view_take(sn_local *local);
void sn_view_install(sn_local *local, sn_view *view);
void sn_view_return(sn_local *local, sn_view *view);

/* The current view, which does not change until it is released: for callers without a lock. */
sn_view *sn_view_acquire(sn_local *local);
void sn_view_release(sn_local *local, sn_view *view);

/* The number of new keys of a layer, estimated from a sample of its lines (sample.c). */
typedef struct sn_sample {
    double keys;
    double per_line; /* keys per line */
    double lines;    /* sampled */
    double rate;     /* the false-positive rate */
    double unit;     /* keys represented by one key of a sampled line */
    double variance; /* of the number of keys in sampled lines, per key */
} sn_sample;

/* The maximum number of lines to sample: on open, whose cost must not depend on the size of the
 * set; and when all lines have been read anyway. More than the first are sampled only if they hold
 * few keys. */
enum { SN_SAMPLE_QUICK = 2048, SN_SAMPLE_CAREFUL = 1 << 20 };
/* A sample with this many keys is sufficient. */
enum { SN_SAMPLE_ENOUGH = 10000 };

sn_sample sn_sample_layer(const sn_layer *layer, const char *bits, uint64_t most);
/* The same from the statistics of sampled lines. */
sn_sample sn_sample_from_tally(const sn_layer *layer, const sn_tally *tally);

/* The standard deviation of such a sample of a layer with this many keys. */
double sn_sample_deviation(const sn_sample *sample, double keys);

/* Whether such a sample is plausible for a layer with this many keys. */
bool sn_sample_plausible(const sn_sample *sample, uint64_t stored);

/* The value for a counter that is only known from a sample, rounded to the safe side. A higher
 * value keeps the error rate of a set that is full or grows; a window would rotate early and drop
 * recent keys. */
uint64_t sn_sample_safe_count(seen_growth growth, const sn_sample *sample);

/* The counter of layer i. Counters are written back at any time and are not checksummed: a value
 * that contradicts the bits (a lost write, a flipped bit) is replaced by an estimate. */
uint64_t sn_sample_check_counter(const sn_local *local, const sn_view *view, uint32_t i,
                                 uint64_t stored);

/* The value of a counter after merging two layers with these counters, from a sample of the
 * result. */
uint64_t sn_sample_merge_counters(seen_growth growth, const sn_sample *sample, uint64_t mine,
                                  uint64_t theirs);

/* Counting sets: updates the counter after `removed` more keys were removed; exclusive access. */
void sn_sample_recount(sn_local *local, const sn_view *view, uint64_t removed);

extern const sn_store_ops sn_heap_ops, sn_file_ops;

#endif
