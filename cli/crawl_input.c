/* Start URLs from a file. */
#include "cli/crawl.h"

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add(sn_cli_urls *urls, char *url, seen_error *error)
{
    if (urls->count == urls->room) {
        char **more = sn_memory_grow(urls->items, &urls->room, urls->count + 1, sizeof *more);
        if (!more) {
            sn_error_memory(error);
            return false;
        }
        urls->items = more;
    }
    urls->items[urls->count++] = url;
    return true;
}

/* Cuts white space off both ends, in place. */
static char *trim(char *line)
{
    line += strspn(line, " \t");
    size_t len = strlen(line);
    while (len > 0 && strchr(" \t\r\n", line[len - 1]))
        line[--len] = '\0';
    return line;
}

static bool read_lines(sn_cli_urls *urls, FILE *file, seen_error *error)
{
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    while (ok && getline(&line, &room, file) > 0) {
        const char *url = trim(line);
        if (*url == '\0' || *url == '#')
            continue;
        char *copy = strdup(url);
        if (!copy)
            sn_error_memory(error);
        ok = copy && add(urls, copy, error);
        if (!ok)
            free(copy);
    }
    free(line);
    return ok;
}

bool sn_cli_urls_read(sn_cli_urls *urls, const char *path, char *const *given, size_t count,
                      seen_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!add(urls, given[i], error))
            return false;
    urls->borrowed = count;
    if (!path)
        return true;
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "re");
    if (!file) {
        sn_error_cannot(error, errno, "read the start URLs in", path);
        return false;
    }
    bool ok = read_lines(urls, file, error);
    if (ok && ferror(file)) {
        sn_error_cannot(error, errno, "read the start URLs in", path);
        ok = false;
    }
    if (!standard)
        fclose(file);
    if (ok && urls->count == 0) {
        sn_error_set(error, SEEN_ERR_ARGUMENT, "%s has no URLs in it",
                     standard ? "standard input" : path);
        ok = false;
    }
    return ok;
}

void sn_cli_urls_free(sn_cli_urls *urls)
{
    for (size_t i = urls->borrowed; i < urls->count; i++)
        free(urls->items[i]);
    free(urls->items);
}
