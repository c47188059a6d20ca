/* From a record to its key, and from the key to its hash.
 *
 * The key of a line is the line without its terminator byte. A CR is part of the line: "a\r\n" and
 * "a\n" differ. The last line of a file without a newline equals the same line with one.
 *
 * A key that is one value (-k 2, -k url) is that value, however it was written in the file: the
 * column of a CSV file, a member of a JSON object and a plain line with the same text have the same
 * key. A key of several values is each of them behind its length, so that no two lists of values
 * have the same key. */
#ifndef SN_STREAM_KEYS_H
#define SN_STREAM_KEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "seen.h"
#include "stream/io/block.h"
#include "stream/record/spec.h"

typedef struct sn_key_options {
    const sn_record_spec *record; /* which values; NULL: the whole line */
    bool fold; /* ASCII letters are equal in both cases; other bytes as they are */
    bool url;  /* each value by the canonical form of its URL; what is no URL as it is */
    seen_url_options url_options; /* size 0: none */
    atomic_bool *quoted;          /* set when a plain field begins with a quote; may be NULL */
} sn_key_options;

/* Fills the hash column of a block whose records are found. Any thread, one per block. */
seen_status sn_keys_hash(const sn_key_options *options, const seen_hasher *hasher, sn_block *block,
                         seen_error *error);

/* What becomes of one value: its canonical URL, in lower case. Points to the value or into
 * `scratch`, which must have room for sn_keys_bound(options, length) bytes. */
const char *sn_keys_of_value(const sn_key_options *options, const char *value, size_t length,
                             char *scratch, size_t *key_length);
size_t sn_keys_bound(const sn_key_options *options, size_t length);

/* Replaces each line of a block by its canonical URL, if it is a URL. */
seen_status sn_keys_rewrite(const seen_url_options *url, sn_block *block, seen_error *error);

/* A line and what is made beside it (its key, and `others`) take so many times its length. */
size_t sn_keys_parts(const sn_key_options *options, size_t others);

#endif
