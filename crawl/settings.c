/* The options of a crawl as text, one `name value` per line, for resuming it.
 *
 * Control characters and backslashes in values are written \xHH. A line with an unknown name is
 * refused: it comes from a newer version. */
#include "crawl/settings.h"

#include "base/error.h"
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

typedef enum type { NUMBER, FLAG, INT, RATE, TEXT, LIST } type;

typedef struct setting {
    const char *name;
    type type;
    size_t offset;
    bool shared; /* all workers of a shared crawl must agree on it */
} setting;

#define AT(field) offsetof(sn_crawl_options, field)

static const setting settings[] = {
    {"filter", TEXT, AT(filter), true},
    {"exact", FLAG, AT(exact), false},
    {"error-rate", RATE, AT(error_rate), true},
    {"capacity", NUMBER, AT(capacity), true},
    {"checkpoint-ms", NUMBER, AT(checkpoint_ms), false},
    {"scope", INT, AT(scope), true},
    {"include", LIST, AT(include), true},
    {"exclude", LIST, AT(exclude), true},
    {"no-parent", FLAG, AT(no_parent), true},
    {"header", LIST, AT(headers), false},
    {"cookies", TEXT, AT(cookies), false},
    {"proxy", TEXT, AT(proxy), false},
    {"netrc", TEXT, AT(netrc), false},
    {"follow-nofollow", FLAG, AT(follow_nofollow), true},
    {"sitemaps", FLAG, AT(sitemaps), true},
    {"url-flags", NUMBER, AT(url_flags), true},
    {"drop", LIST, AT(drop), true},
    {"max-depth", NUMBER, AT(max_depth), true},
    {"max-pages", NUMBER, AT(max_pages), true},
    {"max-host-pages", NUMBER, AT(max_host_pages), true},
    {"max-url", NUMBER, AT(max_url), true},
    {"max-links", NUMBER, AT(max_links), true},
    {"max-path", NUMBER, AT(max_path), true},
    {"max-repeats", NUMBER, AT(max_repeats), true},
    {"connections", NUMBER, AT(connections), false},
    {"per-host", NUMBER, AT(per_host), true},
    {"delay-ms", NUMBER, AT(delay_ms), true},
    {"max-delay-ms", NUMBER, AT(max_delay_ms), true},
    {"max-wait-ms", NUMBER, AT(max_wait_ms), true},
    {"timeout-ms", NUMBER, AT(timeout_ms), false},
    {"connect-ms", NUMBER, AT(connect_ms), false},
    {"low-speed", NUMBER, AT(low_speed), false},
    {"low-speed-ms", NUMBER, AT(low_speed_ms), false},
    {"max-body", NUMBER, AT(max_body), true},
    {"retries", NUMBER, AT(retries), true},
    {"backoff-ms", NUMBER, AT(backoff_ms), true},
    {"agent", TEXT, AT(agent), true},
    {"ca-file", TEXT, AT(ca_file), false},
    {"allow-private", FLAG, AT(allow_private), false},
    {"output", TEXT, AT(output), false},
    {"urls", TEXT, AT(urls), false},
    {"edges", TEXT, AT(edges), false},
    {"warc", TEXT, AT(warc), false},
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
        fprintf(out, "%s %llu\n", s->name, *(const unsigned long long *)field);
        break;
    case FLAG:
        fprintf(out, "%s %d\n", s->name, *(const bool *)field);
        break;
    case INT:
        fprintf(out, "%s %d\n", s->name, *(const int *)field);
        break;
    case RATE:
        fprintf(out, "%s %.17g\n", s->name, *(const double *)field);
        break;
    case TEXT:
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
        if (settings[i].shared)
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
        *(uint64_t *)field = strtoull(value, &end, 10);
        return end != value && *end == '\0';
    case FLAG:
        *(bool *)field = strcmp(value, "1") == 0;
        return true;
    case INT:
        *(int *)field = (int)strtol(value, &end, 10);
        return end != value && *end == '\0';
    case RATE:
        *(double *)field = strtod(value, &end);
        return end != value && *end == '\0';
    case TEXT:
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
