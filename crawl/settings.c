/* The options of a crawl as text, one `name value` per line, for resuming it.
 *
 * Control characters and backslashes in values are written \xHH. A line with an unknown name is
 * refused: it comes from a newer version. */
#include "crawl/settings.h"

#include "base/error.h"
#include "crawl/fleet/fleet.h"
#include "crawl/frontier/folder.h"
#include "crawl/links/scope.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTINGS_MAX ((size_t)4 << 20)

typedef enum type {
    NUMBER,
    SIZE,
    LIMIT, /* 0: none */
    DEPTH, /* UINT64_MAX: no limit */
    MS,
    FLAG,
    SCOPE,
    URL_FLAGS,
    RATE,
    TEXT,
    ADDRESS,
    LIST
} type;

typedef struct setting {
    const char *name;
    type type;
    size_t offset;
    const char *option; /* all workers of a shared crawl must agree on it; NULL: local to each */
} setting;

#define AT(field) offsetof(sn_crawl_options, field)

static const setting settings[] = {
    {"filter", ADDRESS, AT(filter), "filter"},
    {"exact", FLAG, AT(exact), NULL},
    {"error-rate", RATE, AT(error_rate), "error-rate"},
    {"capacity", NUMBER, AT(capacity), "capacity"},
    {"checkpoint-ms", MS, AT(checkpoint_ms), NULL},
    {"scope", SCOPE, AT(scope), "scope"},
    {"include", LIST, AT(include), "include"},
    {"exclude", LIST, AT(exclude), "exclude"},
    {"no-parent", FLAG, AT(no_parent), "no-parent"},
    {"header", LIST, AT(headers), NULL},
    {"cookies", TEXT, AT(cookies), NULL},
    {"proxy", TEXT, AT(proxy), NULL},
    {"netrc", TEXT, AT(netrc), NULL},
    {"follow-nofollow", FLAG, AT(follow_nofollow), "follow-nofollow"},
    {"sitemaps", FLAG, AT(sitemaps), "sitemaps"},
    {"url-flags", URL_FLAGS, AT(url_flags), "sort-query"},
    {"drop", LIST, AT(drop), "drop"},
    {"max-depth", DEPTH, AT(max_depth), "depth"},
    {"max-pages", LIMIT, AT(max_pages), "max-pages"},
    {"max-host-pages", LIMIT, AT(max_host_pages), "max-pages-per-host"},
    {"max-url", SIZE, AT(max_url), "max-url"},
    {"max-links", NUMBER, AT(max_links), "max-links"},
    {"max-path", LIMIT, AT(max_path), "max-path"},
    {"max-repeats", LIMIT, AT(max_repeats), "max-repeats"},
    {"connections", NUMBER, AT(connections), NULL},
    {"per-host", NUMBER, AT(per_host), "per-host"},
    {"delay-ms", MS, AT(delay_ms), "delay"},
    {"max-delay-ms", MS, AT(max_delay_ms), "max-crawl-delay"},
    {"max-wait-ms", MS, AT(max_wait_ms), "max-wait"},
    {"timeout-ms", MS, AT(timeout_ms), NULL},
    {"connect-ms", MS, AT(connect_ms), NULL},
    {"low-speed", NUMBER, AT(low_speed), NULL},
    {"low-speed-ms", MS, AT(low_speed_ms), NULL},
    {"max-body", SIZE, AT(max_body), "max-body"},
    {"retries", NUMBER, AT(retries), "retries"},
    {"backoff-ms", MS, AT(backoff_ms), "backoff"},
    {"agent", TEXT, AT(agent), "user-agent"},
    {"ca-file", TEXT, AT(ca_file), NULL},
    {"allow-private", FLAG, AT(allow_private), "allow-private"},
    {"output", TEXT, AT(output), NULL},
    {"urls", TEXT, AT(urls), NULL},
    {"edges", TEXT, AT(edges), NULL},
    {"warc", TEXT, AT(warc), NULL},
};

enum { SETTINGS = sizeof settings / sizeof settings[0] };

void sn_crawl_defaults(sn_crawl_options *o)
{
    *o = (sn_crawl_options){.error_rate = 1e-6,
                            .checkpoint_ms = 30000,
                            .scope = SN_SCOPE_HOST,
                            .max_depth = UINT64_MAX,
                            .max_url = 4096,
                            .max_links = 50000,
                            .max_path = 64,
                            .max_repeats = 8,
                            .connections = 16,
                            .per_host = 2,
                            .delay_ms = 1000,
                            .max_delay_ms = 30000,
                            .max_wait_ms = 300000,
                            .timeout_ms = 60000,
                            .connect_ms = 10000,
                            .low_speed = 100,
                            .low_speed_ms = 20000,
                            .max_body = 16u << 20,
                            .retries = 3,
                            .backoff_ms = 1000,
                            .lease_ms = 10000,
                            .agent = SN_CRAWL_AGENT};
}

/* ---- Writing ---- */

static void put_value(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s ", name);
    for (; *value != '\0'; value++) {
        unsigned char c = (unsigned char)*value;
        if (c < 0x20 || c == 0x7f || c == '\\')
            fprintf(out, "\\x%02x", c);
        else
            fputc(c, out);
    }
    fputc('\n', out);
}

static void put_setting(FILE *out, const setting *s, const void *field)
{
    const sn_crawl_list *list = field;
    const char *text = NULL;
    switch (s->type) {
    case NUMBER:
    case SIZE:
    case LIMIT:
    case DEPTH:
    case MS:
    case URL_FLAGS:
        fprintf(out, "%s %llu\n", s->name, *(const unsigned long long *)field);
        break;
    case FLAG:
        fprintf(out, "%s %d\n", s->name, *(const bool *)field);
        break;
    case SCOPE:
        fprintf(out, "%s %d\n", s->name, *(const int *)field);
        break;
    case RATE:
        fprintf(out, "%s %.17g\n", s->name, *(const double *)field);
        break;
    case TEXT:
    case ADDRESS:
        memcpy(&text, field, sizeof text);
        if (text)
            put_value(out, s->name, text);
        break;
    case LIST:
        for (size_t i = 0; i < list->count; i++)
            put_value(out, s->name, list->items[i]);
        break;
    }
}

char *sn_settings_shared(const sn_crawl_options *options)
{
    char *bytes = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&bytes, &len);
    if (!out)
        return NULL;
    for (size_t i = 0; i < SETTINGS; i++)
        if (settings[i].option)
            put_setting(out, &settings[i], (const char *)options + settings[i].offset);
    if (fclose(out) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

seen_status sn_settings_save(int folder, const sn_crawl_options *options, seen_error *error)
{
    char *bytes = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&bytes, &len);
    if (!out)
        return sn_error_memory(error);
    for (size_t i = 0; i < SETTINGS; i++)
        put_setting(out, &settings[i], (const char *)options + settings[i].offset);
    seen_status status = fclose(out) == 0 ? sn_folder_replace(folder, "settings", bytes, len, error)
                                          : sn_error_memory(error);
    free(bytes);
    return status;
}

/* ---- Reading ---- */

/* Decodes \xHH in place. */
static void unescape(char *text)
{
    char *to = text;
    for (; *text != '\0'; text++) {
        if (text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
            isxdigit((unsigned char)text[3])) {
            *to++ = (char)strtoul((char[]){text[2], text[3], '\0'}, NULL, 16);
            text += 3;
        } else {
            *to++ = *text;
        }
    }
    *to = '\0';
}

/* Owns the strings: the file's bytes, then the pointers of all lists. */
typedef struct kept {
    const char **next;
} kept;

static bool take_value(const setting *s, void *field, char *value, kept *k)
{
    char *end = value;
    sn_crawl_list *list = field;
    switch (s->type) {
    case NUMBER:
    case SIZE:
    case LIMIT:
    case DEPTH:
    case MS:
    case URL_FLAGS:
        *(uint64_t *)field = strtoull(value, &end, 10);
        return end != value && *end == '\0';
    case FLAG:
        *(bool *)field = strcmp(value, "1") == 0;
        return true;
    case SCOPE:
        *(int *)field = (int)strtol(value, &end, 10);
        return end != value && *end == '\0';
    case RATE:
        *(double *)field = strtod(value, &end);
        return end != value && *end == '\0';
    case TEXT:
    case ADDRESS:
        unescape(value);
        memcpy(field, &value, sizeof value);
        return true;
    case LIST:
        unescape(value);
        if (list->count == 0)
            list->items = k->next;
        *k->next++ = value;
        list->count++;
        return true;
    }
    return false;
}

static bool take_line(sn_crawl_options *o, char *line, kept *k)
{
    char *value = strchr(line, ' ');
    if (!value)
        return false;
    *value++ = '\0';
    for (size_t i = 0; i < SETTINGS; i++)
        if (strcmp(settings[i].name, line) == 0)
            return take_value(&settings[i], (char *)o + settings[i].offset, value, k);
    return false;
}

static size_t count_lines(const char *bytes, size_t len)
{
    size_t lines = 0;
    for (size_t i = 0; i < len; i++)
        lines += bytes[i] == '\n';
    return lines;
}

bool sn_crawl_resumable(const char *state)
{
    struct stat about;
    int folder = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool there = folder >= 0 && fstatat(folder, "checkpoint", &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (folder >= 0)
        close(folder);
    return there;
}

seen_status sn_settings_parse(const char *bytes, size_t len, const char *where,
                              sn_crawl_options *options, void **keep, seen_error *error)
{
    size_t lines = count_lines(bytes, len);
    size_t pointers = (lines + 1) * sizeof(char *);
    char *memory = malloc(pointers + len + 1);
    if (!memory)
        return sn_error_memory(error);
    char *text = memory + pointers;
    memcpy(text, bytes, len);
    text[len] = '\0';
    sn_crawl_options loaded;
    sn_crawl_defaults(&loaded);
    loaded.start = options->start;
    loaded.state = options->state;
    loaded.retry_failed = options->retry_failed;
    kept k = {(const char **)(void *)memory};
    for (char *line = text, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        if (end)
            *end = '\0';
        if (!end || !take_line(&loaded, line, &k)) {
            seen_status status = sn_error_set(
                error, SEEN_ERR_FORMAT,
                "the settings in %s have an unknown line, possibly from another version "
                "of seen: %.80s",
                where, line);
            free(memory);
            return status;
        }
    }
    *options = loaded;
    *keep = memory;
    return SEEN_OK;
}

seen_status sn_crawl_load(const char *state, sn_crawl_options *options, void **keep,
                          seen_error *error)
{
    void *bytes = NULL;
    size_t len = 0;
    int folder = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return sn_error_cannot(error, errno, "open the state folder", state);
    seen_status status = sn_folder_read_file(folder, "settings", SETTINGS_MAX, &bytes, &len, error);
    close(folder);
    if (status == SEEN_OK)
        status = sn_settings_parse(bytes, len, state, options, keep, error);
    free(bytes);
    return status;
}

/* ---- Comparing ---- */

static bool is_same(const setting *s, const void *a, const void *b)
{
    const sn_crawl_list *one = a, *other = b;
    const char *texts[2];
    switch (s->type) {
    case FLAG:
        return *(const bool *)a == *(const bool *)b;
    case SCOPE:
        return *(const int *)a == *(const int *)b;
    case RATE:
        return *(const double *)a == *(const double *)b;
    case TEXT:
    case ADDRESS:
        memcpy(&texts[0], a, sizeof texts[0]);
        memcpy(&texts[1], b, sizeof texts[1]);
        return texts[0] && texts[1] ? strcmp(texts[0], texts[1]) == 0 : texts[0] == texts[1];
    case LIST:
        for (size_t i = 0; i < one->count && i < other->count; i++)
            if (strcmp(one->items[i], other->items[i]) != 0)
                return false;
        return one->count == other->count;
    default:
        return *(const uint64_t *)a == *(const uint64_t *)b;
    }
}

enum { VALUE = 200 };

static void show_list(char out[VALUE], const sn_crawl_list *list)
{
    snprintf(out, VALUE, "none");
    for (size_t i = 0, at = 0; i < list->count && at < VALUE; i++)
        at += (size_t)snprintf(out + at, VALUE - at, "%s%s", i > 0 ? ", " : "", list->items[i]);
}

/* 1e-6, not 1e-06. */
static void show_rate(char out[VALUE], double rate)
{
    snprintf(out, VALUE, "%.10g", rate);
    char *zero = strstr(out, "e-0");
    if (zero)
        memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
}

static void show_number(char out[VALUE], type t, uint64_t number)
{
    if ((t == LIMIT && number == 0) || (t == DEPTH && number == UINT64_MAX))
        snprintf(out, VALUE, "no limit");
    else
        snprintf(out, VALUE, "%llu%s", (unsigned long long)number,
                 t != SIZE     ? ""
                 : number == 1 ? " byte"
                               : " bytes");
}

/* A value as it is given on a command line. */
static void show_value(char out[VALUE], const setting *s, const void *field)
{
    static const char *const scopes[] = {
        [SN_SCOPE_HOST] = "host", [SN_SCOPE_DOMAIN] = "domain", [SN_SCOPE_ALL] = "all"};
    char shown[SN_FLEET_SHOWN] = "";
    const char *text = NULL;
    switch (s->type) {
    case MS:
        snprintf(out, VALUE, "%.10g s", (double)*(const uint64_t *)field / 1000);
        break;
    case FLAG:
        snprintf(out, VALUE, "%s", *(const bool *)field ? "on" : "off");
        break;
    case SCOPE:
        snprintf(out, VALUE, "%s", scopes[*(const unsigned *)field % 3]);
        break;
    case RATE:
        show_rate(out, *(const double *)field);
        break;
    case TEXT:
    case ADDRESS:
        memcpy(&text, field, sizeof text);
        if (text && s->type == ADDRESS)
            sn_fleet_show(text, shown); /* without its password; empty: it is a file */
        snprintf(out, VALUE, "%s", shown[0] != '\0' ? shown : text ? text : "none");
        break;
    case LIST:
        show_list(out, field);
        break;
    default:
        show_number(out, s->type, *(const uint64_t *)field);
    }
}

static seen_status refuse(const char *where, const char *option, const char *theirs,
                          const char *ours, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_MISMATCH,
                        "%s: --%s: the crawl has %s, this worker %s; all workers of a crawl must "
                        "agree: leave the option out to use the value of the crawl",
                        where, option, theirs, ours);
}

/* One of the options that are kept together. */
static seen_status refuse_flag(const char *where, uint64_t theirs, uint64_t ours, seen_error *error)
{
    static const struct {
        uint64_t flag;
        const char *option;
    } flags[] = {{SEEN_URL_SORT_QUERY, "sort-query"},
                 {SEEN_URL_DROP_TRACKING, "drop-tracking"},
                 {SEEN_URL_DROP_SESSION, "drop-sessions"},
                 {SEEN_URL_DROP_WWW, "drop-www"},
                 {SEEN_URL_DROP_SLASH, "drop-slash"}};
    size_t i = 0;
    while (i + 1 < sizeof flags / sizeof flags[0] && !((theirs ^ ours) & flags[i].flag))
        i++;
    return refuse(where, flags[i].option, theirs & flags[i].flag ? "on" : "off",
                  ours & flags[i].flag ? "on" : "off", error);
}

/* It decides about the pages of all workers, but is a permission of each machine. */
static seen_status refuse_private(const char *where, bool theirs, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_MISMATCH,
                        theirs ? "%s: this crawl was created with --allow-private, and this worker "
                                 "would give up the pages of private hosts: add --allow-private"
                               : "%s: this crawl was created without --allow-private: leave it out",
                        where);
}

/* Whether a text has a setting. One from an earlier version may lack some. */
static bool has_line(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (; text; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (strncmp(text, name, len) == 0 && text[len] == ' ')
            return true;
    }
    return false;
}

static seen_status compare_one(const char *text, const setting *s, const void *theirs,
                               const void *ours, const char *where, seen_error *error)
{
    char a[VALUE], b[VALUE];
    bool unset_is_known = s->type == TEXT || s->type == ADDRESS || s->type == LIST;
    if (is_same(s, theirs, ours) || (!unset_is_known && !has_line(text, s->name)))
        return SEEN_OK;
    if (s->type == URL_FLAGS)
        return refuse_flag(where, *(const uint64_t *)theirs, *(const uint64_t *)ours, error);
    if (s->offset == AT(allow_private))
        return refuse_private(where, *(const bool *)theirs, error);
    show_value(a, s, theirs);
    show_value(b, s, ours);
    return refuse(where, s->option, a, b, error);
}

seen_status sn_settings_compare(const char *text, const sn_crawl_options *options,
                                const char *where, seen_error *error)
{
    sn_crawl_options theirs = {0};
    void *keep = NULL;
    seen_status status = sn_settings_parse(text, strlen(text), where, &theirs, &keep, error);
    if (status != SEEN_OK)
        return status;
    for (size_t i = 0; i < SETTINGS && status == SEEN_OK; i++)
        if (settings[i].option)
            status = compare_one(text, &settings[i], (const char *)&theirs + settings[i].offset,
                                 (const char *)options + settings[i].offset, where, error);
    free(keep);
    return status;
}
