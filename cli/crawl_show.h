/* What a person sees of a crawl: a status line, or lines, and the summary. */
#ifndef SN_CLI_CRAWL_SHOW_H
#define SN_CLI_CRAWL_SHOW_H

#include "cli/cli.h"
#include "crawl/crawl.h"

typedef enum sn_crawl_show_mode {
    SN_SHOW_SILENT,
    SN_SHOW_REDRAWN, /* one line on a terminal */
    SN_SHOW_JSON,
    SN_SHOW_LINES
} sn_crawl_show_mode;

typedef struct sn_crawl_show {
    const sn_args *args;
    sn_crawl_show_mode mode;
    double last;
    uint64_t last_pages;
    double last_seconds;
    bool stopping;         /* it was said that a signal came */
    char last_words[1000]; /* for a second one */
} sn_crawl_show;

/* `show` must stay where it is until sn_crawl_show_clear. state: the folder, or NULL. */
void sn_crawl_show_begin(sn_crawl_show *show, const sn_args *args, const char *state);
/* An sn_crawl_progress. */
void sn_crawl_show_status(void *show, const sn_crawl_status *status);
/* Takes the status line away, and what a second signal would say. */
void sn_crawl_show_clear(const sn_crawl_show *show);
/* The summary of a crawl that ended well. Returns the exit status: it is trouble when not one page
 * could be had. */
int sn_crawl_show_end(const sn_crawl_show *show, const sn_crawl_options *options,
                      const sn_crawl_result *result);

#endif
