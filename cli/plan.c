/* `seen plan`: the costs of a filter with these parameters. */
#include "cli/plan.h"
#include "cli/cli.h"

#include <math.h>
#include <string.h>

typedef struct plan_own {
    const char *svg;
    const char *html;
} plan_own;

static const double shares[] = {0.25, 0.5, 1, 1.5, 2};
enum { SHARES = sizeof shares / sizeof *shares, BAR = 30 };

/* The size of a hash set of the same keys: a string of 64 bytes with its allocator's header, and a
 * table slot of 8 bytes at three quarters full; for hashes a slot of 16. */
static double set_bytes(double keys)
{
    return keys * (64 + 16 + 8 / 0.75);
}

static double hashes_bytes(double keys)
{
    return keys * 16 / 0.75;
}

/* The rate of the classic formula for the same cells and k. */
static double classic_rate(const seen_plan *plan, double keys)
{
    double cells = (double)plan->bits / (plan->kind == SEEN_COUNTING ? 4 : 1);
    return seen_classic_rate(keys, cells, plan->hashes);
}

static void print_costs(const seen_plan *plan)
{
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT];
    double keys = (double)plan->capacity, bytes = (double)plan->bytes;
    int cell = plan->kind == SEEN_COUNTING ? 4 : 1;
    printf("  memory     %s: %s bytes, %s bits\n", sn_show_size(a, bytes), sn_show_count(b, bytes),
           sn_show_count(c, (double)plan->bits));
    printf("  a key      %.2f bits", plan->bits_per_key);
    if (plan->spread == 1)
        printf(", of which it sets %u (k), all in 1 cache line (g)\n", plan->hashes);
    else
        printf(", of which it sets %u (k): %u in each of %u cache lines (g)\n", plan->hashes,
               plan->probes, plan->spread);
    printf("  textbook   %.2f bits per key and k = %.1f: this is %.2f times that, with %u cache\n"
           "             miss%s per key instead of %.0f\n",
           cell * plan->classic_bits / keys, plan->classic_hashes, plan->overhead, plan->spread,
           plan->spread == 1 ? "" : "es", fmax(1, round(plan->classic_hashes)));
    printf("  hash set   %s for keys of 64 bytes (%.0f times as much), %s for their\n"
           "             128-bit hashes (%.1f times)\n",
           sn_show_size(a, set_bytes(keys)), set_bytes(keys) / bytes,
           sn_show_size(b, hashes_bytes(keys)), hashes_bytes(keys) / bytes);
}

/* Bars on a logarithmic axis that ends at 1 and begins a decade below the smallest rate. */
static void print_curve(const seen_plan *plan)
{
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT], bar[BAR + 1];
    double lowest = seen_plan_rate(plan, shares[0] * (double)plan->capacity);
    double first = lowest > 0 ? floor(log10(lowest)) : -20;
    if (first > -2)
        first = -2;
    printf("\n  %22s  %10s  %10s\n", "keys", "error rate", "textbook");
    for (int i = 0; i < SHARES; i++) {
        double keys = shares[i] * (double)plan->capacity, rate = seen_plan_rate(plan, keys);
        double length = rate > 0 ? BAR * (1 - log10(rate) / first) : 0;
        int filled = (int)fmin(BAR, fmax(1, round(length)));
        memset(bar, '#', (size_t)filled);
        bar[filled] = 0;
        printf("  %4.0f%% %16s  %10s  %10s  %s\n", shares[i] * 100, sn_show_words(a, keys),
               sn_show_rate(b, rate), sn_show_rate(c, classic_rate(plan, keys)), bar);
    }
    char low[SN_TEXT];
    snprintf(low, sizeof low, "1e%.0f", first);
    printf("  %47s%-*s1\n", "", BAR - 1, low);
}

/* The command line that creates this filter. */
static void print_command(const sn_args *args)
{
    char a[SN_TEXT];
    printf("\nTo create it:  seen create FILTER");
    if (args->capacity)
        printf(" -n %s", sn_show_short(a, args->capacity));
    if (args->error_rate != 0)
        printf(" -p %s", sn_show_short_rate(a, args->error_rate));
    if (args->memory)
        printf(" -m %s", sn_show_short_size(a, args->memory));
    if (args->hashes)
        printf(" --hashes %llu", (unsigned long long)args->hashes);
    if (args->kind == SEEN_COUNTING)
        printf(" --kind counting");
    putchar('\n');
}

static void print_screen(const sn_args *args, const seen_plan *plan)
{
    char a[SN_TEXT], b[SN_TEXT];
    printf("A %s filter for %s key%s, error rate %s\n\n",
           plan->kind == SEEN_COUNTING ? "counting" : "Bloom",
           sn_show_words(a, (double)plan->capacity), plan->capacity == 1 ? "" : "s",
           sn_show_rate(b, plan->predicted_rate));
    print_costs(plan);
    print_curve(plan);
    print_command(args);
}

static void print_json(const seen_plan *plan)
{
    sn_json json;
    double keys = (double)plan->capacity;
    sn_json_open(&json, stdout, false);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "kind", plan->kind == SEEN_COUNTING ? "counting" : "bloom");
    sn_json_u64(&json, "capacity", plan->capacity);
    sn_json_number(&json, "error_rate", plan->error_rate);
    sn_json_number(&json, "predicted_rate", plan->predicted_rate);
    sn_json_u64(&json, "bits", plan->bits);
    sn_json_u64(&json, "bytes", plan->bytes);
    sn_json_u64(&json, "hashes", plan->hashes);
    sn_json_u64(&json, "spread", plan->spread);
    sn_json_u64(&json, "probes", plan->probes);
    sn_json_u64(&json, "lines", plan->lines);
    sn_json_u64(&json, "shards", plan->shards);
    sn_json_number(&json, "bits_per_key", plan->bits_per_key);
    sn_json_number(&json, "classic_bits", plan->classic_bits);
    sn_json_number(&json, "classic_hashes", plan->classic_hashes);
    sn_json_number(&json, "overhead", plan->overhead);
    sn_json_number(&json, "hash_set_bytes", set_bytes(keys));
    sn_json_number(&json, "hash_set_of_hashes_bytes", hashes_bytes(keys));
    sn_json_array(&json, "rates");
    for (int i = 0; i < SHARES; i++) {
        sn_json_object(&json, NULL);
        sn_json_number(&json, "share", shares[i]);
        sn_json_number(&json, "keys", shares[i] * keys);
        sn_json_number(&json, "error_rate", seen_plan_rate(plan, shares[i] * keys));
        sn_json_number(&json, "classic", classic_rate(plan, shares[i] * keys));
        sn_json_end(&json);
    }
    sn_json_end(&json);
    sn_json_end(&json);
}

static int write_reports(const plan_own *own, const seen_parameters *parameters,
                         const seen_plan *plan)
{
    sn_report report;
    if (own->svg) {
        if (!sn_report_open(&report, own->svg))
            return SN_EXIT_ERROR;
        sn_cli_plan_svg(report.out, plan);
        if (sn_report_close(&report))
            return SN_EXIT_ERROR;
    }
    if (own->html) {
        if (!sn_report_open(&report, own->html))
            return SN_EXIT_ERROR;
        sn_cli_plan_html(report.out, parameters);
        return sn_report_close(&report);
    }
    return SN_EXIT_OK;
}

static int run(sn_args *args)
{
    const plan_own *own = args->own;
    seen_error error = {0};
    seen_plan plan;
    bool nothing = !args->capacity && args->error_rate == 0 && !args->memory && !args->hashes;
    if (nothing && !own->html)
        return sn_message_error("plan needs the number of keys (-n) and the error rate (-p) or the "
                                "memory (-m), for example: seen plan -n 100M -p 1e-4");
    /* In the format of seen create. */
    if (args->error_rate == 0 && !args->hashes && !(args->memory && args->capacity)) {
        args->error_rate = 0.01;
        if (!nothing)
            sn_message_note(args, "no error rate (-p)%s given: planned for 1%%",
                            args->memory ? " and no keys (-n)" : " and no memory (-m)");
    }
    seen_parameters parameters = {.size = sizeof parameters,
                                  .kind = (seen_kind)args->kind,
                                  .capacity = nothing ? 100000000 : args->capacity,
                                  .error_rate = args->error_rate,
                                  .bits = args->memory * 8,
                                  .hashes = (uint32_t)args->hashes};
    if (seen_plan_make(&parameters, &plan, &error) != SEEN_OK)
        return sn_message_report(&error);
    if (write_reports(own, &parameters, &plan))
        return SN_EXIT_ERROR;
    bool taken = (own->svg && !strcmp(own->svg, "-")) || (own->html && !strcmp(own->html, "-"));
    if (taken || nothing)
        return sn_message_finish_stdout(SN_EXIT_OK);
    if (args->json)
        print_json(&plan);
    else
        print_screen(args, &plan);
    return sn_message_finish_stdout(SN_EXIT_OK);
}

static const sn_option kind_options[] = {
    {.name = "kind",
     .type = SN_CHOICE,
     .offset = offsetof(sn_args, kind),
     .choices = "bloom|counting",
     .help = "counting can also remove",
     .preset = "bloom",
     .more = "A counting filter takes four times the memory."},
};
static const sn_group kind_group = {.title = "Kind", .options = kind_options, .count = 1};

static const sn_option own_options[] = {
    {.name = "svg",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = offsetof(plan_own, svg),
     .choices = "FILE",
     .help = "also draw error rate against keys as an SVG picture",
     .more = "The name - is standard output, for --html too."},
    {.name = "html",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = offsetof(plan_own, html),
     .choices = "FILE",
     .help = "also write an interactive planner as a web page",
     .more = "One file that needs no network: sliders for keys, error rate and memory, the curve, "
             "the geometries, the command line and the C code."},
};
static const sn_group own_group = {
    .title = SN_OUTPUT_TITLE, .options = own_options, .count = 2, .own = true};

const sn_cli_command sn_cli_command_plan = {
    .name = "plan",
    .summary = "plan the size of a filter",
    .synopsis = "[OPTION]...",
    .about =
        "Computes a filter from any two or three of four parameters: keys (-n), error rate "
        "(-p), memory (-m) and bits set per key (--hashes). Prints its memory, the error rate as "
        "it fills up, and what the textbook formula and a hash set would need.\n\n"
        "The memory is that of the filter that is actually built: the bits of a key are in few "
        "cache lines, so that a key costs one or two cache misses instead of k; it is planned "
        "to stay within a tenth of the textbook's. The error rate is the share of keys never "
        "added that are reported as seen, when the filter holds as many keys as planned.",
    .operands = "",
    .own_size = sizeof(plan_own),
    .groups = {&sn_group_sizing, &kind_group, &sn_group_json, &own_group, &sn_group_quiet},
    .examples =
        {{"A hundred million keys, one error in ten thousand", "seen plan -n 100M -p 1e-4", NULL},
         {"How good is a filter of five billion keys in 4 GiB?", "seen plan -n 5e9 -m 4GiB", NULL},
         {"How many keys fit in 120 MB with 7 bits each?", "seen plan -m 120MB --hashes 7", NULL},
         {"An interactive page", "seen plan -n 100M -p 1% --html plan.html", NULL}},
    .run = run,
};
