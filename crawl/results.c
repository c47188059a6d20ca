/* The outputs of a crawl: JSON lines, URLs, edges, WARC. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "crawl/engine.h"
#include "crawl/frontier/folder.h"

const char *sn_results_path(const sn_crawl_options *o, int output)
{
    switch (output) {
    case SN_OUT_PAGES:
        return o->output;
    case SN_OUT_URLS:
        return o->urls;
    case SN_OUT_EDGES:
        return o->edges;
    default:
        return o->warc;
    }
}

seen_status sn_results_open(sn_engine *e, const uint64_t length[SN_OUT_COUNT])
{
    for (int i = 0; i < SN_OUT_COUNT; i++) {
        const char *path = sn_results_path(e->options, i);
        if (path == NULL)
            continue;
        seen_status status = sn_sink_open(path, length[i], &e->out[i], e->error);
        if (status != SEEN_OK)
            return status;
    }
    if (e->out[SN_OUT_WARC] != NULL) {
        e->warc = sn_warc_create(e->out[SN_OUT_WARC]);
        if (e->warc == NULL)
            return sn_error_memory(e->error);
        if (sn_sink_length(e->out[SN_OUT_WARC]) == 0)
            sn_warc_info(e->warc, e->options->agent);
    }
    return SEEN_OK;
}

static void field(sn_sink *out, const char *name, uint64_t number)
{
    sn_sink_text(out, name);
    sn_sink_number(out, number);
}

static void put_line(sn_sink *out, const sn_job *job, const sn_transfer *t, const char *error,
                     uint64_t links)
{
    sn_sink_text(out, "{\"url\":");
    sn_sink_json(out, job->url, job->url_len);
    field(out, ",\"status\":", (uint64_t)t->status);
    field(out, ",\"depth\":", job->depth);
    sn_sink_text(out, ",\"parent\":");
    if (job->parent_len > 0)
        sn_sink_json(out, job->parent, job->parent_len);
    else
        sn_sink_text(out, "null");
    sn_sink_text(out, ",\"type\":");
    sn_sink_json(out, t->type, strlen(t->type));
    field(out, ",\"bytes\":", t->bytes);
    field(out, ",\"ms\":", (uint64_t)t->ms);
    field(out, ",\"links\":", links);
    if (t->location != NULL && t->status >= 300 && t->status < 400) {
        sn_sink_text(out, ",\"location\":");
        sn_sink_json(out, t->location, t->location_len);
    }
    if (t->truncated)
        sn_sink_text(out, ",\"truncated\":true");
    if (job->tries > 0)
        field(out, ",\"retries\":", job->tries);
    if (error != NULL) {
        sn_sink_text(out, ",\"error\":");
        sn_sink_json(out, error, strlen(error));
    }
    sn_sink_text(out, "}\n");
}

/* Why the body is not whole; NULL: it is. */
static const char *why_short(const sn_transfer *t)
{
    switch (t->error) {
    case SN_FETCH_OK:
        return t->cut ? "unspecified" : t->truncated ? "length" : NULL;
    case SN_FETCH_TIMEOUT:
        return "time";
    case SN_FETCH_BROKEN:
        return "disconnect";
    default:
        return "unspecified";
    }
}

seen_status sn_results_page(sn_engine *e, const sn_job *job, const sn_transfer *t,
                            const char *error, uint64_t links)
{
    if (e->out[SN_OUT_PAGES] != NULL)
        put_line(e->out[SN_OUT_PAGES], job, t, error, links);
    if (e->out[SN_OUT_URLS] != NULL && error == NULL && t->status >= 200 && t->status < 300) {
        sn_sink_put(e->out[SN_OUT_URLS], job->url, job->url_len);
        sn_sink_put(e->out[SN_OUT_URLS], "\n", 1);
    }
    if (e->warc == NULL || t->status == 0 || t->headers_len == 0)
        return SEEN_OK;
    sn_warc_page page = {.url = job->url,
                         .url_len = job->url_len,
                         .address = t->address,
                         .headers = t->headers,
                         .headers_len = t->headers_len,
                         .body = &job->body,
                         .truncated = why_short(t),
                         .date = job->date};
    return sn_warc_response(e->warc, &page, e->error);
}

void sn_results_edge(sn_engine *e, const char *from, size_t from_len, const char *to, size_t to_len)
{
    sn_sink *out = e->out[SN_OUT_EDGES];
    sn_sink_put(out, from, from_len);
    sn_sink_put(out, "\t", 1);
    sn_sink_put(out, to, to_len);
    sn_sink_put(out, "\n", 1);
}

/* ---- Failures ---- */

void sn_results_refused(sn_engine *e, const sn_host *host, const sn_transfer *t)
{
    if (e->result->refused_host[0] != '\0')
        return;
    snprintf(e->result->refused_host, sizeof e->result->refused_host, "%s", host->origin);
    snprintf(e->result->refused_address, sizeof e->result->refused_address, "%s", t->address);
}

void sn_results_failed(sn_engine *e, const sn_frontier_record *record, const char *why)
{
    e->counts.failed++;
    if (e->result->failed_why != NULL)
        return;
    snprintf(e->result->failed_url, sizeof e->result->failed_url, "%.*s", (int)record->len,
             record->url);
    e->result->failed_why = why;
}

/* ---- Settling ---- */

static seen_status flush(sn_engine *e, bool sync)
{
    for (int i = 0; i < SN_OUT_COUNT; i++) {
        if (e->out[i] == NULL)
            continue;
        seen_status status =
            sync ? sn_sink_sync(e->out[i], e->error) : sn_sink_flush(e->out[i], e->error);
        if (status != SEEN_OK)
            return status;
    }
    return SEEN_OK;
}

seen_status sn_results_flush(sn_engine *e)
{
    return flush(e, false);
}

seen_status sn_results_settle(sn_engine *e, bool sync)
{
    sn_frontier_progress progress = {.counts = &e->counts};
    seen_status status = sn_admit_commit(e);
    if (status == SEEN_OK)
        status = flush(e, sync && e->folder >= 0);
    if (status != SEEN_OK)
        return status;
    for (int i = 0; i < SN_OUT_COUNT; i++) {
        progress.out_length[i] = e->out[i] == NULL ? 0 : sn_sink_length(e->out[i]);
        progress.out_path[i] = sn_folder_path_hash(sn_results_path(e->options, i));
    }
    if (sync)
        e->done_since_sync = 0;
    return e->frontier->class->settle(e->frontier, &progress, sync, e->error);
}
