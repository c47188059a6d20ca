/* A filter stores how its keys were made: the options that define keys, as one line of text.
 *
 *     --csv --ignore-case --key=url,id        lines (no option at all)
 *
 * A space, a percent sign and control characters in a value are written as %XX. */
#include "base/error.h"
#include "cli/watch.h"

#include <stdlib.h>
#include <string.h>

static const char WHOLE_LINES[] = "lines";

/* The options without a value, in the order of the text. */
static const struct {
    const char *name;
    size_t offset;
} flags[] = {
    {"--csv", offsetof(sn_args, csv)},
    {"--tsv", offsetof(sn_args, tsv)},
    {"--jsonl", offsetof(sn_args, jsonl)},
    {"--no-header", offsetof(sn_args, no_header)},
    {"--crlf", offsetof(sn_args, crlf)},
    {"--ignore-case", offsetof(sn_args, ignore_case)},
    {"--url", offsetof(sn_args, url)},
    {"--sort-query", offsetof(sn_args, sort_query)},
    {"--drop-tracking", offsetof(sn_args, drop_tracking)},
    {"--drop-sessions", offsetof(sn_args, drop_sessions)},
    {"--drop-www", offsetof(sn_args, drop_www)},
    {"--drop-slash", offsetof(sn_args, drop_slash)},
    {"--any-scheme", offsetof(sn_args, any_scheme)},
    {"--ignore-values", offsetof(sn_args, ignore_values)},
    {"--similar", offsetof(sn_args, similar)},
};
enum { FLAGS = sizeof flags / sizeof *flags };

static bool *flag_of(sn_args *args, size_t i)
{
    return (bool *)((char *)args + flags[i].offset);
}

/* ---- Options to text ------------------------------------------------------------------------ */

typedef struct text {
    char *at;
    size_t length;
    bool whole; /* everything fitted */
} text;

static void put_byte(text *t, char c)
{
    t->whole = t->whole && t->length < SEEN_NOTE_MAX;
    if (t->whole)
        t->at[t->length++] = c;
}

static void put_option(text *t, const char *name, const char *value)
{
    static const char hex[] = "0123456789ABCDEF";
    if (t->length)
        put_byte(t, ' ');
    for (; *name; name++)
        put_byte(t, *name);
    for (; value && *value; value++) {
        unsigned char c = (unsigned char)*value;
        bool plain = c > ' ' && c != '%' && c != 0x7f;
        put_byte(t, plain ? (char)c : '%');
        if (!plain) {
            put_byte(t, hex[c >> 4]);
            put_byte(t, hex[c & 15]);
        }
    }
}

bool sn_args_describe(sn_args *args, char note[SEEN_NOTE_MAX + 1])
{
    text t = {note, 0, true};
    char delimiter[2] = {(char)args->delimiter, 0};
    for (size_t i = 0; i < FLAGS; i++)
        if (*flag_of(args, i))
            put_option(&t, flags[i].name, NULL);
    if (args->delimiter > 0 && args->delimiter != (args->csv ? ',' : '\t'))
        put_option(&t, "--delimiter=", delimiter);
    for (size_t i = 0; i < args->keys.count; i++)
        put_option(&t, "--key=", args->keys.items[i]);
    for (size_t i = 0; i < args->drop.count; i++)
        put_option(&t, "--drop=", args->drop.items[i]);
    if (!t.length)
        put_option(&t, WHOLE_LINES, NULL);
    note[t.length] = 0;
    return t.whole;
}

/* ---- Text to options ------------------------------------------------------------------------ */

static int hex_digit(char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes %XX in place. */
static void decode(char *value)
{
    char *to = value;
    for (const char *from = value; *from; from++) {
        bool escape = *from == '%' && hex_digit(from[1]) >= 0 && hex_digit(from[2]) >= 0;
        *to++ = escape ? (char)(hex_digit(from[1]) * 16 + hex_digit(from[2])) : *from;
        from += escape ? 2 : 0;
    }
    *to = 0;
}

static bool add_to(sn_args_list *list, const char *value)
{
    const char **items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (!items)
        return false;
    items[list->count++] = value;
    list->items = items;
    return true;
}

/* One word of the text, which must outlive the arguments. */
static bool take_word(sn_args *args, char *word)
{
    char *value = strchr(word, '=');
    if (!value) {
        for (size_t i = 0; i < FLAGS; i++)
            if (!strcmp(word, flags[i].name))
                return *flag_of(args, i) = true;
        return !strcmp(word, WHOLE_LINES);
    }
    *value++ = 0;
    decode(value);
    if (!strcmp(word, "--key"))
        return add_to(&args->keys, value);
    if (!strcmp(word, "--drop"))
        return add_to(&args->drop, value);
    args->delimiter = (unsigned char)value[0];
    return !strcmp(word, "--delimiter") && value[0] && !value[1];
}

/* Applies the options of a note. */
static bool apply(sn_args *args, const char *note)
{
    char *copy = args->remembered = strdup(note), *rest = NULL;
    bool good = copy != NULL;
    for (char *word = good ? strtok_r(copy, " ", &rest) : NULL; word && good;
         word = strtok_r(NULL, " ", &rest))
        good = take_word(args, word);
    sn_spec_free(&args->record);
    return good && sn_args_record(args) == SN_EXIT_OK;
}

seen_status sn_filter_keys(sn_args *args, const seen_set *set, const char *where, seen_error *error)
{
    seen_info info = {.size = sizeof info};
    char given[SEEN_NOTE_MAX + 1], shown[SN_WHERE];
    seen_status status = seen_get_shape(set, &info, error);
    if (status != SEEN_OK || !info.note[0] || args->other_keys)
        return status;
    if (sn_args_describe(args, given) && !strcmp(given, info.note))
        return SEEN_OK;
    if (strcmp(given, WHOLE_LINES) != 0)
        return sn_error_set(error, SEEN_ERR_MISMATCH,
                            "%s: its keys were made with %s, not with %s; leave these options out, "
                            "or use --other-keys",
                            sn_where_show(shown, where),
                            strcmp(info.note, WHOLE_LINES) ? info.note : "whole lines", given);
    if (!apply(args, info.note))
        return sn_error_set(
            error, SEEN_ERR_MISMATCH,
            "%s: its keys were made with options that this version does not know: %s",
            sn_where_show(shown, where), info.note);
    return SEEN_OK;
}
