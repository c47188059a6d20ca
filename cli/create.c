/* `seen create`: creates an empty filter. */
#include "cli/watch.h"

#include <stdio.h>
#include <string.h>

typedef struct create_own {
    const char *like;
    bool replace;
    bool if_absent;
} create_own;

static const sn_option own_options[] = {
    {.name = "like",
     .argument = "FILTER",
     .type = SN_STRING,
     .offset = offsetof(create_own, like),
     .choices = "FILE",
     .help = "take all parameters from another filter",
     .more = "The seed too, so that the two can be merged."},
    {.name = "replace",
     .type = SN_FLAG,
     .offset = offsetof(create_own, replace),
     .help = "replace an existing filter"},
    {.name = "if-absent",
     .type = SN_FLAG,
     .offset = offsetof(create_own, if_absent),
     .help = "succeed if it exists with the same parameters",
     .more = "If it exists with other parameters, that is an error."},
};
static const sn_group own_group = {
    .title = "Creating", .options = own_options, .count = 3, .own = true};

/* Options that --like determines cannot be given. */
static int check_like(const sn_args *args)
{
    static const char *const others[] = {"capacity", "error-rate",  "memory",    "hashes",
                                         "kind",     "growth",      "seed",      "hash",
                                         "window",   "generations", "when-full", "renew"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (sn_args_given(args, others[i]))
            return sn_message_error(
                "--like takes all parameters from the other filter; remove --%s", others[i]);
    return SN_EXIT_OK;
}

static int check_numbers(const sn_args *args)
{
    bool window = args->growth == SEEN_WINDOW || args->window_ms;
    if (args->window_ms && sn_args_given(args, "growth") && args->growth != SEEN_WINDOW)
        return sn_message_error("--window needs --growth window");
    if (args->generations && !window)
        return sn_message_error(
            "--generations needs a window: add --growth window or --window TIME");
    if (args->renew && !window)
        return sn_message_error("--renew needs a window: add --growth window or --window TIME");
    if (sn_args_given(args, "when-full") && (window || args->growth == SEEN_GROWING))
        return sn_message_error(
            "--when-full needs a fixed filter; growing filters and windows are never full");
    if (args->window_ms % 1000)
        return sn_message_error("--window must be a whole number of seconds");
    if (args->growth == SEEN_GROWING && !window)
        return SN_EXIT_OK;
    bool sized =
        window || args->hashes || sn_args_given(args, "growth") || sn_args_given(args, "when-full");
    if (sized && !args->capacity && !args->memory)
        return sn_message_error("no size: give the number of keys (-n) or the memory (-m), or use "
                                "--growth growing; 'seen plan' helps to choose");
    return SN_EXIT_OK;
}

static int make(sn_args *args, const create_own *own, unsigned flags, seen_set **set)
{
    seen_error error = {0};
    seen_options options = sn_args_options(args);
    char note[SEEN_NOTE_MAX + 1];
    if (!sn_args_describe(args, note))
        return sn_message_error(
            "the options that make keys are too long to be stored with the filter");
    if (strcmp(note, "lines") != 0) /* without such options any keys may be added */
        options.note = note;
    if (!own->like) {
        if (seen_create(args->operands[0], &options, flags, set, &error) != SEEN_OK)
            return sn_message_report(&error);
        return SN_EXIT_OK;
    }
    seen_set *like;
    if (seen_open(own->like, &options, SEEN_READ_ONLY, &like, &error) != SEEN_OK)
        return sn_message_report(&error);
    seen_status status = seen_create_like(args->operands[0], like, &options, flags, set, &error);
    seen_close(like);
    return status == SEEN_OK ? SN_EXIT_OK : sn_message_report(&error);
}

static void print_summary(const sn_args *args, const seen_set *set)
{
    static const char *const growths[] = {"fixed", "growing", "window"};
    char where[SN_WHERE], keys[SN_TEXT], rate[SN_TEXT], size[SN_TEXT];
    seen_info info = {.size = sizeof info};
    if (seen_get_shape(set, &info, NULL) != SEEN_OK)
        return;
    sn_message_note(args, "%s: %s, %s, %s keys at an error rate of %s, %s",
                    sn_where_show(where, args->operands[0]),
                    info.kind == SEEN_COUNTING ? "counting" : "bloom", growths[info.growth],
                    sn_show_words(keys, (double)info.capacity), sn_show_rate(rate, info.error_rate),
                    sn_show_size(size, (double)info.bytes));
}

static int run(sn_args *args)
{
    const create_own *own = args->own;
    seen_error error = {0};
    seen_set *set = NULL;
    if (own->replace && own->if_absent)
        return sn_message_error("--replace and --if-absent cannot be used together");
    if (sn_where_check_ttl(args, args->operands[0]) != SN_EXIT_OK)
        return SN_EXIT_ERROR;
    int status = own->like ? check_like(args) : check_numbers(args);
    if (status)
        return status;
    unsigned flags = (own->replace ? SEEN_REPLACE : 0) | (own->if_absent ? SEEN_IF_ABSENT : 0);
    status = make(args, own, flags, &set);
    if (status)
        return status;
    print_summary(args, set);
    if (seen_close_checked(set, &error) != SEEN_OK)
        return sn_message_report(&error);
    return SN_EXIT_OK;
}

const sn_cli_command sn_cli_command_create = {
    .name = "create",
    .summary = "create an empty filter",
    .synopsis = "[OPTION]... FILTER",
    .about =
        "Creates an empty filter: a file, or a name in Redis. Give the number of keys (-n) and the "
        "error rate (-p, 1% by default), or the memory (-m) with either; 'seen plan' shows what "
        "they cost. Without any of them the filter grows with its keys.\n\n"
        "The file appears complete or not at all, and its disk space is reserved. An existing "
        "filter is unchanged unless --replace is given.",
    .operands = "FILTER",
    .min_operands = 1,
    .max_operands = 1,
    .own_size = sizeof(create_own),
    .groups = {&sn_group_sizing, &sn_group_kind, &sn_group_seed, &own_group, &sn_group_records,
               &sn_group_url, &sn_group_redis, &sn_group_quiet},
    .examples = {{"A filter for ten million keys, one error in a thousand",
                  "seen create urls.seen -n 10M -p 0.1%", NULL},
                 {"One that grows with its keys", "seen create urls.seen --growth growing -p 1e-6",
                  NULL},
                 {"Remember keys for 30 days, about a million in that time",
                  "seen create mails.seen --window 30d -n 1M", NULL},
                 {"Another one that can be merged with it later",
                  "seen create monday.seen -n 1M && seen create tuesday.seen --like monday.seen",
                  NULL},
                 {"In Redis, shared by many machines",
                  "seen create redis://localhost/urls -n 1e9 -p 1e-4", "-"}},
    .run = run,
    .unmeasured = true,
};
