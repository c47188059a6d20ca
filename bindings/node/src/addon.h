/* The native part of the Node package: libseen by N-API 8. index.js has the classes.
 *
 *     addon.c   one call, one answer, on the main thread
 *     work.c    the same on a thread of the pool, with a promise: for Redis and for long calls
 */
#ifndef SEEN_NODE_ADDON_H
#define SEEN_NODE_ADDON_H

#include <node_api.h>
#include <seen.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A set, as long as JavaScript holds it. Calls on other threads keep it open until they end. */
typedef struct handle {
    seen_set *set; /* NULL: closed */
    unsigned users;
    bool closing;
    bool remote;
} handle;

enum { ADD, CHECK, REMOVE };

/* Keys in one piece of memory. */
typedef struct arena {
    char *data;
    size_t len, room;
    size_t *ends;
    size_t count, slots;
} arena;

napi_value sn_js_throw(napi_env env, const seen_error *error);
napi_value sn_js_error(napi_env env, const seen_error *error);
napi_value sn_js_type_error(napi_env env, const char *message);

/* The handle in an argument, open; NULL with an exception otherwise. */
handle *sn_js_handle(napi_env env, napi_value value);
void sn_js_release(handle *h);

/* false: an exception. */
bool sn_js_options(napi_env env, napi_value object, seen_options *options, char **texts);
bool sn_js_arena(napi_env env, napi_value array, arena *keys);
void sn_js_arena_free(arena *keys);

/* Adds or looks up all keys of an arena. */
seen_status sn_js_many(seen_set *set, int what, const arena *keys, seen_answer *answers,
                       seen_error *error);
napi_value sn_js_answers(napi_env env, const seen_answer *answers, size_t count, int what);
napi_value sn_js_wrap(napi_env env, seen_set *set);

/* ---- work.c ---- */

napi_value sn_js_many_async(napi_env env, napi_callback_info info);
napi_value sn_js_sync_async(napi_env env, napi_callback_info info);
napi_value sn_js_start_async(napi_env env, napi_callback_info info);

#endif
