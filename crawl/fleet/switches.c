/* Rules of the protocol that a test disables, and points at which it stalls a worker, to verify
 * that tests detect it. Not in installed programs: only a build with SEEN_FLEET_SWITCHES reads the
 * environment. */
#include "crawl/fleet/internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef SEEN_FLEET_SWITCHES

bool sn_fleet_without(sn_fleet_switch rule)
{
    static const char *const names[] = {[SN_WITHOUT_JOURNAL] = "journal",
                                        [SN_WITHOUT_NUMBERS] = "numbers",
                                        [SN_WITHOUT_FENCE] = "fence",
                                        [SN_WITHOUT_RECORD] = "record"};
    const char *without = getenv("SEEN_FLEET_WITHOUT");
    return without && strcmp(without, names[rule]) == 0;
}

void sn_fleet_point(const char *name)
{
    static long times;
    const char *stall = getenv("SEEN_FLEET_STALL"), *die = getenv("SEEN_FLEET_DIE");
    const char *at = stall ? stall : die; /* POINT:TIMES */
    size_t len = strlen(name);
    if (!at || strncmp(at, name, len) != 0 || at[len] != ':' ||
        ++times != strtol(at + len + 1, NULL, 10))
        return;
    if (die)
        kill(getpid(), SIGKILL);
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 500000000}, NULL);
}

#else

bool sn_fleet_without(sn_fleet_switch rule)
{
    (void)rule;
    return false;
}

void sn_fleet_point(const char *name)
{
    (void)name;
}

#endif
