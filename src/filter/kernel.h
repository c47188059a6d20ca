/* Kernels: operations on the bits of a filter, hashes in, answers out, in batches.
 *
 * A kernel never allocates or locks. `bits` are the lines of one filter, 64-byte aligned. Callers
 * that change bits exclude each other per shard; reading needs no lock: words are written
 * atomically, and a key that is being added may still be reported as absent. */
#ifndef SN_FILTER_KERNEL_H
#define SN_FILTER_KERNEL_H

#include "filter/geometry.h"

#if defined(__SANITIZE_THREAD__)
#define SN_SCALAR_ONLY 1 /* vector loads are atomic per word, but the sanitizer reports them */
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SN_SCALAR_ONLY 1
#endif
#endif

typedef struct sn_kernel {
    const char *name;
    /* answers[i] |= SEEN_BEFORE if key i is present. */
    void (*check)(const sn_geometry *g, const void *bits, const seen_hash *hashes, size_t count,
                  seen_answer *answers);
    /* Adds each key and sets answers[i] to its state before the addition. */
    void (*add)(const sn_geometry *g, void *bits, const seen_hash *hashes, size_t count,
                seen_answer *answers);
    /* The same for some keys of a batch, hashes[picks[i]] and answers[picks[i]]; bloom only. */
    void (*add_picked)(const sn_geometry *g, void *bits, const seen_hash *hashes,
                       const uint16_t *picks, size_t count, seen_answer *answers);
    /* One key: whether it was present before the call. NULL for counting kernels. */
    bool (*check_one)(const sn_geometry *g, const void *bits, seen_hash hash);
    bool (*add_one)(const sn_geometry *g, void *bits, seen_hash hash);
    /* Counting only: removes each key that is present; answers[i] as in seen_remove. */
    void (*remove)(const sn_geometry *g, void *bits, const seen_hash *hashes, size_t count,
                   seen_answer *answers);
} sn_kernel;

/* The fastest kernel of a kind for this CPU. */
const sn_kernel *sn_kernel_for(seen_kind kind);

/* All kernels of a kind that this CPU supports; the first is the scalar reference. */
size_t sn_kernel_list(seen_kind kind, const sn_kernel *list[4]);

extern const sn_kernel sn_bloom_scalar;
extern const sn_kernel sn_counting_scalar;
#if defined(__x86_64__)
/* Whether this CPU supports the kernels of that name. */
bool sn_kernel_cpu_avx2(void);
bool sn_kernel_cpu_avx512(void);
extern const sn_kernel sn_bloom_avx2;
extern const sn_kernel sn_bloom_avx512;
#elif defined(__aarch64__)
extern const sn_kernel sn_bloom_neon;
#endif

/* The words of a line that a key uses: sn_word_masks[q - 1][first] is all ones in q adjacent words,
 * starting at `first`. For the vector kernels. */
extern const uint64_t sn_word_masks[8][8][8];

/* ---- statistics ---- */

typedef struct sn_tally {
    uint64_t lines; /* counted */
    uint64_t set;   /* non-zero cells */
    double
        cover; /* summed over the lines: the probability that all probes of an absent key are set */
} sn_tally;

/* Adds `lines` lines to the tally. */
void sn_tally_lines(const sn_geometry *g, const void *bits, uint64_t lines, sn_tally *tally);

/* The false-positive rate of one shard, from its tally. */
double sn_tally_rate(const sn_geometry *g, const sn_tally *tally);

/* ---- merging ---- */

/* into |= from (bloom), into += from with saturation (counting). */
void sn_kernel_merge_lines(seen_kind kind, void *into, const void *from, uint64_t lines);

#endif
