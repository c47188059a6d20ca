/* `seen crawl`: crawls breadth-first, each URL once. */
#include "cli/crawl.h"

#include "cli/cli.h"
#include "cli/crawl_fleet.h"
#include "crawl/crawl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct crawl_own {
    const char *state, *filter;
    bool exact, retry_failed;
    double error_rate;
    uint64_t capacity, checkpoint_ms;

    int scope;
    sn_args_list include, exclude, drop;
    bool nofollow, sitemaps, no_parent;
    const char *input, *cookies, *proxy, *netrc, *password_file;
    sn_args_list headers;
    bool sort_query, no_tracking, no_sessions, no_www, no_slash;
    uint64_t depth, pages, host_pages, url_max, links, path, repeats;

    uint64_t connections, per_host, delay_ms, max_delay_ms, max_wait_ms, timeout_ms, connect_ms;
    uint64_t low_speed, low_speed_ms, body, retries, backoff_ms;
    const char *agent, *ca_file;
    bool allow_private;

    const char *output, *urls, *edges, *warc;

    const char *join, *worker;
    uint64_t lease_ms, frontier_memory;
} crawl_own;

#define AT(field) offsetof(crawl_own, field)

static const sn_option state_options[] = {
    {.name = "state",
     .argument = "DIR",
     .type = SN_STRING,
     .offset = AT(state),
     .choices = "DIR",
     .help = "keep the crawl in this folder: it can be resumed",
     .more = "Frontier, seen-set, counters and options are saved there. With a folder that holds a "
             "crawl, options that are not given are those it was started with, and URLs may be "
             "left out."},
    {.name = "filter",
     .argument = "FILTER",
     .type = SN_STRING,
     .offset = AT(filter),
     .choices = "FILE",
     .help = "share what is seen: a file, or redis://HOST/NAME",
     .rare = true,
     .more = "Several crawlers with one filter never fetch the same URL: the first to add it "
             "fetches it. The filter is created if it does not exist."},
    {.name = "exact",
     .type = SN_FLAG,
     .offset = AT(exact),
     .help = "no false positives: keep 128 bits of every URL, and the URLs themselves on disk",
     .rare = true},
    {.letter = 'p',
     .name = "error-rate",
     .argument = "RATE",
     .type = SN_RATE,
     .offset = AT(error_rate),
     .help = "false-positive rate of the seen-set",
     .rare = true,
     .preset = "1e-6",
     .more = "A false positive loses a page, and those that only it leads to."},
    {.letter = 'n',
     .name = "capacity",
     .argument = "URLS",
     .type = SN_COUNT,
     .offset = AT(capacity),
     .help = "how many URLs are expected; the set grows anyway",
     .rare = true},
    {.name = "checkpoint",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(checkpoint_ms),
     .min = 10,
     .help = "save the state this often",
     .rare = true,
     .preset = "30s"},
    {.name = "retry-failed",
     .type = SN_FLAG,
     .offset = AT(retry_failed),
     .help = "fetch the pages that failed before once more",
     .rare = true},
};

static const sn_option scope_options[] = {
    {.name = "depth",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(depth),
     .help = "follow links at most N hops",
     .preset = "no limit"},
    {.letter = 'i',
     .name = "input",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(input),
     .choices = "FILE",
     .help = "read start URLs from this file; - is stdin",
     .more = "Empty lines and lines that begin with # are skipped."},
    {.name = "scope",
     .type = SN_CHOICE,
     .offset = AT(scope),
     .choices = "host|domain|all",
     .help = "which hosts to visit",
     .preset = "host",
     .more = "host: the hosts of the start URLs. domain: their domains with all subdomains. all: "
             "any host."},
    {.name = "no-parent",
     .type = SN_FLAG,
     .offset = AT(no_parent),
     .help = "stay in the folders of the start URLs and below",
     .rare = true},
    {.name = "include",
     .argument = "REGEX",
     .type = SN_LIST,
     .offset = AT(include),
     .help = "only URLs that match one of these"},
    {.name = "exclude",
     .argument = "REGEX",
     .type = SN_LIST,
     .offset = AT(exclude),
     .help = "no URLs that match one of these"},
    {.name = "sitemaps",
     .type = SN_FLAG,
     .offset = AT(sitemaps),
     .help = "also take URLs from sitemaps"},
    {.name = "follow-nofollow",
     .type = SN_FLAG,
     .offset = AT(nofollow),
     .help = "follow links that say nofollow",
     .rare = true},
    {.name = "sort-query",
     .type = SN_FLAG,
     .offset = AT(sort_query),
     .help = "URLs that differ only in the order of parameters are one",
     .rare = true},
    {.name = "drop-tracking",
     .type = SN_FLAG,
     .offset = AT(no_tracking),
     .help = "drop utm_*, gclid, fbclid and the like from URLs",
     .rare = true},
    {.name = "drop-sessions",
     .type = SN_FLAG,
     .offset = AT(no_sessions),
     .help = "drop session ids from URLs",
     .rare = true},
    {.name = "drop-www",
     .type = SN_FLAG,
     .offset = AT(no_www),
     .help = "take www.example.org for example.org",
     .rare = true},
    {.name = "drop-slash",
     .type = SN_FLAG,
     .offset = AT(no_slash),
     .help = "/a/ is /a",
     .rare = true},
    {.name = "drop",
     .argument = "NAME",
     .type = SN_LIST,
     .offset = AT(drop),
     .help = "drop this query parameter from URLs; NAME may end in *",
     .rare = true},
};

static const sn_option limit_options[] = {
    {.name = "max-pages",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(pages),
     .help = "stop after N pages",
     .preset = "no limit",
     .more = "Pages of all runs of a crawl count: to continue after the limit, give a larger one. "
             "That of "
             "a shared crawl cannot change."},
    {.name = "max-pages-per-host",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(host_pages),
     .help = "fetch at most N pages per host",
     .preset = "no limit",
     .rare = true},
    {.name = "max-body",
     .argument = "SIZE",
     .type = SN_SIZE,
     .offset = AT(body),
     .min = 1,
     .help = "read at most this much of a page, decompressed",
     .rare = true,
     .preset = "16MiB"},
    {.name = "max-url",
     .argument = "BYTES",
     .type = SN_COUNT,
     .offset = AT(url_max),
     .min = 16,
     .max = 16384,
     .help = "skip longer URLs",
     .rare = true,
     .preset = "4096"},
    {.name = "max-links",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(links),
     .max = 10000000,
     .help = "links followed from one page",
     .rare = true,
     .preset = "50000"},
    {.name = "max-path",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(path),
     .max = 255,
     .help = "skip URLs with more path segments",
     .rare = true,
     .preset = "64"},
    {.name = "max-repeats",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(repeats),
     .max = 255,
     .help = "skip URLs that repeat a path segment more often",
     .rare = true,
     .preset = "8"},
};

static const sn_option fetch_options[] = {
    {.name = "connections",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(connections),
     .min = 1,
     .max = 4096,
     .help = "transfers at once",
     .preset = "16"},
    {.name = "per-host",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(per_host),
     .min = 1,
     .max = 4096,
     .help = "transfers at once from one host",
     .preset = "2"},
    {.name = "delay",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(delay_ms),
     .help = "wait between two requests to one host",
     .preset = "1s",
     .more = "0 is for your own hosts only."},
    {.name = "max-crawl-delay",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(max_delay_ms),
     .help = "obey a Crawl-delay of robots.txt up to this",
     .rare = true,
     .preset = "30s"},
    {.name = "max-wait",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(max_wait_ms),
     .help = "obey a Retry-After up to this",
     .rare = true,
     .preset = "5m"},
    {.name = "timeout",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(timeout_ms),
     .min = 1,
     .help = "timeout of one page",
     .rare = true,
     .preset = "60s"},
    {.name = "connect-timeout",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(connect_ms),
     .min = 1,
     .help = "connection timeout",
     .rare = true,
     .preset = "10s"},
    {.name = "low-speed",
     .argument = "SIZE",
     .type = SN_SIZE,
     .offset = AT(low_speed),
     .help = "give up a page that is slower than this many bytes per second",
     .rare = true,
     .preset = "100"},
    {.name = "low-speed-time",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(low_speed_ms),
     .min = 1000,
     .help = "how long a page may be slower than --low-speed",
     .rare = true,
     .preset = "20s"},
    {.name = "retries",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(retries),
     .max = 100,
     .help = "retries after 408, 429, 5xx and broken connections",
     .rare = true,
     .preset = "3"},
    {.name = "backoff",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(backoff_ms),
     .help = "before the first retry; doubled for each further one",
     .rare = true,
     .preset = "1s"},
    {.name = "user-agent",
     .argument = "TEXT",
     .type = SN_STRING,
     .offset = AT(agent),
     .help = "User-Agent to send",
     .preset = SN_CRAWL_AGENT,
     .more = "Its first word is looked up in robots.txt."},
    {.letter = 'H',
     .name = "header",
     .argument = "HEADER",
     .type = SN_LIST,
     .offset = AT(headers),
     .help = "send this header, 'Name: value', with every request"},
    {.name = "cookies",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(cookies),
     .choices = "FILE",
     .help = "send the cookies in this file, in the format of curl and wget",
     .rare = true,
     .more = "Cookies that servers set are sent back during the run; the file does not change."},
    {.name = "proxy",
     .argument = "URL",
     .type = SN_STRING,
     .offset = AT(proxy),
     .help = "use this proxy; \"\": none",
     .preset = "http_proxy, https_proxy, no_proxy",
     .rare = true},
    {.name = "netrc",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(netrc),
     .choices = "FILE",
     .help = "log in with the user names and passwords in this file, by host",
     .rare = true},
    {.name = "redis-password-file",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(password_file),
     .choices = "FILE",
     .help = "Redis password: the first line of this file",
     .preset = "$REDISCLI_AUTH",
     .rare = true},
    {.name = "ca-file",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(ca_file),
     .choices = "FILE",
     .help = "certificates to trust",
     .preset = "the system's",
     .rare = true,
     .more = "For pages, and for a filter at rediss://."},
    {.name = "allow-private",
     .type = SN_FLAG,
     .offset = AT(allow_private),
     .help = "also connect to loopback and private addresses"},
};

static const sn_option output_options[] = {
    {.letter = 'o',
     .name = "output",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(output),
     .choices = "FILE",
     .help = "one line of JSON per URL",
     .preset = "stdout"},
    {.name = "urls",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(urls),
     .choices = "FILE",
     .help = "the URLs that answered 2xx, one per line"},
    {.name = "edges",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(edges),
     .choices = "FILE",
     .help = "the link graph: FROM, tab, TO"},
    {.name = "warc",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(warc),
     .choices = "FILE",
     .help = "the pages themselves as WARC, gzipped"},
};

static const sn_option join_options[] = {
    {.name = "join",
     .argument = "ADDRESS",
     .type = SN_STRING,
     .offset = AT(join),
     .help = "share the crawl: redis://HOST/NAME",
     .more = "The queue and what was seen are kept in Redis, or a Redis Cluster with "
             "redis-cluster://. The first worker gives the start URLs and the options; others "
             "join with the address alone. Workers may come, leave and die at any moment."},
    {.name = "worker",
     .argument = "NAME",
     .type = SN_STRING,
     .offset = AT(worker),
     .help = "name of this worker in the status",
     .preset = "host name and process number",
     .rare = true},
    {.name = "lease",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(lease_ms),
     .min = 200,
     .max = 3600000,
     .help = "when a crawl is created: a worker that is silent for this long is dead",
     .preset = "10s",
     .rare = true},
    {.name = "frontier-memory",
     .argument = "SIZE",
     .type = SN_SIZE,
     .offset = AT(frontier_memory),
     .help = "limit of the queued URLs in Redis",
     .preset = "no limit",
     .rare = true,
     .more = "When a crawl is created; later with resume. 0 is no limit."},
};

#define GROUP(title_, list)                                                                        \
    {                                                                                              \
        .title = title_, .options = list, .count = sizeof list / sizeof list[0], .own = true       \
    }
static const sn_group state_group = GROUP("What is seen", state_options);
static const sn_group scope_group = GROUP("What to follow", scope_options);
static const sn_group limit_group = GROUP("What to follow", limit_options);
static const sn_group fetch_group = GROUP("How to fetch", fetch_options);
static const sn_group join_group = GROUP("Several machines", join_options);
static const sn_group output_group = GROUP(SN_OUTPUT_TITLE, output_options);

/* ---- From the command line to the crawler's options ---- */

static void take_numbers(const sn_args *args, sn_crawl_options *o)
{
    const crawl_own *own = args->own;
    const struct {
        const char *name;
        uint64_t *to;
        uint64_t from;
    } numbers[] = {
        {"capacity", &o->capacity, own->capacity},
        {"checkpoint", &o->checkpoint_ms, own->checkpoint_ms},
        {"depth", &o->max_depth, own->depth},
        {"max-pages", &o->max_pages, own->pages},
        {"max-pages-per-host", &o->max_host_pages, own->host_pages},
        {"max-body", &o->max_body, own->body},
        {"max-url", &o->max_url, own->url_max},
        {"max-links", &o->max_links, own->links},
        {"max-path", &o->max_path, own->path},
        {"max-repeats", &o->max_repeats, own->repeats},
        {"connections", &o->connections, own->connections},
        {"per-host", &o->per_host, own->per_host},
        {"delay", &o->delay_ms, own->delay_ms},
        {"max-crawl-delay", &o->max_delay_ms, own->max_delay_ms},
        {"max-wait", &o->max_wait_ms, own->max_wait_ms},
        {"timeout", &o->timeout_ms, own->timeout_ms},
        {"connect-timeout", &o->connect_ms, own->connect_ms},
        {"low-speed", &o->low_speed, own->low_speed},
        {"low-speed-time", &o->low_speed_ms, own->low_speed_ms},
        {"retries", &o->retries, own->retries},
        {"backoff", &o->backoff_ms, own->backoff_ms},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sn_args_given(args, numbers[i].name))
            *numbers[i].to = numbers[i].from;
}

/* An absolute path: a crawl may be resumed from another folder. */
static const char *whole_path(const char *path, char **owned)
{
    char folder[4096];
    if (!path || path[0] == '/' || strcmp(path, "-") == 0 || strstr(path, "://") ||
        !getcwd(folder, sizeof folder))
        return path;
    size_t room = strlen(folder) + strlen(path) + 2;
    *owned = malloc(room);
    if (!*owned)
        return path;
    snprintf(*owned, room, "%s/%s", folder, path);
    return *owned;
}

typedef struct crawl_paths {
    char *owned[8];
} crawl_paths;

static void take_strings(const sn_args *args, sn_crawl_options *o, crawl_paths *paths)
{
    const crawl_own *own = args->own;
    if (own->filter)
        o->filter = whole_path(own->filter, &paths->owned[0]);
    if (own->output)
        o->output = whole_path(own->output, &paths->owned[1]);
    if (own->urls)
        o->urls = whole_path(own->urls, &paths->owned[2]);
    if (own->edges)
        o->edges = whole_path(own->edges, &paths->owned[3]);
    if (own->warc)
        o->warc = whole_path(own->warc, &paths->owned[4]);
    if (own->ca_file)
        o->ca_file = whole_path(own->ca_file, &paths->owned[5]);
    if (own->cookies)
        o->cookies = whole_path(own->cookies, &paths->owned[6]);
    if (own->netrc)
        o->netrc = whole_path(own->netrc, &paths->owned[7]);
    if (own->proxy)
        o->proxy = own->proxy;
    if (own->agent)
        o->agent = own->agent;
    if (own->headers.count > 0)
        o->headers = (sn_crawl_list){own->headers.items, own->headers.count};
    if (own->include.count > 0)
        o->include = (sn_crawl_list){own->include.items, own->include.count};
    if (own->exclude.count > 0)
        o->exclude = (sn_crawl_list){own->exclude.items, own->exclude.count};
    if (own->drop.count > 0)
        o->drop = (sn_crawl_list){own->drop.items, own->drop.count};
    /* At least one output is required. */
    if (!o->output && !o->urls && !o->edges && !o->warc)
        o->output = "-";
}

static void take_flags(const sn_args *args, sn_crawl_options *o)
{
    const crawl_own *own = args->own;
    o->exact = o->exact || own->exact;
    o->retry_failed = own->retry_failed;
    o->follow_nofollow = o->follow_nofollow || own->nofollow;
    o->sitemaps = o->sitemaps || own->sitemaps;
    o->no_parent = o->no_parent || own->no_parent;
    o->allow_private = o->allow_private || own->allow_private;
    if (sn_args_given(args, "error-rate"))
        o->error_rate = own->error_rate;
    if (sn_args_given(args, "scope"))
        o->scope = own->scope;
    o->url_flags |= (own->sort_query ? SEEN_URL_SORT_QUERY : 0) |
                    (own->no_tracking ? SEEN_URL_DROP_TRACKING : 0) |
                    (own->no_sessions ? SEEN_URL_DROP_SESSION : 0) |
                    (own->no_www ? SEEN_URL_DROP_WWW : 0) |
                    (own->no_slash ? SEEN_URL_DROP_SLASH : 0);
}

/* ---- The command ---- */

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* A part of the command that was mistyped, or that comes after options, is no start URL. */
static bool check_first(const sn_args *args)
{
    const char *word = args->operands[0];
    const sn_cli_command *part = word ? sn_cli_part_find(args->command, word) : NULL;
    if (part)
        sn_message_error("write seen %s %s: its options follow", part->name, part->synopsis);
    else if (word && !strpbrk(word, ".:/") && (part = sn_cli_part_suggest(args->command, word)))
        sn_message_error("unknown command 'crawl %s'; did you mean '%s'?", word, part->name);
    return !part;
}

static bool check_shared(const sn_args *args)
{
    static const char *const shared[] = {"worker", "lease", "frontier-memory"};
    const crawl_own *own = args->own;
    for (size_t i = 0; i < sizeof shared / sizeof shared[0] && !own->join; i++)
        if (sn_args_given(args, shared[i])) {
            sn_message_error("--%s is for a shared crawl: give --join too", shared[i]);
            return false;
        }
    return true;
}

static int run_crawl(sn_args *args)
{
    const crawl_own *own = args->own;
    seen_error error = {0};
    sn_crawl_options options;
    sn_crawl_result result;
    crawl_paths paths = {{NULL}};
    void *keep = NULL;
    sn_cli_status show;
    sn_cli_urls urls = {0};
    if (own->password_file && !sn_password_read(own->password_file))
        return SN_EXIT_ERROR;
    if (!check_first(args) || !check_shared(args))
        return SN_EXIT_ERROR;
    sn_crawl_defaults(&options);
    options.join = own->join;
    options.ca_file = own->ca_file;
    if (!sn_cli_urls_read(&urls, own->input, args->operands, args->operand_count, &error))
        return sn_message_report(&error);
    if (own->join && !sn_cli_fleet_load(&options, urls.count > 0, &keep, &error))
        return sn_message_report(&error);
    if (own->state && sn_crawl_resumable(own->state) &&
        sn_crawl_load(own->state, &options, &keep, &error) != SEEN_OK)
        return sn_message_report(&error);
    options.state = own->state;
    options.start = (sn_crawl_list){(const char *const *)urls.items, urls.count};
    take_numbers(args, &options);
    take_strings(args, &options, &paths);
    take_flags(args, &options);
    options.worker = own->worker;
    if (sn_args_given(args, "lease"))
        options.lease_ms = own->lease_ms;
    options.frontier_memory = own->frontier_memory;
    args->prints = is_stdout(options.output) || is_stdout(options.urls) ||
                   is_stdout(options.edges) || is_stdout(options.warc);
    sn_cli_status_begin(&show, args, &options);
    sn_cli_fleet_past past = {0};
    seen_status status = options.join ? sn_cli_fleet_check(args, &options, &error) : SEEN_OK;
    if (status == SEEN_OK)
        do
            status = sn_crawl_run(&options, sn_signal_flag(), sn_cli_status_show, &show, &result,
                                  &error);
        while (sn_cli_fleet_again(args, status, &result, &error, &past, &options));
    sn_cli_status_clear(&show);
    int code =
        status == SEEN_OK ? sn_cli_status_end(&show, &options, &result) : sn_message_report(&error);
    for (size_t i = 0; i < sizeof paths.owned / sizeof paths.owned[0]; i++)
        free(paths.owned[i]);
    sn_cli_urls_free(&urls);
    free(keep);
    return code;
}

const sn_cli_command sn_cli_command_crawl = {
    .name = "crawl",
    .summary = "crawl breadth-first, each URL once",
    .synopsis = "[OPTION]... [URL]...\n"
                "crawl report STATE|FILE.jsonl|ADDRESS --html FILE\n"
                "crawl status|pause|resume|stop|failed|export|drop ADDRESS",
    .about =
        "Fetches the URLs and everything that their pages link to on the same hosts, breadth "
        "first, each URL once, and writes a line of JSON about each. It obeys robots.txt and waits "
        "a second between two requests to one host by default.\n\n"
        "URLs are compared by their canonical form. Of the output options, the name - is stdout. "
        "With --state the crawl is kept in a folder and can be resumed. After a kill or a crash, "
        "pages of the last 250 ms are fetched again; after a power failure, pages since the last "
        "checkpoint. The first Ctrl-C finishes the transfers in progress and saves; a second stops "
        "at "
        "once. "
        "Addresses that are not of the public Internet are refused unless --allow-private is "
        "given.\n\n"
        "With --join many machines share one crawl in Redis: nothing is lost when one of them "
        "dies, and each host keeps its delay. status shows such a crawl, pause, resume and stop "
        "steer it, failed lists the pages that were given up, export the URLs that are queued, "
        "and drop deletes it.",
    .operands = "",
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .own_size = sizeof(crawl_own),
    .groups = {&scope_group, &limit_group, &fetch_group, &state_group, &join_group, &output_group,
               &sn_group_messages},
    .examples =
        {{"Crawl a site, resumable",
          "seen crawl https://example.org/ --depth 3 --output pages.jsonl --state crawl.dir", "-"},
         {"Resume it", "seen crawl --state crawl.dir", "-"},
         {"Write a report about it", "seen crawl report crawl.dir --html report.html", "-"},
         {"Begin a crawl that other machines can join",
          "seen crawl --join redis://host/NAME https://example.org/ --output pages.1.jsonl", "-"},
         {"Join it", "seen crawl --join redis://host/NAME --output pages.2.jsonl", "-"},
         {"Look at a shared crawl", "seen crawl status redis://host/NAME --watch", "-"}},
    .exit_text =
        "0 on success, also when some pages failed, or when Ctrl-C stopped the crawl; 2 on errors, "
        "with a message on standard error, and when not one page could be fetched (with --join: by "
        "any worker). A reader that closes the pipe early is not an error.",
    .run = run_crawl,
    .parts = sn_cli_crawl_parts,
};
