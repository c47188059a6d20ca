/* Whole reads and writes, locks, reserved space, and files that appear whole or not at all. */
#ifndef SN_STORE_FILE_IO_H
#define SN_STORE_FILE_IO_H

#include "seen.h"

/* All of it or nothing; errno tells why (0: the file ends before). */
bool sn_io_read(int fd, void *out, size_t len, uint64_t at);
bool sn_io_write(int fd, const void *data, size_t len, uint64_t at);

/* Makes sure that these bytes, which exist, are zero; what is zero already is not written. */
bool sn_io_clear(int fd, uint64_t at, uint64_t len);

/* A lock of type F_RDLCK, F_WRLCK or F_UNLCK on one byte, which belongs to the open file. */
bool sn_io_lock(int fd, uint64_t byte, short type, bool wait);

/* Makes sure that the blocks exist: writing to a mapping of them cannot hit a full disk. */
seen_status sn_io_reserve(int fd, const char *name, uint64_t at, uint64_t len, seen_error *error);

/* The same for the first bytes of a file that exists, and that others may have open: copied by
 * another program it may have holes. Nothing is written, and its size stays. */
seen_status sn_io_fill_holes(int fd, const char *name, uint64_t len, seen_error *error);

/* The path from the root on, to free, which means the same file when the process has gone to
 * another folder; NULL where memory or the folder we are in is gone (errno). */
char *sn_io_absolute(const char *path);

/* Whether `path` names another file than the open one. Not where it names none, or may not be asked
 * for: a file that was moved is as durable as before. */
bool sn_io_replaced(int fd, const char *path);

/* What an offset in the file must be a multiple of to be mapped: the size of a page, 4 KiB to 64
 * KiB. Tests put a function of their own here. */
extern size_t (*sn_io_page)(void);

/* A file under another name in the same folder, which then takes its place. */
typedef struct sn_io_temp {
    int fd;
    char *path;
    bool named; /* it has this name already */
} sn_io_temp;

/* `nameless`: without a name where the file system can do that, so that a process that is killed
 * leaves nothing behind. (What is mapped of it looks deleted in /proc for ever.) */
seen_status sn_io_temp_open(const char *path, bool nameless, sn_io_temp *temp, seen_error *error);
void sn_io_temp_drop(sn_io_temp *temp);
/* Syncs, renames and syncs the folder; frees temp in any case. Without `replace` an existing file
 * is left alone: SEEN_ERR_EXISTS. */
seen_status sn_io_temp_publish(sn_io_temp *temp, const char *path, bool replace, seen_error *error);

#endif
