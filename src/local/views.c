/* The views of a local set: which one is in use, and which can be used again.
 *
 * A holder counts itself, and then looks whether the view is still the one in use: if so it cannot
 * be taken before the holder has let it go, because whoever takes a view has put another in its
 * place before and looks at the count after. If not, the count may be that of a view which somebody
 * fills in: memory of views stays memory of views, and the count does no harm there. */
#include "local/local.h"

#include <stdlib.h>

sn_view *sn_view_hold(sn_local *l)
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

void sn_view_let_go(sn_local *l, sn_view *view)
{
    if (l->base.growth == SEEN_WINDOW)
        atomic_fetch_sub(&view->holders, 1);
}

sn_view *sn_view_spare(sn_local *l)
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

void sn_view_give_back(sn_local *l, sn_view *view)
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
