/* A small buffer in memory, the rest in a temporary file. */
#include "crawl/output/spool.h"

#include "base/io.h"
#include "base/tempfile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sn_spool_init(sn_spool *s)
{
    *s = (sn_spool){.fd = -1};
}

void sn_spool_free(sn_spool *s)
{
    free(s->memory);
    if (s->fd >= 0)
        close(s->fd);
    sn_spool_init(s);
}

void sn_spool_reset(sn_spool *s)
{
    s->used = 0;
    if (s->spilled > 0) {
        close(s->fd);
        s->fd = -1;
        s->spilled = 0;
    }
}

static bool spill(sn_spool *s)
{
    if (s->fd < 0 && (s->fd = sn_tempfile_open(-1, NULL)) < 0)
        return false;
    if (!sn_io_write(s->fd, s->memory, s->used, s->spilled))
        return false;
    s->spilled += s->used;
    s->used = 0;
    return true;
}

bool sn_spool_put(sn_spool *s, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len > 0) {
        if (s->used == s->room && s->room < SN_SPOOL_MEMORY) {
            size_t room = s->room == 0 ? 16u << 10 : s->room * 2;
            char *more = realloc(s->memory, room);
            if (!more)
                return false;
            s->memory = more;
            s->room = room;
        }
        if (s->used == s->room && !spill(s))
            return false;
        size_t n = s->room - s->used < len ? s->room - s->used : len;
        memcpy(s->memory + s->used, p, n);
        s->used += n;
        p += n;
        len -= n;
    }
    return true;
}

uint64_t sn_spool_length(const sn_spool *s)
{
    return s->spilled + s->used;
}

long sn_spool_read(const sn_spool *s, uint64_t at, void *bytes, size_t len)
{
    if (at < s->spilled) {
        if (s->spilled - at < len)
            len = (size_t)(s->spilled - at);
        return (long)sn_io_read_some(s->fd, bytes, len, at);
    }
    size_t from = (size_t)(at - s->spilled);
    if (from >= s->used)
        return 0;
    if (s->used - from < len)
        len = s->used - from;
    memcpy(bytes, s->memory + from, len);
    return (long)len;
}
