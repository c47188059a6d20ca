/* The interface of a store.
 *
 * The public functions (src/set) hash the keys and pass batches of hashes to the operations of the
 * store. A set in addressable memory (heap, mapped file) is a `local` set; Redis has its own
 * operations. */
#ifndef SN_SET_STORE_H
#define SN_SET_STORE_H

#include "set/image.h"

typedef enum sn_fork_phase { SN_FORK_BEFORE, SN_FORK_PARENT, SN_FORK_CHILD } sn_fork_phase;

/* Each operation: hashes in, answers out; on failure the answer of an unprocessed key is
 * SEEN_UNKNOWN. `answers` is never NULL here. All but close may be called by several threads
 * concurrently. */
typedef struct sn_store_ops {
    const char *store; /* as in seen_info */
    seen_status (*add)(seen_set *set, const seen_hash *hashes, size_t count, seen_answer *answers,
                       seen_error *error);
    seen_status (*check)(seen_set *set, const seen_hash *hashes, size_t count, seen_answer *answers,
                         seen_error *error);
    seen_status (*remove)(seen_set *set, const seen_hash *hashes, size_t count,
                          seen_answer *answers, seen_error *error);
    /* Optimized version for one key; NULL: none. On failure *answer is unchanged. */
    seen_status (*add_one)(seen_set *set, seen_hash hash, seen_answer *answer, seen_error *error);
    seen_status (*check_one)(seen_set *set, seen_hash hash, seen_answer *answer, seen_error *error);
    seen_status (*rotate)(seen_set *set, seen_error *error);
    seen_status (*sync)(seen_set *set, seen_error *error);

    /* The current image, with the layers' `added`. */
    seen_status (*image)(seen_set *set, sn_image *image, seen_error *error);
    /* Fills fill, keys_estimated, error_rate_now and sampled. */
    seen_status (*measure)(seen_set *set, seen_info *info, seen_error *error);

    /* Copies lines of one layer out, or merges lines into it (bloom: or; counting: saturating sum).
     * `read` is called with whole chunks, in order, by one thread. */
    seen_status (*read)(seen_set *set, uint32_t layer, uint64_t line, uint64_t lines, void *out,
                        seen_error *error);
    seen_status (*merge_lines)(seen_set *set, uint32_t layer, uint64_t line, uint64_t lines,
                               const void *from, seen_error *error);
    /* Before a merge: ensures that there are this many layers. After it: sets the counters and ages
     * of the layers; those of `from` are at the positions their lines were merged into. */
    seen_status (*ensure_layers)(seen_set *set, uint32_t layers, seen_error *error);
    seen_status (*finish_merge)(seen_set *set, const sn_image *from, seen_error *error);

    /* Called before a fork, and after it in both processes, for a set that the child keeps as its
     * own copy. NULL: the child must not use it (forks.h). */
    void (*fork)(seen_set *set, sn_fork_phase phase);
    /* Tag lines, which have none of read, merge_lines, ensure_layers and finish_merge: merges
     * `from`, another set of tag lines. */
    seen_status (*merge)(seen_set *set, seen_set *from, seen_error *error);
    /* A consistent copy of partition p in memory (sn_tags_part_free), even if the set is modified
     * concurrently; and copying it into an empty partition of a set without other users. */
    seen_status (*copy_part)(seen_set *set, unsigned p, sn_tags_part *copy, seen_error *error);
    seen_status (*fill_part)(seen_set *set, unsigned p, const sn_tags_part *copy,
                             seen_error *error);

    void (*close)(seen_set *set);
} sn_store_ops;

struct seen_set {
    const sn_store_ops *ops;
    char *where; /* for messages: the path, the address without its password, or "memory" */
    seen_hasher hasher;
    seen_kind kind;
    seen_growth growth;
    bool read_only;

    bool connected; /* over a network: a child process must not close it */
    bool forked;    /* inherited from the parent process: refused (forks.h) */
    bool listed;    /* in the list of open sets, linked by the next two */
    seen_set *previous, *next;
};

/* Lines per chunk of a copy: 1 MiB. */
enum { SN_COPY_LINES = 16384 };

/* Merges all lines of `from`, whose image is given, into `into`, whose layers have the same
 * geometry: layer i goes to layer (i + shift) modulo their number. Unused generations of a window
 * are skipped, and the oldest generation is read first. Like a check, this finds a key that was
 * added again before its generation was cleared, unless the window has rotated by the end: then it
 * may have been added to one that was already read, and the caller must repeat the merge. */
seen_status sn_store_copy_lines(seen_set *into, seen_set *from, const sn_image *image,
                                uint32_t shift, seen_error *error);

/* Whether a window has rotated since this image was read. *now is set to the current image. */
seen_status sn_store_rotated(seen_set *from, const sn_image *image, sn_image *now, bool *rotated,
                             seen_error *error);

/* Copies all partitions of `from`, a set of tag lines, into an empty one. */
seen_status sn_store_copy_parts(seen_set *into, seen_set *from, seen_error *error);

/* ---- stores ---- */

/* A store is a row of the table in stores.c: how sets are created, opened, copied and deleted. No
 * other file names a store. */
typedef struct sn_store {
    bool layered; /* growing sets use layers, not tag lines */
    /* The image of an empty set with these options. */
    seen_status (*plan)(const seen_options *options, sn_image *image, seen_error *error);
    seen_status (*create)(const char *where, const sn_image *image, const seen_options *options,
                          unsigned flags, seen_set **set, seen_error *error);
    seen_status (*open)(const char *where, const seen_options *options, unsigned flags,
                        seen_set **set, seen_error *error);
    seen_status (*copy)(const char *where, unsigned flags, const seen_options *options,
                        seen_set *from, seen_error *error);
    seen_status (*drop)(const char *where, const seen_options *options, seen_error *error);
} sn_store;

/* The store of a path or address; NULL: memory, which only supports create. */
seen_status sn_store_find(const char *where, const sn_store **store, seen_error *error);

seen_status sn_heap_create(const sn_image *image, seen_set **set, seen_error *error);
/* Called after the lines were written: uses the counters of the image, unless they contradict the
 * bits. */
void sn_heap_set_counters(seen_set *set, const sn_image *image);

seen_status sn_file_create(const char *path, const sn_image *image, unsigned flags, seen_set **set,
                           seen_error *error);
seen_status sn_file_open(const char *path, unsigned flags, seen_set **set, seen_error *error);
seen_status sn_file_copy(const char *path, unsigned flags, seen_set *from, seen_error *error);
seen_status sn_file_drop(const char *path, seen_error *error);

/* The counters in the image of a file that was opened read-only have not been compared with the
 * bits: implausible ones are replaced. Other sets are unchanged. */
void sn_file_recount(seen_set *set, sn_image *image);

/* Whether two handles refer to the same file. */
bool sn_file_same(const seen_set *a, const seen_set *b);

#ifdef SEEN_WITH_REDIS
seen_status sn_redis_create(const char *where, const sn_image *image, const seen_options *options,
                            unsigned flags, seen_set **set, seen_error *error);
/* Sets the geometry of a fixed set to one plain bitmap (options->layout). */
seen_status sn_redis_bitmap_plan(const seen_options *options, sn_image *image, seen_error *error);
seen_status sn_redis_open(const char *where, const seen_options *options, unsigned flags,
                          seen_set **set, seen_error *error);
seen_status sn_redis_copy(const char *where, unsigned flags, const seen_options *options,
                          seen_set *from, seen_error *error);
seen_status sn_redis_drop(const char *where, const seen_options *options, seen_error *error);
#endif

#endif
