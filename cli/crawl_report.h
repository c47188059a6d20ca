/* `seen crawl report`: one page about a crawl. */
#ifndef CLI_CRAWL_REPORT_H
#define CLI_CRAWL_REPORT_H

#include "cli/cli.h"

/* Is the first operand "report"? */
bool sn_crawl_report_find(const sn_args *args);
/* The second one is a state folder, or a file of JSON lines. `html`: where the page goes. */
int sn_crawl_report(const sn_args *args, const char *html);

#endif
