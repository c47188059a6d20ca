/* Commands that look at a crawl or change it without being one of its workers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "crawl/fleet/internal.h"

static bool take_text(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    char **text = context;
    (void)tag, (void)again;
    if (r->items != 1 || sn_reply_is_error(r))
        return false;
    if (!sn_reply_nil(r, 0))
        *text = strdup(sn_reply_text(r, 0));
    return true;
}

seen_status sn_fleet_settings(const char *where, const char *ca_file, char **settings,
                              seen_error *error)
{
    sn_fleet_link link;
    *settings = NULL;
    seen_status status = sn_fleet_link_open(where, ca_file, &link, error);
    if (status != SEEN_OK)
        return status;
    sn_command_begin(link.ch, 0, link.name_slot, 3);
    sn_command_text(link.ch, "HGET");
    sn_command_text(link.ch, link.name);
    sn_command_text(link.ch, "settings");
    status = sn_fleet_run(&link, take_text, settings, error);
    sn_fleet_link_close(&link);
    return status;
}
