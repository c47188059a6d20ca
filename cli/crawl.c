/* `seen crawl`: crawls breadth-first, each URL once. */
#include "crawl/crawl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

typedef struct crawl_own {
    const char *state, *filter;
    bool exact, retry_failed;
    double error_rate;
    uint64_t capacity, checkpoint_ms;

    int scope;
    sn_list include, exclude, drop;
    bool nofollow, sitemaps;
    bool sort_query, no_tracking, no_sessions, no_www, no_slash;
    uint64_t depth, pages, host_pages, url_max, links, path, repeats;

    uint64_t connections, per_host, delay_ms, max_delay_ms, max_wait_ms, timeout_ms, connect_ms;
    uint64_t low_speed, low_speed_ms, body, retries, backoff_ms;
    const char *agent, *ca_file;
    bool allow_private;

    const char *output, *urls, *edges, *warc;
} crawl_own;

#define AT(field) offsetof(crawl_own, field)

static const sn_option state_options[] = {
    {.name = "state",
     .argument = "DIR",
     .type = SN_STRING,
     .offset = AT(state),
     .choices = "DIR",
     .help = "keep the crawl in this folder; goes on where it stopped",
     .more = "Frontier, seen-set, counters and options are saved there. With a folder that holds a "
             "crawl, options that are not given are those it was started with, and URLs may be "
             "left out."},
    {.name = "filter",
     .argument = "FILTER",
     .type = SN_STRING,
     .offset = AT(filter),
     .choices = "FILE",
     .help = "share what is seen: a file, or redis://HOST/NAME",
     .more = "Several crawlers with one filter never fetch the same URL: whoever adds it first "
             "fetches it. It is made where it does not exist."},
    {.name = "exact",
     .type = SN_FLAG,
     .offset = AT(exact),
     .help = "no mistakes: keep 128 bits of every URL, and the URLs themselves on disk"},
    {.letter = 'p',
     .name = "error-rate",
     .argument = "RATE",
     .type = SN_RATE,
     .offset = AT(error_rate),
     .help = "of the seen-set (1e-6)",
     .more = "A mistake loses a page, and those that only it leads to."},
    {.letter = 'n',
     .name = "capacity",
     .argument = "URLS",
     .type = SN_COUNT,
     .offset = AT(capacity),
     .help = "how many URLs are expected; the set grows anyway"},
    {.name = "checkpoint",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(checkpoint_ms),
     .min = 10,
     .help = "save the state this often (30s)"},
    {.name = "retry-failed",
     .type = SN_FLAG,
     .offset = AT(retry_failed),
     .help = "fetch the pages that failed before once more"},
};

static const sn_option scope_options[] = {
    {.name = "depth",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(depth),
     .help = "follow links so many times from the start"},
    {.name = "scope",
     .argument = "WHICH",
     .type = SN_CHOICE,
     .offset = AT(scope),
     .choices = "host|domain|all",
     .help = "stay on the start URLs' hosts (default), their domains, or go anywhere"},
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
     .help = "follow links that say nofollow"},
    {.name = "sort-query",
     .type = SN_FLAG,
     .offset = AT(sort_query),
     .help = "URLs that differ only in the order of parameters are one"},
    {.name = "drop-tracking",
     .type = SN_FLAG,
     .offset = AT(no_tracking),
     .help = "drop utm_*, gclid, fbclid and the like from URLs"},
    {.name = "drop-sessions",
     .type = SN_FLAG,
     .offset = AT(no_sessions),
     .help = "drop session ids from URLs"},
    {.name = "drop-www",
     .type = SN_FLAG,
     .offset = AT(no_www),
     .help = "www.example.org is example.org"},
    {.name = "drop-slash", .type = SN_FLAG, .offset = AT(no_slash), .help = "/a/ is /a"},
    {.name = "drop",
     .argument = "NAME",
     .type = SN_LIST,
     .offset = AT(drop),
     .help = "drop this query parameter from URLs; NAME may end in *"},
};

static const sn_option limit_options[] = {
    {.name = "max-pages",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(pages),
     .help = "stop after so many pages"},
    {.name = "max-pages-per-host",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(host_pages),
     .help = "fetch so many pages from one host"},
    {.name = "max-body",
     .argument = "SIZE",
     .type = SN_SIZE,
     .offset = AT(body),
     .min = 1,
     .help = "read so much of a page, counted after decompression (16MiB)"},
    {.name = "max-url",
     .argument = "BYTES",
     .type = SN_COUNT,
     .offset = AT(url_max),
     .min = 16,
     .max = 16384,
     .help = "skip longer URLs (4096)"},
    {.name = "max-links",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(links),
     .max = 10000000,
     .help = "links followed from one page (50000)"},
    {.name = "max-path",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(path),
     .max = 255,
     .help = "skip URLs with more path segments (64)"},
    {.name = "max-repeats",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(repeats),
     .max = 255,
     .help = "skip URLs that repeat a path segment more often (8)"},
};

static const sn_option fetch_options[] = {
    {.name = "connections",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(connections),
     .min = 1,
     .max = 4096,
     .help = "transfers at once (16)"},
    {.name = "per-host",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(per_host),
     .min = 1,
     .max = 4096,
     .help = "transfers at once from one host (2)"},
    {.name = "delay",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(delay_ms),
     .help = "between two requests to one host (1s)",
     .more = "0 is for your own hosts only."},
    {.name = "max-crawl-delay",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(max_delay_ms),
     .help = "obey a Crawl-delay of robots.txt up to this (30s)"},
    {.name = "max-wait",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(max_wait_ms),
     .help = "obey a Retry-After up to this (5m)"},
    {.name = "timeout",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(timeout_ms),
     .min = 1,
     .help = "give a page up after this (60s)"},
    {.name = "connect-timeout",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(connect_ms),
     .min = 1,
     .help = "give a connection up after this (10s)"},
    {.name = "low-speed",
     .argument = "SIZE",
     .type = SN_SIZE,
     .offset = AT(low_speed),
     .help = "give a page up that stays below so many bytes a second (100)..."},
    {.name = "low-speed-time",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(low_speed_ms),
     .min = 1000,
     .help = "... for this long (20s)"},
    {.name = "retries",
     .argument = "N",
     .type = SN_COUNT,
     .offset = AT(retries),
     .max = 100,
     .help = "after 408, 429, 5xx and broken connections (3)"},
    {.name = "backoff",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(backoff_ms),
     .help = "before the first retry; doubled for each further one (1s)"},
    {.name = "user-agent",
     .argument = "TEXT",
     .type = SN_STRING,
     .offset = AT(agent),
     .help = "who we say we are; its first word is looked up in robots.txt"},
    {.name = "ca-file",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(ca_file),
     .choices = "FILE",
     .help = "trust the certificates in this file instead of the system's"},
    {.name = "allow-private",
     .type = SN_FLAG,
     .offset = AT(allow_private),
     .help = "also connect to loopback, private and other special addresses"},
};

static const sn_option output_options[] = {
    {.letter = 'o',
     .name = "output",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(output),
     .choices = "FILE",
     .help = "one line of JSON per URL (default: to stdout)"},
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
     .help = "the pages themselves as WARC, one gzip member per record"},
};

#define GROUP(title_, list)                                                                        \
    {                                                                                              \
        .title = title_, .options = list, .count = sizeof list / sizeof list[0], .own = true       \
    }
static const sn_group state_group = GROUP("What is seen", state_options);
static const sn_group scope_group = GROUP("What to follow", scope_options);
static const sn_group limit_group = GROUP("Limits", limit_options);
static const sn_group fetch_group = GROUP("How to fetch", fetch_options);
static const sn_group output_group = GROUP("Output; - is stdout", output_options);

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

/* A path that is the same from another folder, when a crawl goes on from there. */
static const char *whole_path(const char *path, char **owned)
{
    char folder[4096];
    if (path == NULL || path[0] == '/' || strcmp(path, "-") == 0 || strstr(path, "://") != NULL ||
        getcwd(folder, sizeof folder) == NULL)
        return path;
    size_t room = strlen(folder) + strlen(path) + 2;
    *owned = malloc(room);
    if (*owned == NULL)
        return path;
    snprintf(*owned, room, "%s/%s", folder, path);
    return *owned;
}

typedef struct crawl_paths {
    char *owned[6];
} crawl_paths;

static void take_strings(const sn_args *args, sn_crawl_options *o, crawl_paths *paths)
{
    const crawl_own *own = args->own;
    if (own->filter != NULL)
        o->filter = whole_path(own->filter, &paths->owned[0]);
    if (own->output != NULL)
        o->output = whole_path(own->output, &paths->owned[1]);
    if (own->urls != NULL)
        o->urls = whole_path(own->urls, &paths->owned[2]);
    if (own->edges != NULL)
        o->edges = whole_path(own->edges, &paths->owned[3]);
    if (own->warc != NULL)
        o->warc = whole_path(own->warc, &paths->owned[4]);
    if (own->ca_file != NULL)
        o->ca_file = whole_path(own->ca_file, &paths->owned[5]);
    if (own->agent != NULL)
        o->agent = own->agent;
    if (own->include.count > 0)
        o->include = (sn_crawl_list){own->include.items, own->include.count};
    if (own->exclude.count > 0)
        o->exclude = (sn_crawl_list){own->exclude.items, own->exclude.count};
    if (own->drop.count > 0)
        o->drop = (sn_crawl_list){own->drop.items, own->drop.count};
    /* Something must come out. */
    if (o->output == NULL && o->urls == NULL && o->edges == NULL && o->warc == NULL)
        o->output = "-";
}

static void take_flags(const sn_args *args, sn_crawl_options *o)
{
    const crawl_own *own = args->own;
    o->exact = o->exact || own->exact;
    o->retry_failed = own->retry_failed;
    o->follow_nofollow = o->follow_nofollow || own->nofollow;
    o->sitemaps = o->sitemaps || own->sitemaps;
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

/* ---- What a person sees ---- */

typedef struct show {
    const sn_args *args;
    int mode; /* 0 silent, 1 a line redrawn, 2 JSON, 3 plain lines */
    double last;
    uint64_t last_pages;
    double last_seconds;
} show;

static void show_begin(show *s, const sn_args *args)
{
    *s = (show){.args = args};
    sn_progress progress;
    sn_progress_begin(&progress, args, "crawl", 0);
    s->mode = progress.mode;
    if (s->mode == 0 && !args->quiet)
        s->mode = 3;
}

static void show_json(const sn_crawl_status *st, bool done)
{
    sn_json json;
    sn_json_open(&json, stderr, true);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "what", "crawl");
    sn_json_u64(&json, "pages", st->counts.pages);
    sn_json_u64(&json, "ok", st->counts.ok);
    sn_json_u64(&json, "queued", st->queued);
    sn_json_u64(&json, "active", st->active);
    sn_json_u64(&json, "hosts", st->hosts);
    sn_json_u64(&json, "bytes", st->counts.bytes);
    sn_json_u64(&json, "failed", st->counts.failed);
    sn_json_u64(&json, "denied_by_robots", st->counts.robots);
    sn_json_number(&json, "seconds", st->seconds);
    if (st->fill >= 0)
        sn_json_number(&json, "fill", st->fill);
    sn_json_number(&json, "error_rate", st->error_rate);
    sn_json_bool(&json, "done", done);
    sn_json_end(&json);
    fflush(stderr);
}

/* Redraws the status line; the empty one takes it away. */
static void draw(const char *line)
{
    struct winsize size;
    int width = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10)
        width = size.ws_col;
    fprintf(stderr, "\r%.*s\033[K", width - 1, line);
    fflush(stderr);
}

static void show_text(show *s, const sn_crawl_status *st)
{
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT], d[SN_TEXT], line[300];
    double span = st->seconds - s->last_seconds;
    double rate = span > 0 ? (double)(st->run_pages - s->last_pages) / span : 0;
    s->last_seconds = st->seconds;
    s->last_pages = st->run_pages;
    int at = snprintf(
        line, sizeof line, "%s pages, %.0f/s, %s queued, %s, %llu failed, %llu host%s",
        sn_show_count(a, (double)st->counts.pages), rate, sn_show_count(b, (double)st->queued),
        sn_show_size(c, (double)st->counts.bytes), (unsigned long long)st->counts.failed,
        (unsigned long long)st->hosts, st->hosts == 1 ? "" : "s");
    if (st->fill > 0)
        at += snprintf(line + at, sizeof line - (size_t)at, ", set %.0f%% full, %s wrong",
                       100 * st->fill, sn_show_rate(d, st->error_rate));
    if (st->stopping)
        snprintf(line + at, sizeof line - (size_t)at, ", stopping");
    if (s->mode == 1)
        draw(line);
    else
        fprintf(stderr, "seen: %s\n", line);
}

static void on_progress(void *user, const sn_crawl_status *st)
{
    show *s = user;
    double every = s->mode == 1 ? 0.25 : s->mode == 2 ? 1 : 10;
    if (s->mode == 0 || st->seconds - s->last < every)
        return;
    s->last = st->seconds;
    if (s->mode == 2)
        show_json(st, false);
    else
        show_text(s, st);
}

/* ", 12 WORDS" where there are any. */
static void part(char *line, size_t room, uint64_t number, const char *words)
{
    char a[SN_TEXT];
    size_t at = strlen(line);
    if (number > 0)
        snprintf(line + at, room - at, ", %s %s", sn_show_count(a, (double)number), words);
}

static void tell_counts(const sn_args *args, const sn_crawl_result *r)
{
    const sn_crawl_counts *n = &r->status.counts;
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT], line[500] = "";
    double seconds = r->status.seconds;
    sn_note(args, "%s pages, %s in %s (%.0f pages/s)", sn_show_count(a, (double)n->pages),
            sn_show_size(b, (double)n->bytes), sn_show_seconds(c, seconds),
            seconds > 0 ? (double)r->status.run_pages / seconds : 0);
    part(line, sizeof line, n->ok, "answered 2xx");
    part(line, sizeof line, n->redirects, "redirected");
    part(line, sizeof line, n->failed, "failed");
    part(line, sizeof line, n->robots, "denied by robots.txt");
    part(line, sizeof line, n->host_limit, "over the limit of their host");
    part(line, sizeof line, n->truncated, "cut short");
    part(line, sizeof line, n->retried, "retries");
    part(line, sizeof line, n->dropped, "links over a limit");
    if (line[0] != '\0')
        sn_note(args, "%s", line + 2);
}

static void tell(const sn_args *args, const sn_crawl_options *o, const sn_crawl_result *r)
{
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT];
    tell_counts(args, r);
    if (o->exact)
        sn_note(args, "%s URLs seen, exactly: no page is lost to a mistake",
                sn_show_count(a, (double)r->status.known));
    else
        sn_note(args,
                "%s URLs seen in %s at an error rate of %s: %.2g pages are expected to be "
                "lost, with those that only they lead to",
                sn_show_count(a, (double)r->status.known),
                sn_show_size(b, (double)r->status.set_bytes), sn_show_rate(c, r->status.error_rate),
                r->status.counts.lost);
    if (r->start_seen > 0 && !r->resumed)
        sn_note(args, "%llu of the start URLs had been seen already",
                (unsigned long long)r->start_seen);
    if (r->status.counts.failed > 0 && o->state != NULL)
        sn_note(args, "the failed pages are listed in %s/failed; --retry-failed tries them again",
                o->state);
    if (r->end != SN_CRAWL_DONE)
        sn_note(args,
                o->state != NULL ? "stopped with %s URLs queued; --state %s goes on"
                                 : "stopped with %s URLs queued",
                sn_show_count(a, (double)r->status.queued), o->state);
}

/* ---- The command ---- */

static int run_crawl(sn_args *args)
{
    const crawl_own *own = args->own;
    seen_error error = {0};
    sn_crawl_options options;
    sn_crawl_result result;
    crawl_paths paths = {{NULL}};
    void *keep = NULL;
    show s;
    sn_crawl_defaults(&options);
    if (own->state != NULL && sn_crawl_resumable(own->state) &&
        sn_crawl_load(own->state, &options, &keep, &error) != SEEN_OK)
        return sn_trouble_error(&error);
    options.state = own->state;
    options.start = (sn_crawl_list){(const char *const *)args->operands, args->operand_count};
    take_numbers(args, &options);
    take_strings(args, &options, &paths);
    take_flags(args, &options);
    show_begin(&s, args);
    seen_status status = sn_crawl_run(&options, sn_stop_flag(), on_progress, &s, &result, &error);
    if (s.mode == 1)
        draw("");
    int code = SN_EXIT_OK;
    if (status != SEEN_OK)
        code = sn_trouble_error(&error);
    else if (s.mode == 2)
        show_json(&result.status, true);
    else
        tell(args, &options, &result);
    for (size_t i = 0; i < sizeof paths.owned / sizeof paths.owned[0]; i++)
        free(paths.owned[i]);
    free(keep);
    return code;
}

const sn_command sn_command_crawl = {
    .name = "crawl",
    .summary = "crawl breadth-first, each URL once",
    .synopsis = "[OPTION]... [URL]...",
    .about =
        "Fetches the URLs and everything that their pages link to on the same hosts, breadth "
        "first, each URL once by its canonical form, and writes a line of JSON about each. It "
        "obeys robots.txt and waits a second between two requests to one host unless told "
        "otherwise.\n\n"
        "With --state the crawl is kept in a folder and goes on where it stopped, also after a "
        "crash. The first Ctrl-C finishes what is under way and saves; a second stops at once. "
        "Addresses that are not of the public Internet are refused unless --allow-private is "
        "given.",
    .operands = "",
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .own_size = sizeof(crawl_own),
    .groups = {&scope_group, &limit_group, &fetch_group, &state_group, &output_group,
               &sn_group_talk},
    .examples =
        {{"Crawl a site and be able to go on later",
          "seen crawl https://example.org/ --depth 3 --output pages.jsonl --state crawl.dir", "-"},
         {"Go on where it stopped", "seen crawl --state crawl.dir", "-"},
         {"Share the work with other machines",
          "seen crawl https://example.org/ --filter redis://host/NAME", "-"}},
    .run = run_crawl,
};
