/* The output of a crawl for people. */
#include "cli/crawl.h"

#include "base/text.h"
#include "crawl/fleet/fleet.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The message for a second signal, prepared for the signal handler. */
static void prepare_exit_message(sn_cli_status *s, const sn_crawl_options *options)
{
    char name[700];
    const char *state = options->state;
    const char *clear = s->mode == SN_SHOW_REDRAWN ? "\r\033[K" : "";
    if (options->join) {
        snprintf(s->exit_message, sizeof s->exit_message,
                 "%sseen: stopped at once; the crawl is in Redis, and another worker fetches the "
                 "pages in progress after a lease\n",
                 clear);
    } else if (!state) {
        snprintf(s->exit_message, sizeof s->exit_message,
                 "%sseen: stopped at once; without --state nothing was saved\n", clear);
    } else {
        size_t n = sn_text_escape(name, sizeof name - 1, state, strlen(state));
        snprintf(
            s->exit_message, sizeof s->exit_message,
            "%sseen: stopped at once; %.*s is complete up to the last checkpoint; --state %.*s "
            "resumes it\n",
            clear, n > 400 ? 400 : (int)n, name, n > 400 ? 400 : (int)n, name);
    }
    sn_signal_set_message(s->exit_message);
}

void sn_cli_status_begin(sn_cli_status *s, const sn_args *args, const sn_crawl_options *options)
{
    static const sn_cli_status_mode modes[] = {SN_SHOW_SILENT, SN_SHOW_REDRAWN, SN_SHOW_JSON,
                                               SN_SHOW_LINES};
    sn_progress progress;
    sn_progress_begin(&progress, args, "crawl", 0);
    *s = (sn_cli_status){.args = args, .mode = modes[progress.mode]};
    if (s->mode == SN_SHOW_SILENT && !args->quiet)
        s->mode = SN_SHOW_LINES;
    if (s->mode == SN_SHOW_REDRAWN || s->mode == SN_SHOW_LINES)
        prepare_exit_message(s, options);
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

/* Redraws the status line; an empty one erases it. If it is too long for the terminal the last
 * parts are omitted completely. */
static void draw(const char *line)
{
    struct winsize size;
    int width = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10)
        width = size.ws_col;
    int len = (int)strlen(line);
    if (len >= width) {
        len = width - 1;
        while (len > 0 && line[len] != ',')
            len--;
    }
    fprintf(stderr, "\r%.*s\033[K", len, line);
    fflush(stderr);
}

static const char *plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}

/* In a nearly empty set false positives are negligible: a number would suggest more precision than
 * there is. */
static const char *rate_text(char buffer[SN_TEXT], double rate)
{
    return rate < 1e-12 ? "below 1e-12" : sn_show_rate(buffer, rate);
}

static void show_text(sn_cli_status *s, const sn_crawl_status *st)
{
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT], d[SN_TEXT], line[300];
    const char *why = st->stopping ? "stopping" : st->waits;
    double span = st->seconds - s->last_seconds;
    double rate = span > 0 ? (double)(st->run_pages - s->last_pages) / span : 0;
    s->last_seconds = st->seconds;
    s->last_pages = st->run_pages;
    int at = snprintf(
        line, sizeof line, "%s%s%s page%s, %.0f/s, %s queued, %s, %llu failed, %llu host%s",
        why ? why : "", why ? ": " : "", sn_show_count(a, (double)st->counts.pages),
        plural(st->counts.pages), rate, sn_show_count(b, (double)st->queued),
        sn_show_size(c, (double)st->counts.bytes), (unsigned long long)st->counts.failed,
        (unsigned long long)st->hosts, plural(st->hosts));
    if (st->fill > 0)
        snprintf(line + at, sizeof line - (size_t)at, ", set %.0f%% full, error rate %s",
                 100 * st->fill, rate_text(d, st->error_rate));
    if (s->mode == SN_SHOW_REDRAWN)
        draw(line);
    else
        fprintf(stderr, "seen: %s\n", line);
}

/* Once, when the first signal was noticed. */
static void show_stopping(sn_cli_status *s, uint64_t active)
{
    s->stopping = true;
    if (s->mode == SN_SHOW_REDRAWN)
        draw("");
    sn_message_note(
        s->args,
        "stopping when the %llu page%s in progress %s done; press Ctrl-C again to stop at once",
        (unsigned long long)active, plural(active), active == 1 ? "is" : "are");
}

void sn_cli_status_show(void *user, const sn_crawl_status *st)
{
    static const double every[] = {
        [SN_SHOW_REDRAWN] = 0.25, [SN_SHOW_JSON] = 1, [SN_SHOW_LINES] = 10};
    sn_cli_status *s = user;
    if (st->stopping && !s->stopping && (s->mode == SN_SHOW_REDRAWN || s->mode == SN_SHOW_LINES))
        show_stopping(s, st->active);
    if (s->mode == SN_SHOW_SILENT || st->seconds - s->last < every[s->mode])
        return;
    s->last = st->seconds;
    if (s->mode == SN_SHOW_JSON)
        show_json(st, false);
    else
        show_text(s, st);
}

void sn_cli_status_clear(const sn_cli_status *s)
{
    sn_signal_set_message(NULL);
    if (s->mode == SN_SHOW_REDRAWN)
        draw("");
}

/* ", 12 WORDS", or nothing for 0. */
static void part(char *line, size_t room, uint64_t number, const char *words)
{
    char a[SN_TEXT];
    size_t at = strlen(line);
    if (number > 0)
        snprintf(line + at, room - at, ", %s %s", sn_show_count(a, (double)number), words);
}

static void print_counts(const sn_args *args, const sn_crawl_result *r)
{
    const sn_crawl_counts *n = &r->status.counts;
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT], d[SN_TEXT], line[500] = "";
    double seconds = r->status.seconds;
    double rate = seconds > 0 ? (double)r->status.run_pages / seconds : 0;
    sn_show_count(a, (double)n->pages);
    sn_show_size(b, (double)n->bytes);
    sn_show_seconds(c, seconds);
    if (r->status.run_pages == n->pages)
        sn_message_note(args, "%s page%s, %s in %s (%.0f pages/s)", a, plural(n->pages), b, c,
                        rate);
    else
        sn_message_note(args, "%s page%s, %s in all; %s in %s (%.0f pages/s)", a, plural(n->pages),
                        b, sn_show_count(d, (double)r->status.run_pages), c, rate);
    part(line, sizeof line, n->ok, "answered 2xx");
    part(line, sizeof line, n->redirects, "redirected");
    part(line, sizeof line, n->pages - n->ok - n->redirects, "answered otherwise");
    part(line, sizeof line, n->failed, "failed");
    part(line, sizeof line, n->robots, "denied by robots.txt");
    part(line, sizeof line, n->host_limit, "over the limit of their host");
    part(line, sizeof line, n->truncated, "truncated");
    part(line, sizeof line, n->retried, n->retried == 1 ? "retry" : "retries");
    part(line, sizeof line, n->dropped,
         n->dropped == 1 ? "link over a limit" : "links over a limit");
    if (line[0] != '\0')
        sn_message_note(args, "%s", line + 2);
}

/* The expected losses of the seen-set. */
static void print_set(const sn_args *args, bool exact, const sn_crawl_status *st)
{
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT];
    sn_show_count(a, (double)st->known);
    sn_show_size(b, (double)st->set_bytes);
    const char *s = plural(st->known);
    if (exact)
        sn_message_note(args, "%s URL%s seen, exactly: no page is lost", a, s);
    else if (st->counts.lost < 0.005)
        sn_message_note(args, "%s URL%s seen in %s, error rate %s: no page is expected to be lost",
                        a, s, b, rate_text(c, st->error_rate));
    else
        sn_message_note(
            args,
            "%s URL%s seen in %s, error rate %s: %.2g pages are expected to be lost, and what "
            "only they lead to",
            a, s, b, rate_text(c, st->error_rate), st->counts.lost);
}

/* The counters of a worker that died, or lost its session, are not the last ones, and its last
 * pages are fetched again. */
static bool counters_are_exact(const sn_fleet_status *s)
{
    for (size_t i = 0; i < s->worker_count; i++)
        if (strcmp(s->workers[i].state, "left") != 0)
            return false;
    return true;
}

/* The last worker that leaves a crawl summarizes it; the others do not know the final numbers. */
static void print_crawl(const sn_args *args, const sn_crawl_options *o, const sn_fleet_status *s)
{
    const sn_crawl_counts *n = &s->counts;
    char a[SN_TEXT], b[SN_TEXT], where[SN_WHERE];
    bool limit = strcmp(s->state, "limit") == 0;
    if (s->live > 0 || (!limit && strcmp(s->state, "done") != 0))
        return;
    sn_message_note(args, "the whole crawl is done%s: %s%s, %s", limit ? " (--max-pages)" : "",
                    counters_are_exact(s) ? "" : "about ", sn_show_number_of(a, n->pages, "page"),
                    sn_show_size(b, (double)n->bytes));
    if (s->failed > 0)
        sn_message_note(args, "%s failed: seen crawl failed %s",
                        sn_show_number_of(a, s->failed, "page"), sn_where_show(where, o->join));
}

/* What this worker has done of a shared crawl, and what is left for the others: as it is now, not
 * when the worker last looked. */
static void print_shared(const sn_args *args, const sn_crawl_options *o, const sn_crawl_result *r)
{
    sn_fleet_status s;
    char a[SN_TEXT], where[SN_WHERE];
    bool stopped = r->end == SN_CRAWL_STOPPED;
    sn_message_note(args, "%s new URL%s found by this worker",
                    sn_show_count(a, (double)r->status.known), plural(r->status.known));
    sn_where_show(where, o->join);
    if (sn_fleet_read_status(o->join, o->ca_file, &s, NULL) != SEEN_OK) {
        if (stopped)
            sn_message_note(args, "stopped: seen crawl status %s shows what is left", where);
        return;
    }
    if (stopped)
        sn_message_note(args, "stopped; the crawl has %s left: seen crawl status %s",
                        sn_show_number_of(a, s.pushed - s.done, "URL"), where);
    else
        print_crawl(args, o, &s);
    sn_fleet_free_status(&s);
}

static void print_summary(const sn_args *args, const sn_crawl_options *o, const sn_crawl_result *r)
{
    char a[SN_TEXT];
    print_counts(args, r);
    if (o->join != NULL)
        print_shared(args, o, r);
    else
        print_set(args, o->exact, &r->status);
    if (r->start_seen > 0 && !r->resumed)
        sn_message_note(args, "%llu of the start URLs had been seen already",
                        (unsigned long long)r->start_seen);
    if (r->status.counts.failed > 0 && o->state)
        sn_message_note(args,
                        "the failed pages are listed in %s/failed; --retry-failed tries them again",
                        o->state);
    if (r->end == SN_CRAWL_LIMIT && o->state)
        sn_message_note(
            args,
            "stopped after --max-pages with %s URL%s queued; --state %s resumes it with a "
            "larger --max-pages, or 0 for all",
            sn_show_count(a, (double)r->status.queued), plural(r->status.queued), o->state);
    else if (r->end != SN_CRAWL_DONE && o->join == NULL)
        sn_message_note(args,
                        o->state ? "stopped with %s URL%s queued; --state %s resumes it"
                                 : "stopped with %s URL%s queued",
                        sn_show_count(a, (double)r->status.queued), plural(r->status.queued),
                        o->state);
}

/* Of a shared crawl others may have fetched pages: a worker that has none did not fail. */
static bool no_pages(const sn_crawl_options *o, const sn_crawl_result *r)
{
    sn_fleet_status s;
    if (r->status.counts.pages > 0 || !o->join)
        return r->status.counts.pages == 0;
    if (sn_fleet_read_status(o->join, o->ca_file, &s, NULL) != SEEN_OK)
        return false;
    bool none = s.counts.pages == 0;
    sn_fleet_free_status(&s);
    return none;
}

int sn_cli_status_end(const sn_cli_status *s, const sn_crawl_options *options,
                      const sn_crawl_result *r)
{
    static const char refused[] =
        "%s is at %s, which is not a public address: --allow-private allows it";
    if (s->mode == SN_SHOW_JSON)
        show_json(&r->status, true);
    else
        print_summary(s->args, options, r);
    bool none = no_pages(options, r);
    bool nothing = none && r->failed_reason;
    if (none && !nothing && r->denied_url[0] != '\0')
        return sn_message_error("robots.txt disallows %s, and there was nothing else to fetch",
                                r->denied_url);
    if (r->refused_host[0] != '\0' && nothing)
        return sn_message_error(refused, r->refused_host, r->refused_address);
    if (r->refused_host[0] != '\0')
        sn_message_note(s->args, refused, r->refused_host, r->refused_address);
    return nothing
               ? sn_message_error("%s could not be fetched: %s", r->failed_url, r->failed_reason)
               : SN_EXIT_OK;
}
