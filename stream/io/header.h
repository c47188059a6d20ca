/* The header record of a file, which names its columns. It is kept apart from the other records and
 * written once at the beginning of the output. All files of one input must have the same header. */
#ifndef SN_STREAM_IO_HEADER_H
#define SN_STREAM_IO_HEADER_H

#include <stddef.h>
#include <stdint.h>

/* A range of columns, counted from 1. */
typedef struct sn_columns {
    uint32_t first, last;
} sn_columns;

#define SN_COLUMN_LAST UINT32_MAX /* `last`: to the end of the record */

typedef struct sn_header {
    char *bytes; /* as in the first file, with its terminator; NULL: not read yet */
    size_t length;
    sn_columns *columns; /* of the key, one for each item of -k */
} sn_header;

#endif
