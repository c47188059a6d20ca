/* The options of a crawl as text, for when it is resumed; sn_crawl_load reads them. */
#ifndef CRAWL_SETTINGS_H
#define CRAWL_SETTINGS_H

#include "crawl/crawl.h"

seen_status sn_settings_save(int folder, const sn_crawl_options *options, seen_error *error);

#endif
