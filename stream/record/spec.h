/* The record format and the values that make up the key: --csv, --tsv, --jsonl, -t and -k.
 *
 *     -k 2        the second field           -k url          the CSV column with that name
 *     -k 2,5      the second and the fifth   -k user.id,url  JSON: two values, one inside an object
 *     -k 3-       the third and all after    -k 'tags.0'     JSON: the first element of an array
 *     -k 2-4      the second to the fourth   -k '"a,b",c'    a name with a comma or dot in
 *     quotes */
#ifndef SN_STREAM_RECORD_SPEC_H
#define SN_STREAM_RECORD_SPEC_H

#include "seen.h"
#include "stream/io/header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sn_record_kind {
    SN_RECORD_LINES = 0, /* a line is a record; with -k, fields are separated by one byte */
    SN_RECORD_CSV = 1,   /* RFC 4180: quoted fields may contain anything */
    SN_RECORD_JSON = 2   /* one JSON value per line */
} sn_record_kind;

/* How to treat a record without one of the keys. In plain lines a missing field is empty. */
typedef enum sn_spec_missing {
    SN_MISSING_VALUE = 0, /* missing is a distinct value */
    SN_MISSING_SKIP = 1,  /* omit the record */
    SN_MISSING_ERROR = 2
} sn_spec_missing;

/* One step of a JSON path: the name of a member, or the index of an element. */
typedef struct sn_spec_step {
    char *name;
    size_t length;
    uint64_t index; /* UINT64_MAX: `name` is not a number */
} sn_spec_step;

/* One item of -k. */
typedef struct sn_spec_part {
    sn_columns columns; /* first 0: given by name */
    sn_spec_step *step; /* the path; CSV: one step, the column's name */
    size_t steps;
} sn_spec_part;

/* The maximum number of -k items: JSON keeps the paths that may still match in one word. */
enum { SN_KEY_PARTS = 64, SN_KEY_STEPS = 64, SN_KEY_NAME = 256 };

typedef struct sn_record_spec {
    sn_record_kind kind;
    char delimiter;  /* lines and CSV */
    char terminator; /* '\n', or '\0' with -z */
    bool header;     /* CSV: the first record of each file names the columns */
    bool crlf;       /* lines: a CR at the end is not part of the key */
    sn_spec_missing missing;
    sn_spec_part *part;
    size_t parts; /* 0: the whole record (CSV: all of its fields) */
} sn_record_spec;

/* Adds the items of one -k; the kind must be set. SEEN_ERR_ARGUMENT with a message that names the
 * item. */
seen_status sn_spec_add(sn_record_spec *spec, const char *text, seen_error *error);
void sn_spec_free(sn_record_spec *spec);

/* Whether the key is a single unconverted value, and not a combination. */
bool sn_spec_is_single(const sn_record_spec *spec);

/* Resolves the names of a spec to columns, using the values of a header: one for each part, to be
 * freed. SEEN_ERR_ARGUMENT if a name is missing or ambiguous. */
seen_status sn_spec_resolve(const sn_record_spec *spec, const char *file, const seen_key *names,
                            size_t count, sn_columns **columns, seen_error *error);

#endif
