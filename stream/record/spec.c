/* Parses -k 2,5 and -k user.id,url into a list of columns or paths. */
#include "stream/record/spec.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static seen_status no_memory(seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a list of keys");
}

static void free_part(sn_spec_part *part)
{
    for (size_t i = 0; i < part->steps; i++)
        free(part->step[i].name);
    free(part->step);
    *part = (sn_spec_part){0};
}

void sn_spec_free(sn_record_spec *spec)
{
    for (size_t i = 0; i < spec->parts; i++)
        free_part(&spec->part[i]);
    free(spec->part);
    spec->part = NULL;
    spec->parts = 0;
}

bool sn_spec_is_single(const sn_record_spec *spec)
{
    if (!spec->parts)
        return spec->kind != SN_RECORD_CSV;
    const sn_columns *columns = &spec->part[0].columns;
    bool range = columns->first != columns->last && spec->kind == SN_RECORD_CSV;
    return spec->parts == 1 && !range;
}

/* Parses digits up to SN_COLUMN_LAST - 1; 0 if there is no number or it is too large. */
static uint32_t read_column(const char **at)
{
    uint64_t value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        value = value < SN_COLUMN_LAST ? value * 10 + (uint64_t)(**at - '0') : value;
    return value < SN_COLUMN_LAST ? (uint32_t)value : 0;
}

/* Parses N, N-, N-M or -M; must match the whole item. */
static bool read_columns(const char *text, size_t length, sn_columns *columns)
{
    char item[32];
    const char *at = item;
    if (!length || length >= sizeof item)
        return false;
    memcpy(item, text, length);
    item[length] = 0;
    bool from_first = *at == '-';
    columns->first = from_first ? 1 : read_column(&at);
    columns->last = columns->first;
    if (*at == '-') {
        at++;
        columns->last = *at ? read_column(&at) : from_first ? 0 : SN_COLUMN_LAST;
    }
    return !*at && columns->first && columns->last >= columns->first;
}

/* Appends one step with a copy of its name; in `quoted` names quotes are doubled. */
static seen_status add_step(sn_spec_part *part, const char *name, size_t length, bool quoted,
                            seen_error *error)
{
    if (length > SN_KEY_NAME)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "a name is longer than %d bytes",
                            SN_KEY_NAME);
    sn_spec_step *step = realloc(part->step, (part->steps + 1) * sizeof *step);
    if (!step)
        return no_memory(error);
    part->step = step;
    step += part->steps;
    *step = (sn_spec_step){.name = malloc(length + 1), .index = UINT64_MAX};
    if (!step->name)
        return no_memory(error);
    part->steps++;
    for (size_t i = 0; i < length; i++) {
        step->name[step->length++] = name[i];
        i += quoted && name[i] == '"';
    }
    step->name[step->length] = 0;
    size_t digits = strspn(step->name, "0123456789");
    if (!quoted && digits && digits == step->length && digits < 19)
        step->index = strtoull(step->name, NULL, 10);
    return SEEN_OK;
}

/* Parses one step from `at`: a name up to `stops`, or a quoted one. *end is behind it. */
static seen_status read_step(sn_spec_part *part, const char *at, const char *stops,
                             const char **end, seen_error *error)
{
    if (*at != '"') {
        *end = at + strcspn(at, stops);
        if (*end == at)
            return sn_error_set(error, SEEN_ERR_ARGUMENT, "a key has an empty name");
        return add_step(part, at, (size_t)(*end - at), false, error);
    }
    const char *close = at + 1;
    while (*close && (*close != '"' || close[1] == '"'))
        close += *close == '"' ? 2 : 1;
    *end = close + (*close == '"');
    if (!*close || !strchr(stops, **end))
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "unbalanced quotes in %s", at);
    return add_step(part, at + 1, (size_t)(close - at - 1), true, error);
}

/* Parses one item: columns, a column name, or a path. */
static seen_status read_part(const sn_record_spec *spec, const char *at, sn_spec_part *part,
                             const char **end, seen_error *error)
{
    size_t length = strcspn(at, ",");
    if (spec->kind != SN_RECORD_JSON && read_columns(at, length, &part->columns)) {
        *end = at + length;
        return SEEN_OK;
    }
    part->columns = (sn_columns){0, 0};
    if (spec->kind == SN_RECORD_LINES || (spec->kind == SN_RECORD_CSV && !spec->header))
        return sn_error_set(
            error, SEEN_ERR_ARGUMENT,
            "'%.*s' is not a field: write -k 2, -k 2,5 or -k 3-; names are for --csv, --tsv and "
            "--jsonl%s",
            (int)(length < 60 ? length : 60), at,
            spec->kind == SN_RECORD_CSV ? ", and need a header" : "");
    for (;;) {
        seen_status status =
            read_step(part, at, spec->kind == SN_RECORD_JSON ? ".," : ",", end, error);
        if (status != SEEN_OK || **end != '.' || spec->kind != SN_RECORD_JSON)
            return status;
        if (part->steps == SN_KEY_STEPS)
            return sn_error_set(error, SEEN_ERR_ARGUMENT, "a key has more than %d steps",
                                SN_KEY_STEPS);
        at = *end + 1;
    }
}

seen_status sn_spec_add(sn_record_spec *spec, const char *text, seen_error *error)
{
    for (const char *at = text, *end = text;; at = end + 1) {
        sn_spec_part part = {0};
        if (spec->parts == SN_KEY_PARTS)
            return sn_error_set(error, SEEN_ERR_ARGUMENT, "more than %d keys", SN_KEY_PARTS);
        sn_spec_part *grown = realloc(spec->part, (spec->parts + 1) * sizeof *grown);
        if (!grown)
            return no_memory(error);
        spec->part = grown;
        seen_status status = read_part(spec, at, &part, &end, error);
        if (status != SEEN_OK) {
            free_part(&part);
            return status;
        }
        spec->part[spec->parts++] = part;
        if (!*end)
            return SEEN_OK;
    }
}

/* The names of the columns for a message, as many as fit. */
static const char *list_names(char *text, size_t room, const seen_key *names, size_t count)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < count; k++) {
        if (names[k].len + sizeof ", , ..." > room - used) {
            snprintf(text + used, room - used, "%s...", k ? ", " : "");
            break;
        }
        used += (size_t)snprintf(text + used, room - used, "%s%.*s", k ? ", " : "",
                                 (int)names[k].len, (const char *)names[k].data);
    }
    return text;
}

seen_status sn_spec_resolve(const sn_record_spec *spec, const char *file, const seen_key *names,
                            size_t count, sn_columns **columns, seen_error *error)
{
    sn_columns *found = malloc((spec->parts + 1) * sizeof *found);
    if (!found)
        return no_memory(error);
    for (size_t i = 0; i < spec->parts; i++) {
        const sn_spec_step *want = spec->part[i].step;
        found[i] = spec->part[i].columns;
        size_t times = 0;
        for (size_t k = 0; want && k < count; k++)
            if (names[k].len == want->length && !memcmp(names[k].data, want->name, want->length)) {
                found[i].first = found[i].last = (uint32_t)(k + 1);
                times++;
            }
        if (!want || times == 1)
            continue;
        free(found);
        if (times)
            return sn_error_set(error, SEEN_ERR_ARGUMENT,
                                "%s: %zu columns are named %s; choose one by its number", file,
                                times, want->name);
        char listed[160];
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%s: no column is named %s; its columns are %s (if the first line is "
                            "not a header, use --no-header and numbers)",
                            file, want->name, list_names(listed, sizeof listed, names, count));
    }
    *columns = found;
    return SEEN_OK;
}
