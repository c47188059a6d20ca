/* The views of a local set: the current one, and those that can be reused.
 *
 * A reader increments the count of the view and then checks that it is still current: if so it
 * cannot be reused before the reader releases it, because a writer installs another view first and
 * checks the count afterwards. If not, the count may belong to a view that is being filled in:
 * views are never freed while the set is open, so this does no harm. */
#include "local/local.h"

#include <stdlib.h>

sn_view *sn_view_acquire(sn_local *l)
{
    for (;;) {
        sn_view *view = atomic_load(&l->view);
        if (l->base.growth != SEEN_WINDOW)
            return view;
        atomic_fetch_add(&view->holders, 1);
        if (atomic_load(&l->view) == view)
            return view;
        atomic_fetch_sub(&view->holders, 1);
    }
}

void sn_view_release(sn_local *l, sn_view *view)
{
    if (l->base.growth == SEEN_WINDOW)
        atomic_fetch_sub(&view->holders, 1);
}

sn_view *sn_view_take(sn_local *l)
{
    sn_view *spare = NULL;
    pthread_mutex_lock(&l->older);
    sn_view *view = l->base.growth == SEEN_WINDOW ? atomic_load(&l->view) : NULL;
    while (view && (spare = view->older) && atomic_load(&spare->holders) > 0)
        view = spare;
    if (spare)
        view->older = spare->older;
    pthread_mutex_unlock(&l->older);
    return spare ? spare : calloc(1, sizeof *spare);
}

void sn_view_install(sn_local *l, sn_view *view)
{
    uint64_t sequence = view->image.sequence;
    pthread_mutex_lock(&l->older);
    view->older = atomic_load(&l->view);
    atomic_store(&l->view, view);
    pthread_mutex_unlock(&l->older);
    atomic_store(&l->sequence, sequence);
}

void sn_view_return(sn_local *l, sn_view *view)
{
    pthread_mutex_lock(&l->older);
    sn_view *now = l->base.growth == SEEN_WINDOW ? atomic_load(&l->view) : NULL;
    if (now) {
        view->older = now->older;
        now->older = view;
    }
    pthread_mutex_unlock(&l->older);
    if (!now)
        free(view);
}
