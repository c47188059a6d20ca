/* Atomic file creation: written next to the target, synced, then renamed. */
#ifndef SN_BASE_NEWFILE_H
#define SN_BASE_NEWFILE_H

#include "seen.h"

typedef struct sn_newfile {
    int fd;
    char *path; /* the temporary name, in the folder of the final one */
    bool named; /* the file already has this name */
    /* Succeed even if the folder cannot be synced: after a power failure either the old or the new
     * file exists. For results, of which the caller has no other copy. */
    bool folder_may_fail;
} sn_newfile;

/* Opens a new file for `path`. `nameless`: without a name if the file system supports that, so that
 * a killed process leaves nothing behind. (A mapping of such a file looks deleted in /proc.) */
seen_status sn_newfile_open(const char *path, bool nameless, sn_newfile *file, seen_error *error);

/* Removes it. */
void sn_newfile_drop(sn_newfile *file);

/* Syncs it, renames it to `path` and syncs the folder; frees `file` in any case. Without `replace`
 * an existing file is left unchanged: SEEN_ERR_EXISTS. */
seen_status sn_newfile_publish(sn_newfile *file, const char *path, bool replace, seen_error *error);

/* Keeps it as `name`, which must not exist, and syncs the folder; otherwise false with errno. */
bool sn_newfile_keep(sn_newfile *file, const char *name);

/* The two steps for a file that another module writes: a temporary name next to `path`, to be
 * freed, and renaming it into place, durably. */
char *sn_newfile_name(const char *path, seen_error *error);
seen_status sn_newfile_place(const char *from, const char *path, bool replace, bool folder_may_fail,
                             seen_error *error);

#endif
