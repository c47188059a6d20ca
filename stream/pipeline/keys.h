/* From a line to its key, and from the key to its hash.
 *
 * A key is the line without its terminator byte. A CR is part of the line: "a\r\n" and "a\n"
 * differ. The last line of a file without a newline equals the same line with one. */
#ifndef SN_STREAM_KEYS_H
#define SN_STREAM_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "seen.h"
#include "stream/io/block.h"

typedef struct sn_key_options {
    uint32_t field; /* 0: the whole line; N: the Nth field, counted from 1 */
    char delimiter; /* between fields, one byte. A line with fewer fields has an empty key there, as
                       with awk and sort */
    bool fold;      /* ASCII letters are equal in both cases; other bytes as they are */
    bool url;       /* the canonical form of a URL; what is no URL is compared as it is */
    uint32_t url_flags; /* SEEN_URL_… */
} sn_key_options;

/* Fills the hash column of a block whose lines are found. Any thread, one per block. */
seen_status sn_keys_hash(const sn_key_options *options, const seen_hasher *hasher, sn_block *block,
                         seen_error *error);

/* The key of one line (definition and slow path). Points into the line or into `scratch`, which
 * must have room for sn_keys_bound(options, len) bytes. */
const char *sn_keys_of_line(const sn_key_options *options, const char *line, size_t len,
                            char *scratch, size_t *key_len);
size_t sn_keys_bound(const sn_key_options *options, size_t len);

/* How much of the memory for a line the line itself may take, where its key, and `others` besides,
 * are made beside it: a part of so many. */
size_t sn_keys_parts(const sn_key_options *options, size_t others);

#endif
