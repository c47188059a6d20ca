/* Values of a JSON text by their paths. */
#ifndef SN_STREAM_JSON_H
#define SN_STREAM_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "stream/record/spec.h"

/* A value as it is written; at NULL: there is none. */
typedef struct sn_json_span {
    const char *at;
    size_t length;
} sn_json_span;

/* Reads one JSON text and fills span[0 … spec->parts). Of members with the same name the last one
 * counts. NULL, or what is wrong with the text. An empty text has no values. 16 bytes behind the
 * text must be readable. */
const char *sn_json_find(const sn_record_spec *spec, const char *text, size_t length,
                         sn_json_span *span);

/* The value of a span: a string without its quotes and with its escapes replaced (a lone surrogate
 * becomes three bytes, as in WTF-8), anything else as it is written but without the white space
 * between its parts. Points into the span, or into `to`, which has room for as many bytes. */
const char *sn_json_value(sn_json_span span, char *to, size_t *length);

#endif
