/* Looks up JSON values by path. */
#ifndef SN_STREAM_RECORD_JSON_H
#define SN_STREAM_RECORD_JSON_H

#include "stream/record/spec.h"

#include <stdbool.h>
#include <stddef.h>

/* A value in raw form; at NULL: absent. */
typedef struct sn_record_json_span {
    const char *at;
    size_t length;
} sn_record_json_span;

/* Parses one JSON text and fills span[0 … spec->parts). If a member is repeated, the last one is
 * used. Returns NULL or an error description. An empty text has no values. 16 bytes behind the text
 * must be readable. */
const char *sn_record_json_find(const sn_record_spec *spec, const char *text, size_t length,
                                sn_record_json_span *span);

/* The value of a span: a string unquoted and unescaped (a lone surrogate becomes three bytes, as in
 * WTF-8), anything else in raw form without insignificant white space. Points into the span, or
 * into `to`, which must have room for as many bytes. */
const char *sn_record_json_value(sn_record_json_span span, char *to, size_t *length);

#endif
