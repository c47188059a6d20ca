/* Rules of the protocol that a test switches off, to see that it would notice. Not in a program
 * that is installed: only a build with SEEN_FLEET_SWITCHES reads the environment. */
#include <stdlib.h>
#include <string.h>

#include "crawl/fleet/internal.h"

bool sn_fleet_without(sn_switch rule)
{
#ifdef SEEN_FLEET_SWITCHES
    static const char *const names[] = {[SN_WITHOUT_JOURNAL] = "journal",
                                        [SN_WITHOUT_NUMBERS] = "numbers",
                                        [SN_WITHOUT_FENCE] = "fence"};
    const char *without = getenv("SEEN_FLEET_WITHOUT");
    return without && strcmp(without, names[rule]) == 0;
#else
    (void)rule;
    return false;
#endif
}
