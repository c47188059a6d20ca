/* The options of a crawl as text, for resuming it; sn_crawl_load reads them. */
#ifndef SN_CRAWL_SETTINGS_H
#define SN_CRAWL_SETTINGS_H

#include "crawl/crawl.h"

/* Replaces options by those in a text of settings; see sn_crawl_load. `where` is for messages. */
seen_status sn_settings_parse(const char *bytes, size_t len, const char *where,
                              sn_crawl_options *options, void **keep, seen_error *error);
/* The settings that all workers of a shared crawl must agree on; NULL: out of memory. */
char *sn_settings_shared(const sn_crawl_options *options);
/* SEEN_ERR_MISMATCH, with the option and both values, if these options differ from a text of
 * settings in one that all workers must agree on. A number or flag that the text lacks, because an
 * earlier version wrote it, is not compared. */
seen_status sn_settings_compare(const char *text, const sn_crawl_options *options,
                                const char *where, seen_error *error);
seen_status sn_settings_save(int folder, const sn_crawl_options *options, seen_error *error);

#endif
