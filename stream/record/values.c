/* Extracts the values of a record that make up its key. */
#include "stream/record/values.h"

#include "base/error.h"
#include "base/memory.h"
#include "stream/record/csv.h"

#include <stdlib.h>
#include <string.h>

void sn_values_free(sn_values *values)
{
    free(values->value);
    free(values->text);
    *values = (sn_values){0};
}

static seen_status no_memory(seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for the keys of a record");
}

static seen_status add(sn_values *values, const char *at, size_t length, seen_error *error)
{
    if (values->count == values->room) {
        sn_value *grown =
            sn_memory_grow(values->value, &values->room, values->count + 1, sizeof *grown);
        if (!grown)
            return no_memory(error);
        values->value = grown;
    }
    values->missing |= !at;
    values->value[values->count++] = (sn_value){at, length};
    return SEEN_OK;
}

/* Reserves room to rewrite every value of a record in advance, because values are pointers into
 * it. */
static seen_status reserve_text(sn_values *values, size_t parts, size_t record, seen_error *error)
{
    size_t need = (parts ? parts : 1) * record + 1;
    if (need <= values->text_room)
        return SEEN_OK;
    need += need / 2;
    free(values->text);
    values->text_room = 0;
    values->text = malloc(need);
    if (!values->text)
        return no_memory(error);
    values->text_room = need;
    return SEEN_OK;
}

/* ---- Plain fields --------------------------------------------------------------------------- */

/* Skips `count` fields; NULL if the line ends before. */
static const char *skip_fields(const char *at, const char *end, char delimiter, uint32_t count)
{
    for (; count && at; count--) {
        at = at < end ? memchr(at, delimiter, (size_t)(end - at)) : NULL;
        at = at ? at + 1 : NULL;
    }
    return at;
}

static seen_status get_fields(sn_values *values, const sn_record_spec *spec, const char *line,
                              size_t length, seen_error *error)
{
    const char *end = line + length;
    if (!spec->parts)
        return add(values, line, length, error);
    for (size_t p = 0; p < spec->parts; p++) {
        sn_columns want = spec->part[p].columns;
        const char *from = skip_fields(line, end, spec->delimiter, want.first - 1), *to = end;
        if (!from)
            from = end;
        else if (want.last != SN_COLUMN_LAST) {
            const char *next = skip_fields(from, end, spec->delimiter, want.last - want.first + 1);
            to = next ? next - 1 : end;
        }
        values->quoted |= from < to && *from == '"';
        seen_status status = add(values, from, (size_t)(to - from), error);
        if (status != SEEN_OK)
            return status;
    }
    return SEEN_OK;
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static seen_status get_columns(sn_values *values, const sn_block *block, size_t i, sn_columns want,
                               seen_error *error)
{
    size_t fields = sn_csv_fields(block, i), last = want.last;
    if (last == SN_COLUMN_LAST)
        last = want.first > fields ? want.first : fields;
    for (size_t k = want.first; k <= last; k++) {
        size_t length = 0;
        const char *at = NULL;
        if (k <= fields) {
            at = sn_csv_raw(block, i, k - 1, &length);
            at = sn_csv_value(at, length, values->text + values->text_used, &length);
            if (at == values->text + values->text_used)
                values->text_used += length;
        }
        seen_status status = add(values, at, length, error);
        if (status != SEEN_OK)
            return status;
    }
    return SEEN_OK;
}

static seen_status get_csv(sn_values *values, const sn_record_spec *spec, const sn_block *block,
                           size_t i, seen_error *error)
{
    static const sn_columns all = {1, SN_COLUMN_LAST};
    const sn_columns *known = block->header ? block->header->columns : NULL;
    seen_status status =
        reserve_text(values, spec->parts, block->start[i + 1] - block->start[i], error);
    if (status == SEEN_OK && !spec->parts)
        return get_columns(values, block, i, all, error);
    for (size_t p = 0; p < spec->parts && status == SEEN_OK; p++)
        status = get_columns(values, block, i, known ? known[p] : spec->part[p].columns, error);
    return status;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static seen_status get_json(sn_values *values, const sn_record_spec *spec, const sn_block *block,
                            size_t i, seen_error *error)
{
    size_t length;
    const char *line = sn_block_line(block, i, &length);
    const char *wrong = sn_record_json_find(spec, line, length, values->span);
    unsigned long long at_byte = block->offset;
    at_byte += block->start[i];
    if (wrong)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%s: the line at byte %llu is not valid JSON: %s", block->name, at_byte,
                            wrong);
    seen_status status = reserve_text(values, spec->parts, length, error);
    for (size_t p = 0; p < spec->parts && status == SEEN_OK; p++) {
        const char *at = NULL;
        if (values->span[p].at) {
            char *to = values->text + values->text_used;
            at = sn_record_json_value(values->span[p], to, &length);
            if (at == to)
                values->text_used += length;
        }
        status = add(values, at, at ? length : 0, error);
    }
    return status;
}

seen_status sn_values_get(sn_values *values, const sn_record_spec *spec, const sn_block *block,
                          size_t i, seen_error *error)
{
    size_t length;
    const char *line;
    values->count = values->text_used = 0;
    values->missing = false;
    switch (spec->kind) {
    case SN_RECORD_CSV:
        return get_csv(values, spec, block, i, error);
    case SN_RECORD_JSON:
        return get_json(values, spec, block, i, error);
    case SN_RECORD_LINES:
    default:
        line = sn_block_line(block, i, &length);
        length -= spec->crlf && length && line[length - 1] == '\r';
        return get_fields(values, spec, line, length, error);
    }
}

seen_status sn_values_fail_missing(const sn_values *values, const sn_record_spec *spec,
                                   const sn_block *block, size_t i, seen_error *error)
{
    unsigned long long at = block->offset + block->start[i];
    size_t p = 0;
    while (p + 1 < values->count && values->value[p].at)
        p++;
    if (p < spec->parts && spec->part[p].steps)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "%s: the record at byte %llu has no %s",
                            block->name, at, spec->part[p].step[spec->part[p].steps - 1].name);
    return sn_error_set(error, SEEN_ERR_ARGUMENT, "%s: the record at byte %llu has too few fields",
                        block->name, at);
}
