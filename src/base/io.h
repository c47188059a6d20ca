/* Complete reads and writes, locks, reserved space, random bytes. */
#ifndef SN_BASE_IO_H
#define SN_BASE_IO_H

#include "seen.h"

#include <sys/types.h>

/* All or nothing; the reason is in errno (0: end of file). */
bool sn_io_read(int fd, void *out, size_t len, uint64_t at);
bool sn_io_write(int fd, const void *data, size_t len, uint64_t at);

/* Returns how many bytes were read, fewer than len only at the end of the file; -1 with errno. */
ssize_t sn_io_read_some(int fd, void *out, size_t len, uint64_t at);

/* Ensures that these existing bytes are zero; zero bytes are not written. */
bool sn_io_clear(int fd, uint64_t at, uint64_t len);

/* A lock of type F_RDLCK, F_WRLCK or F_UNLCK on one byte; it belongs to the open file
 * description. */
bool sn_io_lock(int fd, uint64_t byte, short type, bool wait);

/* Allocates the blocks: writing to a mapping of them cannot hit a full disk. */
seen_status sn_io_reserve(int fd, const char *name, uint64_t at, uint64_t len, seen_error *error);

/* The same for the first bytes of an existing file, which others may have open: copied by another
 * program it may have holes. Nothing is written, and its size stays. */
seen_status sn_io_fill_holes(int fd, const char *name, uint64_t len, seen_error *error);

/* The absolute path, to be freed, which stays valid when the process changes its folder; NULL if
 * out of memory or if the current folder is gone (errno). */
char *sn_io_absolute(const char *path);

/* Whether `path` names another file than the open one. False if it names none, or is not
 * accessible: a file that was moved is as durable as before. */
bool sn_io_replaced(int fd, const char *path);

/* The alignment of file offsets for mapping: the page size, 4 KiB to 64 KiB. Tests replace this
 * function. */
extern size_t (*sn_io_page)(void);

/* Fills `out` with random bytes from the system. */
seen_status sn_io_random(void *out, size_t len, seen_error *error);

#endif
