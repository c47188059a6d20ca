/* The crawler's seen-set. */
#include "crawl/frontier/seenset.h"

#include "base/error.h"
#include "crawl/frontier/exactset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sn_seenset {
    seen_set *set;
    sn_exactset *exact;
    seen_hasher hasher;
    bool created;
};

/* The set of the crawl was deleted, or its server lost it. With an empty set all pages would be
 * fetched again. */
static seen_status set_is_gone(seen_error *error)
{
    char why[sizeof error->message];
    snprintf(why, sizeof why, "%s", error ? error->message : "");
    return sn_error_set(
        error, SEEN_ERR_NOT_FOUND,
        "%.600s. The crawl cannot resume without its seen-set: restore it, or start "
        "a new crawl in another folder",
        why);
}

/* A shared set: a new crawl creates it if it does not exist, also if another crawler creates it
 * concurrently. */
static seen_status open_shared(const sn_seenset_options *o, const seen_options *make,
                               seen_set **set, bool *created, seen_error *error)
{
    seen_status status = seen_open(o->where, make, 0, set, error);
    if (status != SEEN_ERR_NOT_FOUND)
        return status;
    if (!o->fresh)
        return set_is_gone(error);
    status = seen_create(o->where, make, 0, set, error);
    *created = status == SEEN_OK;
    if (status != SEEN_ERR_EXISTS)
        return status;
    return seen_open(o->where, make, 0, set, error);
}

static seen_status open_set(const sn_seenset_options *o, seen_set **set, bool *created,
                            seen_error *error)
{
    seen_options make = {.size = sizeof make,
                         .growth = SEEN_GROWING,
                         .error_rate = o->error_rate,
                         .capacity = o->capacity,
                         .tls_ca = o->ca_file};
    *created = !o->where || (o->own && o->fresh);
    if (!o->where)
        return seen_create(NULL, &make, 0, set, error);
    if (!o->own)
        return open_shared(o, &make, set, created, error);
    if (o->fresh)
        return seen_create(o->where, &make, SEEN_REPLACE | SEEN_ALONE, set, error);
    return seen_open(o->where, NULL, SEEN_ALONE, set, error);
}

seen_status sn_seenset_open(const sn_seenset_options *o, sn_seenset **known, seen_error *error)
{
    sn_seenset *k = calloc(1, sizeof *k);
    if (!k)
        return sn_error_memory(error);
    seen_status status = SEEN_OK;
    if (o->exact)
        status = sn_exactset_create(o->folder, &k->exact, error);
    else
        status = open_set(o, &k->set, &k->created, error);
    if (status != SEEN_OK) {
        free(k);
        return status;
    }
    k->hasher = o->exact ? o->hasher : seen_hasher_of(k->set);
    *known = k;
    return SEEN_OK;
}

void sn_seenset_close(sn_seenset *k)
{
    if (!k)
        return;
    seen_close(k->set);
    sn_exactset_destroy(k->exact);
    free(k);
}

seen_hasher sn_seenset_hasher(const sn_seenset *k)
{
    return k->hasher;
}

bool sn_seenset_created(const sn_seenset *k)
{
    return k->created;
}

double sn_seenset_rate(const sn_seenset *k)
{
    seen_info about = {.size = sizeof about};
    return k->exact || seen_get_shape(k->set, &about, NULL) != SEEN_OK ? 0 : about.error_rate;
}

seen_status sn_seenset_check(sn_seenset *k, const seen_hash *hashes, size_t count,
                             seen_answer *answers, seen_error *error)
{
    if (!k->exact)
        return seen_check_hashes(k->set, hashes, count, answers, error);
    sn_exactset_check(k->exact, hashes, count, answers);
    return SEEN_OK;
}

seen_status sn_seenset_add(sn_seenset *k, const seen_hash *hashes, size_t count,
                           seen_answer *answers, seen_error *error)
{
    if (!k->exact)
        return seen_add_hashes(k->set, hashes, count, answers, error);
    return sn_exactset_add(k->exact, hashes, count, answers, error);
}

seen_status sn_seenset_sync(sn_seenset *k, seen_error *error)
{
    return k->exact ? SEEN_OK : seen_sync(k->set, error);
}

seen_status sn_seenset_get_info(sn_seenset *k, sn_seenset_info *info, seen_error *error)
{
    if (k->exact) {
        *info = (sn_seenset_info){-1, 0, sn_exactset_bytes(k->exact)};
        return SEEN_OK;
    }
    seen_info about = {.size = sizeof about};
    seen_status status = seen_get_info(k->set, &about, error);
    if (status == SEEN_OK)
        *info = (sn_seenset_info){about.fill, about.error_rate_now, about.bytes};
    return status;
}
