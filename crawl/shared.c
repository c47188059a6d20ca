/* The engine's side of a crawl that several processes share (crawl/fleet has the frontier). */
#include "crawl/engine.h"

#include "base/error.h"
#include "crawl/fleet/fleet.h"
#include "crawl/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The hosts that are in scope so far. */
static seen_status take_seeds(sn_engine *e)
{
    sn_frontier *f = e->intake.frontier;
    seen_status status = SEEN_OK;
    for (sn_frontier_updates updates = {.seed = ""}; status == SEEN_OK && updates.seed;) {
        status = f->class->poll(f, &updates, e->error);
        if (status == SEEN_OK && updates.seed &&
            !sn_scope_add_seed(e->intake.scope, updates.seed, updates.seed_len))
            status = sn_error_memory(e->error);
    }
    return status;
}

static sn_fleet_options fleet_options(const sn_crawl_options *o, const char *settings)
{
    return (sn_fleet_options){.where = o->join,
                              .crawl = o->crawl,
                              .ca_file = o->ca_file,
                              .filter = o->filter,
                              .settings = settings,
                              .worker = o->worker,
                              .error_rate = o->error_rate,
                              .capacity = o->capacity,
                              .connections = o->connections,
                              .delay_ms = o->delay_ms,
                              .max_delay_ms = o->max_delay_ms,
                              .max_wait_ms = o->max_wait_ms,
                              .levels = o->max_depth != UINT64_MAX,
                              .max_pages = o->max_pages,
                              .host_pages = o->max_host_pages > 0,
                              .memory = o->frontier_memory,
                              .lease_ms = o->lease_ms};
}

seen_status sn_shared_open(sn_engine *e)
{
    char *settings = sn_settings_shared(e->options);
    if (!settings)
        return sn_error_memory(e->error);
    sn_fleet_options options = fleet_options(e->options, settings);
    seen_status status = sn_fleet_open(&options, &e->intake.frontier, NULL, e->error);
    free(settings);
    if (status != SEEN_OK)
        return status;
    snprintf(e->result->crawl, sizeof e->result->crawl, "%s", sn_fleet_id(e->intake.frontier));
    return take_seeds(e);
}

bool sn_shared_lost(const sn_engine *e)
{
    const sn_frontier *f = e->intake.frontier;
    return e->options->join && f && sn_fleet_lost(f);
}

seen_status sn_crawl_retry_shared(const char *where, const char *ca_file, uint64_t *count,
                                  seen_error *error)
{
    sn_crawl_options options;
    void *keep = NULL;
    bool there;
    sn_crawl_defaults(&options);
    options.join = where;
    options.ca_file = ca_file;
    seen_status status = sn_crawl_load_shared(&options, &there, &keep, error);
    char shown[SN_FLEET_SHOWN];
    if (status == SEEN_OK && !there)
        status = sn_error_set(error, SEEN_ERR_NOT_FOUND, "%s: there is no crawl of this name",
                              sn_fleet_show(where, shown));
    if (status == SEEN_OK) {
        sn_fleet_options fleet = fleet_options(&options, NULL);
        status = sn_fleet_retry(&fleet, count, error);
    }
    free(keep);
    return status;
}

/* ---- Settings ---- */

seen_status sn_crawl_load_shared(sn_crawl_options *options, bool *there, void **keep,
                                 seen_error *error)
{
    char *settings = NULL, shown[SN_FLEET_SHOWN];
    sn_crawl_options mine = *options;
    seen_status status = sn_fleet_settings(mine.join, mine.ca_file, &settings, error);
    *there = settings != NULL;
    if (status == SEEN_OK && *there)
        status = sn_settings_parse(settings, strlen(settings), sn_fleet_show(mine.join, shown),
                                   options, keep, error);
    options->join = mine.join;
    options->ca_file = mine.ca_file;
    options->allow_private = mine.allow_private; /* each machine gives this permission itself */
    free(settings);
    return status;
}

seen_status sn_crawl_check_settings(const sn_crawl_options *options, seen_error *error)
{
    char *theirs = NULL, shown[SN_FLEET_SHOWN];
    seen_status status = sn_fleet_settings(options->join, options->ca_file, &theirs, error);
    if (status == SEEN_OK && theirs)
        status = sn_settings_compare(theirs, options, sn_fleet_show(options->join, shown), error);
    free(theirs);
    return status;
}
