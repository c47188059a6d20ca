/* Inside the command: the parts of `seen crawl`. */
#ifndef SN_CLI_CRAWL_H
#define SN_CLI_CRAWL_H

#include "cli/cli.h"
#include "crawl/crawl.h"

/* ---- crawl_parts.c: the commands about a crawl ---- */

/* Their options; each has some of them. */
typedef struct sn_cli_crawl_part {
    const char *html, *ca_file, *password_file;
    bool watch, force, retry_failed;
    uint64_t delay_ms, frontier_memory;
} sn_cli_crawl_part;

extern const sn_cli_command *const sn_cli_crawl_parts[];

/* ---- crawl_input.c: what it reads besides its command line ---- */

/* Start URLs: those of the command line, then those of a file. */
typedef struct sn_cli_urls {
    char **items;
    size_t count, room;
    size_t borrowed; /* the first ones are the command line's */
} sn_cli_urls;

/* path: NULL: none, "-": standard input. Empty lines and those that begin with # are skipped. */
bool sn_cli_urls_read(sn_cli_urls *urls, const char *path, char *const *given, size_t count,
                      seen_error *error);
void sn_cli_urls_free(sn_cli_urls *urls);

/* ---- crawl_show.c: a status line, or lines, and the summary ---- */

typedef enum sn_cli_status_mode {
    SN_SHOW_SILENT,
    SN_SHOW_REDRAWN, /* one line on a terminal */
    SN_SHOW_JSON,
    SN_SHOW_LINES
} sn_cli_status_mode;

typedef struct sn_cli_status {
    const sn_args *args;
    sn_cli_status_mode mode;
    double last;
    uint64_t last_pages;
    double last_seconds;
    bool stopping;           /* the message about a signal was printed */
    char exit_message[1000]; /* printed by a second signal */
} sn_cli_status;

/* `show` must not move until sn_cli_status_clear. */
void sn_cli_status_begin(sn_cli_status *show, const sn_args *args, const sn_crawl_options *options);
/* An sn_crawl_progress. */
void sn_cli_status_show(void *show, const sn_crawl_status *status);
/* Erases the status line, and the message for a second signal. */
void sn_cli_status_clear(const sn_cli_status *show);
/* The summary of a crawl that ended well. Returns the exit status: an error if not one page
 * could be had. */
int sn_cli_status_end(const sn_cli_status *show, const sn_crawl_options *options,
                      const sn_crawl_result *result);

/* ---- crawl_report.c: `seen crawl report`, one page about a crawl ---- */

/* The operand is a state folder, a file of JSON lines, or the address of a shared crawl. `html`:
 * where the page goes. */
int sn_cli_report_run(const sn_args *args, const char *html, const char *ca_file);

#endif
