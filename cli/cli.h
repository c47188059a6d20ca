/* The internal library of the command, used by every `seen COMMAND`.
 *
 *     main -> commands.c (find the command) -> parse.c (its options, into sn_args) -> its run()
 *
 * One definition per option and per command: a row of a table (options.c, or a command's own file)
 * is used for parsing, --help, the man page and shell completion. A command is one file that ends
 * in one
 *
 *     const sn_cli_command sn_cli_command_uniq = {...};
 *
 * and one line in commands.c. Commands are clients of the library: they include "seen.h",
 * "stream/...", "crawl/crawl.h" and the headers of this folder, nothing below.
 *
 * Results go to stdout, messages to stderr. run() returns the exit status: SN_EXIT_OK, SN_EXIT_NO
 * (`check` saw nothing) or SN_EXIT_ERROR, after a message. */
#ifndef SN_CLI_CLI_H
#define SN_CLI_CLI_H

#include "base/newfile.h"
#include "seen.h"
#include "stream/record/spec.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SN_EXIT_OK = 0, SN_EXIT_NO = 1, SN_EXIT_ERROR = 2 };

/* ---- Option tables -------------------------------------------------------------------------- */

/* The kind of an option's value, and the C type of its target. */
typedef enum sn_option_type {
    SN_FLAG,     /* bool */
    SN_COUNT,    /* uint64_t: 1,000,000, 5e9, 100M, 5B (powers of 1000), whole */
    SN_SIZE,     /* uint64_t, bytes: 120MB (10^6), 4GiB (2^30), 64K (2^10, as sort -S) */
    SN_RATE,     /* double in (0, 1): 0.01, 1%, 1/100, 1e-6 */
    SN_SHARE,    /* double in [0, 1]: 0.5, 100% */
    SN_NUMBER,   /* double, not negative */
    SN_DURATION, /* uint64_t, milliseconds: 500ms, 2s, 5m, 12h, 30d, 2w; a bare number is seconds */
    SN_STRING,   /* const char * */
    SN_LIST,     /* sn_args_list: a string, any number of times */
    SN_CHAR,     /* int: one byte, also written \t, \0, \xHH */
    SN_CHOICE,   /* int: index of the word in `choices` */
    SN_MAYBE,    /* int: 1 given alone, 2 + index given with =WORD of `choices` */
    SN_SEED      /* sn_args_seed: a number, or 32 hexadecimal digits */
} sn_option_type;

typedef struct sn_args_list {
    const char **items;
    size_t count;
} sn_args_list;

typedef struct sn_args_seed {
    bool given;
    uint64_t word[2];
} sn_args_seed;

typedef struct sn_option {
    const char *name;     /* "capacity": the long name, required */
    const char *argument; /* "KEYS"; NULL for a flag, and for SN_CHOICE, which shows its choices */
    sn_option_type type;
    char letter;         /* 'n', or 0 */
    size_t offset;       /* of the target, in sn_args or in the command's own struct */
    const char *help;    /* one line for --help: lower case, no full stop */
    const char *more;    /* further sentences for the man page, or NULL */
    const char *preset;  /* "16": the value if it is not given, shown as "(default 16)"; or NULL */
    bool rare;           /* --help lists only its name; --help=all and the man page explain it */
    const char *choices; /* "bloom|counting" for SN_CHOICE and SN_MAYBE; "FILE" or "DIR" for a
                            string that is one (completion) */
    uint64_t min, max;   /* SN_COUNT, SN_SIZE, SN_DURATION: bounds; max 0: none */
} sn_option;

/* Options under one heading. Neighbours with the same title become one section. */
typedef struct sn_group {
    const char *title; /* "Size" */
    const sn_option *options;
    size_t count;
    bool own; /* targets are in the command's own struct (args->own), not in sn_args */
} sn_group;

/* The last section, which ends with --color and --help. */
#define SN_OUTPUT_TITLE "Output and running"

/* The shared groups; a command lists those that it accepts. */
extern const sn_group sn_group_sizing;   /* -n -p -m --hashes of a filter */
extern const sn_group sn_group_adding;   /* the same, of a filter that is created if missing */
extern const sn_group sn_group_bounds;   /* the same, of a run that may be exact */
extern const sn_group sn_group_kind;     /* --kind --growth --generations --window --when-full */
extern const sn_group sn_group_seed;     /* --seed --hash */
extern const sn_group sn_group_records;  /* -z -k -t --csv … -i --url */
extern const sn_group sn_group_url;      /* --url, --sort-query … */
extern const sn_group sn_group_remember; /* --other-keys */
extern const sn_group sn_group_print;    /* --print */
extern const sn_group sn_group_output;   /* -o */
extern const sn_group sn_group_temp;     /* -T */
extern const sn_group sn_group_threads;  /* -j */
extern const sn_group sn_group_messages; /* -q --summary --progress */
extern const sn_group sn_group_quiet;    /* -q alone, for commands that finish at once */
extern const sn_group sn_group_json;     /* --json */
extern const sn_group sn_group_redis;    /* --ttl --layout --connect-timeout ... */
extern const sn_group sn_group_timeout;  /* the timeouts alone, for commands that open and never
                                          * create */

/* ---- Values --------------------------------------------------------------------------------- */

struct sn_cli_command;

/* The values of the command line. Zero means "not given" unless a comment says otherwise. */
typedef struct sn_args {
    const struct sn_cli_command *command;
    char **operands; /* arguments that are not options, in order; operands[count] is NULL */
    size_t operand_count;
    void *own; /* the command's own struct, zeroed before parsing */

    uint64_t capacity; /* -n */
    double error_rate; /* -p */
    uint64_t memory;   /* -m, bytes */
    uint64_t hashes;   /* --hashes */

    int kind;             /* seen_kind */
    int growth;           /* seen_growth */
    uint64_t generations; /* --generations */
    uint64_t window_ms;   /* --window */
    bool renew;           /* --renew */
    int when_full;        /* seen_when_full */

    sn_args_seed seed;
    int hash; /* seen_hash_kind */

    bool null;         /* -z */
    sn_args_list keys; /* -k */
    int delimiter;     /* -t; -1: not given */
    bool csv, tsv, jsonl, no_header, crlf;
    int missing; /* sn_spec_missing */
    bool ignore_case;
    bool url; /* also implied by each of these */
    bool sort_query, drop_tracking, drop_sessions, drop_www, drop_slash, any_scheme;
    bool ignore_values, similar;
    sn_args_list drop;
    int print;                    /* 1: --print canonical */
    seen_url_options url_options; /* built from these when all options are read */
    seen_url_options url_print;   /* the same without options that would print a URL that does not
                                   * exist */
    bool other_keys;              /* the filter's keys may have been made with other options */
    bool created;                 /* the filter did not exist before this command */
    char *remembered;             /* the text of the options that came from the filter */
    sn_record_spec record;        /* built from these when all options are read */
    atomic_bool quoted;           /* a plain field began with a quote */
    atomic_uint line_ends;        /* SN_KEYS_LF, SN_KEYS_CRLF */

    const char *output; /* -o */
    const char *temp;   /* -T */
    uint64_t threads;   /* -j; 0: all cores, with Redis at least 3 */

    int color; /* sn_message_color_when */
    bool quiet;
    bool summary;
    int progress; /* 0: on a terminal only; 1: --progress; 2: --progress=json */
    bool prints;  /* set by a command that writes lines to stdout continuously: on a terminal that
                   * shows them there is no place for a progress line */
    bool json;

    int layout; /* seen_layout */
    uint64_t ttl_ms, connect_ms, command_ms, retry_ms;
    const char *tls_ca, *tls_cert, *tls_key;
    const char *redis_password_file;

    uint64_t given[4]; /* one bit per option of the command, in table order: sn_args_given */
} sn_args;

/* Whether this option was on the command line: sn_args_given(args, "kind") */
bool sn_args_given(const sn_args *args, const char *name);

/* The library options for these values: sizes, kind, growth, seed, Redis. */
seen_options sn_args_options(const sn_args *args);

/* Builds args->record from -k, -t, --csv etc.: 0, or an exit status after a message. */
int sn_args_record(sn_args *args);

/* ---- Commands ------------------------------------------------------------------------------- */

/* A command line to show and, in tests, to run: `command` is run by bash in an empty folder with
 * `seen` in the path, after `setup` (not shown, may be NULL). An example that cannot run in a test
 * (for example because it needs a server) has setup "-". */
typedef struct sn_example {
    const char *text; /* "De-duplicate a file in place" */
    const char *command;
    const char *setup;
} sn_example;

#define SN_MAX_GROUPS 14
#define SN_MAX_EXAMPLES 6

typedef struct sn_cli_command {
    const char *name;     /* "uniq" */
    const char *summary;  /* "print each line the first time it appears" */
    const char *synopsis; /* "[OPTION]... [FILE...]" */
    const char *about;    /* paragraphs for --help and the man page, separated by \n\n */
    const char *operands; /* what completion offers: "FILE", "FILTER", "COMMAND" or "" */
    size_t min_operands, max_operands;          /* max 0: none at all; SIZE_MAX: any number */
    size_t own_size;                            /* sizeof of its own struct, or 0 */
    const sn_group *groups[SN_MAX_GROUPS];      /* its own first; ends with NULL */
    const sn_example examples[SN_MAX_EXAMPLES]; /* ends with a zero one */
    const char *exit_text;                      /* for the man page, or NULL: the usual two */
    int (*run)(sn_args *args);
    const struct sn_cli_command *const *parts; /* "crawl status" and so on, each with options of its
                                                * own; ends with NULL. NULL: none */
    bool at_once;                              /* a signal may end it at any time */
    bool unmeasured; /* may take long, without a progress bar of its own: its time is shown */
    bool hidden;
} sn_cli_command;

/* All commands, in the order of the overview. */
extern const sn_cli_command *const sn_commands[];
extern const size_t sn_commands_total;
const sn_cli_command *sn_commands_find(const char *name);

/* The part of a command with this second word ("status"); NULL: none. */
const sn_cli_command *sn_cli_part_find(const sn_cli_command *command, const char *word);
/* The part that a mistyped word is closest to; NULL: none is close. */
const sn_cli_command *sn_cli_part_suggest(const sn_cli_command *command, const char *word);
/* Its second word. */
const char *sn_cli_part_word(const sn_cli_command *part);

/* The i-th option of a command over all its groups (--help is the last); NULL after the end. *group
 * may be NULL. */
const sn_option *sn_option_at(const sn_cli_command *command, size_t i, const sn_group **group);

/* What follows its name in help and manual: "KEYS", "host|domain|all"; NULL for a flag. */
const char *sn_option_argument(const sn_option *option);

/* Parses a command line into *args: 0, or an exit status after a message. `argv[0]` is the
 * command's name. *help: the kind of help requested. */
typedef enum sn_help { SN_HELP_NONE, SN_HELP_PAGE, SN_HELP_ALL } sn_help;
int sn_args_parse(const sn_cli_command *command, int argc, char **argv, sn_args *args,
                  sn_help *help);
void sn_args_free(sn_args *args);

int sn_help_overview(FILE *out);
int sn_help_command(FILE *out, const sn_cli_command *command, sn_help which);
int sn_man_command(FILE *out, const sn_cli_command *command); /* NULL: seen(1) */
int sn_completion_print(FILE *out, const char *shell);        /* bash, zsh, fish */

/* Reports that there is no such command, with a suggestion; returns SN_EXIT_ERROR. */
int sn_help_unknown_command(const char *name);

/* The word of `words` (ends with NULL) that is closest to a mistyped one, or NULL if none is
 * close. */
const char *sn_suggest_word(const char *word, const char *const *words);

/* ---- Messages on stderr, safe for a terminal ------------------------------------------------ */

/* Prints "seen: ", a sentence and a newline to stderr, with control characters and invalid UTF-8
 * escaped. sn_message_error returns SN_EXIT_ERROR. */
int sn_message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
int sn_message_report(const seen_error *error);
void sn_message_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Warns if a filter holds more keys than its capacity. */
void sn_info_warn_over(const char *where, const seen_info *info);
/* The summary at the end: on a terminal, or with --summary; not with -q or --json. */
void sn_message_summary(const sn_args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints a note, unless -q was given: for information that is not an error. */
void sn_message_note(const sn_args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --color. auto: if `out` is a terminal, TERM is not dumb and NO_COLOR is not set. */
typedef enum sn_message_color_when {
    SN_COLOR_AUTO,
    SN_COLOR_ALWAYS,
    SN_COLOR_NEVER
} sn_message_color_when;
void sn_message_color_choose(sn_message_color_when when);
/* The escape sequence for a style ("1" bold, "31" red, "" back to normal), or "" without colour. */
const char *sn_message_color(FILE *out, const char *style, char buffer[16]);

/* Writes `text` to `out` with terminal control characters escaped as \n, \x1b, ... */
void sn_message_put(FILE *out, const char *text, size_t len);

/* Flushes stdout: `status`, or SN_EXIT_ERROR after a message if it could not be written
 * (a full disk). A closed pipe is not an error. Call it last in run(). */
int sn_message_finish_stdout(int status);
bool sn_message_pipe_closed(FILE *out); /* whether the other end of the pipe is closed */

/* Whether this is the address of a filter in Redis. */
bool sn_where_is_redis(const char *where);
/* Sets REDISCLI_AUTH, which the library uses for addresses without a password, to the first line of
 * a file. False after a message. */
bool sn_password_read(const char *path);

/* Whether two names are one file, there already or not; "-" is the standard output. What is no
 * regular file (/dev/null) is never the same. */
bool sn_where_same(const char *a, const char *b);

/* SN_EXIT_ERROR after a message if --ttl is given for a file; only Redis has it. */
int sn_where_check_ttl(const sn_args *args, const char *where);

/* A FILTER for messages: without the password of a Redis address. */
#define SN_WHERE 600
const char *sn_where_show(char buffer[SN_WHERE], const char *where);

/* ---- Report files --------------------------------------------------------------------------- */

/* A report (--svg, --html): written next to its target and renamed when it is complete. "-" is
 * standard output. */
typedef struct sn_report {
    FILE *out;
    const char *path;
    bool special; /* a device or a pipe: written directly */
    sn_newfile file;
} sn_report;

bool sn_report_open(sn_report *report, const char *path); /* false after a message */
int sn_report_close(sn_report *report); /* an exit status, after a message if it failed */

/* ---- Stopping ------------------------------------------------------------------------------- */

/* SIGINT, SIGTERM and SIGHUP set the flag (a second one ends the process at once; an ignored SIGHUP
 * stays ignored), SIGPIPE is ignored, SIGBUS ends with a message about a file that was modified
 * concurrently. Called by main. */
void sn_signal_install(void);
void sn_signal_at_once(void);           /* from now on the first signal ends the process */
bool sn_signal_stopped(void);           /* a signal requested a stop */
int sn_signal_number(void);             /* which one, or 0 */
const atomic_int *sn_signal_flag(void); /* for engines that read it themselves: not 0 means stop */
/* What is written to stderr when a second signal ends the command at once: a whole line, which is
 * not copied. NULL removes it. */
void sn_signal_set_message(const char *text);

/* ---- Numbers -------------------------------------------------------------------------------- */

/* Each returns true and *value, or false and a message in `why` ("..." is not a size: ...). */
typedef struct sn_number_error {
    char text[200];
} sn_number_error;

bool sn_number_parse_count(const char *text, uint64_t *value, sn_number_error *why);
bool sn_number_parse_size(const char *text, uint64_t *bytes, sn_number_error *why);
bool sn_number_parse_rate(const char *text, double *value, sn_number_error *why);
bool sn_number_parse_share(const char *text, double *value, sn_number_error *why);
bool sn_number_parse(const char *text, double *value, sn_number_error *why);
bool sn_number_parse_duration(const char *text, uint64_t *ms, sn_number_error *why);
bool sn_number_parse_char(const char *text, int *value, sn_number_error *why);
bool sn_number_parse_seed(const char *text, sn_args_seed *seed, sn_number_error *why);

/* Formatting, into a buffer that is returned. 1,234,567 / 1.2 million / 124 MiB / 1e-6 / 2h05m */
#define SN_TEXT 48
char *sn_show_count(char buffer[SN_TEXT], double value);
char *sn_show_words(char buffer[SN_TEXT], double value);
/* In the format of an option: 100M, 4GiB, 1e-6. */
char *sn_show_short(char buffer[SN_TEXT], uint64_t value);
char *sn_show_short_size(char buffer[SN_TEXT], uint64_t bytes);
char *sn_show_short_rate(char buffer[SN_TEXT], double rate);
char *sn_show_size(char buffer[SN_TEXT], double bytes);
char *sn_show_rate(char buffer[SN_TEXT], double rate);
/* "1 line", "2 lines": with thousands separated. */
char *sn_show_number_of(char buffer[SN_TEXT], uint64_t count, const char *what);
/* An expectation: "fewer than 0.01", "about 2.5", "about 1.23 million". */
char *sn_show_expected(char buffer[SN_TEXT], double expected);
char *sn_show_seconds(char buffer[SN_TEXT], double seconds);

/* ---- Progress ------------------------------------------------------------------------------- */

/* A line on stderr, several times a second: for a person on a terminal, or JSON lines. Calls are
 * cheap (a clock read) and are for one thread at a time. */
typedef struct sn_progress {
    int mode; /* 0 silent, 1 terminal, 2 JSON, 3 plain lines */
    const char *what;
    double total; /* bytes, 0: unknown */
    double started, last;
    bool drawn;
} sn_progress;

void sn_progress_begin(sn_progress *progress, const sn_args *args, const char *what,
                       uint64_t total_bytes);
/* fill: 0 to 1, or negative if unknown. */
void sn_progress_show(sn_progress *progress, uint64_t bytes, uint64_t lines, double fill);
void sn_progress_end(sn_progress *progress, uint64_t bytes, uint64_t lines, double fill);

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Writes one JSON value; the writer handles commas and nesting. `name` is NULL in arrays and at the
 * top. Strings may be any bytes: invalid UTF-8 becomes U+FFFD; a number that JSON cannot represent
 * (NaN, infinity) becomes null. */
typedef struct sn_json {
    FILE *out;
    unsigned depth;
    bool any[16];   /* per depth: something was written */
    bool array[16]; /* per depth: an array, not an object */
    bool one_line;
} sn_json;

void sn_json_open(sn_json *json, FILE *out, bool one_line);
void sn_json_object(sn_json *json, const char *name);
void sn_json_array(sn_json *json, const char *name);
void sn_json_end(sn_json *json); /* ends the innermost; the last one adds a newline */
void sn_json_string(sn_json *json, const char *name, const char *text);
void sn_json_bytes(sn_json *json, const char *name, const char *text, size_t len);
void sn_json_u64(sn_json *json, const char *name, uint64_t value);
void sn_json_number(sn_json *json, const char *name, double value);
void sn_json_bool(sn_json *json, const char *name, bool value);

/* Takes the progress line off the terminal, if there is one, so that a message has a line of its
 * own. */
void sn_progress_hide(void);

/* A job whose progress cannot be measured, the copy of a filter for example: after a second the
 * terminal shows how long it has been running. */
typedef struct sn_busy {
    const char *what;
    pthread_t thread;
    sem_t done;
    bool drawing;
} sn_busy;

void sn_busy_begin(sn_busy *busy, const sn_args *args, const char *what);
void sn_busy_end(sn_busy *busy);

#endif
