/* The handle's view of its filter: reading it again, and the errors of a filter that is gone,
 * replaced or has lost data. */
#include "redis/set.h"

#include "base/clock.h"
#include "base/error.h"

#include <string.h>

sn_redis_view sn_redis_get_view(sn_redis_set *set)
{
    pthread_mutex_lock(&set->lock);
    sn_redis_view view = set->view;
    pthread_mutex_unlock(&set->lock);
    return view;
}

/* The filter lost data: every call verifies it first, until it is found intact. */
static void invalidate(sn_redis_set *set)
{
    pthread_mutex_lock(&set->lock);
    set->checked_at = 0;
    pthread_mutex_unlock(&set->lock);
    /* Its cached bits are invalid, too. */
    sn_client_new_epoch(set->redis);
}

seen_status sn_redis_fail_gone(sn_redis_set *set, seen_error *error)
{
    invalidate(set);
    return sn_error_set(error, SEEN_ERR_NOT_FOUND,
                        "%s: the filter is gone (dropped, expired or flushed)", set->base.where);
}

seen_status sn_redis_fail_replaced(sn_redis_set *set, seen_error *error)
{
    invalidate(set);
    return sn_error_set(error, SEEN_ERR_CHANGED,
                        "%s: another filter was put in its place; open it again", set->base.where);
}

seen_status sn_redis_check_loss(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                const sn_verify_loss *loss, seen_error *error)
{
    sn_redis_view now;
    seen_status status = sn_redis_reload(set, ch, &now, error);
    /* Layers change; the counters belong to the filter. */
    if (status != SEEN_OK || (now.image.sequence != view->image.sequence && !loss->counts))
        return status;
    invalidate(set);
    return sn_verify_report(ch, view, loss, error);
}

seen_status sn_redis_reload(sn_redis_set *set, sn_channel *ch, sn_redis_view *view,
                            seen_error *error)
{
    seen_status status = sn_meta_load(ch, view, error);
    if (status == SEEN_ERR_NOT_FOUND)
        return sn_redis_fail_gone(set, error);
    if (status != SEEN_OK)
        return status;
    pthread_mutex_lock(&set->lock);
    bool moved_on = view->image.sequence != set->view.image.sequence;
    pthread_mutex_unlock(&set->lock);
    /* Unused claims in a closed layer are returned to it. */
    if (moved_on && !set->base.read_only)
        status = sn_redis_flush_counts(set, ch, error);
    if (status != SEEN_OK)
        return status;
    pthread_mutex_lock(&set->lock);
    bool same = memcmp(set->view.id, view->id, SN_REDIS_ID) == 0;
    /* Of two concurrent reloads the newer result is used. */
    if (same && view->image.sequence >= set->view.image.sequence) {
        set->view = *view;
        set->checked_at = sn_clock_ms();
    }
    pthread_mutex_unlock(&set->lock);
    return same ? SEEN_OK : sn_redis_fail_replaced(set, error);
}
