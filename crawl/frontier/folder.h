/* The state folder of a crawl.
 *
 *     lock          held by the crawler that uses the folder
 *     settings      the options of the crawl
 *     seeds         the URLs whose hosts are in scope
 *     checkpoint    a consistent state: counters, lengths, the end of the log, finished pages
 *     progress      changes since then, for recovery after a kill
 *     frontier.N    the log of URLs            done        bitmap by ordinal
 *     seen.filter   the seen-set               failed      failed pages
 *     delays        Crawl-delays of hosts
 *
 * The checkpoint is written last: everything that it refers to is durable before it replaces the
 * previous one. The format is in docs/crawl.md. */
#ifndef SN_CRAWL_FRONTIER_FOLDER_H
#define SN_CRAWL_FRONTIER_FOLDER_H

#include "seen.h"

#include <stddef.h>
#include <stdint.h>

/* Creates or opens the folder and locks it. */
seen_status sn_folder_lock(const char *path, int *folder, int *lock, seen_error *error);
/* A hash that identifies the path of an output in a checkpoint; 0: none, or standard output. */
uint64_t sn_folder_path_hash(const char *path);
/* Replaces a small file atomically. */
seen_status sn_folder_replace(int folder, const char *name, const void *bytes, size_t len,
                              seen_error *error);
/* Reads a small file of at most `max` bytes into allocated memory, NUL-terminated. */
seen_status sn_folder_read_file(int folder, const char *name, size_t max, void **bytes, size_t *len,
                                seen_error *error);

#endif
