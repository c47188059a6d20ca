/* Open addressing, at most half full. */
#include "crawl/frontier/host_pages.h"

#include "base/bytes.h"

#include <stdlib.h>

typedef struct entry {
    uint64_t name, number; /* 0: empty; otherwise the count plus one */
} entry;

struct sn_host_pages {
    entry *entries;
    size_t mask, count;
};

sn_host_pages *sn_host_pages_create(void)
{
    sn_host_pages *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->mask = 255;
    t->entries = calloc(t->mask + 1, sizeof *t->entries);
    if (!t->entries) {
        free(t);
        return NULL;
    }
    return t;
}

void sn_host_pages_destroy(sn_host_pages *t)
{
    if (!t)
        return;
    free(t->entries);
    free(t);
}

static entry *find(entry *entries, size_t mask, uint64_t name)
{
    size_t at = (size_t)name & mask;
    while (entries[at].number != 0 && entries[at].name != name)
        at = (at + 1) & mask;
    return &entries[at];
}

uint64_t sn_host_pages_get(const sn_host_pages *t, uint64_t name)
{
    uint64_t number = find(t->entries, t->mask, name)->number;
    return number > 0 ? number - 1 : 0;
}

static bool grow(sn_host_pages *t)
{
    size_t mask = t->mask * 2 + 1;
    entry *entries = calloc(mask + 1, sizeof *entries);
    if (!entries)
        return false;
    for (size_t i = 0; i <= t->mask; i++)
        if (t->entries[i].number != 0)
            *find(entries, mask, t->entries[i].name) = t->entries[i];
    free(t->entries);
    t->entries = entries;
    t->mask = mask;
    return true;
}

bool sn_host_pages_add(sn_host_pages *t, uint64_t name, uint64_t more)
{
    if (more == 0)
        return true;
    if (t->count * 2 > t->mask && !grow(t))
        return false;
    entry *e = find(t->entries, t->mask, name);
    t->count += e->number == 0;
    e->name = name;
    e->number += more + (e->number == 0);
    return true;
}

void sn_host_pages_take(sn_host_pages *t, uint64_t name)
{
    entry *e = find(t->entries, t->mask, name);
    e->number -= e->number > 1;
}

size_t sn_host_pages_size(const sn_host_pages *t)
{
    return t->count * 16;
}

void sn_host_pages_store(const sn_host_pages *t, uint8_t *bytes)
{
    for (size_t i = 0; i <= t->mask; i++) {
        if (t->entries[i].number == 0)
            continue;
        sn_store64(bytes, t->entries[i].name);
        sn_store64(bytes + 8, t->entries[i].number - 1);
        bytes += 16;
    }
}

bool sn_host_pages_load(sn_host_pages *t, const uint8_t *bytes, size_t len)
{
    for (size_t at = 0; at + 16 <= len; at += 16)
        if (!sn_host_pages_add(t, sn_load64(bytes + at), sn_load64(bytes + at + 8)))
            return false;
    return true;
}
