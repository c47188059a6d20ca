/* `seen crawl report`: reads the JSON lines of a crawl, and its link graph if there is one, and
 * writes a page with the figures in it: cli/crawl_report.html, embedded by the build. */
#include "cli/crawl.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/newfile.h"
#include "crawl/crawl.h"
#include "crawl/fleet/fleet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    STATUSES = 1000,
    DEPTHS = 1000,
    BUCKETS = 480,
    SLOWEST = 20,
    HOSTS = 20,
    BROKEN = 500,
    FROM = 5
};

static const unsigned char page[] = {
#include "crawl_report.inc"
};

/* ---- A line of JSON, as the crawler writes it ---- */

typedef struct text {
    const char *at;
    size_t len;
} text;

typedef struct line {
    text url, parent, error, time;
    uint64_t status, depth, bytes, ms;
} line;

/* Reads a value, as text without its quotes; NULL: not one. */
static const char *read_value(const char *p, text *value)
{
    bool quoted = *p == '"';
    const char *from = p += quoted;
    while (*p != '\0' && (quoted ? *p != '"' : !strchr(",}", *p)))
        p += *p == '\\' && p[1] != '\0' ? 2 : 1;
    *value = (text){from, (size_t)(p - from)};
    return *p == '\0' ? NULL : p + quoted;
}

static void take(line *l, text key, text value)
{
    struct {
        const char *name;
        text *words;
        uint64_t *number;
    } fields[] = {{"url", &l->url, NULL},       {"parent", &l->parent, NULL},
                  {"error", &l->error, NULL},   {"time", &l->time, NULL},
                  {"status", NULL, &l->status}, {"depth", NULL, &l->depth},
                  {"bytes", NULL, &l->bytes},   {"ms", NULL, &l->ms}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strlen(fields[i].name) != key.len || memcmp(fields[i].name, key.at, key.len) != 0)
            continue;
        if (fields[i].words)
            *fields[i].words = value;
        else if (fields[i].number)
            *fields[i].number = strtoull(value.at, NULL, 10);
    }
}

/* False: not a line of ours. */
static bool parse_line(const char *p, line *l)
{
    *l = (line){0};
    if (*p++ != '{')
        return false;
    while (*p == '"') {
        text key, value;
        p = read_value(p, &key);
        if (!p || *p != ':')
            return false;
        bool null = strncmp(p + 1, "null", 4) == 0;
        p = read_value(p + 1, &value);
        if (!p)
            return false;
        if (!null)
            take(l, key, value);
        p += *p == ',';
    }
    return *p == '}' && l->url.len > 0;
}

/* ---- Figures ---- */

typedef struct host {
    char *name;
    uint64_t pages, errors, failed, bytes, ms;
} host;

typedef struct slow {
    char *url;
    uint64_t ms, status;
} slow;

typedef struct broken {
    char *url, *why, *from[FROM];
    size_t from_count;
    uint64_t links; /* pages that link to it */
    uint64_t hash, status, depth;
    bool failed;
} broken;

/* Pages were answered, errors with 4xx or 5xx; others have failed: they were given up. */
typedef struct report {
    uint64_t pages, errors, failed, bytes, skipped;
    uint64_t status[STATUSES], depth[DEPTHS];
    int64_t first, last; /* seconds since 1970 */
    uint64_t rates[BUCKETS], width;
    host *hosts; /* open addressing, a power of two */
    size_t host_count, host_room;
    slow slowest[SLOWEST];
    broken *broken;
    size_t kept;
    bool memory; /* is gone */
    bool plain;  /* strings are read as they are, not escaped as in JSON */
} report;

static uint64_t hash_of(const char *at, size_t len)
{
    static const seen_hasher plain = {.kind = SEEN_XXH3};
    return seen_hash_key(&plain, at, len).lo;
}

/* As in JSON: with two backslashes for each. */
static char *escape(text t)
{
    char *copy = malloc(2 * t.len + 1), *to = copy;
    for (size_t i = 0; copy && i < t.len; i++) {
        if (t.at[i] == '\\')
            *to++ = '\\';
        *to++ = t.at[i];
    }
    if (copy)
        *to = '\0';
    return copy;
}

static char *copy_of(report *r, text t)
{
    bool escaped = r->plain && memchr(t.at, '\\', t.len);
    char *copy = escaped ? escape(t) : strndup(t.at, t.len);
    r->memory = r->memory || !copy;
    return copy;
}

static bool grow_hosts(report *r)
{
    if (r->host_count * 2 < r->host_room)
        return true;
    size_t room = r->host_room == 0 ? 256 : r->host_room * 2;
    host *wider = calloc(room, sizeof *wider);
    if (!wider)
        return false;
    for (size_t i = 0; i < r->host_room; i++) {
        const char *name = r->hosts[i].name;
        if (!name)
            continue;
        size_t at = hash_of(name, strlen(name)) & (room - 1);
        while (wider[at].name)
            at = (at + 1) & (room - 1);
        wider[at] = r->hosts[i];
    }
    free(r->hosts);
    r->hosts = wider;
    r->host_room = room;
    return true;
}

static host *find_host(report *r, text url)
{
    const char *scheme = memmem(url.at, url.len, "://", 3);
    const char *from = scheme ? scheme + 3 : url.at, *end = url.at + url.len;
    const char *slash = memchr(from, '/', (size_t)(end - from));
    size_t len = (size_t)((slash ? slash : end) - from);
    if (!grow_hosts(r)) {
        r->memory = true;
        return NULL;
    }
    size_t at = hash_of(from, len) & (r->host_room - 1);
    for (; r->hosts[at].name != NULL; at = (at + 1) & (r->host_room - 1))
        if (strlen(r->hosts[at].name) == len && memcmp(r->hosts[at].name, from, len) == 0)
            return &r->hosts[at];
    r->hosts[at].name = copy_of(r, (text){from, len});
    r->host_count += r->hosts[at].name != NULL;
    return !r->hosts[at].name ? NULL : &r->hosts[at];
}

/* The buckets grow wider until the crawl fits. */
static void count_at(report *r, int64_t now, uint64_t pages)
{
    if (r->width == 0) {
        r->width = 1;
        r->first = r->last = now;
    }
    r->last = now > r->last ? now : r->last;
    uint64_t at = now < r->first ? 0 : (uint64_t)(now - r->first);
    for (; at / r->width >= BUCKETS; r->width *= 2)
        for (size_t i = 0; i < BUCKETS; i++)
            r->rates[i] = i < BUCKETS / 2 ? r->rates[2 * i] + r->rates[2 * i + 1] : 0;
    r->rates[at / r->width] += pages;
}

static void count_time(report *r, text t, uint64_t pages)
{
    struct tm parts = {0};
    char copy[32];
    if (t.len == 0 || t.len >= sizeof copy)
        return;
    memcpy(copy, t.at, t.len);
    copy[t.len] = '\0';
    if (strptime(copy, "%Y-%m-%dT%H:%M:%SZ", &parts))
        count_at(r, (int64_t)timegm(&parts), pages);
}

static void count_slow(report *r, const line *l)
{
    size_t at = SLOWEST;
    while (at > 0 && (!r->slowest[at - 1].url || r->slowest[at - 1].ms < l->ms))
        at--;
    if (at == SLOWEST)
        return;
    free(r->slowest[SLOWEST - 1].url);
    memmove(&r->slowest[at + 1], &r->slowest[at], (SLOWEST - 1 - at) * sizeof r->slowest[0]);
    r->slowest[at] = (slow){copy_of(r, l->url), l->ms, l->status};
}

static broken *find_broken(const report *r, text url, uint64_t hash)
{
    for (size_t i = 0; i < r->kept; i++) {
        broken *b = &r->broken[i];
        if (b->hash == hash && b->url && strlen(b->url) == url.len &&
            memcmp(b->url, url.at, url.len) == 0)
            return b;
    }
    return NULL;
}

static void list_broken(report *r, const line *l, uint64_t hash)
{
    char status[32];
    if (r->kept == BROKEN)
        return;
    snprintf(status, sizeof status, "%llu", (unsigned long long)l->status);
    bool answer = l->status >= 400 || l->error.len == 0;
    text why = answer ? (text){status, strlen(status)} : l->error;
    broken *b = &r->broken[r->kept++];
    *b = (broken){.url = copy_of(r, l->url),
                  .why = copy_of(r, why),
                  .hash = hash,
                  .status = l->status,
                  .depth = l->depth,
                  .failed = l->error.len > 0};
    if (l->parent.len > 0) {
        b->from[b->from_count++] = copy_of(r, l->parent);
        b->links = 1;
    }
}

static void free_broken(const broken *b)
{
    free(b->url);
    free(b->why);
    for (size_t k = 0; k < b->from_count; k++)
        free(b->from[k]);
}

static void add(report *r, host *h, const broken *what, int64_t n)
{
    uint64_t *sums[] = {&r->status[what->status < STATUSES ? what->status : 0],
                        &r->depth[what->depth < DEPTHS ? what->depth : DEPTHS - 1],
                        what->failed ? &r->failed : &r->pages,
                        h ? what->failed ? &h->failed : &h->pages : NULL};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        if (sums[i])
            *sums[i] += (uint64_t)n;
    bool error = !what->failed && what->status >= 400;
    if (error)
        r->errors += (uint64_t)n;
    if (error && h)
        h->errors += (uint64_t)n;
}

/* What was broken and is fetched again counts as it ended. */
static void forget_broken(report *r, host *h, text url, uint64_t hash)
{
    broken *b = find_broken(r, url, hash);
    if (!b)
        return;
    add(r, h, b, -1);
    free_broken(b);
    *b = r->broken[--r->kept];
}

static void count_line(report *r, const line *l)
{
    uint64_t hash = hash_of(l->url.at, l->url.len);
    host *h = find_host(r, l->url);
    broken what = {.status = l->status, .depth = l->depth, .failed = l->error.len > 0};
    forget_broken(r, h, l->url, hash);
    add(r, h, &what, 1);
    count_time(r, l->time, !what.failed);
    if (what.failed || l->status >= 400)
        list_broken(r, l, hash);
    if (what.failed)
        return;
    r->bytes += l->bytes;
    if (h) {
        h->bytes += l->bytes;
        h->ms += l->ms;
    }
    count_slow(r, l);
}

/* ---- Reading ---- */

typedef void each_line(report *r, const char *bytes);

static bool read_file(report *r, const char *path, each_line *each, seen_error *error)
{
    FILE *file = fopen(path, "re");
    char *bytes = NULL;
    size_t room = 0;
    bool ok = file != NULL;
    while (ok && !r->memory && getline(&bytes, &room, file) > 0)
        each(r, bytes);
    if (!ok || ferror(file))
        sn_error_cannot(error, errno, "read", path);
    else if (r->memory)
        sn_error_memory(error);
    ok = ok && !ferror(file) && !r->memory;
    free(bytes);
    if (file)
        fclose(file);
    return ok;
}

static void read_page(report *r, const char *bytes)
{
    line l;
    if (parse_line(bytes, &l))
        count_line(r, &l);
    else
        r->skipped++;
}

/* An edge, FROM <tab> TO: the first few that lead to a broken page are kept. */
static void read_edge(report *r, const char *edge)
{
    const char *tab = strchr(edge, '\t');
    size_t len = tab ? strcspn(tab + 1, "\n") : 0;
    for (size_t i = 0; tab && i < r->kept; i++) {
        broken *b = &r->broken[i];
        if (strncmp(b->url, tab + 1, len) != 0 || b->url[len] != '\0')
            continue;
        size_t from = (size_t)(tab - edge);
        for (size_t k = 0; k < b->from_count; k++)
            if (strncmp(b->from[k], edge, from) == 0 && b->from[k][from] == '\0')
                return;
        b->links++;
        if (b->from_count < FROM)
            b->from[b->from_count++] = copy_of(r, (text){edge, from});
    }
}

/* ---- Writing ---- */

/* A string that is safe within <script>. Its backslashes are escaped. */
static void put_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == '"' || c == 0x7f)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void put_counts(FILE *out, const char *name, const uint64_t *counts, size_t count)
{
    const char *comma = "";
    fprintf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        if (counts[i] > 0) {
            fprintf(out, "%s[%zu,%llu]", comma, i, (unsigned long long)counts[i]);
            comma = ",";
        }
    fputc(']', out);
}

static int by_pages(const void *a, const void *b)
{
    const host *x = a, *y = b;
    uint64_t all = x->pages + x->failed, others = y->pages + y->failed;
    return all != others ? (all < others ? 1 : -1) : 0;
}

static void put_hosts(FILE *out, report *r)
{
    if (r->host_room > 0)
        qsort(r->hosts, r->host_room, sizeof *r->hosts, by_pages);
    fprintf(out, ",\"hostCount\":%zu,\"hosts\":[", r->host_count);
    for (size_t i = 0; i < HOSTS && i < r->host_count; i++) {
        const host *h = &r->hosts[i];
        fputs(i == 0 ? "[" : ",[", out);
        put_string(out, h->name);
        fprintf(out, ",%llu,%llu,%llu,%llu,%llu]", (unsigned long long)h->pages,
                (unsigned long long)h->errors, (unsigned long long)h->failed,
                (unsigned long long)h->bytes,
                (unsigned long long)(h->pages == 0 ? 0 : h->ms / h->pages));
    }
    fputs("]", out);
}

static void put_broken(FILE *out, const report *r)
{
    fputs(",\"broken\":[", out);
    for (size_t i = 0; i < r->kept; i++) {
        const broken *b = &r->broken[i];
        fputs(i == 0 ? "[" : ",[", out);
        put_string(out, b->url);
        fputc(',', out);
        put_string(out, b->why);
        fputs(",[", out);
        for (size_t k = 0; k < b->from_count; k++) {
            fputs(k == 0 ? "" : ",", out);
            put_string(out, b->from[k]);
        }
        fprintf(out, "],%llu]", (unsigned long long)(b->links - b->from_count));
    }
    fputs("]", out);
}

static void put_report(FILE *out, report *r, const char *source)
{
    time_t first = (time_t)r->first;
    struct tm parts;
    char start[32] = "";
    uint64_t seconds = r->width == 0 ? 0 : (uint64_t)(r->last - r->first) + 1;
    if (r->width > 0)
        strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&first, &parts));
    char *escaped = escape((text){source, strlen(source)});
    fputs("{\"source\":", out);
    put_string(out, escaped ? escaped : "");
    free(escaped);
    fprintf(out,
            ",\"start\":\"%s\",\"pages\":%llu,\"errors\":%llu,\"failed\":%llu,\"bytes\":%llu,"
            "\"seconds\":%llu,\"width\":%llu",
            start, (unsigned long long)r->pages, (unsigned long long)r->errors,
            (unsigned long long)r->failed, (unsigned long long)r->bytes,
            (unsigned long long)seconds, (unsigned long long)(r->width == 0 ? 1 : r->width));
    fputs(",\"rates\":[", out);
    for (size_t i = 0; r->width > 0 && i * r->width < seconds; i++)
        fprintf(out, "%s%llu", i == 0 ? "" : ",", (unsigned long long)r->rates[i]);
    fputs("]", out);
    put_counts(out, "status", r->status, STATUSES);
    put_counts(out, "depth", r->depth, DEPTHS);
    put_hosts(out, r);
    fputs(",\"slow\":[", out);
    for (size_t i = 0; i < SLOWEST && r->slowest[i].url; i++) {
        fputs(i == 0 ? "[" : ",[", out);
        put_string(out, r->slowest[i].url);
        fprintf(out, ",%llu,%llu]", (unsigned long long)r->slowest[i].ms,
                (unsigned long long)r->slowest[i].status);
    }
    fputs("]", out);
    put_broken(out, r);
    fputs("}", out);
}

static bool write_page(report *r, const char *source, const char *path, seen_error *error)
{
    static const char mark_start[] = "/*START*/", mark_end[] = "/*END*/";
    const unsigned char *start = memmem(page, sizeof page, mark_start, strlen(mark_start));
    const unsigned char *end = memmem(page, sizeof page, mark_end, strlen(mark_end));
    bool standard = strcmp(path, "-") == 0;
    sn_newfile file;
    if (!standard && sn_newfile_open(path, true, &file, error) != SEEN_OK)
        return false;
    FILE *out = standard ? stdout : fdopen(dup(file.fd), "w");
    bool ok = out && start && end;
    if (ok) {
        fwrite(page, 1, (size_t)(start - page), out);
        put_report(out, r, source);
        end += strlen(mark_end);
        fwrite(end, 1, (size_t)(page + sizeof page - end), out);
        ok = standard ? fflush(out) == 0 : fclose(out) == 0;
    }
    if (!ok)
        sn_error_cannot(error, errno, "write", path);
    if (standard)
        return ok;
    if (ok)
        return sn_newfile_publish(&file, path, true, error) == SEEN_OK;
    sn_newfile_drop(&file);
    return false;
}

static void free_report(report *r)
{
    for (size_t i = 0; i < r->host_room; i++)
        free(r->hosts[i].name);
    for (size_t i = 0; i < SLOWEST; i++)
        free(r->slowest[i].url);
    for (size_t i = 0; i < r->kept; i++)
        free_broken(&r->broken[i]);
    free(r->hosts);
    free(r->broken);
}

/* ---- A shared crawl ---- */

typedef struct shared {
    report *r;
    uint64_t first; /* the earliest point in time, seconds */
    bool times;     /* second pass: the times, whose first is known now */
} shared;

static void take_host(report *r, const char *origin, const char *value)
{
    host *h = find_host(r, (text){origin, strlen(origin)});
    char *rest = (char *)(uintptr_t)value;
    if (!h)
        return;
    h->pages += strtoull(rest, &rest, 10);
    h->errors += strtoull(rest, &rest, 10);
    h->bytes += strtoull(rest, &rest, 10);
    h->ms += strtoull(rest, &rest, 10);
}

/* Pages that came in the seconds before `at`. */
static void take_time(shared *s, uint64_t at, const char *value)
{
    char *rest;
    uint64_t pages = strtoull(value, &rest, 10), seconds = strtoull(rest, NULL, 10), counted = 0;
    if (seconds == 0 || seconds > at || pages == 0)
        return;
    uint64_t from = at - seconds;
    s->first = s->first == 0 || from < s->first ? from : s->first;
    for (uint64_t i = 0; i < seconds && s->times; i++) {
        uint64_t until = pages * (i + 1) / seconds;
        count_at(s->r, (int64_t)(from + i), until - counted);
        counted = until;
    }
}

/* An sn_fleet_figure. */
static void take_figure(void *user, const char *name, const char *value)
{
    shared *s = user;
    report *r = s->r;
    uint64_t number = strtoull(value, NULL, 10);
    uint64_t key = name[0] != '\0' && name[1] == ':' ? strtoull(name + 2, NULL, 10) : 0;
    text rest = {name + 2, strlen(name) > 2 ? strlen(name + 2) : 0};
    if (strncmp(name, "t:", 2) == 0) {
        take_time(s, key, value);
    } else if (s->times) {
        return;
    } else if (strncmp(name, "s:", 2) == 0 && key < STATUSES) {
        r->status[key] += number;
        r->pages += number;
        r->errors += key >= 400 ? number : 0;
    } else if (strncmp(name, "d:", 2) == 0 && key < DEPTHS) {
        r->depth[key] += number;
    } else if (strncmp(name, "h:", 2) == 0) {
        take_host(r, name + 2, value);
    } else if (strncmp(name, "w:", 2) == 0) {
        const char *status = strchr(value, ' ');
        count_slow(
            r,
            &(line){.url = rest, .ms = number, .status = status ? strtoull(status, NULL, 10) : 0});
    } else if (strncmp(name, "b:", 2) == 0) {
        const char *tab = strchr(value, '\t');
        uint64_t hash = hash_of(rest.at, rest.len);
        text parent = tab ? (text){tab + 1, strlen(tab + 1)} : (text){0};
        if (!find_broken(r, rest, hash))
            list_broken(r, &(line){.url = rest, .status = number, .parent = parent}, hash);
    } else if (strcmp(name, "bytes") == 0) {
        r->bytes = number;
    }
}

/* An sn_fleet_each: depth, kind, status, reason, URL and parent of a page that was given up. */
static bool take_failed(void *user, const char *bytes, size_t len)
{
    report *r = user;
    text field[6] = {{0}};
    (void)len;
    for (int i = 0; i < 6; i++) {
        field[i] = (text){bytes, strcspn(bytes, "\t")};
        bytes += field[i].len + (bytes[field[i].len] != '\0');
    }
    line l = {.depth = strtoull(field[0].at, NULL, 10),
              .status = strtoull(field[2].at, NULL, 10),
              .error = field[3],
              .url = field[4],
              .parent = field[5]};
    if (l.url.len > 0 && l.error.len > 0)
        count_line(r, &l);
    return !r->memory;
}

static bool read_shared(report *r, const char *where, const char *ca_file, seen_error *error)
{
    shared s = {.r = r};
    r->plain = true;
    for (int pass = 0; pass < 2; pass++) {
        if (sn_fleet_figures(where, ca_file, take_figure, &s, error) != SEEN_OK)
            return false;
        s.times = true;
        if (s.first > 0 && r->width == 0) {
            r->width = 1;
            r->first = r->last = (int64_t)s.first;
        }
    }
    if (sn_fleet_failed(where, ca_file, take_failed, r, error) != SEEN_OK)
        return false;
    char shown[SN_WHERE];
    bool any = r->pages + r->failed > 0;
    if (r->memory)
        sn_error_memory(error);
    else if (!any)
        sn_error_set(error, SEEN_ERR_NOT_FOUND, "%.200s: this crawl has fetched nothing yet",
                     sn_where_show(shown, where));
    return any && !r->memory;
}

static bool read_outputs(report *r, const sn_crawl_options *options, seen_error *error)
{
    if (!read_file(r, options->output, read_page, error))
        return false;
    if (r->pages + r->failed == 0) {
        sn_error_set(error, SEEN_ERR_FORMAT, "%s has no lines of a crawl in it", options->output);
        return false;
    }
    r->plain = true;
    return !options->edges || strcmp(options->edges, "-") == 0 || r->kept == 0 ||
           read_file(r, options->edges, read_edge, error);
}

/* ---- The command ---- */

/* The outputs of the crawl in a folder; a file is read as its JSON lines. */
static bool find_outputs(const char *where, sn_crawl_options *options, void **keep,
                         seen_error *error)
{
    struct stat about;
    sn_crawl_defaults(options);
    if (stat(where, &about) == 0 && !S_ISDIR(about.st_mode)) {
        options->output = where;
        return true;
    }
    if (sn_crawl_load(where, options, keep, error) != SEEN_OK)
        return false;
    if (options->output && strcmp(options->output, "-") != 0)
        return true;
    sn_error_set(error, SEEN_ERR_NOT_FOUND,
                 "the crawl in %s wrote no file of JSON lines (--output): name the file instead",
                 where);
    return false;
}

int sn_cli_report_run(const sn_args *args, const char *html, const char *ca_file)
{
    seen_error error = {0};
    sn_crawl_options options;
    void *keep = NULL;
    report r = {.broken = calloc(BROKEN, sizeof(broken))};
    if (!html) {
        free(r.broken);
        return sn_message_error("write seen crawl report STATE|FILE.jsonl|ADDRESS --html FILE");
    }
    const char *where = args->operands[0];
    char shown[SN_WHERE];
    bool ok = r.broken != NULL;
    if (!ok)
        sn_error_memory(&error);
    else if (strstr(where, "://"))
        ok = read_shared(&r, where, ca_file, &error);
    else
        ok = find_outputs(where, &options, &keep, &error) && read_outputs(&r, &options, &error);
    ok = ok && write_page(&r, sn_where_show(shown, where), html, &error);
    free_report(&r);
    free(keep);
    return ok ? SN_EXIT_OK : sn_message_report(&error);
}
