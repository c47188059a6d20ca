/* The handle's view of its filter, and the errors of a filter that is gone or another one. */
#include "redis/set.h"

#include "base/error.h"

sn_redis_view sn_redis_see(sn_redis_set *set)
{
    pthread_mutex_lock(&set->lock);
    sn_redis_view view = set->view;
    pthread_mutex_unlock(&set->lock);
    return view;
}

void sn_redis_distrust(sn_redis_set *set)
{
    pthread_mutex_lock(&set->lock);
    set->glanced = 0;
    pthread_mutex_unlock(&set->lock);
    /* What is known of its bits goes too. */
    sn_client_distrust(set->redis);
}

seen_status sn_redis_vanished(sn_redis_set *set, seen_error *error)
{
    sn_redis_distrust(set);
    return sn_error_set(error, SEEN_ERR_NOT_FOUND,
                        "%s: the filter is gone (dropped, expired or flushed)", set->base.where);
}

seen_status sn_redis_replaced(sn_redis_set *set, seen_error *error)
{
    sn_redis_distrust(set);
    return sn_error_set(error, SEEN_ERR_CHANGED,
                        "%s: another filter was put in its place; open it again", set->base.where);
}
