/* The list of failed pages. */
#include "crawl/frontier/failures.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST "the list of failed pages"

seen_status sn_failures_open(sn_failures *list, int folder, uint64_t len, seen_error *error)
{
    *list = (sn_failures){folder, -1, len};
    if (folder < 0)
        return SEEN_OK;
    list->fd = openat(folder, "failed", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (list->fd < 0 || ftruncate(list->fd, (off_t)len) != 0)
        return sn_error_cannot_in(error, errno, folder, "open", LIST);
    return SEEN_OK;
}

void sn_failures_close(sn_failures *list)
{
    if (list->fd >= 0)
        close(list->fd);
    list->fd = -1;
}

seen_status sn_failures_add(sn_failures *list, const sn_frontier_done *done, seen_error *error)
{
    const sn_frontier_record *record = done->record;
    if (list->fd < 0)
        return SEEN_OK;
    char number[16] = "-";
    if (done->status != SN_NOT_REQUESTED)
        snprintf(number, sizeof number, "%d", done->status);
    size_t room = record->len + record->parent_len + 128;
    char *line = malloc(room);
    if (!line)
        return sn_error_memory(error);
    int n = snprintf(line, room, "%u\t%u\t%s\t%s\t%.*s\t%.*s\n", record->depth, record->kind,
                     number, done->why, (int)record->len, record->url, (int)record->parent_len,
                     record->parent_len > 0 ? record->parent : "");
    bool ok = sn_io_write(list->fd, line, (size_t)n, list->len);
    free(line);
    if (!ok)
        return sn_error_cannot_in(error, errno, list->folder, "write", LIST);
    list->len += (uint64_t)n;
    return SEEN_OK;
}

seen_status sn_failures_sync(sn_failures *list, seen_error *error)
{
    return list->fd < 0 || fdatasync(list->fd) == 0
               ? SEEN_OK
               : sn_error_cannot_in(error, errno, list->folder, "sync", LIST);
}

seen_status sn_failures_trim(sn_failures *list, seen_error *error)
{
    return list->fd < 0 || ftruncate(list->fd, (off_t)list->len) == 0
               ? SEEN_OK
               : sn_error_cannot_in(error, errno, list->folder, "truncate", LIST);
}

/* Splits a line in place; false: invalid. */
static bool split(char *line, char *fields[6])
{
    for (int i = 0; i < 6; i++) {
        fields[i] = line;
        line = strchr(line, i < 5 ? '\t' : '\n');
        if (!line)
            return false;
        *line++ = '\0';
    }
    return true;
}

static seen_status read_line(char *line, sn_failures_each *each, void *user, seen_error *error)
{
    char *fields[6];
    if (!split(line, fields))
        return SEEN_OK;
    bool sitemap = strtoul(fields[1], NULL, 10) == SN_KIND_SITEMAP;
    sn_frontier_record record = {.url = fields[4],
                                 .len = strlen(fields[4]),
                                 .parent = fields[5],
                                 .parent_len = strlen(fields[5]),
                                 .depth = (uint16_t)strtoul(fields[0], NULL, 10),
                                 .kind = sitemap ? SN_KIND_SITEMAP : SN_KIND_PAGE};
    return each(user, &record, strcmp(fields[2], "-") != 0, error);
}

seen_status sn_failures_read(const sn_failures *list, sn_failures_each *each, void *user,
                             seen_error *error)
{
    if (list->fd < 0 || list->len == 0)
        return SEEN_OK;
    int copy = dup(list->fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    if (!file) {
        if (copy >= 0)
            close(copy);
        return sn_error_cannot_in(error, errno, list->folder, "read", LIST);
    }
    rewind(file);
    char *line = NULL;
    size_t room = 0;
    seen_status status = SEEN_OK;
    while (status == SEEN_OK && getline(&line, &room, file) > 0)
        status = read_line(line, each, user, error);
    if (status == SEEN_OK && ferror(file))
        status = sn_error_cannot_in(error, errno, list->folder, "read", LIST);
    free(line);
    fclose(file);
    return status;
}
