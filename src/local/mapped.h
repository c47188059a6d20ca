/* An open filter file: its header pages, its locks, its name. What sets of layers (file.c) and sets
 * of tag lines (tag_file.c) have in common.
 *
 *     0       page A   the image (set/image.c), checksummed
 *     4096    page B   the same again; tag lines: perhaps a newer one (tag_file.c)
 *     8192    counters
 *     16384   data
 *
 * At any moment at least one page is whole; the one with the higher sequence counts.
 *
 * Other processes: an open file description lock on byte 0 is held while a set is changed, so that
 * plain stores suffice and there is one winner; the kernel releases it when a process dies. Byte 1
 * is held shared by every writer, and exclusively by one that opened with SEEN_ALONE. */
#ifndef SN_LOCAL_MAPPED_H
#define SN_LOCAL_MAPPED_H

#include "set/image.h"

#include <pthread.h>

typedef struct sn_mapped {
    int fd;
    const char *name; /* for messages; borrowed */
    char *path;       /* from the root on; NULL if that is not known */
    bool alone, read_only;
    unsigned char *head;               /* the first 16384 bytes, mapped */
    unsigned char boot[SN_BOOT_BYTES]; /* of the running system; all zero: not known */
    pthread_mutex_t gate;              /* guards what is below, refreshing and publishing */
    pthread_cond_t opened;
    unsigned inside; /* threads between enter and leave */
    uint64_t since;  /* when the first of them came: sn_clock_ms */
    bool forked;     /* inherited by a child, which must not wait for threads of its parent */
} sn_mapped;

/* Takes the file over: locks out processes as SEEN_ALONE and SEEN_READ_ONLY in `flags` say, fills
 * holes, maps the head. Closed by sn_mapped_close also after a failure. */
seen_status sn_mapped_open(sn_mapped *m, int fd, const char *name, const char *path, unsigned flags,
                           const sn_image *image, seen_error *error);
void sn_mapped_close(sn_mapped *m);

/* Keeps other processes out until sn_mapped_leave. `refresh` is called once they are, by the first
 * thread of this process, with the gate held. With SEEN_ALONE nothing is locked and it is called
 * every time. */
seen_status sn_mapped_enter(sn_mapped *m, seen_status (*refresh)(void *set, seen_error *error),
                            void *set, seen_error *error);
void sn_mapped_leave(sn_mapped *m);

/* SEEN_ERR_CHANGED if the file has lost its name: what is added to it would not last. */
seen_status sn_mapped_vet_name(const sn_mapped *m, seen_error *error);

/* ---- header pages ---- */

/* The valid page with the highest sequence. *why is NULL if errno tells. */
bool sn_mapped_read(int fd, const unsigned char boot[SN_BOOT_BYTES], sn_image *image,
                    const char **why);
/* Writes and syncs one page (at 0 or SN_IMAGE_BYTES), or A and then B. */
seen_status sn_mapped_write_page(int fd, const char *name, const unsigned char *page, uint64_t at,
                                 seen_error *error);
seen_status sn_mapped_write(int fd, const char *name, const sn_image *image, seen_error *error);

/* The boot of the running system; all zero if it cannot be told. */
void sn_mapped_boot(unsigned char boot[SN_BOOT_BYTES]);

#endif
