/* A file that appears whole or not at all: written beside its place, synced, then renamed. */
#ifndef SN_BASE_NEWFILE_H
#define SN_BASE_NEWFILE_H

#include "seen.h"

/* A file under another name in the same folder, which then takes its place. */
typedef struct sn_newfile {
    int fd;
    char *path;
    bool named; /* it has this name already */
} sn_newfile;

/* `nameless`: without a name where the file system can do that, so that a process that is killed
 * leaves nothing behind. (What is mapped of it looks deleted in /proc for ever.) */
seen_status sn_newfile_open(const char *path, bool nameless, sn_newfile *temp, seen_error *error);
void sn_newfile_drop(sn_newfile *temp);
/* Syncs, renames and syncs the folder; frees temp in any case. Without `replace` an existing file
 * is left alone: SEEN_ERR_EXISTS. */
seen_status sn_newfile_publish(sn_newfile *temp, const char *path, bool replace, seen_error *error);

#endif
