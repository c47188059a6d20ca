/* Sets whose bits lie in reach of the processor: in the heap or in a mapped file.
 *
 * local.c holds what both have in common: layers, locks, batches. Where the bits come from, how
 * they are made durable and how other processes are kept out is the home's business (heap.c,
 * file.c).
 *
 * Locks, from the outside in:
 *
 * - mode, a reader-writer lock. A thread that adds alone holds it for writing and works on the
 *   batch as it is. Where several add at once they hold it for reading, and each sorts its batch
 *   into stripes. Growing, rotating, removing and merging hold it for writing.
 * - enter and leave of the home keep other processes out while this one changes bits (file).
 * - stripe, one mutex for a range of shards. All lines of a key are in one shard, so whoever holds
 *   the stripe of a key may look at all layers and change bits with plain stores.
 *
 * Checking takes no lock: it reads the view, which is replaced as a whole and never freed before
 * the set is closed. A growing set has few of them. A window turns for ever: its views are counted
 * by those who read them, and one that nobody holds any more is used again. */
#ifndef SN_STORE_LOCAL_H
#define SN_STORE_LOCAL_H

#include "filter/kernel.h"
#include "set/store.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SN_STRIPES_LEAST = 4, SN_STRIPES = 16 };

typedef struct sn_view {
    struct sn_view *older;
    atomic_uint holders; /* of a window's view: calls that read it without a lock */
    sn_image image;
    char *bits[SN_IMAGE_LAYERS];
} sn_view;

typedef struct sn_local sn_local;
typedef struct sn_scratch sn_scratch;

/* Apart from each other: threads that hold different ones do not wait for the same cache line. */
typedef union sn_stripe {
    pthread_mutex_t lock;
    char room[2 * SN_LINE_BYTES];
} sn_stripe;

typedef struct sn_home {
    const char *store;
    /* Room for the lines of a layer, all zero; sets layer->offset. */
    seen_status (*open_layer)(sn_local *local, sn_layer *layer, char **bits, seen_error *error);
    /* Makes the view's image the valid one, durably, and then the view the one that checks use. On
     * failure the room of a layer that only the view has is given back; the view is the caller's.
     */
    seen_status (*publish)(sn_local *local, sn_view *view, seen_error *error);
    /* Whether enter() takes a lock between processes, which costs system calls. */
    bool (*locks)(const sn_local *local);
    /* Around every change of bits. enter() also takes over what other processes published. */
    seen_status (*enter)(sn_local *local, seen_error *error);
    void (*leave)(sn_local *local);
    /* Takes over what other processes published; cheap where there is nothing. */
    seen_status (*refresh)(sn_local *local, seen_error *error);
    seen_status (*sync)(sn_local *local, seen_error *error);
    void (*free)(sn_local *local);
} sn_home;

struct sn_local {
    seen_set base;
    const sn_home *home;
    const sn_kernel *kernel;
    _Atomic(sn_view *) view;
    atomic_ullong sequence;  /* of the view; set after it */
    pthread_mutex_t older;   /* guards the chain of views behind the one in use */
    atomic_ullong in_flight; /* window: keys that threads of this process are adding */
    uint64_t *added;         /* one counter a layer; shared with other processes in a file */
    uint64_t limit;          /* fixed: so many keys that were new make it full */
    uint64_t removed;        /* counting: keys taken back (sn_local_recount); alone */
    pthread_rwlock_t mode;
    unsigned stripes; /* how many are used: a power of two, up to SN_STRIPES */
    sn_stripe stripe[SN_STRIPES];
    pthread_mutex_t scratch_lock;
    sn_scratch *scratch; /* not in use at the moment */
    atomic_int crowd;    /* above zero: several threads were adding a moment ago */
};

/* Fills a zeroed sn_local (or a struct that starts with one); the view is installed by the home. */
seen_status sn_local_init(sn_local *local, const sn_home *home, const sn_image *image,
                          const char *where, seen_error *error);
void sn_local_destroy(sn_local *local);

/* A view to fill in, and what becomes of it: it is made the one that checks use, or given back. */
sn_view *sn_view_spare(sn_local *local);
void sn_view_install(sn_local *local, sn_view *view);
void sn_view_give_back(sn_local *local, sn_view *view);

/* The view in use, which stays as it is until it is let go: for whoever holds no lock. */
sn_view *sn_view_hold(sn_local *local);
void sn_view_let_go(sn_local *local, sn_view *view);

/* The number of keys that were new to a layer as a sample of its lines tells (sample.c). */
typedef struct sn_sample {
    double keys;
    double per_line; /* touches of a line */
    double lines;    /* looked at */
    double rate;     /* the false-positive rate */
    double unit;     /* keys that one touch of a line in the sample stands for */
    double variance; /* of the number of touches, for each of them */
} sn_sample;

/* The most lines to look at: when a set is opened, whose cost is not to depend on its size; and
 * when all lines have been read anyway. More than the first are only if they hold few keys. */
enum { SN_SAMPLE_QUICK = 2048, SN_SAMPLE_CAREFUL = 1 << 20 };
/* Touches of lines that tell enough. */
enum { SN_SAMPLE_ENOUGH = 10000 };

sn_sample sn_local_sample(const sn_layer *layer, const char *bits, uint64_t most);
/* The same from the tally of lines that were looked at, wherever they lie. */
sn_sample sn_local_tell(const sn_layer *layer, const sn_tally *tally);

/* How far off such a sample is of a layer with so many keys. */
double sn_local_deviation(const sn_sample *sample, double keys);

/* Whether a layer with so many keys may well give such a sample. */
bool sn_local_credible(const sn_sample *sample, uint64_t told);

/* What a counter is set to that only a sample tells: on the safe side. Too many in a set that is
 * full then, or grows, keep its rate; a window would turn early, and forget what is younger. */
uint64_t sn_local_safely(seen_growth growth, const sn_sample *sample);

/* The counter of layer i: counters are written whenever the system likes, and are not checksummed.
 * A value that the bits contradict (a lost write, a flipped bit) is replaced by what they say. */
uint64_t sn_local_believe(const sn_local *local, const sn_view *view, uint32_t i, uint64_t told);

/* What it is set to after a union of two layers that had these, from a sample of both together. */
uint64_t sn_local_unite(seen_growth growth, const sn_sample *sample, uint64_t mine,
                        uint64_t theirs);

/* Counting sets: after `removed` more keys were taken back; alone. */
void sn_local_recount(sn_local *local, const sn_view *view, uint64_t removed);

extern const sn_store_ops sn_heap_ops, sn_file_ops;

#endif
