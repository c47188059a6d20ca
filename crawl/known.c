/* The crawler's seen-set. */
#include "crawl/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "crawl/exact.h"

#define LATELY 65536u /* slots: 1 MiB */

struct sn_known {
    seen_set *set;
    sn_exact *exact;
    seen_hasher hasher;
    seen_hash *lately;
};

/* The set that a crawl began with was deleted, or its server lost it. An empty one in its place
 * would have all pages fetched again. */
static seen_status set_is_gone(seen_error *error)
{
    char why[sizeof error->message];
    snprintf(why, sizeof why, "%s", error != NULL ? error->message : "");
    return sn_error_set(error, SEEN_ERR_NOT_FOUND,
                        "%.600s. The crawl cannot go on without what it has seen: restore it, or "
                        "start anew in another folder",
                        why);
}

/* Somebody else's set: a crawl that begins makes it where it does not exist, also when another
 * crawler makes it at the same moment. */
static seen_status open_shared(const sn_known_options *o, const seen_options *make, seen_set **set,
                               seen_error *error)
{
    seen_status status = seen_open(o->where, make, 0, set, error);
    if (status != SEEN_ERR_NOT_FOUND)
        return status;
    if (!o->fresh)
        return set_is_gone(error);
    status = seen_create(o->where, make, 0, set, error);
    if (status != SEEN_ERR_EXISTS)
        return status;
    return seen_open(o->where, make, 0, set, error);
}

static seen_status open_set(const sn_known_options *o, seen_set **set, seen_error *error)
{
    seen_options make = {.size = sizeof make,
                         .growth = SEEN_GROWING,
                         .error_rate = o->error_rate,
                         .capacity = o->capacity,
                         .tls_ca = o->ca_file};
    if (o->where == NULL)
        return seen_create(NULL, &make, 0, set, error);
    if (!o->own)
        return open_shared(o, &make, set, error);
    if (o->fresh)
        return seen_create(o->where, &make, SEEN_REPLACE | SEEN_ALONE, set, error);
    return seen_open(o->where, NULL, SEEN_ALONE, set, error);
}

seen_status sn_known_open(const sn_known_options *o, sn_known **known, seen_error *error)
{
    sn_known *k = calloc(1, sizeof *k);
    if (k == NULL)
        return sn_error_memory(error);
    seen_status status = SEEN_OK;
    k->lately = calloc(LATELY, sizeof *k->lately);
    if (k->lately == NULL)
        status = sn_error_memory(error);
    else if (o->exact)
        status = sn_exact_create(o->folder, &k->exact, error);
    else
        status = open_set(o, &k->set, error);
    if (status != SEEN_OK) {
        free(k->lately);
        free(k);
        return status;
    }
    k->hasher = o->exact ? o->hasher : seen_hasher_of(k->set);
    *known = k;
    return SEEN_OK;
}

void sn_known_close(sn_known *k)
{
    if (k == NULL)
        return;
    seen_close(k->set);
    sn_exact_destroy(k->exact);
    free(k->lately);
    free(k);
}

seen_hash sn_known_hash(const sn_known *k, const char *url, size_t len)
{
    return seen_hash_key(&k->hasher, url, len);
}

bool sn_known_lately(sn_known *k, seen_hash hash)
{
    seen_hash *slot = &k->lately[hash.hi % LATELY];
    if (slot->lo == hash.lo && slot->hi == hash.hi)
        return true;
    *slot = hash;
    return false;
}

void sn_known_expect(const sn_known *k, seen_hash hash)
{
    __builtin_prefetch(&k->lately[hash.hi % LATELY], 1);
}

void sn_known_forget_lately(sn_known *k)
{
    memset(k->lately, 0, LATELY * sizeof *k->lately);
}

seen_status sn_known_check(sn_known *k, const seen_hash *hashes, size_t count, seen_answer *answers,
                           seen_error *error)
{
    if (k->exact == NULL)
        return seen_check_hashes(k->set, hashes, count, answers, error);
    sn_exact_check(k->exact, hashes, count, answers);
    return SEEN_OK;
}

seen_status sn_known_add(sn_known *k, const seen_hash *hashes, size_t count, seen_answer *answers,
                         seen_error *error)
{
    if (k->exact == NULL)
        return seen_add_hashes(k->set, hashes, count, answers, error);
    return sn_exact_add(k->exact, hashes, count, answers, error);
}

seen_status sn_known_sync(sn_known *k, seen_error *error)
{
    return k->exact == NULL ? seen_sync(k->set, error) : SEEN_OK;
}

seen_status sn_known_get_info(sn_known *k, sn_known_info *info, seen_error *error)
{
    if (k->exact != NULL) {
        *info = (sn_known_info){-1, 0, sn_exact_bytes(k->exact)};
        return SEEN_OK;
    }
    seen_info about = {.size = sizeof about};
    seen_status status = seen_get_info(k->set, &about, error);
    if (status == SEEN_OK)
        *info = (sn_known_info){about.fill, about.error_rate_now, about.bytes};
    return status;
}
