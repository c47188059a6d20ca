/* The options that commands share: one row each. */
#include "cli/cli.h"

#include <string.h>

#define AT(field) offsetof(sn_args, field)
#define GROUP(name, heading)                                                                       \
    const sn_group sn_group_##name = {                                                             \
        .title = (heading), .options = (name), .count = sizeof(name) / sizeof((name)[0])}
/* -n, -p, -m and --hashes: their meaning is the same everywhere, their defaults are not. */
#define SIZING(few, rate, memory_help, memory_preset)                                              \
    {.letter = 'n',                                                                                \
     .name = "capacity",                                                                           \
     .argument = "KEYS",                                                                           \
     .type = SN_COUNT,                                                                             \
     .offset = AT(capacity),                                                                       \
     .min = 1,                                                                                     \
     .max = 1000000000000,                                                                         \
     .help = "expected number of distinct keys: 5e9, 100M",                                        \
     .rare = (few),                                                                                \
     .more = "A count: the suffixes k, M, G (or B, billion) and T are powers of 1000. A filter "   \
             "that grows takes it as a hint."},                                                    \
        {.letter = 'p',                                                                            \
         .name = "error-rate",                                                                     \
         .argument = "RATE",                                                                       \
         .type = SN_RATE,                                                                          \
         .offset = AT(error_rate),                                                                 \
         .help = "false-positive rate: 0.01, 1%, 1/100",                                           \
         .preset = (rate),                                                                         \
         .more = "The share of new keys that are reported as seen. The rate holds at capacity; "   \
                 "with fewer keys it is lower."},                                                  \
        {.letter = 'm',                                                                            \
         .name = "memory",                                                                         \
         .argument = "SIZE",                                                                       \
         .type = SN_SIZE,                                                                          \
         .offset = AT(memory),                                                                     \
         .min = 64,                                                                                \
         .max = UINT64_C(1) << 50,                                                                 \
         .help = (memory_help),                                                                    \
         .preset = (memory_preset),                                                                \
         .more = "KB, MB, GB, TB are powers of 1000, KiB, MiB, GiB, TiB powers of 1024, and so "   \
                 "are the bare letters K, M, G, T, as in sort -S."},                               \
    {                                                                                              \
        .name = "hashes", .argument = "NUMBER", .type = SN_COUNT, .offset = AT(hashes), .min = 1,  \
        .max = 64, .help = "bits to set per key (k in the textbooks)",                             \
        .preset = "the best for the size", .rare = true,                                           \
        .more = "Rarely needed. Together with -m it makes a classic filter, one bit in each of k " \
                "cache lines."                                                                     \
    }

static const sn_option sizing[] = {
    SIZING(false, "1%", "memory: 4GiB, 120MB, 64K", "from -n and -p")};
GROUP(sizing, "Size");

static const sn_option adding[] = {
    SIZING(false, "1e-6", "size of a new filter that does not grow: 4GiB", "it grows")};
GROUP(adding, "A filter that is created");

static const sn_option bounds[] = {
    SIZING(true, "1e-6", "memory: 4GiB, 120MB", "half of what is free")};
GROUP(bounds, "How to remember");

static const sn_option kind[] = {
    {.name = "kind",
     .type = SN_CHOICE,
     .offset = AT(kind),
     .choices = "bloom|counting",
     .help = "counting can also remove",
     .preset = "bloom",
     .more = "bloom: add, check, merge. counting: also remove, in four times the memory."},
    {.name = "growth",
     .type = SN_CHOICE,
     .offset = AT(growth),
     .choices = "fixed|growing|window",
     .help = "fixed size, growing, or a window that forgets",
     .more = "fixed: one filter of a known capacity, the default with -n or -m. growing, the "
             "default without them: the filter grows as keys are added and keeps the promised "
             "rate; -n is a hint. window: the oldest keys are forgotten (kind bloom only). -m and "
             "--hashes are for fixed filters."},
    {.name = "generations",
     .argument = "NUMBER",
     .type = SN_COUNT,
     .offset = AT(generations),
     .min = 2,
     .max = 32,
     .help = "window: number of parts",
     .preset = "8",
     .rare = true,
     .more = "More parts forget more evenly and cost more per key."},
    {.name = "window",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(window_ms),
     .min = 1000,
     .help = "forget keys after this time: 30d, 12h",
     .more = "Implies --growth window. Without it the window is the last -n additions. With it, -n "
             "is how many keys come in that time, evenly: each part of the window has room for its "
             "part of them, and has more false positives if they come in a burst."},
    {.name = "renew",
     .type = SN_FLAG,
     .offset = AT(renew),
     .help = "window: a key that comes again is kept longer",
     .rare = true,
     .more = "Without it a key is forgotten a window after it was last new: a URL that comes every "
             "day is new again after 30 days. With it a key is forgotten a window after it last "
             "came."},
    {.name = "when-full",
     .type = SN_CHOICE,
     .offset = AT(when_full),
     .choices = "refuse|go-on",
     .help = "past the capacity",
     .preset = "refuse",
     .more = "For filters of a fixed size. refuse keeps the error rate: adding a new key fails. "
             "go-on keeps adding while the error rate rises, which seen info shows."},
};
GROUP(kind, "Kind");

static const sn_option seed[] = {
    {.name = "seed",
     .argument = "SEED",
     .type = SN_SEED,
     .offset = AT(seed),
     .help = "a number, or 32 hexadecimal digits",
     .preset = "random",
     .rare = true,
     .more = "Filters can be merged if they have the same seed and the same parameters."},
    {.name = "hash",
     .type = SN_CHOICE,
     .offset = AT(hash),
     .choices = "xxh3|sip",
     .help = "hash function; sip resists an attacker",
     .preset = "xxh3",
     .rare = true,
     .more = "sip (SipHash-2-4) is for keys that an attacker may choose; it is safe as long as the "
             "seed stays secret."},
};
GROUP(seed, "Hash");

static const sn_option records[] = {
    {.letter = 'z',
     .name = "null",
     .type = SN_FLAG,
     .offset = AT(null),
     .help = "records end with a NUL byte, not a newline",
     .rare = true},
    {.name = "crlf",
     .type = SN_FLAG,
     .offset = AT(crlf),
     .help = "a CR at the end of a line is not compared",
     .rare = true,
     .more =
         "For files from Windows: the same text with CRLF and with LF is one line. Lines are "
         "printed as they are. Records of --csv, --tsv and --jsonl may always end with either."},
    {.letter = 'k',
     .name = "key",
     .argument = "KEYS",
     .type = SN_LIST,
     .offset = AT(keys),
     .help = "fields to compare: 2,5, 3-, url",
     .preset = "all",
     .more = "Fields are counted from 1; 2,5 is two fields, 2-5 four, 3- all from the third on. "
             "With --csv and --tsv, names of columns; with --jsonl, paths: user.id is id inside "
             "user, tags.0 the first element of tags. A name with a comma (or, in a path, a dot) "
             "is written in double quotes. -k may be given several times. The whole record is "
             "printed. A plain line with fewer fields has empty ones, and of a range its text is "
             "compared."},
    {.letter = 't',
     .name = "delimiter",
     .argument = "CHAR",
     .type = SN_CHAR,
     .offset = AT(delimiter),
     .help = "field separator",
     .preset = "tab; with --csv a comma",
     .more = "One byte; \\t, \\0 and \\xHH are understood. Plain lines need -k too; quotes mean "
             "nothing in them."},
    {.name = "csv",
     .type = SN_FLAG,
     .offset = AT(csv),
     .help = "CSV (RFC 4180) with a header; -k takes names",
     .more = "A field in double quotes may contain delimiters and newlines, and a quote written "
             "twice. The first record of each file is its header: it names the columns, is printed "
             "once and never compared. All files of an input must have the same. Without -k all "
             "columns are compared. A record ends with LF or CRLF."},
    {.name = "tsv",
     .type = SN_FLAG,
     .offset = AT(tsv),
     .help = "the same, separated by tabs",
     .rare = true},
    {.name = "no-header",
     .type = SN_FLAG,
     .offset = AT(no_header),
     .help = "with --csv or --tsv: the first record is data",
     .rare = true},
    {.name = "jsonl",
     .type = SN_FLAG,
     .offset = AT(jsonl),
     .help = "lines of JSON; -k takes paths",
     .more = "A value is compared by its text: a string without its quotes and with its escapes "
             "replaced, a number as it is written, an object or array without the white space "
             "between its parts. A line that is not JSON is an error."},
    {.name = "missing",
     .type = SN_CHOICE,
     .offset = AT(missing),
     .choices = "value|skip|error",
     .help = "what to do with a record without the key",
     .preset = "value",
     .rare = true,
     .more = "For --csv, --tsv and --jsonl. value: a missing key is a value of its own, equal to "
             "other missing ones only. skip: the record is left out. error: the command fails."},
    {.letter = 'i',
     .name = "ignore-case",
     .type = SN_FLAG,
     .offset = AT(ignore_case),
     .help = "ignore the case of ASCII letters"},
};
GROUP(records, "Records");

static const sn_option url[] = {
    {.name = "url",
     .type = SN_FLAG,
     .offset = AT(url),
     .help = "compare URLs by their canonical form",
     .more = "HTTP://Example.org:80/a/../b and http://example.org/b are one. What is not a URL is "
             "compared as it is."},
    {.name = "sort-query",
     .type = SN_FLAG,
     .offset = AT(sort_query),
     .help = "--url: the order of query parameters does not count",
     .rare = true},
    {.name = "drop-tracking",
     .type = SN_FLAG,
     .offset = AT(drop_tracking),
     .help = "--url: without utm_*, gclid, fbclid and the like",
     .rare = true},
    {.name = "drop-sessions",
     .type = SN_FLAG,
     .offset = AT(drop_sessions),
     .help = "--url: without PHPSESSID, ;jsessionid= and the like",
     .rare = true},
    {.name = "drop-www",
     .type = SN_FLAG,
     .offset = AT(drop_www),
     .help = "--url: www.example.org is example.org",
     .rare = true},
    {.name = "drop-slash",
     .type = SN_FLAG,
     .offset = AT(drop_slash),
     .help = "--url: /a/ is /a",
     .rare = true},
    {.name = "drop",
     .argument = "NAME",
     .type = SN_LIST,
     .offset = AT(drop),
     .help = "--url: without this query parameter; NAME* for any ending",
     .rare = true,
     .more = "May be given several times."},
    {.name = "any-scheme",
     .type = SN_FLAG,
     .offset = AT(any_scheme),
     .help = "--url: http and https are equal",
     .rare = true},
    {.name = "ignore-values",
     .type = SN_FLAG,
     .offset = AT(ignore_values),
     .help = "--url: only the names of query parameters count, in any order",
     .rare = true},
    {.name = "similar",
     .type = SN_FLAG,
     .offset = AT(similar),
     .help = "--url: numbers, UUIDs and hashes in the path count as equal",
     .rare = true,
     .more = "A segment of the path that is a number, a UUID or a hash (16 hexadecimal digits or "
             "more) equals any other number, UUID or hash, also with an ending such as .html. Each "
             "of these options implies --url."},
};
GROUP(url, "URLs");

static const sn_option remember[] = {
    {.name = "other-keys",
     .type = SN_FLAG,
     .offset = AT(other_keys),
     .help = "allow key options that differ from those of the filter",
     .rare = true,
     .more = "A filter remembers how its keys were made: the fields, the format, -i and the URL "
             "options with which add, uniq -f or create made it. Commands without such options use "
             "the same; other options are an error, because no key would be found. This option "
             "allows them, for example to check a column against a filter of whole lines."},
};
GROUP(remember, "Records");

static const sn_option print[] = {
    {.name = "print",
     .type = SN_CHOICE,
     .offset = AT(print),
     .choices = "record|canonical",
     .help = "print records as they are, or their canonical URLs",
     .preset = "record",
     .rare = true,
     .more = "canonical is for lines that are URLs, without -k; other lines are printed as they "
             "are. --any-scheme, --ignore-values and --similar decide which URLs are equal and do "
             "not change what is printed. Implies --url."},
};
GROUP(print, "URLs");

static const sn_option output[] = {
    {.letter = 'o',
     .name = "output",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(output),
     .choices = "FILE",
     .help = "write to FILE; .gz, .zst compress",
     .preset = "stdout",
     .more = "FILE may be an input. It is replaced only at the end; on failure it is unchanged. A "
             "name that ends in .xz, .bz2 or .lz4 is refused: pipe the output through that tool."},
};
GROUP(output, SN_OUTPUT_TITLE);

static const sn_option temp[] = {
    {.letter = 'T',
     .name = "temp",
     .argument = "DIR",
     .type = SN_STRING,
     .offset = AT(temp),
     .choices = "DIR",
     .help = "folder for temporary files",
     .preset = "$TMPDIR, /tmp"},
};
GROUP(temp, SN_OUTPUT_TITLE);

static const sn_option threads[] = {
    {.letter = 'j',
     .name = "threads",
     .argument = "NUMBER",
     .type = SN_COUNT,
     .offset = AT(threads),
     .min = 1,
     .max = 256,
     .help = "threads to use",
     .preset = "all cores",
     .more = "With Redis at least 3. The output is the same with any number."},
};
GROUP(threads, SN_OUTPUT_TITLE);

#define QUIET                                                                                      \
    {                                                                                              \
        .letter = 'q', .name = "quiet", .type = SN_FLAG, .offset = AT(quiet),                      \
        .help = "print errors only"                                                                \
    }

static const sn_option quiet[] = {QUIET};
GROUP(quiet, SN_OUTPUT_TITLE);

static const sn_option messages[] = {
    QUIET,
    {.name = "summary",
     .type = SN_FLAG,
     .offset = AT(summary),
     .help = "print the summary also if stderr is not a terminal",
     .rare = true},
    {.name = "progress",
     .argument = "json",
     .type = SN_MAYBE,
     .offset = AT(progress),
     .choices = "json",
     .help = "show progress also if stderr is not a terminal",
     .rare = true,
     .more = "With =json, one JSON object per line for programs: what, bytes, bytes_total, lines, "
             "seconds, lines_per_second, seconds_left, fill and done, as far as they are known. On "
             "a terminal progress is shown without this option, unless -q is given or the results "
             "are printed there too."},
};
GROUP(messages, SN_OUTPUT_TITLE);

static const sn_option json[] = {
    {.name = "json",
     .type = SN_FLAG,
     .offset = AT(json),
     .help = "print JSON, for programs",
     .rare = true},
};
GROUP(json, SN_OUTPUT_TITLE);

#define TIMEOUTS                                                                                   \
    {.name = "connect-timeout",                                                                    \
     .argument = "TIME",                                                                           \
     .type = SN_DURATION,                                                                          \
     .offset = AT(connect_ms),                                                                     \
     .min = 1,                                                                                     \
     .max = 3600000,                                                                               \
     .help = "Redis connection timeout",                                                           \
     .preset = "2s",                                                                               \
     .rare = true},                                                                                \
        {.name = "command-timeout",                                                                \
         .argument = "TIME",                                                                       \
         .type = SN_DURATION,                                                                      \
         .offset = AT(command_ms),                                                                 \
         .min = 1,                                                                                 \
         .max = 3600000,                                                                           \
         .help = "Redis command timeout",                                                          \
         .preset = "5s",                                                                           \
         .rare = true},                                                                            \
        {.name = "retry",                                                                          \
         .argument = "TIME",                                                                       \
         .type = SN_DURATION,                                                                      \
         .offset = AT(retry_ms),                                                                   \
         .min = 1,                                                                                 \
         .max = 86400000,                                                                          \
         .help = "keep reconnecting to Redis for this long",                                       \
         .preset = "10s; a cluster 60s",                                                           \
         .rare = true},                                                                            \
        {.name = "redis-password-file",                                                            \
         .argument = "FILE",                                                                       \
         .type = SN_STRING,                                                                        \
         .offset = AT(redis_password_file),                                                        \
         .choices = "FILE",                                                                        \
         .help = "Redis password: the first line of this file",                                    \
         .preset = "$REDISCLI_AUTH",                                                               \
         .rare = true},                                                                            \
        {.name = "tls-ca",                                                                         \
         .argument = "FILE",                                                                       \
         .type = SN_STRING,                                                                        \
         .offset = AT(tls_ca),                                                                     \
         .choices = "FILE",                                                                        \
         .help = "CA certificates to trust for rediss://",                                         \
         .preset = "the system's",                                                                 \
         .rare = true},                                                                            \
        {.name = "tls-cert",                                                                       \
         .argument = "FILE",                                                                       \
         .type = SN_STRING,                                                                        \
         .offset = AT(tls_cert),                                                                   \
         .choices = "FILE",                                                                        \
         .help = "client certificate for rediss://",                                               \
         .rare = true},                                                                            \
    {                                                                                              \
        .name = "tls-key", .argument = "FILE", .type = SN_STRING, .offset = AT(tls_key),           \
        .choices = "FILE", .help = "private key of that certificate", .rare = true                 \
    }

static const sn_option timeout[] = {TIMEOUTS};
GROUP(timeout, "Redis and TLS");

static const sn_option redis[] = {
    {.name = "ttl",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(ttl_ms),
     .min = 1000,
     .help = "delete it after this time without use",
     .preset = "never"},
    {.name = "layout",
     .type = SN_CHOICE,
     .offset = AT(layout),
     .choices = "shards|bitmap",
     .help = "bitmap: one plain string",
     .preset = "shards",
     .more = "bitmap is one string with k positions over the whole of it, which other clients can "
             "read with GETBIT; it can be no larger than 512 MiB."},
    TIMEOUTS,
};
GROUP(redis, "Redis and TLS");

/* ---- the options of a command: those of its groups, and of help ---- */

static const sn_option help_options[] = {
    {.name = "color",
     .type = SN_CHOICE,
     .offset = offsetof(sn_args, color),
     .choices = "auto|always|never",
     .help = "colour in help and messages",
     .preset = "auto",
     .more = "auto uses colour on a terminal, unless NO_COLOR is set or TERM is dumb."},
    {.letter = 'h',
     .name = "help",
     .argument = "all",
     .type = SN_MAYBE,
     .choices = "all",
     .help = "show the usual options, or with all every option"},
};
static const sn_group help_group = {.title = SN_OUTPUT_TITLE, .options = help_options, .count = 2};

const sn_option *sn_option_at(const sn_cli_command *command, size_t i, const sn_group **group)
{
    for (size_t g = 0; g <= SN_MAX_GROUPS; g++) {
        bool last = g == SN_MAX_GROUPS || !command->groups[g];
        const sn_group *in = last ? &help_group : command->groups[g];
        if (i < in->count) {
            if (group)
                *group = in;
            return &in->options[i];
        }
        if (last)
            break;
        i -= in->count;
    }
    return NULL;
}

const char *sn_option_argument(const sn_option *option)
{
    return option->type == SN_CHOICE ? option->choices : option->argument;
}

bool sn_args_given(const sn_args *args, const char *name)
{
    const sn_option *option;
    for (size_t i = 0; (option = sn_option_at(args->command, i, NULL)); i++)
        if (!strcmp(option->name, name))
            return args->given[i / 64] >> (i % 64) & 1;
    return false;
}
