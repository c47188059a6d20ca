/* What a crawl writes for others, and the list of pages that failed.
 *
 * `failed` in the state folder has one line per URL, fields divided by tabs:
 *     depth  kind  status  reason  URL  parent */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "crawl/engine.h"

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

static seen_status open_failed(sn_engine *e)
{
    e->failed_fd = -1;
    if (e->folder < 0)
        return SEEN_OK;
    e->failed_fd = openat(e->folder, "failed", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (e->failed_fd < 0 || ftruncate(e->failed_fd, (off_t)e->failed_len) != 0)
        return sn_error_cannot_in(e->error, errno, e->folder, "open", "the list of failed pages");
    return SEEN_OK;
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
    return open_failed(e);
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

seen_status sn_results_failed(sn_engine *e, const sn_frontier_record *record, int status,
                              const char *why)
{
    e->counts.failed++;
    if (e->result->failed_why == NULL) {
        snprintf(e->result->failed_url, sizeof e->result->failed_url, "%.*s", (int)record->len,
                 record->url);
        e->result->failed_why = why;
    }
    if (e->failed_fd < 0)
        return SEEN_OK;
    char number[16] = "-";
    if (status != SN_NOT_ASKED)
        snprintf(number, sizeof number, "%d", status);
    size_t room = record->len + record->parent_len + 128;
    char *line = malloc(room);
    if (line == NULL)
        return sn_error_memory(e->error);
    int n = snprintf(line, room, "%u\t%u\t%s\t%s\t%.*s\t%.*s\n", record->depth, record->kind,
                     number, why, (int)record->len, record->url, (int)record->parent_len,
                     record->parent_len > 0 ? record->parent : "");
    bool ok = sn_io_write(e->failed_fd, line, (size_t)n, e->failed_len);
    free(line);
    if (!ok)
        return sn_error_cannot_in(e->error, errno, e->folder, "write", "the list of failed pages");
    e->failed_len += (uint64_t)n;
    return SEEN_OK;
}

/* Takes a line apart, in place; false: not one of ours. */
static bool split(char *line, char *fields[6])
{
    for (int i = 0; i < 6; i++) {
        fields[i] = line;
        line = strchr(line, i < 5 ? '\t' : '\n');
        if (line == NULL)
            return false;
        *line++ = '\0';
    }
    return true;
}

seen_status sn_results_retry(sn_engine *e)
{
    if (e->failed_fd < 0 || e->failed_len == 0)
        return SEEN_OK;
    int copy = dup(e->failed_fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    if (file == NULL) {
        if (copy >= 0)
            close(copy);
        return sn_error_cannot_in(e->error, errno, e->folder, "read", "the list of failed pages");
    }
    rewind(file);
    char *line = NULL, *fields[6];
    size_t room = 0;
    seen_status status = SEEN_OK;
    while (status == SEEN_OK && getline(&line, &room, file) > 0) {
        if (!split(line, fields))
            continue;
        sn_admit_page page = {fields[5], strlen(fields[5])};
        uint8_t kind =
            strtoul(fields[1], NULL, 10) == SN_KIND_SITEMAP ? SN_KIND_SITEMAP : SN_KIND_PAGE;
        if (kind == SN_KIND_PAGE && strcmp(fields[2], "-") != 0)
            sn_dispatch_uncount(e, fields[4], strlen(fields[4]));
        status = sn_admit_again(e, &page, fields[4], strlen(fields[4]),
                                (uint16_t)strtoul(fields[0], NULL, 10), kind);
        e->counts.failed -= e->counts.failed > 0;
    }
    if (status == SEEN_OK && ferror(file))
        status = sn_error_cannot_in(e->error, errno, e->folder, "read", "the list of failed pages");
    free(line);
    fclose(file);
    if (status == SEEN_OK)
        status = sn_admit_commit(e);
    /* The list is empty once the next checkpoint says so; until then a crash finds it whole. */
    if (status == SEEN_OK)
        e->failed_len = 0;
    return status;
}
