/* `seen merge`: the union of filters. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct merge_own {
    bool into;
    bool replace;
} merge_own;

static const sn_option own_options[] = {
    {.name = "into",
     .type = SN_FLAG,
     .offset = offsetof(merge_own, into),
     .help = "add the others to OUT, which must exist",
     .more = "After a crash OUT may have some of their keys; for bloom filters merging again "
             "completes it. A counting filter would count twice."},
    {.name = "replace",
     .type = SN_FLAG,
     .offset = offsetof(merge_own, replace),
     .help = "replace OUT if it exists, when the result is complete"},
};
static const sn_group own_group = {
    .title = "Creating", .options = own_options, .count = 2, .own = true};

/* Merges operands[first...] into a set. */
static seen_status merge_all(const sn_args *args, size_t first, seen_set *into, seen_error *error)
{
    seen_options options = sn_args_options(args);
    for (size_t i = first; i < args->operand_count; i++) {
        seen_set *from;
        if (sn_signal_stopped()) {
            error->status = SEEN_ERR_IO;
            snprintf(error->message, sizeof error->message,
                     "stopped before the merge was complete");
            return SEEN_ERR_IO;
        }
        seen_status status = seen_open(args->operands[i], &options, SEEN_READ_ONLY, &from, error);
        if (status != SEEN_OK)
            return status;
        status = seen_merge(into, from, error);
        seen_close(from);
        if (status != SEEN_OK)
            return status;
    }
    return SEEN_OK;
}

static int merge_into(const sn_args *args)
{
    seen_error error = {0};
    seen_set *into;
    seen_options options = sn_args_options(args);
    if (seen_open(args->operands[0], &options, 0, &into, &error) != SEEN_OK)
        return sn_message_report(&error);
    if (merge_all(args, 1, into, &error) != SEEN_OK) {
        seen_close(into);
        return sn_message_report(&error);
    }
    if (seen_close_checked(into, &error) != SEEN_OK)
        return sn_message_report(&error);
    return SN_EXIT_OK;
}

/* The union of operands[1...] at `where`, which may be left incomplete on failure; NULL: in
 * memory. */
static seen_status build(const sn_args *args, const char *where, seen_set **out, seen_error *error)
{
    seen_options options = sn_args_options(args);
    seen_set *first, *into;
    seen_status status = seen_open(args->operands[1], &options, SEEN_READ_ONLY, &first, error);
    if (status != SEEN_OK)
        return status;
    status = seen_create_like(where, first, NULL, 0, &into, error);
    seen_close(first);
    if (status != SEEN_OK)
        return status;
    status = merge_all(args, 1, into, error);
    if (status == SEEN_OK)
        *out = into;
    else
        seen_close(into);
    return status;
}

/* Reports an error with the names that the user gave: for filters that cannot be merged, the one
 * that the union was created like; otherwise OUT. */
static int fail_file(const sn_args *args, const char *temporary, const seen_error *error)
{
    seen_error reported = *error;
    bool unlike = error->status == SEEN_ERR_MISMATCH || error->status == SEEN_ERR_KIND;
    const char *at = strstr(error->message, temporary);
    if (at)
        snprintf(reported.message, sizeof reported.message, "%.*s%s%s", (int)(at - error->message),
                 error->message, args->operands[unlike ? 1 : 0], at + strlen(temporary));
    return sn_message_report(&reported);
}

/* A file: written next to its target, synced, and then renamed. */
static int merge_file(const sn_args *args, bool replace)
{
    seen_error error = {0};
    seen_set *set;
    const char *out = args->operands[0];
    char *temporary = sn_newfile_name(out, &error);
    if (!temporary)
        return sn_message_report(&error);
    seen_status status = build(args, temporary, &set, &error);
    if (status == SEEN_OK)
        status = seen_close_checked(set, &error);
    int result = status == SEEN_OK ? SN_EXIT_OK : fail_file(args, temporary, &error);
    if (status == SEEN_OK && sn_newfile_place(temporary, out, replace, false, &error) != SEEN_OK)
        result = sn_message_report(&error);
    unlink(temporary);
    free(temporary);
    return result;
}

static int merge_redis(const sn_args *args, bool replace)
{
    seen_error error = {0};
    seen_set *set;
    seen_options options = sn_args_options(args);
    seen_status built = build(args, NULL, &set, &error);
    if (built == SEEN_ERR_MISMATCH || built == SEEN_ERR_KIND)
        return fail_file(args, "memory", &error);
    if (built != SEEN_OK)
        return sn_message_report(&error);
    seen_status status =
        seen_copy(set, args->operands[0], replace ? SEEN_REPLACE : 0, &options, &error);
    seen_close(set);
    return status == SEEN_OK ? SN_EXIT_OK : sn_message_report(&error);
}

static int run(sn_args *args)
{
    const merge_own *own = args->own;
    const char *out = args->operands[0];
    char shown[SN_WHERE];
    if (own->into && own->replace)
        return sn_message_error("--into and --replace cannot be used together");
    if (sn_where_check_ttl(args, out) != SN_EXIT_OK)
        return SN_EXIT_ERROR;
    if (own->into)
        return merge_into(args);
    if (sn_where_is_redis(out))
        return merge_redis(args, own->replace);
    if (!own->replace && !access(out, F_OK))
        return sn_message_error("%s already exists; use --replace, or --into to add to it",
                                sn_where_show(shown, out));
    return merge_file(args, own->replace);
}

const sn_cli_command sn_cli_command_merge = {
    .name = "merge",
    .summary = "merge filters",
    .synopsis = "[OPTION]... OUT FILTER...",
    .about = "Creates OUT with the keys of all the filters. They must have been created with the "
             "same parameters and the same seed, for example with 'seen create --like'.\n\n"
             "OUT appears complete or not at all. With --into the others are added to an existing "
             "filter.",
    .operands = "FILTER",
    .min_operands = 2,
    .max_operands = SIZE_MAX,
    .own_size = sizeof(merge_own),
    .groups = {&own_group, &sn_group_redis, &sn_group_quiet},
    .examples = {{"Merge two days", "seen merge week.seen monday.seen tuesday.seen",
                  "seen create -q monday.seen -n 1k && seen create -q tuesday.seen --like "
                  "monday.seen"},
                 {"Add a day to an existing filter", "seen merge --into week.seen monday.seen",
                  "seen create -q monday.seen -n 1k && seen create -q week.seen --like "
                  "monday.seen"}},
    .run = run,
    .unmeasured = true,
};
