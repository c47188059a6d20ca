/* The distinct links of one page. */
#include "crawl/html/hrefs.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024u
#define KEEP_SLOTS 65536u /* larger tables and buffers are freed after each page */
#define KEEP_BYTES (1u << 20)
#define FEW 16 /* slots per link below which clearing them one by one is cheaper */

void sn_hrefs_free(sn_hrefs *h)
{
    free(h->bytes);
    free(h->list);
    free(h->met);
    *h = (sn_hrefs){0};
}

void sn_hrefs_reset(sn_hrefs *h)
{
    if (h->slots > KEEP_SLOTS || h->bytes_room > KEEP_BYTES)
        sn_hrefs_free(h);
    else if (h->len * FEW > h->slots)
        memset(h->met, 0, h->slots * sizeof *h->met);
    else
        for (size_t i = 0; i < h->len; i++)
            h->met[h->list[i].slot] = 0;
    h->len = h->bytes_len = 0;
}

static uint64_t *find(uint64_t *met, size_t slots, uint64_t hash)
{
    size_t at = (size_t)(hash >> 8) & (slots - 1);
    while (met[at] != 0 && met[at] != hash)
        at = (at + 1) & (slots - 1);
    return &met[at];
}

static bool grow_met(sn_hrefs *h)
{
    size_t slots = h->slots == 0 ? FIRST_SLOTS : h->slots * 2;
    uint64_t *met = calloc(slots, sizeof *met);
    if (!met)
        return false;
    for (size_t i = 0; i < h->len; i++) {
        uint64_t hash = h->met[h->list[i].slot], *slot = find(met, slots, hash);
        *slot = hash;
        h->list[i].slot = (uint32_t)(slot - met);
    }
    free(h->met);
    h->met = met;
    h->slots = slots;
    return true;
}

bool sn_hrefs_put(sn_hrefs *h, const char *bytes, size_t len, uint32_t *at)
{
    if (h->bytes_len + len > SN_HREF_BYTES)
        return false;
    if (h->bytes_len + len > h->bytes_room) {
        char *more = sn_memory_grow(h->bytes, &h->bytes_room, h->bytes_len + len, 1);
        if (!more)
            return false;
        h->bytes = more;
    }
    if (len > 0)
        memcpy(h->bytes + h->bytes_len, bytes, len);
    *at = (uint32_t)h->bytes_len;
    h->bytes_len += len;
    return true;
}

sn_hrefs_result sn_hrefs_add(sn_hrefs *h, const seen_hasher *hasher, const char *href, size_t len,
                             bool nofollow, size_t max)
{
    const char *fragment = len == 0 ? NULL : memchr(href, '#', len);
    if (fragment)
        len = (size_t)(fragment - href);
    if (h->len * 2 >= h->slots && !grow_met(h))
        return SN_HREFS_FULL;
    uint64_t hash = (seen_hash_key(hasher, href, len).lo & ~(uint64_t)3) | 2 | nofollow;
    uint64_t *slot = find(h->met, h->slots, hash);
    if (*slot != 0)
        return SN_HREFS_KNOWN;
    if (h->len >= max)
        return SN_HREFS_FULL;
    if (h->len == h->room) {
        sn_href *more = sn_memory_grow(h->list, &h->room, h->len + 1, sizeof *more);
        if (!more)
            return SN_HREFS_FULL;
        h->list = more;
    }
    sn_href *kept = &h->list[h->len];
    if (!sn_hrefs_put(h, href, len, &kept->at))
        return SN_HREFS_FULL;
    kept->len = (uint32_t)len;
    kept->nofollow = nofollow;
    kept->slot = (uint32_t)(slot - h->met);
    kept->leads = false;
    h->len++;
    *slot = hash;
    return SN_HREFS_KEPT;
}
