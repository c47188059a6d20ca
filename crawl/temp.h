/* Temporary files without a name. */
#ifndef CRAWL_TEMP_H
#define CRAWL_TEMP_H

/* A file that is gone when it is closed, in the folder with this descriptor, or with -1 in $TMPDIR
 * or /tmp. -1 with errno. */
int sn_temp_file(int folder);

#endif
