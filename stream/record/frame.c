/* Splitting the input into records.
 *
 * The reader is serial and scans each byte once for the quote state and the last record end; the
 * workers find the fields again in parallel. Speculating on the state at several positions and
 * repairing wrong guesses would make the first scan parallel too, but it runs at several gigabytes
 * per second and is not the bottleneck. */
#include "stream/record/frame.h"

#include "base/error.h"
#include "stream/io/lines.h"
#include "stream/record/csv.h"
#include "stream/record/values.h"

#include <stdlib.h>
#include <string.h>

static size_t find_end(const void *context, const char *bytes, size_t from, size_t to,
                       uint64_t *state)
{
    const sn_record_spec *spec = context;
    return sn_csv_last_end(bytes, from, to, spec->delimiter, state);
}

static bool may_end(uint64_t state)
{
    return !sn_csv_is_quoted(state);
}

/* ---- Header --------------------------------------------------------------------------------- */

static size_t without_end(const char *bytes, size_t length)
{
    length -= length && bytes[length - 1] == '\n';
    length -= length && bytes[length - 1] == '\r';
    return length;
}

/* Skips a UTF-8 byte order mark. */
static size_t mark_length(const char *bytes, size_t length)
{
    return length >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* Determines the key columns from the names in a header. */
static seen_status resolve(const sn_record_spec *spec, const char *file, const char *bytes,
                           size_t length, sn_columns **columns, seen_error *error)
{
    sn_block block;
    size_t mark = mark_length(bytes, length);
    sn_block_init(&block, '\n');
    seen_status status = sn_block_reserve(&block, length - mark + 1, error);
    if (status == SEEN_OK) {
        memcpy(block.bytes, bytes + mark, length - mark);
        block.length = length - mark;
        status = sn_csv_split(&block, spec->delimiter, error);
    }
    size_t fields = status == SEEN_OK && block.lines ? sn_csv_fields(&block, 0) : 0;
    seen_key *names = calloc(fields + 1, sizeof *names);
    char *text = malloc(length + 1);
    if (status == SEEN_OK && (!names || !text))
        status = sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a header");
    size_t used = 0;
    for (size_t k = 0; names && text && k < fields; k++) {
        size_t raw;
        const char *at = sn_csv_raw(&block, 0, k, &raw);
        names[k].data = sn_csv_value(at, raw, text + used, &names[k].len);
        used += names[k].data == text + used ? names[k].len : 0;
    }
    if (status == SEEN_OK)
        status = sn_spec_resolve(spec, file, names, fields, columns, error);
    free(names);
    free(text);
    sn_block_free(&block);
    return status;
}

static seen_status take_header(const void *context, const char *file, const char *bytes,
                               size_t length, sn_header *header, size_t *taken, seen_error *error)
{
    const sn_record_spec *spec = context;
    *taken = sn_csv_first_end(bytes, length, spec->delimiter);
    if (!*taken) /* an empty file */
        return SEEN_OK;
    if (header->bytes) {
        size_t same = without_end(bytes, *taken);
        if (same == without_end(header->bytes, header->length) &&
            !memcmp(bytes, header->bytes, same))
            return SEEN_OK;
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%s: the header differs from that of the files before; files with "
                            "different columns cannot be read as one",
                            file);
    }
    sn_columns *columns = NULL;
    seen_status status = resolve(spec, file, bytes, *taken, &columns, error);
    if (status != SEEN_OK)
        return status;
    header->bytes = malloc(*taken);
    if (!header->bytes) {
        free(columns);
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a header");
    }
    memcpy(header->bytes, bytes, *taken);
    header->length = *taken;
    header->columns = columns;
    return SEEN_OK;
}

bool sn_frame_reader(const sn_record_spec *spec, sn_framing *framing)
{
    if (!spec || spec->kind != SN_RECORD_CSV)
        return false;
    *framing = (sn_framing){.context = spec,
                            .header = spec->header,
                            .find_end = find_end,
                            .may_end = may_end,
                            .take_header = take_header};
    return true;
}

/* ---- Records of a block --------------------------------------------------------------------- */

static seen_status find_records(const sn_record_spec *spec, sn_block *block, seen_error *error)
{
    if (spec && spec->kind == SN_RECORD_CSV)
        return sn_csv_split(block, spec->delimiter, error);
    return sn_lines_split(block, error);
}

/* Compacts the records that have all keys; *left tells whether others were omitted. */
static seen_status leave_out(const sn_record_spec *spec, sn_block *block, bool *left,
                             seen_error *error)
{
    sn_values values = {0};
    size_t to = 0;
    seen_status status = SEEN_OK;
    *left = false;
    for (size_t i = 0; i < block->lines && status == SEEN_OK; i++) {
        status = sn_values_get(&values, spec, block, i, error);
        if (status == SEEN_OK && values.missing && spec->missing == SN_MISSING_ERROR)
            status = sn_values_fail_missing(&values, spec, block, i, error);
        block->answer[i] = values.missing ? SEEN_UNKNOWN : SEEN_NEW;
        *left |= values.missing;
    }
    for (size_t i = 0; i < block->lines && status == SEEN_OK && *left; i++) {
        size_t from = block->start[i], length = block->start[i + 1] - from;
        if (block->answer[i] == SEEN_UNKNOWN)
            continue;
        memmove(block->bytes + to, block->bytes + from, length);
        to += length;
    }
    if (*left)
        block->length = to;
    sn_values_free(&values);
    return status;
}

seen_status sn_frame_split(const sn_record_spec *spec, sn_block *block, seen_error *error)
{
    bool left = false;
    seen_status status = find_records(spec, block, error);
    if (status == SEEN_OK && spec && spec->kind != SN_RECORD_LINES &&
        spec->missing != SN_MISSING_VALUE)
        status = leave_out(spec, block, &left, error);
    return status == SEEN_OK && left ? find_records(spec, block, error) : status;
}
