/* Extracts the values of a record that make up its key. */
#ifndef SN_STREAM_RECORD_VALUES_H
#define SN_STREAM_RECORD_VALUES_H

#include "seen.h"
#include "stream/io/block.h"
#include "stream/record/json.h"
#include "stream/record/spec.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sn_value {
    const char *at; /* NULL: missing */
    size_t length;
} sn_value;

/* The values of one record; reused from record to record. */
typedef struct sn_values {
    sn_value *value;
    size_t count, room;
    bool missing; /* one of them is missing */
    bool quoted;  /* plain fields: a field seen so far begins with a quote */
    char *text;   /* for values that do not occur literally in the record */
    size_t text_used, text_room;
    sn_record_json_span span[SN_KEY_PARTS];
} sn_values;

void sn_values_free(sn_values *values);

/* Extracts the values of record i. SEEN_ERR_ARGUMENT with file and offset if it is not JSON. A
 * missing field of a plain line is empty. */
seen_status sn_values_get(sn_values *values, const sn_record_spec *spec, const sn_block *block,
                          size_t i, seen_error *error);

/* SEEN_ERR_ARGUMENT with file and offset: the record has no such key. */
seen_status sn_values_fail_missing(const sn_values *values, const sn_record_spec *spec,
                                   const sn_block *block, size_t i, seen_error *error);

#endif
