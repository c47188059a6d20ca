/* Calls on a thread of the pool, with a promise. See addon.h. */
#include "addon.h"

typedef struct work {
    napi_async_work async;
    napi_deferred deferred;
    void (*run)(struct work *);
    napi_value (*result)(napi_env, struct work *);
    handle *h;       /* or NULL: start */
    napi_ref holder; /* of the handle */
    int what;
    arena keys;
    seen_answer *answers;
    char *where, *texts[3];
    seen_options options;
    uint32_t flags;
    bool create;
    seen_set *set;
    seen_status status;
    seen_error error;
} work;

static void work_free(napi_env env, work *w)
{
    if (w->h) {
        sn_js_release(w->h);
        napi_delete_reference(env, w->holder);
    }
    if (w->async)
        napi_delete_async_work(env, w->async);
    sn_js_arena_free(&w->keys);
    free(w->answers);
    free(w->where);
    for (int i = 0; i < 3; i++)
        free(w->texts[i]);
    free(w);
}

static void execute(napi_env env, void *data)
{
    (void)env;
    work *w = data;
    w->run(w);
}

static void complete(napi_env env, napi_status status, void *data)
{
    work *w = data;
    (void)status;
    if (w->status != SEEN_OK) {
        if (w->error.status == SEEN_OK)
            w->error.status = w->status;
        napi_reject_deferred(env, w->deferred, sn_js_error(env, &w->error));
    } else {
        napi_resolve_deferred(env, w->deferred, w->result(env, w));
    }
    work_free(env, w);
}

static napi_value queue(napi_env env, work *w)
{
    napi_value promise, name;
    napi_create_string_utf8(env, "seen", NAPI_AUTO_LENGTH, &name);
    napi_create_promise(env, &w->deferred, &promise);
    napi_create_async_work(env, NULL, name, execute, complete, w, &w->async);
    napi_queue_async_work(env, w->async);
    return promise;
}

/* A piece of work on an open set, which stays open until it is done; NULL with an exception. */
static work *begin(napi_env env, napi_value value)
{
    handle *h = sn_js_handle(env, value);
    work *w = h ? calloc(1, sizeof *w) : NULL;
    if (!w)
        return NULL;
    w->h = h;
    h->users++;
    napi_create_reference(env, value, 1, &w->holder);
    return w;
}

/* ---- many keys ---- */

static void run_many(work *w)
{
    w->status = sn_js_many(w->h->set, w->what, &w->keys, w->answers, &w->error);
}

static napi_value answers(napi_env env, work *w)
{
    return sn_js_answers(env, w->answers, w->keys.count, w->what);
}

/* manyAsync(handle, keys, what) */
napi_value sn_js_many_async(napi_env env, napi_callback_info info)
{
    napi_value argv[3];
    size_t argc = 3;
    int32_t what;
    napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
    work *w = begin(env, argv[0]);
    if (!w)
        return NULL;
    napi_get_value_int32(env, argv[2], &what);
    w->what = what;
    w->run = run_many;
    w->result = answers;
    if (!sn_js_arena(env, argv[1], &w->keys) || !(w->answers = malloc(w->keys.count + 1))) {
        work_free(env, w);
        return NULL;
    }
    return queue(env, w);
}

/* ---- sync ---- */

static void run_sync(work *w)
{
    w->status = seen_sync(w->h->set, &w->error);
}

static napi_value nothing(napi_env env, work *w)
{
    napi_value out;
    (void)w;
    napi_get_undefined(env, &out);
    return out;
}

napi_value sn_js_sync_async(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    size_t argc = 1;
    napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
    work *w = begin(env, argv[0]);
    if (!w)
        return NULL;
    w->run = run_sync;
    w->result = nothing;
    return queue(env, w);
}

/* ---- opening ---- */

static void run_start(work *w)
{
    w->status = w->create ? seen_create(w->where, &w->options, w->flags, &w->set, &w->error)
                          : seen_open(w->where, &w->options, w->flags, &w->set, &w->error);
}

static napi_value started(napi_env env, work *w)
{
    return sn_js_wrap(env, w->set);
}

/* startAsync(where, options, flags, create) */
napi_value sn_js_start_async(napi_env env, napi_callback_info info)
{
    napi_value argv[4];
    size_t argc = 4, len = 0;
    napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
    work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    napi_get_value_string_utf8(env, argv[0], NULL, 0, &len);
    w->where = malloc(len + 1);
    if (!w->where || !sn_js_options(env, argv[1], &w->options, w->texts)) {
        work_free(env, w);
        return NULL;
    }
    napi_get_value_string_utf8(env, argv[0], w->where, len + 1, &len);
    napi_get_value_uint32(env, argv[2], &w->flags);
    napi_get_value_bool(env, argv[3], &w->create);
    w->run = run_start;
    w->result = started;
    return queue(env, w);
}
