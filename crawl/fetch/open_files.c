/* The limit on open files. */
#include "crawl/fetch/open_files.h"

#include "base/error.h"

#include <sys/resource.h>

#define OTHERS 24 /* folder, lock, frontier, outputs, a shared filter, the standard streams */
#define KEEP_MORE 16

seen_status sn_open_files_raise(size_t transfers, size_t temporary, size_t *keep, seen_error *error)
{
    /* A transfer has one socket, or two while its host name is resolved. */
    size_t least = transfers * 2 + temporary + OTHERS;
    size_t most = least + transfers + KEEP_MORE;
    *keep = transfers * 2 + KEEP_MORE;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= most)
        return SEEN_OK;
    limit.rlim_cur = limit.rlim_max < most ? limit.rlim_max : most;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < least)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%zu connections need %zu open files, and %llu are allowed: allow more "
                            "(ulimit -n), or give a smaller --connections",
                            transfers, least, (unsigned long long)limit.rlim_cur);
    size_t spare = (size_t)limit.rlim_cur - least;
    if (transfers + spare < *keep)
        *keep = transfers + spare;
    return SEEN_OK;
}
