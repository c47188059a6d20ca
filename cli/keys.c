/* Options about records and keys. */
#include "cli/watch.h"

#include <string.h>

static int check_formats(const sn_args *args)
{
    bool table = args->csv || args->tsv;
    if (args->csv + args->tsv + args->jsonl > 1)
        return sn_message_error("choose one of --csv, --tsv and --jsonl");
    if (args->no_header && !table)
        return sn_message_error("--no-header is for --csv and --tsv");
    if (sn_args_given(args, "missing") && !table && !args->jsonl)
        return sn_message_error(
            "--missing is for --csv, --tsv and --jsonl: a field that a plain line "
            "does not have is empty");
    if (table && args->null)
        return sn_message_error("CSV records end with a newline: leave -z out");
    if (args->crlf && args->null)
        return sn_message_error("--crlf is for lines that end with a newline: leave -z out");
    if (args->jsonl && args->delimiter >= 0)
        return sn_message_error("--jsonl has no delimiter: leave -t out");
    if (args->jsonl && !args->keys.count)
        return sn_message_error(
            "--jsonl needs -k PATH, as in -k user.id; to compare whole lines leave "
            "--jsonl out");
    if (!table && args->delimiter >= 0 && !args->keys.count)
        return sn_message_error(
            "-t separates fields: name the fields to compare with -k, as in -k 2");
    if (table && (args->delimiter == '"' || args->delimiter == '\n' || args->delimiter == '\r'))
        return sn_message_error("the delimiter of CSV must not be a quote or a newline");
    return SN_EXIT_OK;
}

static int set_url(sn_args *args)
{
    uint32_t flags =
        (args->sort_query ? SEEN_URL_SORT_QUERY : 0) |
        (args->drop_tracking ? SEEN_URL_DROP_TRACKING : 0) |
        (args->drop_sessions ? SEEN_URL_DROP_SESSION : 0) |
        (args->drop_www ? SEEN_URL_DROP_WWW : 0) | (args->drop_slash ? SEEN_URL_DROP_SLASH : 0) |
        (args->any_scheme ? SEEN_URL_ANY_SCHEME : 0) |
        (args->ignore_values ? SEEN_URL_NO_VALUES : 0) | (args->similar ? SEEN_URL_SIMILAR : 0);
    args->url_options = (seen_url_options){.size = sizeof args->url_options,
                                           .flags = flags,
                                           .drop = args->drop.items,
                                           .drop_count = args->drop.count};
    args->url_print = args->url_options;
    args->url_print.flags &=
        ~(uint32_t)(SEEN_URL_ANY_SCHEME | SEEN_URL_NO_VALUES | SEEN_URL_SIMILAR);
    args->url |= flags || args->drop.count || args->print;
    if (args->print && (args->keys.count || args->csv || args->tsv || args->jsonl))
        return sn_message_error(
            "--print canonical is for lines that are URLs: leave -k and the format "
            "out");
    return SN_EXIT_OK;
}

int sn_args_record(sn_args *args)
{
    seen_error error = {0};
    int code = check_formats(args);
    if (!code)
        code = set_url(args);
    if (code)
        return code;
    int delimiter = args->delimiter >= 0 ? args->delimiter : args->csv ? ',' : '\t';
    args->record = (sn_record_spec){
        .kind = args->jsonl              ? SN_RECORD_JSON
                : args->csv || args->tsv ? SN_RECORD_CSV
                                         : SN_RECORD_LINES,
        .delimiter = (char)delimiter,
        .terminator = args->null ? '\0' : '\n',
        .header = (args->csv || args->tsv) && !args->no_header,
        .crlf = args->crlf,
        .missing = (sn_spec_missing)args->missing,
    };
    for (size_t i = 0; i < args->keys.count; i++)
        if (sn_spec_add(&args->record, args->keys.items[i], &error) != SEEN_OK)
            return sn_message_error("-k: %s", error.message);
    return SN_EXIT_OK;
}

const sn_record_spec *sn_args_record_spec(const sn_args *args)
{
    bool lines = args->record.kind == SN_RECORD_LINES && !args->record.parts && !args->record.crlf;
    return lines ? NULL : &args->record;
}

const seen_url_options *sn_args_rewrite(const sn_args *args)
{
    return args->print ? &args->url_print : NULL;
}

sn_keys_options sn_args_keys(sn_args *args)
{
    return (sn_keys_options){.record = sn_args_record_spec(args),
                             .fold = args->ignore_case,
                             .url = args->url,
                             .url_options = args->url_options,
                             .quoted = &args->quoted,
                             .line_ends = &args->line_ends};
}

void sn_args_warn_records(const sn_args *args)
{
    bool usual = args->delimiter < 0 || strchr(",;\t|", args->delimiter);
    if (usual && atomic_load(&args->quoted))
        sn_message_warn(
            "some fields begin with a quote, which -t does not understand; use %s to read "
            "quoted fields",
            args->delimiter < 0 || args->delimiter == '\t' ? "--tsv"
            : args->delimiter == ','                       ? "--csv"
                                                           : "--csv -t CHAR");
    if (!args->quiet && !args->url && atomic_load(&args->line_ends) == (SN_KEYS_LF | SN_KEYS_CRLF))
        sn_message_warn("some lines end with CRLF and some with LF: they are not equal; use --crlf "
                        "to ignore the CR");
}
