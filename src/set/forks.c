/* Sets and fork(). See forks.h. */
#include "set/forks.h"

#include "base/error.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static seen_set *first;

static void call(sn_fork_phase phase)
{
    for (seen_set *set = first; set; set = set->next)
        if (set->ops->fork)
            set->ops->fork(set, phase);
        else if (phase == SN_FORK_CHILD)
            set->forked = true;
}

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
    call(SN_FORK_BEFORE);
}

static void in_parent(void)
{
    call(SN_FORK_PARENT);
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    call(SN_FORK_CHILD);
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    /* Fails only if out of memory; then the child is not protected against misuse. */
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

void sn_forks_list(seen_set *set)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    if (!set->listed) {
        set->listed = true;
        set->previous = NULL;
        set->next = first;
        if (first)
            first->previous = set;
        first = set;
    }
    pthread_mutex_unlock(&lock);
}

void sn_forks_unlist(seen_set *set)
{
    pthread_mutex_lock(&lock);
    if (set->listed) {
        set->listed = false;
        if (set->next)
            set->next->previous = set->previous;
        if (set->previous)
            set->previous->next = set->next;
        else
            first = set->next;
    }
    pthread_mutex_unlock(&lock);
}

seen_status sn_forks_check(const seen_set *set, seen_error *error)
{
    if (!set->forked)
        return SEEN_OK;
    return sn_error_set(error, SEEN_ERR_FORKED,
                        "%s: opened before this process was forked; open it again in the child",
                        set->where);
}
