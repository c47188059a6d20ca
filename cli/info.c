/* `seen info`: parameters, fill and error rate of filters. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"bloom", "counting"};
static const char *const growths[] = {"fixed", "growing", "window"};

/* The error rate is stored as an integer, which changes its last digits. */
static double tidy(double rate)
{
    char text[SN_TEXT];
    snprintf(text, sizeof text, "%.10g", rate);
    return strtod(text, NULL);
}

/* With `where` one of several, in an array; else alone. */
static void print_json(sn_json *json, const char *where, const seen_info *info)
{
    char seed[33], shown[SN_WHERE];
    snprintf(seed, sizeof seed, "%016llx%016llx", (unsigned long long)info->seed[1],
             (unsigned long long)info->seed[0]);
    sn_json_object(json, NULL);
    if (where)
        sn_json_string(json, "filter", sn_where_show(shown, where));
    sn_json_string(json, "kind", kinds[info->kind]);
    sn_json_string(json, "growth", growths[info->growth]);
    sn_json_string(json, "store", info->store);
    sn_json_u64(json, "capacity", info->capacity);
    sn_json_number(json, "error_rate", tidy(info->error_rate));
    sn_json_u64(json, "bits", info->bits);
    sn_json_u64(json, "bytes", info->bytes);
    sn_json_u64(json, "hashes", info->hashes);
    sn_json_u64(json, "spread", info->spread);
    sn_json_number(json, "keys_estimated", round(info->keys_estimated));
    sn_json_number(json, "fill", info->fill);
    sn_json_number(json, "error_rate_now", info->error_rate_now);
    sn_json_u64(json, "layers", info->layers);
    sn_json_string(json, "seed", seed);
    if (info->note[0])
        sn_json_string(json, "made_with", info->note);
    sn_json_u64(json, "format_version", info->format_version);
    sn_json_end(json);
}

static void print_kind(const seen_info *info)
{
    char a[SN_TEXT];
    printf("  kind         %s, %s", kinds[info->kind], growths[info->growth]);
    if (info->growth == SEEN_WINDOW) {
        printf(", %u generations", info->generations);
        if (info->window_seconds)
            printf(" in %s", sn_show_seconds(a, (double)info->window_seconds));
        if (info->renew)
            printf(", every addition renews a key");
    } else if (info->growth == SEEN_GROWING && info->format_version == 1) {
        printf(", %u layer%s so far", info->layers, info->layers == 1 ? "" : "s");
    }
    printf("\n  store        %s, format %u\n", info->store, info->format_version);
}

static void print_text(const char *where, const seen_info *info)
{
    char a[SN_TEXT], b[SN_TEXT], shown[SN_WHERE];
    sn_where_show(shown, where);
    sn_message_put(stdout, shown, strlen(shown));
    putchar('\n');
    print_kind(info);
    printf("  capacity     %s keys at an error rate of %s\n",
           sn_show_count(a, (double)info->capacity), sn_show_rate(b, info->error_rate));
    printf("  memory       %s, %s bits\n", sn_show_size(a, (double)info->bytes),
           sn_show_count(b, (double)info->bits));
    if (info->growth == SEEN_GROWING && info->format_version == 2)
        printf("  a key        has a tag in 1 cache line\n");
    else if (info->spread == 1)
        printf("  a key        sets %u cells, all in 1 cache line\n", info->hashes);
    else
        printf("  a key        sets %u cells: %u in each of %u cache lines\n", info->hashes,
               info->probes, info->spread);
    if (info->note[0]) {
        printf("  made with    ");
        sn_message_put(stdout, info->note, strlen(info->note));
        putchar('\n');
    }
    printf("  hash         %s, seed %016llx%016llx\n", info->hash == SEEN_SIPHASH ? "sip" : "xxh3",
           (unsigned long long)info->seed[1], (unsigned long long)info->seed[0]);
    printf("  keys         about %s", sn_show_count(a, round(info->keys_estimated)));
    if (info->capacity)
        printf(", %.3g%% of the capacity", 100 * info->keys_estimated / (double)info->capacity);
    printf("\n  fill         %.3g%% of the cells are set%s\n", 100 * info->fill,
           info->sampled ? " (from a sample)" : "");
    printf("  error rate   %s at present\n", sn_show_rate(a, info->error_rate_now));
}

/* The estimate itself deviates slightly: no warning for a filter that is just full. */
void sn_info_warn_over(const char *where, const seen_info *info)
{
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT], shown[SN_WHERE];
    double slack = 1.01 + 3 / sqrt((double)info->capacity + 1);
    /* A burst exceeds the capacity of one generation of a window. */
    if (info->growth == SEEN_WINDOW && info->error_rate_now > 2 * info->error_rate) {
        sn_message_warn(
            "%s got too many keys at once: a generation has room for a part of its %s keys only; "
            "its error rate is now %s. Create a window with a larger -n, or with fewer "
            "--generations",
            sn_where_show(shown, where), sn_show_count(b, (double)info->capacity),
            sn_show_rate(c, info->error_rate_now));
        return;
    }
    if (info->growth == SEEN_GROWING || info->keys_estimated <= slack * (double)info->capacity)
        return;
    sn_message_warn("%s is past its capacity: about %s keys, planned for %s; its error rate is %s. "
                    "Make a larger one and add the keys again, or use --growth growing",
                    sn_where_show(shown, where), sn_show_count(a, round(info->keys_estimated)),
                    sn_show_count(b, (double)info->capacity),
                    sn_show_rate(c, info->error_rate_now));
}

/* One filter: an exit status, after a message. `json`: NULL for text. */
static int show(const sn_args *args, const char *where, sn_json *json)
{
    seen_error error = {0};
    seen_set *set;
    seen_info info = {.size = sizeof info};
    seen_options options = sn_args_options(args);
    if (seen_open(where, &options, SEEN_READ_ONLY, &set, &error) != SEEN_OK)
        return sn_message_report(&error);
    seen_status status = seen_get_info(set, &info, &error);
    seen_close(set); /* info.store is a constant of the library and outlives it */
    if (status != SEEN_OK)
        return sn_message_report(&error);
    if (json)
        print_json(json, args->operand_count > 1 ? where : NULL, &info);
    else
        print_text(where, &info);
    if (!args->quiet)
        sn_info_warn_over(where, &info);
    return SN_EXIT_OK;
}

static int run(sn_args *args)
{
    sn_json json;
    int code = SN_EXIT_OK;
    bool several = args->operand_count > 1;
    sn_json_open(&json, stdout, false);
    if (args->json && several)
        sn_json_array(&json, NULL);
    for (size_t i = 0; i < args->operand_count; i++) {
        if (i > 0 && !args->json)
            putchar('\n');
        int status = show(args, args->operands[i], args->json ? &json : NULL);
        code = status ? status : code;
    }
    if (args->json && several)
        sn_json_end(&json);
    return sn_message_finish_stdout(code);
}

const sn_cli_command sn_cli_command_info = {
    .name = "info",
    .summary = "show a filter's parameters, fill and error rate",
    .synopsis = "[OPTION]... FILTER...",
    .about =
        "Shows the parameters of each filter, the share of cells that are set, and from it the "
        "number of distinct keys and the current error rate. Warns if a filter is past its "
        "capacity.\n\n"
        "The number of keys is an estimate with a relative error of about one over the square "
        "root of the number. Every bit of a file is read; of a large filter in Redis, a "
        "sample. With --json several filters are printed as an array.",
    .operands = "FILTER",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .groups = {&sn_group_timeout, &sn_group_json, &sn_group_quiet},
    .examples = {{"How full is it?", "seen info urls.seen",
                  "seen create -q urls.seen -n 1M -p 1% && seq 1000 | seen add -q urls.seen"},
                 {"The error rate at present, for a script",
                  "seen info --json urls.seen | grep error_rate_now",
                  "seen create -q urls.seen -n 1M -p 1%"}},
    .run = run,
    .at_once = true,
};
