/* `seen crawl --join`, and the commands about a shared crawl. */
#include "cli/crawl_fleet.h"

#include "base/error.h"
#include "cli/crawl.h"
#include "crawl/fleet/fleet.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- joining ---- */

bool sn_cli_fleet_load(sn_crawl_options *options, bool urls, void **keep, seen_error *error)
{
    bool there;
    if (sn_crawl_load_shared(options, &there, keep, error) != SEEN_OK)
        return false;
    if (there || urls)
        return true;
    error->status = SEEN_ERR_NOT_FOUND;
    snprintf(
        error->message, sizeof error->message,
        "%.200s: there is no crawl of this name; check the address, or give a URL to start one",
        options->join);
    return false;
}

/* What the registry has besides the settings. */
static seen_status compare_status(const sn_args *args, const sn_crawl_options *o,
                                  const sn_fleet_status *s, seen_error *error)
{
    char where[SN_WHERE], a[SN_TEXT], b[SN_TEXT];
    sn_where_show(where, o->join);
    if (sn_args_given(args, "lease") && o->lease_ms != s->lease_ms)
        return sn_error_set(error, SEEN_ERR_MISMATCH,
                            "%s: --lease: the crawl has %.10g s, this worker %.10g s; leave the "
                            "option out to use the value of the crawl",
                            where, (double)s->lease_ms / 1000, (double)o->lease_ms / 1000);
    if (sn_args_given(args, "frontier-memory") && o->frontier_memory != s->memory)
        return sn_error_set(
            error, SEEN_ERR_MISMATCH,
            "%s: --frontier-memory: the crawl has %s, this worker %s; leave the option out, or "
            "change it for all: seen crawl resume %s --frontier-memory SIZE",
            where, s->memory > 0 ? sn_show_size(a, (double)s->memory) : "no limit",
            o->frontier_memory > 0 ? sn_show_size(b, (double)o->frontier_memory) : "no limit",
            where);
    return SEEN_OK;
}

seen_status sn_cli_fleet_check(const sn_args *args, const sn_crawl_options *options,
                               seen_error *error)
{
    sn_fleet_status about;
    seen_status status = sn_crawl_check_settings(options, error);
    if (status != SEEN_OK ||
        (!sn_args_given(args, "lease") && !sn_args_given(args, "frontier-memory")))
        return status;
    status = sn_fleet_read_status(options->join, options->ca_file, &about, error);
    if (status == SEEN_ERR_NOT_FOUND)
        return SEEN_OK;
    if (status == SEEN_OK) {
        status = compare_status(args, options, &about, error);
        sn_fleet_free_status(&about);
    }
    return status;
}

/* False: a signal came. */
static bool pause_ms(uint64_t ms)
{
    enum { STEP = 100 };
    for (; ms >= STEP && atomic_load(sn_signal_flag()) == 0; ms -= STEP)
        nanosleep(&(struct timespec){.tv_nsec = STEP * 1000000L}, NULL);
    return atomic_load(sn_signal_flag()) == 0;
}

/* Each time that it finds the hosts of its share silent, it takes them from the others for a while:
 * the pauses get longer as long as no page comes. */
static bool wait_for_network(const sn_args *args, const sn_crawl_result *result,
                             const seen_error *error, uint64_t *seconds)
{
    enum { FIRST = 10, MOST = 300 };
    char text[SN_TEXT];
    bool longer = *seconds > 0 && result->status.run_pages == 0;
    *seconds = !longer ? FIRST : *seconds * 2 < MOST ? *seconds * 2 : MOST;
    sn_message_note(args, "%s; joining again in %s", error->message,
                    sn_show_seconds(text, (double)*seconds));
    return pause_ms(*seconds * 1000);
}

bool sn_cli_fleet_again(const sn_args *args, seen_status status, const sn_crawl_result *result,
                        const seen_error *error, sn_cli_fleet_past *past, sn_crawl_options *options)
{
    bool unreachable =
        status == SEEN_ERR_NETWORK || status == SEEN_ERR_SERVER || status == SEEN_ERR_SPACE;
    past->joined |= result->session_lost;
    if (result->crawl[0] != '\0')
        memcpy(past->crawl, result->crawl, sizeof past->crawl);
    options->crawl = past->crawl;
    /* A worker that has lost its session may find no server yet: it continues to try. */
    if (!result->session_lost && !(past->joined && unreachable))
        return false;
    if (atomic_load(sn_signal_flag()) != 0)
        return false;
    if (result->cut_off)
        return wait_for_network(args, result, error, &past->pause);
    sn_message_note(args, "%s; joining again", error->message);
    return pause_ms(500);
}

/* ---- status ---- */

static double rate_of(const sn_fleet_status *now, const sn_fleet_status *before, double seconds)
{
    /* Pages are acknowledged several times a second; the other counters come with heartbeats. */
    return seconds <= 0 || now->done < before->done ? 0
                                                    : (double)(now->done - before->done) / seconds;
}

static bool any_full(const sn_fleet_status *s)
{
    for (size_t i = 0; i < s->worker_count; i++)
        if (strcmp(s->workers[i].state, "live") == 0 && s->workers[i].full)
            return true;
    return false;
}

/* Requests that were in progress at the last heartbeats; *pages: whether some came before. */
static uint64_t count_transfers(const sn_fleet_status *s, bool *pages)
{
    uint64_t transfers = 0;
    for (size_t i = 0; i < s->worker_count; i++) {
        if (strcmp(s->workers[i].state, "live") != 0)
            continue;
        transfers += s->workers[i].transfers;
        *pages |= s->workers[i].per_minute > 0;
    }
    return transfers;
}

/* Why no page is fetched; NULL: nothing is wrong. */
static const char *reason(const sn_fleet_status *s, double rate)
{
    bool pages = rate > 0;
    if (strcmp(s->state, "pause") == 0)
        return "paused: seen crawl resume continues it";
    if (strcmp(s->state, "stop") == 0)
        return "stopped: seen crawl resume, then a join, continues it";
    if (strcmp(s->state, "done") == 0)
        return "done: nothing is left to fetch";
    if (strcmp(s->state, "limit") == 0)
        return "done: --max-pages were fetched";
    if (s->pushed == 0)
        return "no start URL was given yet";
    if (s->live == 0)
        return "no worker is live: join one with seen crawl --join";
    if (any_full(s))
        return "full: queued URLs take --frontier-memory, or Redis is at maxmemory; give Redis "
               "more memory or more masters, and raise it with seen crawl resume --frontier-memory";
    uint64_t transfers = count_transfers(s, &pages);
    if (pages || (s->owned == 0 && s->due > 0))
        return NULL;
    return transfers > 0 ? "no page has arrived in the last seconds: requests wait for an answer"
                         : "no host is due: all wait for their delay, a Retry-After or a retry";
}

static double slow_ms(const sn_fleet_worker *w)
{
    return (double)w->slow_urls * (double)(w->slow_delay_ms > 0 ? w->slow_delay_ms : 1);
}

static const sn_fleet_worker *slowest(const sn_fleet_status *s)
{
    const sn_fleet_worker *most = NULL;
    for (size_t i = 0; i < s->worker_count; i++)
        if (strcmp(s->workers[i].state, "live") == 0 && s->workers[i].slow_urls > 0 &&
            (!most || slow_ms(&s->workers[i]) > slow_ms(most)))
            most = &s->workers[i];
    return most;
}

/* Pages per second. */
static char *show_rate(char buffer[SN_TEXT], double rate)
{
    if (rate >= 99.95)
        return sn_show_count(buffer, rate);
    snprintf(buffer, SN_TEXT, "%.3g", rate);
    return buffer;
}

static void show_worker(const sn_fleet_status *s, const sn_fleet_worker *w)
{
    char a[SN_TEXT], b[SN_TEXT], c[SN_TEXT];
    sn_show_seconds(c, (double)w->silent_ms / 1000);
    printf("    %-24s %s", w->name, sn_show_number_of(a, w->counts.pages, "page"));
    if (strcmp(w->state, "live") != 0) {
        printf(", %s %s ago\n", strcmp(w->state, "left") == 0 ? "left" : "died", c);
        return;
    }
    printf(", %s/s, %s", show_rate(a, (double)w->per_minute / 60),
           sn_show_number_of(b, w->transfers, "request"));
    printf(", %s, heartbeat %s ago%s\n", sn_show_number_of(b, w->hosts, "host"), c,
           w->silent_ms > s->lease_ms ? ": silent" : "");
}

/* One that left without a page is of no interest, nor is a command that changed the queue. */
static bool is_shown(const sn_fleet_worker *w)
{
    return w->counts.pages > 0 || strcmp(w->state, "left") != 0;
}

/* Live workers, and the last few of the others. */
static void show_workers(const sn_fleet_status *s)
{
    size_t over = 0, shown = 0;
    printf("  workers   %llu live\n", (unsigned long long)s->live);
    for (size_t i = 0; i < s->worker_count; i++)
        if (strcmp(s->workers[i].state, "live") == 0)
            show_worker(s, &s->workers[i]);
        else
            over += is_shown(&s->workers[i]);
    for (size_t i = s->worker_count; i-- > 0 && shown < 4;)
        if (strcmp(s->workers[i].state, "live") != 0 && is_shown(&s->workers[i])) {
            show_worker(s, &s->workers[i]);
            shown++;
        }
    if (over > shown)
        printf("    and %zu more that left or died\n", over - shown);
}

static void show_slowest(const sn_fleet_status *s)
{
    const sn_fleet_worker *w = slowest(s);
    char a[SN_TEXT], b[SN_TEXT];
    if (!w)
        return;
    printf("  slowest   %s about %s", w->slow_origin, sn_show_number_of(a, w->slow_urls, "URL"));
    if (w->slow_delay_ms > 0)
        printf(", %s at its delay of %.3g s", sn_show_seconds(b, slow_ms(w) / 1000),
               (double)w->slow_delay_ms / 1000);
    printf("\n");
}

static void show_memory(const sn_fleet_status *s)
{
    char a[SN_TEXT], b[SN_TEXT];
    uint64_t waiting = s->pushed - s->done;
    printf("  queue     %s", sn_show_size(a, (double)s->bytes));
    if (s->memory > 0)
        printf(" of %s", sn_show_size(b, (double)s->memory));
    if (waiting > 0)
        printf(", %.1f bytes per URL", (double)s->bytes / (double)waiting);
    printf("\n");
}

static void show_status(const char *where, const sn_fleet_status *s, double rate)
{
    char w[SN_WHERE], a[SN_TEXT], b[SN_TEXT], c[SN_TEXT], d[SN_TEXT];
    const sn_crawl_counts *n = &s->counts;
    const char *why = reason(s, rate);
    double seconds = (double)s->age_ms / 1000;
    printf("%s  %s, begun %s ago", sn_where_show(w, where), s->state, sn_show_seconds(a, seconds));
    if (s->levels)
        printf(", depth %llu", (unsigned long long)s->level);
    printf("\n");
    if (why)
        printf("  %s\n", why);
    printf("  pages     %s, %s/s now, %s/s on average\n", sn_show_count(a, (double)n->pages),
           show_rate(b, rate), show_rate(c, seconds > 0 ? (double)n->pages / seconds : 0));
    printf("  answered  %s 2xx, %s 3xx, %s other, %s failed\n", sn_show_count(a, (double)n->ok),
           sn_show_count(b, (double)n->redirects),
           sn_show_count(c, (double)(n->pages - n->ok - n->redirects)),
           sn_show_count(d, (double)s->failed));
    printf("  waiting   %s; hosts: %s owned, %s due, %s not due\n",
           sn_show_number_of(a, s->pushed - s->done, "URL"), sn_show_count(b, (double)s->owned),
           sn_show_count(c, (double)s->due), sn_show_count(d, (double)(s->ready - s->due)));
    show_slowest(s);
    show_memory(s);
    if (s->limit > 0)
        printf("  limit     %s of %s started\n", sn_show_count(a, (double)s->started),
               sn_show_number_of(b, s->limit, "page"));
    show_workers(s);
}

static void put_worker(sn_json *json, const sn_fleet_worker *w)
{
    sn_json_object(json, NULL);
    sn_json_string(json, "name", w->name);
    sn_json_string(json, "session", w->session);
    sn_json_string(json, "state", w->state);
    sn_json_u64(json, "pages", w->counts.pages);
    sn_json_u64(json, "hosts", w->hosts);
    sn_json_number(json, "pages_per_second", (double)w->per_minute / 60);
    sn_json_u64(json, "requests", w->transfers);
    sn_json_u64(json, "heartbeat_ms_ago", w->silent_ms);
    sn_json_bool(json, "full", w->full);
    sn_json_end(json);
}

static void put_status(const sn_fleet_status *s, double rate)
{
    sn_json json;
    const sn_fleet_worker *slow = slowest(s);
    const char *why = reason(s, rate);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"age_ms", s->age_ms},
                   {"level", s->level},
                   {"pages", s->counts.pages},
                   {"ok", s->counts.ok},
                   {"redirects", s->counts.redirects},
                   {"failed", s->failed},
                   {"body_bytes", s->counts.bytes},
                   {"found", s->counts.found},
                   {"pushed", s->pushed},
                   {"done", s->done},
                   {"waiting", s->pushed - s->done},
                   {"queue_bytes", s->bytes},
                   {"memory", s->memory},
                   {"hosts_owned", s->owned},
                   {"hosts_ready", s->ready},
                   {"hosts_due", s->due},
                   {"started", s->started},
                   {"limit", s->limit},
                   {"live_workers", s->live}};
    sn_json_open(&json, stdout, true);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "state", s->state);
    if (why)
        sn_json_string(&json, "reason", why);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sn_json_u64(&json, numbers[i].name, numbers[i].value);
    sn_json_number(&json, "pages_per_second", rate);
    if (slow) {
        sn_json_string(&json, "slowest", slow->slow_origin);
        sn_json_u64(&json, "slowest_urls", slow->slow_urls);
        sn_json_u64(&json, "slowest_delay_ms", slow->slow_delay_ms);
    }
    sn_json_array(&json, "workers");
    for (size_t i = 0; i < s->worker_count; i++)
        if (is_shown(&s->workers[i]))
            put_worker(&json, &s->workers[i]);
    sn_json_end(&json);
    sn_json_end(&json);
}

static bool is_over(const sn_fleet_status *s)
{
    return strcmp(s->state, "done") == 0 || strcmp(s->state, "limit") == 0;
}

static void print_status(const sn_args *args, const char *where, const sn_fleet_status *s,
                         double rate, bool watch)
{
    if (watch && !args->json && isatty(STDOUT_FILENO))
        printf("\033[H\033[J");
    if (args->json)
        put_status(s, rate);
    else
        show_status(where, s, rate);
    fflush(stdout);
}

static int finish(seen_status status, const seen_error *error)
{
    return status == SEEN_OK ? sn_message_finish_stdout(SN_EXIT_OK) : sn_message_report(error);
}

/* With --watch a server that cannot be reached is waited for. */
static int run_status(const sn_args *args, const char *where, const char *ca_file, bool watch)
{
    seen_error error = {0};
    sn_fleet_status before, now;
    bool lost = false, more = true;
    seen_status status = sn_fleet_read_status(where, ca_file, &before, &error);
    if (status != SEEN_OK)
        return sn_message_report(&error);
    /* Two readings give a rate. */
    while (more && pause_ms(1000)) {
        status = sn_fleet_read_status(where, ca_file, &now, &error);
        if (watch && (status == SEEN_ERR_NETWORK || status == SEEN_ERR_SERVER)) {
            if (!lost)
                sn_message_note(args, "%s; trying again", error.message);
            lost = true;
            status = SEEN_OK;
            continue;
        }
        if (status != SEEN_OK)
            break;
        lost = false;
        double seconds = (double)(now.age_ms - before.age_ms) / 1000;
        print_status(args, where, &now, rate_of(&now, &before, seconds), watch);
        more = watch && !is_over(&now) && !sn_message_pipe_closed(stdout);
        sn_fleet_free_status(&before);
        before = now;
    }
    sn_fleet_free_status(&before);
    return finish(status, &error);
}

/* ---- the other commands ---- */

static bool print_line(void *user, const char *text, size_t len)
{
    (void)user;
    fwrite(text, 1, len, stdout);
    putchar('\n');
    return !ferror(stdout) && !sn_signal_stopped();
}

/* A page that failed: depth, kind, status, reason, URL and parent, separated by tabs; as JSON. */
static bool print_failure(void *user, const char *text, size_t len)
{
    static const char *const names[] = {"depth", "kind", "status", "error", "url", "parent"};
    sn_json json;
    (void)user;
    sn_json_open(&json, stdout, true);
    sn_json_object(&json, NULL);
    for (size_t i = 0; i < 6; i++) {
        const char *tab = i < 5 ? memchr(text, '\t', len) : NULL;
        size_t n = tab ? (size_t)(tab - text) : len;
        if (i < 3 && n > 0 && isdigit((unsigned char)text[0]))
            sn_json_u64(&json, names[i], strtoull(text, NULL, 10));
        else if (i > 2 && n > 0)
            sn_json_bytes(&json, names[i], text, n);
        text += tab ? n + 1 : n;
        len -= tab ? n + 1 : n;
    }
    sn_json_end(&json);
    return !ferror(stdout) && !sn_signal_stopped();
}

static int retry_failed(const sn_args *args, const char *where, const char *ca_file)
{
    seen_error error = {0};
    uint64_t count;
    char a[SN_TEXT];
    if (sn_crawl_retry_shared(where, ca_file, &count, &error) != SEEN_OK)
        return sn_message_report(&error);
    sn_message_note(args, "%s put back into the queue", sn_show_number_of(a, count, "page"));
    return SN_EXIT_OK;
}

static int drop(const sn_args *args, const char *where)
{
    const sn_cli_crawl_part *own = args->own;
    seen_error error = {0};
    bool kept;
    if (sn_fleet_drop(where, own->ca_file, own->force, &kept, &error) != SEEN_OK)
        return sn_message_report(&error);
    if (kept)
        sn_message_note(args, "kept the filter: this crawl has not created it");
    return SN_EXIT_OK;
}

static int change_state(const sn_args *args, const char *where, const char *state)
{
    const sn_cli_crawl_part *own = args->own;
    seen_error error = {0};
    seen_status status = SEEN_OK;
    if (sn_args_given(args, "frontier-memory"))
        status = sn_fleet_set_memory(where, own->ca_file, own->frontier_memory, &error);
    if (status == SEEN_OK && sn_args_given(args, "delay"))
        status = sn_fleet_set_delay(where, own->ca_file, own->delay_ms, &error);
    if (status == SEEN_OK)
        status = sn_fleet_set_state(where, own->ca_file, state, &error);
    return finish(status, &error);
}

static int print_failed(const sn_args *args, const char *where)
{
    const sn_cli_crawl_part *own = args->own;
    seen_error error = {0};
    if (own->retry_failed && args->json)
        return sn_message_error("--retry-failed prints no list: leave --json out");
    if (own->retry_failed)
        return retry_failed(args, where, own->ca_file);
    sn_fleet_each *print = args->json ? print_failure : print_line;
    return finish(sn_fleet_failed(where, own->ca_file, print, NULL, &error), &error);
}

int sn_cli_fleet_run(sn_args *args)
{
    const sn_cli_crawl_part *own = args->own;
    const char *word = sn_cli_part_word(args->command), *where = args->operands[0];
    seen_error error = {0};
    if (own->password_file && !sn_password_read(own->password_file))
        return SN_EXIT_ERROR;
    if (strcmp(word, "status") == 0)
        return run_status(args, where, own->ca_file, own->watch);
    if (strcmp(word, "failed") == 0)
        return print_failed(args, where);
    if (strcmp(word, "export") == 0)
        return finish(sn_fleet_export(where, own->ca_file, print_line, NULL, &error), &error);
    if (strcmp(word, "drop") == 0)
        return drop(args, where);
    return change_state(args, where, strcmp(word, "resume") == 0 ? "run" : word);
}
