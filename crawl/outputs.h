/* The outputs of a crawl: JSON lines, URLs, edges, WARC. */
#ifndef SN_CRAWL_OUTPUTS_H
#define SN_CRAWL_OUTPUTS_H

#include "crawl/crawl.h"
#include "crawl/frontier/frontier.h"
#include "crawl/job.h"
#include "crawl/output/sink.h"
#include "crawl/output/warc.h"

typedef struct sn_outputs {
    sn_sink *sink[SN_OUT_COUNT]; /* NULL: not wanted */
    sn_warc *warc;
} sn_outputs;

/* The path of an output; NULL: not wanted. */
const char *sn_outputs_path(const sn_crawl_options *options, int output);

/* length: of each file by the checkpoint; SN_SINK_NEW: another file than before. */
seen_status sn_outputs_open(sn_outputs *out, const sn_crawl_options *options,
                            const uint64_t length[SN_OUT_COUNT], seen_error *error);
void sn_outputs_close(sn_outputs *out);

/* The data of a page. */
typedef struct sn_outputs_page {
    const sn_job *job;
    const sn_transfer *transfer;
    const char *error; /* NULL: there was a response */
    uint64_t links;
} sn_outputs_page;

seen_status sn_outputs_put_page(sn_outputs *out, const sn_outputs_page *page, seen_error *error);
/* Does nothing if edges are not wanted. */
void sn_outputs_put_edge(sn_outputs *out, const char *from, size_t from_len, const char *to,
                         size_t to_len);

/* Writes all buffers; `sync`: to the disk. */
seen_status sn_outputs_flush(sn_outputs *out, bool sync, seen_error *error);
/* Whether a reader has closed its end of a pipe. */
bool sn_outputs_closed(const sn_outputs *out);

#endif
