/* A build without Redis has no shared crawls. */
#include "base/error.h"
#include "crawl/fleet/fleet.h"

#include <stdlib.h>

static seen_status refuse(seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_UNSUPPORTED, "this build of seen has no Redis: no --join");
}

seen_status sn_fleet_open(const sn_fleet_options *options, sn_frontier **frontier, bool *created,
                          seen_error *error)
{
    (void)options, (void)frontier, (void)created;
    return refuse(error);
}

const char *sn_fleet_id(const sn_frontier *f)
{
    (void)f;
    return "";
}

bool sn_fleet_lost(const sn_frontier *f)
{
    (void)f;
    return false;
}

seen_status sn_fleet_settings(const char *where, const char *ca_file, char **settings,
                              seen_error *error)
{
    (void)where, (void)ca_file;
    *settings = NULL;
    return refuse(error);
}

seen_status sn_fleet_read_status(const char *where, const char *ca_file, sn_fleet_status *status,
                                 seen_error *error)
{
    (void)where, (void)ca_file, (void)status;
    return refuse(error);
}

void sn_fleet_free_status(sn_fleet_status *status)
{
    (void)status;
}

seen_status sn_fleet_set_state(const char *where, const char *ca_file, const char *state,
                               seen_error *error)
{
    (void)where, (void)ca_file, (void)state;
    return refuse(error);
}

seen_status sn_fleet_failed(const char *where, const char *ca_file, sn_fleet_each *each, void *user,
                            seen_error *error)
{
    (void)where, (void)ca_file, (void)each, (void)user;
    return refuse(error);
}

seen_status sn_fleet_export(const char *where, const char *ca_file, sn_fleet_each *each, void *user,
                            seen_error *error)
{
    (void)where, (void)ca_file, (void)each, (void)user;
    return refuse(error);
}

seen_status sn_fleet_drop(const char *where, const char *ca_file, bool force, bool *kept,
                          seen_error *error)
{
    (void)where, (void)ca_file, (void)force, (void)kept;
    return refuse(error);
}

seen_status sn_fleet_set_memory(const char *where, const char *ca_file, uint64_t bytes,
                                seen_error *error)
{
    (void)where, (void)ca_file, (void)bytes;
    return refuse(error);
}

seen_status sn_fleet_set_delay(const char *where, const char *ca_file, uint64_t delay_ms,
                               seen_error *error)
{
    (void)where, (void)ca_file, (void)delay_ms;
    return refuse(error);
}

seen_status sn_fleet_figures(const char *where, const char *ca_file, sn_fleet_figure *each,
                             void *user, seen_error *error)
{
    (void)where, (void)ca_file, (void)each, (void)user;
    return refuse(error);
}

seen_status sn_fleet_retry(const sn_fleet_options *options, uint64_t *count, seen_error *error)
{
    (void)options, (void)count;
    return refuse(error);
}

const char *sn_fleet_show(const char *where, char text[SN_FLEET_SHOWN])
{
    (void)where;
    text[0] = '\0';
    return text;
}
