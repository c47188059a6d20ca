/* Opening a crawl, new or from a state folder; closing it. */
#include "crawl/engine.h"

#include "base/error.h"
#include "crawl/fetch/open_files.h"
#include "crawl/fleet/fleet.h"
#include "crawl/frontier/folder.h"
#include "crawl/frontier/local.h"
#include "crawl/robots/robots.h"
#include "crawl/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Options ---- */

/* Normalizes the path of a file. */
static bool same_file(const char *one, const char *other)
{
    struct stat a, b;
    return one && other && stat(one, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool stat_folder(const char *path, struct stat *about)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int len = slash ? (int)(slash + 1 - path) : 0;
    return snprintf(folder, sizeof folder, "%.*s.", len, path) < PATH_MAX &&
           stat(folder, about) == 0;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether the two are the same file. If it does not exist yet, compares the name in the same
 * folder. */
static bool same_output(const char *one, const char *other)
{
    struct stat a, b;
    if (strcmp(one, other) == 0)
        return strcmp(one, "/dev/null") != 0;
    if (strcmp(one, "-") == 0 || strcmp(other, "-") == 0)
        return false;
    if (stat(one, &a) == 0)
        return same_file(one, other);
    return strcmp(name_of(one), name_of(other)) == 0 && stat_folder(one, &a) &&
           stat_folder(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Two outputs to one file would mix their lines. */
static seen_status check_outputs(const sn_engine *e)
{
    for (int i = 0; i < SN_OUT_COUNT; i++)
        for (int k = 0; k < i; k++) {
            const char *a = sn_outputs_path(e->options, i), *b = sn_outputs_path(e->options, k);
            if (a && b && same_output(a, b))
                return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                                    "two outputs to %s: give each one of its own",
                                    strcmp(a, "-") == 0 ? "standard output" : a);
        }
    return SEEN_OK;
}

static seen_status check_options(const sn_engine *e)
{
    const sn_crawl_options *o = e->options;
    char shown[SN_FLEET_SHOWN];
    if (o->connections < 1 || o->connections > 4096)
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT, "%llu connections: 1 to 4096 are possible",
                            (unsigned long long)o->connections);
    if (o->per_host < 1)
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT, "connections per host: at least 1");
    if (o->max_url < 16 || o->max_url > SN_SCOPE_URL_MAX)
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT, "the longest URL must be 16 to %d bytes",
                            SN_SCOPE_URL_MAX);
    if (o->max_links > 10000000)
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT, "links per page: at most 10000000");
    if (o->exact && o->filter)
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                            "exact keys are this crawl's own: not with a filter");
    if (o->join && (o->state || o->exact))
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                            "--join keeps the crawl in Redis: not together with %s",
                            o->state ? "--state" : "--exact");
    if (o->join && o->filter && !strstr(o->filter, "://"))
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                            "--filter %s is a file of this machine, but a shared crawl keeps what "
                            "was seen in Redis: leave it out, or give a redis:// address",
                            o->filter);
    if (o->retry_failed && o->join)
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                            "--retry-failed: the pages that a shared crawl has given up are in "
                            "Redis: seen crawl failed %s --retry-failed",
                            sn_fleet_show(o->join, shown));
    if (o->retry_failed && !o->state)
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                            "failed pages are listed in a state folder: name it");
    /* libcurl would only report it for each page, or not at all. */
    if (o->ca_file && access(o->ca_file, R_OK) != 0)
        return sn_error_cannot(e->error, errno, "read the certificates in", o->ca_file);
    if (o->cookies && access(o->cookies, R_OK) != 0)
        return sn_error_cannot(e->error, errno, "read the cookies in", o->cookies);
    if (o->netrc && access(o->netrc, R_OK) != 0)
        return sn_error_cannot(e->error, errno, "read the passwords in", o->netrc);
    for (size_t i = 0; i < o->headers.count; i++)
        if (strpbrk(o->headers.items[i], "\r\n") || o->headers.items[i][0] == ':' ||
            !strchr(o->headers.items[i], ':'))
            return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                                "-H %.100s: not a header; write it as 'Name: value'",
                                o->headers.items[i]);
    return check_outputs(e);
}

/* The length of each output according to the checkpoint; SN_SINK_NEW: another file than before. */
static void find_lengths(const sn_engine *e, const sn_crawl_options *saved, const sn_checkpoint *p,
                         uint64_t length[SN_OUT_COUNT])
{
    for (int i = 0; i < SN_OUT_COUNT; i++) {
        const char *now = sn_outputs_path(e->options, i), *then = sn_outputs_path(saved, i);
        uint64_t path = sn_folder_path_hash(now);
        bool known = path != 0 && path == p->out_path[i];
        if (!known && p->out_path[i] != 0 && p->out_path[i] == sn_folder_path_hash(then))
            known = same_file(now, then);
        length[i] = known ? p->out_length[i] : SN_SINK_NEW;
    }
}

/* After a kill: syncs what earlier runs wrote, before the frontier considers it done. */
static seen_status sync_outputs(const sn_engine *e, const uint64_t length[SN_OUT_COUNT])
{
    for (int i = 0; i < SN_OUT_COUNT; i++) {
        const char *path = sn_outputs_path(e->options, i);
        int fd = !path || length[i] == SN_SINK_NEW ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        bool failed = fd >= 0 && fdatasync(fd) != 0 && errno != EINVAL;
        if (fd >= 0)
            close(fd);
        if (failed)
            return sn_error_cannot(e->error, errno, "sync", path);
    }
    return SEEN_OK;
}

/* The seen-set must be the same, and outputs are continued. */
static seen_status compare_with_saved(const sn_engine *e, const sn_checkpoint *p,
                                      uint64_t length[SN_OUT_COUNT])
{
    sn_crawl_options saved = {.state = e->options->state};
    void *keep = NULL;
    seen_status status = sn_crawl_load(e->options->state, &saved, &keep, e->error);
    if (status != SEEN_OK)
        return status;
    const char *now = e->options->filter, *then = saved.filter;
    bool same =
        saved.exact == e->options->exact && (!now) == (!then) && (!now || strcmp(now, then) == 0);
    find_lengths(e, &saved, p, length);
    free(keep);
    if (!same)
        return sn_error_set(e->error, SEEN_ERR_MISMATCH,
                            "the crawl in %s was started with another seen-set: it cannot change",
                            e->options->state);
    return SEEN_OK;
}

/* ---- Scope ---- */

static seen_status make_scope(sn_engine *e)
{
    const sn_crawl_options *o = e->options;
    char message[400];
    sn_scope_options options = {.kind = (sn_scope_kind)o->scope,
                                .include = o->include.items,
                                .include_count = o->include.count,
                                .exclude = o->exclude.items,
                                .exclude_count = o->exclude.count,
                                .url_max = (size_t)o->max_url,
                                .depth_max = (unsigned)o->max_path,
                                .repeat_max = (unsigned)o->max_repeats,
                                .no_parent = o->no_parent};
    e->intake.scope = sn_scope_create(&options, message, sizeof message);
    if (!e->intake.scope)
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT, "%s", message);
    e->intake.url_options = (seen_url_options){.size = sizeof e->intake.url_options,
                                               .flags = (uint32_t)o->url_flags,
                                               .drop = o->drop.items,
                                               .drop_count = o->drop.count};
    return SEEN_OK;
}

/* ---- Parts ---- */

static seen_status open_frontier(sn_engine *e, const sn_checkpoint *checkpoint)
{
    const sn_crawl_options *o = e->options;
    sn_frontier_local_options options = {.folder = e->folder,
                                         .path = o->state,
                                         .checkpoint = checkpoint,
                                         .filter = o->filter,
                                         .ca_file = o->ca_file,
                                         .exact = o->exact,
                                         .error_rate = o->error_rate,
                                         .capacity = o->capacity,
                                         .levels = o->max_depth != UINT64_MAX,
                                         .max_pages = o->max_pages,
                                         .host_pages = o->max_host_pages > 0,
                                         .sync_ms = (int64_t)o->checkpoint_ms};
    seen_status status = sn_frontier_local_open(&options, &e->intake.frontier, e->error);
    if (status != SEEN_OK)
        return status;
    e->intake.found_before = e->found_at_info = e->counts.found;
    e->counts.found += e->intake.frontier->found;
    return sn_seeds_load(e, sn_frontier_local_seeds(e->intake.frontier));
}

static void free_robots(void *rules)
{
    sn_robots_destroy(rules);
}

static seen_status make_hosts(sn_engine *e)
{
    const sn_crawl_options *o = e->options;
    sn_transfers *t = &e->transfers;
    size_t live = (size_t)o->connections * 16 < 256 ? 256 : (size_t)o->connections * 16;
    if (live > 4096)
        live = 4096;
    t->queues = sn_queues_create(e->folder);
    t->pace = sn_pace_create(&(sn_pace_options){.queues = t->queues,
                                                .hasher = e->hasher,
                                                .per_host = (uint32_t)o->per_host,
                                                .delay = o->delay_ms,
                                                .max_live = live,
                                                .max_hosts = live * 4,
                                                .max_rules_bytes = 32u << 20,
                                                .max_retries = 8192,
                                                .free_rules = free_robots});
    e->intake.link_cache = sn_link_cache_create();
    bool ok = t->queues && t->pace && e->intake.link_cache &&
              sn_job_create_all(t, e, (size_t)o->connections);
    return ok ? SEEN_OK : sn_error_memory(e->error);
}

static seen_status make_transfers(sn_engine *e)
{
    const sn_crawl_options *o = e->options;
    sn_transfers *t = &e->transfers;
    sn_fetch_options fetch = {.connections = (unsigned)o->connections,
                              .timeout_ms = o->timeout_ms,
                              .connect_ms = o->connect_ms,
                              .low_speed = o->low_speed,
                              .low_speed_ms = o->low_speed_ms,
                              .agent = o->agent,
                              .ca_file = o->ca_file,
                              .allow_private = o->allow_private,
                              .headers = o->headers.items,
                              .header_count = o->headers.count,
                              .cookies = o->cookies,
                              .proxy = o->proxy,
                              .netrc = o->netrc,
                              .keep_headers = o->warc != NULL,
                              .keep = t->keep_open,
                              .start_until = e->intake.frontier->start_until,
                              .withdraw_ms = e->intake.frontier->withdraw_ms,
                              .body = sn_page_body,
                              .link = sn_page_link,
                              .over = sn_page_over};
    /* Each thread has its own connections: both together need room for twice as many. */
    if (!sn_fetch_thread_pays() || t->keep_open < 2 * t->count)
        return sn_fetch_create(&fetch, &t->fetch, e->error);
    sn_fetch_options other = fetch;
    other.connections -= other.connections / 4;
    other.keep /= 2;
    fetch.keep -= other.keep;
    fetch.at_once = 1; /* the other thread must not wait long for more work */
    seen_status status = sn_fetch_create(&fetch, &t->fetch, e->error);
    if (status == SEEN_OK)
        status = sn_fetch_thread_create(&other, &t->thread, e->error);
    return status == SEEN_OK ? sn_fetch_watch(t->fetch, sn_fetch_thread_fd(t->thread), e->error)
                             : status;
}

static seen_status make_parts(sn_engine *e)
{
    int wake = e->intake.frontier->wake_fd;
    seen_status status = make_hosts(e);
    if (status == SEEN_OK)
        status = make_transfers(e);
    if (status == SEEN_OK && wake >= 0)
        status = sn_fetch_watch(e->transfers.fetch, wake, e->error);
    return status;
}

/* ---- Opening ---- */

static seen_status nothing_to_crawl(const sn_engine *e)
{
    if (e->options->state)
        return sn_error_set(e->error, SEEN_ERR_NOT_FOUND,
                            "there is no crawl in %.200s to resume: check the name, or give a "
                            "URL to start one there",
                            e->options->state);
    return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                        "nothing to crawl: give a URL to start from, or --state and a folder that "
                        "holds a crawl");
}

static seen_status start_new(sn_engine *e)
{
    uint64_t length[SN_OUT_COUNT];
    for (int i = 0; i < SN_OUT_COUNT; i++)
        length[i] = SN_SINK_NEW;
    if (e->options->start.count == 0)
        return nothing_to_crawl(e);
    seen_status status = SEEN_OK;
    if (e->folder >= 0)
        status = sn_settings_save(e->folder, e->options, e->error);
    if (status == SEEN_OK)
        status = open_frontier(e, NULL);
    if (status == SEEN_OK)
        status = make_parts(e);
    if (status == SEEN_OK)
        status = sn_outputs_open(&e->outputs, e->options, length, e->error);
    /* From here on there is a frontier to resume: the start URLs may enter a shared seen-set, which
     * would not report them as new again after a crash. */
    return status == SEEN_OK ? sn_settle_run(e, true) : status;
}

/* Outputs of a shared crawl are continued: a worker may be restarted. A killed one may have written
 * an incomplete line; its page is fetched again. They are opened first: a worker whose files
 * another one writes must not join. */
static seen_status join_others(sn_engine *e)
{
    uint64_t length[SN_OUT_COUNT];
    for (int i = 0; i < SN_OUT_COUNT; i++)
        length[i] = i == SN_OUT_WARC ? SN_SINK_APPENDED : SN_SINK_WHOLE_LINES;
    /* First: a crawl that is created has workers. */
    seen_status status = sn_outputs_open(&e->outputs, e->options, length, e->error);
    if (status == SEEN_OK)
        status = sn_shared_open(e);
    return status == SEEN_OK ? make_parts(e) : status;
}

/* An sn_failures_each. */
static seen_status admit_again(void *user, const sn_frontier_record *record, bool asked,
                               seen_error *error)
{
    sn_engine *e = user;
    sn_admit_page page = {record->parent, record->parent_len};
    (void)asked;
    (void)error;
    e->counts.failed -= e->counts.failed > 0;
    return sn_admit_any(&e->intake, &page, record->url, record->len, record->depth, 0, record->kind,
                        SN_OFFER_AGAIN);
}

static seen_status retry_failed(sn_engine *e)
{
    seen_status status = sn_frontier_local_retry(e->intake.frontier, admit_again, e, e->error);
    return status == SEEN_OK ? sn_admit_commit(&e->intake) : status;
}

static seen_status go_on(sn_engine *e, const sn_checkpoint *p)
{
    uint64_t length[SN_OUT_COUNT];
    seen_status status = compare_with_saved(e, p, length);
    if (status != SEEN_OK)
        return status;
    e->result->resumed = true;
    e->counts = p->counts;
    if (p->progressed)
        status = sync_outputs(e, length);
    if (status == SEEN_OK)
        status = open_frontier(e, p);
    /* It was killed before its start URLs were stored. */
    if (status == SEEN_OK && e->options->start.count == 0 &&
        sn_frontier_local_empty(e->intake.frontier))
        status = nothing_to_crawl(e);
    if (status == SEEN_OK)
        status = make_parts(e);
    if (status == SEEN_OK)
        status = sn_outputs_open(&e->outputs, e->options, length, e->error);
    if (status == SEEN_OK)
        status = sn_settings_save(e->folder, e->options, e->error);
    if (status == SEEN_OK && e->options->retry_failed)
        status = retry_failed(e);
    return status;
}

static seen_status open_state(sn_engine *e, sn_checkpoint *checkpoint, bool *there)
{
    *there = false;
    if (!e->options->state)
        return SEEN_OK;
    /* A mistyped name must not create a folder. */
    struct stat about;
    if (e->options->start.count == 0 && stat(e->options->state, &about) != 0 && errno == ENOENT)
        return nothing_to_crawl(e);
    seen_status status = sn_folder_lock(e->options->state, &e->folder, &e->lock, e->error);
    if (status != SEEN_OK)
        return status;
    status = sn_checkpoint_read(e->folder, checkpoint, e->error);
    *there = status == SEEN_OK;
    return status == SEEN_ERR_NOT_FOUND ? SEEN_OK : status;
}

seen_status sn_crawl_open(sn_engine *e)
{
    sn_checkpoint checkpoint = {0};
    bool there = false;
    e->intake.options = e->options;
    e->intake.counts = &e->counts;
    e->intake.error = e->error;
    snprintf(e->bot, sizeof e->bot, "%.*s", (int)sn_robots_token(e->options->agent),
             e->options->agent);
    seen_status status = check_options(e);
    if (status == SEEN_OK)
        status = seen_hasher_random(SEEN_XXH3, &e->hasher, e->error);
    size_t temporary = e->options->warc ? e->options->connections : 0;
    if (status == SEEN_OK)
        status = sn_open_files_raise(e->options->connections, temporary, &e->transfers.keep_open,
                                     e->error);
    if (status == SEEN_OK && !e->options->join)
        status = open_state(e, &checkpoint, &there);
    if (status == SEEN_OK)
        status = make_scope(e);
    if (status == SEEN_OK)
        status = sn_seeds_check(e);
    if (status == SEEN_OK && e->options->join)
        status = join_others(e);
    else if (status == SEEN_OK)
        status = there ? go_on(e, &checkpoint) : start_new(e);
    if (status == SEEN_OK)
        status = sn_seeds_admit(e);
    if (status == SEEN_OK)
        status = sn_settle_run(e, true);
    sn_checkpoint_free(&checkpoint);
    return status;
}

/* ---- Closing ---- */

void sn_crawl_close(sn_engine *e)
{
    sn_frontier *f = e->intake.frontier;
    sn_fetch_thread_destroy(e->transfers.thread);
    sn_fetch_destroy(e->transfers.fetch);
    sn_job_free_all(&e->transfers);
    sn_pace_destroy(e->transfers.pace);
    sn_queues_destroy(e->transfers.queues);
    if (f)
        f->class->close(f);
    sn_admit_free(&e->intake);
    sn_outputs_close(&e->outputs);
    if (e->lock >= 0)
        close(e->lock);
    if (e->folder >= 0)
        close(e->folder);
    sn_follower_free(&e->follower);
    sn_follower_free(&e->thread_follower);
    free(e);
}
