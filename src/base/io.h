/* Whole reads and writes, locks, reserved space, random bytes. */
#ifndef SN_BASE_IO_H
#define SN_BASE_IO_H

#include "seen.h"

#include <sys/types.h>

/* All of it or nothing; errno tells why (0: the file ends before). */
bool sn_io_read(int fd, void *out, size_t len, uint64_t at);
bool sn_io_write(int fd, const void *data, size_t len, uint64_t at);

/* Returns how many bytes were read, fewer than len only at the end of the file; -1 with errno. */
ssize_t sn_io_read_some(int fd, void *out, size_t len, uint64_t at);

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

/* Fills `out` with random bytes from the system. */
seen_status sn_io_random(void *out, size_t len, seen_error *error);

#endif
