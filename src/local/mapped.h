/* An open filter file: header pages, locks, name. The common part of sets of layers (file.c) and
 * sets of tag lines (tag_file.c).
 *
 *     0       page A   the image (set/image.c), checksummed
 *     4096    page B   the same; tag lines: possibly a newer one (tag_file.c)
 *     8192    counters
 *     16384   data
 *
 * At any time at least one page is valid; the one with the higher sequence is used.
 *
 * Other processes: an open file description lock on byte 0 is held while a set is modified, so that
 * plain stores suffice and exactly one process reports a key as new; the kernel releases it when a
 * process dies. Byte 1 is locked shared by every writer, and exclusively by one that opened with
 * SEEN_ALONE. */
#ifndef SN_LOCAL_MAPPED_H
#define SN_LOCAL_MAPPED_H

#include "set/image.h"

#include <pthread.h>

typedef struct sn_mapped {
    int fd;
    const char *name; /* for messages; borrowed */
    char *path;       /* absolute; NULL if unknown */
    bool alone, read_only;
    unsigned char *head;               /* the first 16384 bytes, mapped */
    unsigned char boot[SN_BOOT_BYTES]; /* of the running system; all zero: unknown */
    pthread_mutex_t gate;              /* protects the fields below, refreshing and publishing */
    pthread_cond_t opened;
    unsigned inside; /* threads between enter and leave */
    uint64_t since;  /* when the first of them entered: sn_clock_ms */
    bool forked;     /* inherited by a child, which must not wait for threads of its parent */
} sn_mapped;

/* Takes ownership of the file: locks out other processes according to SEEN_ALONE and SEEN_READ_ONLY
 * in `flags`, fills holes, maps the head. Must be closed by sn_mapped_close even after a
 * failure. */
seen_status sn_mapped_open(sn_mapped *m, int fd, const char *name, const char *path, unsigned flags,
                           const sn_image *image, seen_error *error);
void sn_mapped_close(sn_mapped *m);

/* Locks out other processes until sn_mapped_leave. `refresh` is called once with the lock and the
 * gate held, by the first thread of this process. With SEEN_ALONE nothing is locked and it is
 * called every time. */
seen_status sn_mapped_enter(sn_mapped *m, seen_status (*refresh)(void *set, seen_error *error),
                            void *set, seen_error *error);
void sn_mapped_leave(sn_mapped *m);

/* SEEN_ERR_CHANGED if the file was removed or replaced, so that additions would be lost. */
seen_status sn_mapped_check_name(const sn_mapped *m, seen_error *error);

/* ---- header pages ---- */

/* The valid page with the highest sequence. *why is NULL if errno is set. */
bool sn_mapped_read(int fd, const unsigned char boot[SN_BOOT_BYTES], sn_image *image,
                    const char **why);
/* Writes and syncs one page (at 0 or SN_IMAGE_BYTES), or A and then B. */
seen_status sn_mapped_write_page(int fd, const char *name, const unsigned char *page, uint64_t at,
                                 seen_error *error);
seen_status sn_mapped_write(int fd, const char *name, const sn_image *image, seen_error *error);

/* The boot ID of the running system; all zero if unknown. */
void sn_mapped_boot(unsigned char boot[SN_BOOT_BYTES]);

#endif
