/* Sets and fork().
 *
 * A child process inherits memory, but not the right to use a lock or a connection: parent and
 * child share one open file description, so that a file lock no longer excludes either of them,
 * and both would be reported the same new key. So every open set is on a list, and at a fork
 *
 *   in memory       the set is locked, so that the child gets a consistent copy of its own, with
 *                   unlocked locks;
 *   file or Redis   the child's handle is marked: every call but seen_close then fails with
 *                   SEEN_ERR_FORKED, and the child opens the set again.
 *
 * The calls themselves only test one byte of the handle. */
#ifndef SN_SET_FORKS_H
#define SN_SET_FORKS_H

#include "set/store.h"

/* Adds a set to the list, unless it is in it; removes it, if it is in it. */
void sn_forks_list(seen_set *set);
void sn_forks_unlist(seen_set *set);

/* SEEN_ERR_FORKED if the handle was opened by a parent process. */
seen_status sn_forks_check(const seen_set *set, seen_error *error);

#endif
