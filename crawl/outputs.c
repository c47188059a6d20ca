/* The outputs of a crawl: JSON lines, URLs, edges, WARC. */
#include "crawl/outputs.h"

#include "base/error.h"

#include <string.h>
#include <time.h>

const char *sn_outputs_path(const sn_crawl_options *o, int output)
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

/* Which option of the command it was. */
static seen_status refuse_locked(const sn_crawl_options *options, int output, seen_error *error)
{
    static const char *const names[SN_OUT_COUNT] = {
        [SN_OUT_PAGES] = "-o",
        [SN_OUT_URLS] = "--urls",
        [SN_OUT_EDGES] = "--edges",
        [SN_OUT_WARC] = "--warc",
    };
    const char *what = options->join ? "worker" : "crawl";
    return sn_error_set(error, SEEN_ERR_EXISTS,
                        "%s: another %s writes this file; give each %s its own %s",
                        sn_outputs_path(options, output), what, what, names[output]);
}

seen_status sn_outputs_open(sn_outputs *out, const sn_crawl_options *options,
                            const uint64_t length[SN_OUT_COUNT], seen_error *error)
{
    for (int i = 0; i < SN_OUT_COUNT; i++) {
        const char *path = sn_outputs_path(options, i);
        if (!path)
            continue;
        seen_status status = sn_sink_open(path, length[i], &out->sink[i], error);
        if (status == SEEN_ERR_EXISTS)
            status = refuse_locked(options, i, error);
        if (status != SEEN_OK)
            return status;
    }
    if (!out->sink[SN_OUT_WARC])
        return SEEN_OK;
    out->warc = sn_warc_create(out->sink[SN_OUT_WARC]);
    if (!out->warc)
        return sn_error_memory(error);
    if (sn_sink_length(out->sink[SN_OUT_WARC]) == 0)
        sn_warc_info(out->warc, options->agent);
    return SEEN_OK;
}

void sn_outputs_close(sn_outputs *out)
{
    sn_warc_destroy(out->warc);
    for (int i = 0; i < SN_OUT_COUNT; i++)
        sn_sink_close(out->sink[i]);
}

static void field(sn_sink *out, const char *name, uint64_t number)
{
    sn_sink_text(out, name);
    sn_sink_number(out, number);
}

/* Request time, title, and a digest of the body. */
static void put_fetched(sn_sink *out, const sn_outputs_page *page)
{
    const sn_job *job = page->job;
    char text[64];
    struct tm parts;
    if (page->transfer->status == 0)
        return;
    gmtime_r(&job->date, &parts);
    strftime(text, sizeof text, ",\"time\":\"%Y-%m-%dT%H:%M:%SZ\"", &parts);
    sn_sink_text(out, text);
    if (job->html && job->links && sn_links_end(job->links)->title_len > 0) {
        const sn_links_page *about = sn_links_end(job->links);
        sn_sink_text(out, ",\"title\":");
        sn_sink_json_utf8(out, about->title, about->title_len);
    }
    if (job->begun && job->digest) {
        sn_digest_text(job->digest, text);
        sn_sink_text(out, ",\"digest\":\"xxh128:");
        sn_sink_text(out, text);
        sn_sink_text(out, "\"");
    }
}

static void put_line(sn_sink *out, const sn_outputs_page *page)
{
    const sn_job *job = page->job;
    const sn_transfer *t = page->transfer;
    sn_sink_text(out, "{\"url\":");
    sn_sink_json(out, job->url, job->url_len);
    field(out, ",\"status\":", (uint64_t)t->status);
    field(out, ",\"depth\":", job->depth);
    sn_sink_text(out, ",\"parent\":");
    if (job->parent_len > 0)
        sn_sink_json(out, job->parent, job->parent_len);
    else
        sn_sink_text(out, "null");
    put_fetched(out, page);
    sn_sink_text(out, ",\"type\":");
    sn_sink_json(out, t->type, strlen(t->type));
    field(out, ",\"bytes\":", t->bytes);
    field(out, ",\"ms\":", (uint64_t)t->ms);
    field(out, ",\"links\":", page->links);
    if (t->location && t->status >= 300 && t->status < 400) {
        sn_sink_text(out, ",\"location\":");
        sn_sink_json(out, t->location, t->location_len);
    }
    if (t->truncated)
        sn_sink_text(out, ",\"truncated\":true");
    if (job->what.tries > 0)
        field(out, ",\"retries\":", job->what.tries);
    if (page->error) {
        sn_sink_text(out, ",\"error\":");
        sn_sink_json(out, page->error, strlen(page->error));
    }
    sn_sink_text(out, "}\n");
}

/* Why the body is incomplete; NULL: it is complete. */
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

seen_status sn_outputs_put_page(sn_outputs *out, const sn_outputs_page *page, seen_error *error)
{
    const sn_job *job = page->job;
    const sn_transfer *t = page->transfer;
    sn_sink *urls = out->sink[SN_OUT_URLS];
    if (out->sink[SN_OUT_PAGES])
        put_line(out->sink[SN_OUT_PAGES], page);
    if (urls && !page->error && t->status >= 200 && t->status < 300) {
        sn_sink_put(urls, job->url, job->url_len);
        sn_sink_put(urls, "\n", 1);
    }
    if (!out->warc || t->status == 0 || t->headers_len == 0)
        return SEEN_OK;
    sn_warc_page record = {.url = job->url,
                           .url_len = job->url_len,
                           .address = t->address,
                           .headers = t->headers,
                           .headers_len = t->headers_len,
                           .body = &job->body,
                           .encoded = t->encoded,
                           .truncated = why_short(t),
                           .date = job->date};
    return sn_warc_response(out->warc, &record, error);
}

void sn_outputs_put_edge(sn_outputs *outputs, const char *from, size_t from_len, const char *to,
                         size_t to_len)
{
    sn_sink *out = outputs->sink[SN_OUT_EDGES];
    if (!out)
        return;
    sn_sink_put(out, from, from_len);
    sn_sink_put(out, "\t", 1);
    sn_sink_put(out, to, to_len);
    sn_sink_put(out, "\n", 1);
}

seen_status sn_outputs_flush(sn_outputs *out, bool sync, seen_error *error)
{
    for (int i = 0; i < SN_OUT_COUNT; i++) {
        if (!out->sink[i])
            continue;
        seen_status status =
            sync ? sn_sink_sync(out->sink[i], error) : sn_sink_flush(out->sink[i], error);
        if (status != SEEN_OK)
            return status;
    }
    return SEEN_OK;
}

bool sn_outputs_closed(const sn_outputs *out)
{
    for (int i = 0; i < SN_OUT_COUNT; i++)
        if (out->sink[i] && sn_sink_closed(out->sink[i]))
            return true;
    return false;
}
