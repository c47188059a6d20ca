/* A growing set of tag lines (filter/tags.h) in memory or in a mapped file.
 *
 * tag_set.c contains the common part: locks, batches, growth. Allocation, durability and locking
 * between processes belong to the backing (tag_heap.c, tag_file.c).
 *
 *     add       enter the backing -> sort the batch by partition -> lock a partition -> kernel
 *     growth    under the lock of one partition: take an extent, rewrite the partition into it,
 *               publish the image, replace the pointer, give the old extent back
 *     lookup    no lock: load the sequence, kernel, load the sequence again
 *
 * Locks, outermost first: enter and leave of the backing lock out other processes (file); one mutex
 * per partition; `publishing`, which protects the image, the extents and the list of descriptors.
 *
 * Lookups. A partition's descriptor is immutable; its pointer is replaced. The memory of a replaced
 * partition stays mapped until the set is closed, but its contents may be overwritten after the
 * sequence was incremented. So a lookup that finds the sequence unchanged at its end has read valid
 * lines; otherwise it is repeated. */
#ifndef SN_LOCAL_TAG_SET_H
#define SN_LOCAL_TAG_SET_H

#include "set/store.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct sn_tag_set sn_tag_set;

typedef struct sn_tag_backing {
    /* Allocates memory for a partition; sets extent->offset. The contents are undefined. Holds
     * `publishing`. */
    seen_status (*take)(sn_tag_set *set, sn_extent *extent, char **lines, seen_error *error);
    /* Publishes the set's image, which has a new sequence, to all processes, and then updates the
     * sequence that lookups compare. Holds `publishing`. */
    seen_status (*publish)(sn_tag_set *set, seen_error *error);
    /* Frees an extent that is no longer in the current image. Holds `publishing`. */
    void (*give_back)(sn_tag_set *set, const sn_extent *extent);
    /* Called around every change. enter() also adopts changes published by other processes. */
    seen_status (*enter)(sn_tag_set *set, seen_error *error);
    void (*leave)(sn_tag_set *set);
    /* Whether enter() takes a lock between processes, which costs system calls. */
    bool (*locks)(const sn_tag_set *set);
    /* Adopts changes published by other processes. */
    seen_status (*refresh)(sn_tag_set *set, seen_error *error);
    seen_status (*sync)(sn_tag_set *set, seen_error *error);
    void (*free)(sn_tag_set *set);
} sn_tag_backing;

/* Padded: threads that hold different locks do not share a cache line. */
typedef union sn_tag_lock {
    pthread_mutex_t mutex;
    char room[2 * SN_LINE_BYTES];
} sn_tag_lock;

typedef struct sn_tag_scratch sn_tag_scratch;
typedef struct sn_tag_part_list sn_tag_part_list;

struct sn_tag_set {
    seen_set base;
    const sn_tag_backing *backing;
    const sn_tags_kernel *kernel;
    sn_tags_shape shape;
    sn_tags_part *part[SN_TAGS_PARTS]; /* read and replaced atomically */
    uint64_t *sequence; /* incremented whenever a partition has moved; in a file all processes see
                         * it */
    uint64_t adopted;   /* the value of *sequence that part[] belongs to; atomic */
    uint64_t (*counts)[2]; /* tags and stash words of each partition */
    sn_image image;
    sn_extent pending[SN_TAGS_PARTS]; /* taken and not yet published */
    pthread_mutex_t publishing;
    sn_tag_part_list *parts; /* all descriptors, freed with the set */
    sn_tag_lock lock[SN_TAGS_PARTS];
    pthread_mutex_t scratch_lock;
    sn_tag_scratch *scratch;     /* currently unused */
    _Atomic uint64_t longest_ns; /* the longest time that a partition was locked for growth */
};

/* Initializes a zeroed set (or a struct that starts with one). The backing maps the partitions. */
seen_status sn_tag_set_init(sn_tag_set *set, const sn_tag_backing *backing, const sn_image *image,
                            const char *where, const sn_store_ops *ops, seen_error *error);
void sn_tag_set_destroy(sn_tag_set *set);

/* Makes this extent, mapped at `lines`, the partition p. Holds `publishing`, or has exclusive
 * access. False: out of memory. */
bool sn_tag_set_install(sn_tag_set *set, unsigned p, const sn_extent *extent, char *lines);

/* The tag set behind a handle; NULL if it is another kind of set. */
sn_tag_set *sn_tag_set_of(const seen_set *set);

/* The longest time a writer was blocked by growth so far, in nanoseconds. */
uint64_t sn_tag_set_longest(const sn_tag_set *set);

extern const sn_store_ops sn_tag_heap_ops, sn_tag_file_ops;

seen_status sn_tag_heap_create(const sn_image *image, seen_set **set, seen_error *error);

/* Takes ownership of fd, which is closed even on failure. */
seen_status sn_tag_file_attach(int fd, const char *path, const sn_image *image, unsigned flags,
                               seen_set **set, seen_error *error);
/* Syncs a file that has no name yet and is open in no other process. */
seen_status sn_tag_file_sync(seen_set *set, seen_error *error);
int sn_tag_file_fd(const seen_set *set);

/* ---- free space ---- */

/* The lowest multiple of `align`, at least `from`, with room for `bytes` between the extents of a
 * list sorted by offset; UINT64_MAX if it would end after `to`. */
uint64_t sn_tag_extents_fit(const sn_extent *list, size_t count, uint64_t from, uint64_t to,
                            uint64_t bytes, uint64_t align);
void sn_tag_extents_sort(sn_extent *list, size_t count);

#endif
