/* One call, one answer. See addon.h. */
#include "addon.h"

#define FUNCTION(name) static napi_value name(napi_env env, napi_callback_info info)

static bool arguments(napi_env env, napi_callback_info info, size_t count, napi_value *values)
{
    size_t got = count;
    return napi_get_cb_info(env, info, &got, values, NULL, NULL) == napi_ok;
}

/* ---- errors ---- */

static const char *code_of(seen_status status)
{
    static const char *const CODES[] = {"OK",
                                        "ENOMEM",
                                        "ERR_SEEN_ARGUMENT",
                                        "EIO",
                                        "ERR_SEEN_FORMAT",
                                        "EEXIST",
                                        "ENOENT",
                                        "ERR_SEEN_MISMATCH",
                                        "ERR_SEEN_FULL",
                                        "ERR_SEEN_KIND",
                                        "EACCES",
                                        "ECONNREFUSED",
                                        "ERR_SEEN_SERVER",
                                        "ERR_SEEN_UNSUPPORTED",
                                        "ERR_SEEN_CHANGED",
                                        "ENOSPC",
                                        "ERR_SEEN_FORKED"};
    return (size_t)status < sizeof CODES / sizeof *CODES ? CODES[status] : "ERR_SEEN";
}

napi_value sn_js_error(napi_env env, const seen_error *error)
{
    napi_value code, message, made, status;
    napi_create_string_utf8(env, code_of(error->status), NAPI_AUTO_LENGTH, &code);
    napi_create_string_utf8(env, error->message, NAPI_AUTO_LENGTH, &message);
    napi_create_error(env, code, message, &made);
    napi_create_int32(env, (int32_t)error->status, &status);
    napi_set_named_property(env, made, "status", status);
    return made;
}

napi_value sn_js_throw(napi_env env, const seen_error *error)
{
    napi_throw(env, sn_js_error(env, error));
    return NULL;
}

napi_value sn_js_type_error(napi_env env, const char *message)
{
    napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", message);
    return NULL;
}

/* ---- handles ---- */

static void finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    handle *h = data;
    seen_close(h->set); /* no call is left: each holds a reference */
    free(h);
}

napi_value sn_js_wrap(napi_env env, seen_set *set)
{
    handle *h = calloc(1, sizeof *h);
    seen_info info = {.size = sizeof info};
    napi_value value;
    if (!h || napi_create_external(env, h, finalize, NULL, &value) != napi_ok) {
        free(h);
        seen_close(set);
        return sn_js_type_error(env, "out of memory");
    }
    h->set = set;
    if (seen_get_shape(set, &info, NULL) == SEEN_OK)
        h->remote = strncmp(info.store, "redis", 5) == 0;
    return value;
}

handle *sn_js_handle(napi_env env, napi_value value)
{
    void *data = NULL;
    if (napi_get_value_external(env, value, &data) != napi_ok || !data) {
        sn_js_type_error(env, "not a set");
        return NULL;
    }
    handle *h = data;
    if (!h->set || h->closing) {
        napi_throw_error(env, "ERR_SEEN_CLOSED", "the set is closed");
        return NULL;
    }
    return h;
}

void sn_js_release(handle *h)
{
    if (--h->users == 0 && h->closing) {
        seen_close(h->set);
        h->set = NULL;
    }
}

/* ---- options ---- */

static bool number(napi_env env, napi_value object, const char *name, double *to)
{
    napi_value value;
    napi_valuetype type;
    if (napi_get_named_property(env, object, name, &value) != napi_ok ||
        napi_typeof(env, value, &type) != napi_ok || type == napi_undefined)
        return true;
    char message[100];
    snprintf(message, sizeof message, "%s: must be a number that is not negative", name);
    if (type != napi_number || napi_get_value_double(env, value, to) != napi_ok || !(*to >= 0) ||
        *to > 9007199254740992.0) {
        sn_js_type_error(env, message);
        return false;
    }
    return true;
}

static bool seed(napi_env env, napi_value object, seen_options *o)
{
    napi_value value;
    bool present;
    size_t words = 2;
    int sign;
    if (napi_has_named_property(env, object, "seed", &present) != napi_ok || !present)
        return true;
    napi_get_named_property(env, object, "seed", &value);
    if (napi_get_value_bigint_words(env, value, &sign, &words, o->seed) != napi_ok || sign ||
        words > 2) {
        sn_js_type_error(env, "seed: must be a BigInt from 0n to 2n ** 128n - 1n");
        return false;
    }
    if (words < 2)
        o->seed[1] = 0;
    if (words < 1)
        o->seed[0] = 0;
    o->seed_given = true;
    return true;
}

/* A copy of a string option; *to stays NULL if it is not given. */
static bool text(napi_env env, napi_value object, const char *name, char **to)
{
    napi_value value;
    napi_valuetype type;
    size_t len;
    napi_get_named_property(env, object, name, &value);
    if (napi_typeof(env, value, &type) != napi_ok || type == napi_undefined)
        return true;
    if (napi_get_value_string_utf8(env, value, NULL, 0, &len) != napi_ok ||
        !(*to = malloc(len + 1))) {
        sn_js_type_error(env, "tlsCa, tlsCert, tlsKey: must be strings");
        return false;
    }
    napi_get_value_string_utf8(env, value, *to, len + 1, &len);
    return true;
}

bool sn_js_options(napi_env env, napi_value object, seen_options *o, char **texts)
{
    double kind = 0, growth = 0, hash = 0, full = 0, capacity = 0, bits = 0, hashes = 0;
    double generations = 0, window = 0, ttl = 0, connect = 0, command = 0, retry = 0, renew = 0;
    *o = (seen_options){.size = sizeof *o};
    bool good =
        number(env, object, "kind", &kind) && number(env, object, "growth", &growth) &&
        number(env, object, "hash", &hash) && number(env, object, "whenFull", &full) &&
        number(env, object, "capacity", &capacity) &&
        number(env, object, "errorRate", &o->error_rate) && number(env, object, "bits", &bits) &&
        number(env, object, "hashes", &hashes) && seed(env, object, o) &&
        number(env, object, "generations", &generations) &&
        number(env, object, "windowSeconds", &window) && number(env, object, "ttlSeconds", &ttl) &&
        number(env, object, "connectMs", &connect) && number(env, object, "commandMs", &command) &&
        number(env, object, "retryMs", &retry) && number(env, object, "renew", &renew) &&
        text(env, object, "tlsCa", &texts[0]) && text(env, object, "tlsCert", &texts[1]) &&
        text(env, object, "tlsKey", &texts[2]);
    o->kind = (seen_kind)kind;
    o->growth = (seen_growth)growth;
    o->hash = (seen_hash_kind)hash;
    o->when_full = (seen_when_full)full;
    o->capacity = (uint64_t)capacity;
    o->bits = (uint64_t)bits;
    o->hashes = (uint32_t)hashes;
    o->generations = (uint32_t)generations;
    o->window_seconds = (uint64_t)window;
    o->ttl_seconds = (uint64_t)ttl;
    o->connect_ms = (uint32_t)connect;
    o->command_ms = (uint32_t)command;
    o->retry_ms = (uint32_t)retry;
    o->renew = renew != 0;
    o->tls_ca = texts[0];
    o->tls_cert = texts[1];
    o->tls_key = texts[2];
    return good;
}

/* ---- keys ---- */

enum { SMALL = 2048 };

/* The bytes of a string or Uint8Array: in `small`, in *large (to be freed), or where they are. */
static bool key_of(napi_env env, napi_value value, char *small, char **large, const void **data,
                   size_t *len)
{
    napi_valuetype type;
    bool is_buffer;
    *large = NULL;
    if (napi_typeof(env, value, &type) != napi_ok)
        return false;
    if (type == napi_string) {
        napi_get_value_string_utf8(env, value, small, SMALL, len);
        *data = small;
        if (*len < SMALL - 4) /* a longer one may have been cut before a character of 4 bytes */
            return true;
        napi_get_value_string_utf8(env, value, NULL, 0, len);
        if (!(*large = malloc(*len + 1))) {
            sn_js_type_error(env, "out of memory");
            return false;
        }
        napi_get_value_string_utf8(env, value, *large, *len + 1, len);
        *data = *large;
        return true;
    }
    void *bytes = NULL;
    if (type == napi_object && napi_is_buffer(env, value, &is_buffer) == napi_ok && is_buffer &&
        napi_get_buffer_info(env, value, &bytes, len) == napi_ok) {
        *data = *len ? bytes : small;
        return true;
    }
    sn_js_type_error(env, "keys are strings or Uint8Arrays: encode it");
    return false;
}

/* one(handle, key, what) */
FUNCTION(one)
{
    napi_value argv[3], result;
    handle *h;
    int32_t what;
    char small[SMALL], *large;
    const void *key;
    size_t len;
    if (!arguments(env, info, 3, argv) || !(h = sn_js_handle(env, argv[0])) ||
        !key_of(env, argv[1], small, &large, &key, &len))
        return NULL;
    napi_get_value_int32(env, argv[2], &what);
    seen_error error;
    seen_answer answer = SEEN_UNKNOWN;
    seen_status status = what == ADD     ? seen_add(h->set, key, len, &answer, &error)
                         : what == CHECK ? seen_check(h->set, key, len, &answer, &error)
                                         : seen_remove(h->set, key, len, &answer, &error);
    free(large);
    if (status != SEEN_OK)
        return sn_js_throw(env, &error);
    napi_get_boolean(env, answer == (what == ADD ? SEEN_NEW : SEEN_BEFORE), &result);
    return result;
}

static bool arena_push(arena *keys, const void *data, size_t len)
{
    if (keys->len + len > keys->room) {
        size_t room = 2 * (keys->len + len);
        char *grown = realloc(keys->data, room);
        if (!grown)
            return false;
        keys->data = grown;
        keys->room = room;
    }
    if (keys->count == keys->slots) {
        size_t slots = 2 * keys->slots + 64;
        size_t *grown = realloc(keys->ends, slots * sizeof *grown);
        if (!grown)
            return false;
        keys->ends = grown;
        keys->slots = slots;
    }
    if (len)
        memcpy(keys->data + keys->len, data, len);
    keys->len += len;
    keys->ends[keys->count++] = keys->len;
    return true;
}

void sn_js_arena_free(arena *keys)
{
    free(keys->data);
    free(keys->ends);
    *keys = (arena){0};
}

static bool arena_lines(arena *keys, const char *data, size_t len)
{
    while (len > 0) {
        const char *end = memchr(data, '\n', len);
        size_t line = end ? (size_t)(end - data) : len;
        if (!arena_push(keys, data, line))
            return false;
        data += line + (end != NULL);
        len -= line + (end != NULL);
    }
    return true;
}

/* An array of keys, or a Uint8Array of lines. */
bool sn_js_arena(napi_env env, napi_value array, arena *keys)
{
    bool is_array, is_buffer, good = true;
    uint32_t count;
    napi_is_array(env, array, &is_array);
    if (!is_array) {
        void *data = NULL;
        size_t len;
        if (napi_is_buffer(env, array, &is_buffer) != napi_ok || !is_buffer) {
            sn_js_type_error(env, "expected an array of keys");
            return false;
        }
        napi_get_buffer_info(env, array, &data, &len);
        return arena_lines(keys, data, len);
    }
    napi_get_array_length(env, array, &count);
    for (uint32_t i = 0; i < count && good; i++) {
        napi_handle_scope scope;
        napi_value value;
        char small[SMALL], *large = NULL;
        const void *key;
        size_t len;
        napi_open_handle_scope(env, &scope);
        napi_get_element(env, array, i, &value);
        good = key_of(env, value, small, &large, &key, &len) && arena_push(keys, key, len);
        free(large);
        napi_close_handle_scope(env, scope);
    }
    return good;
}

seen_status sn_js_many(seen_set *set, int what, const arena *keys, seen_answer *answers,
                       seen_error *error)
{
    enum { BATCH = 1024 };
    seen_key batch[BATCH];
    size_t from = 0;
    for (size_t at = 0; at < keys->count; at += BATCH) {
        size_t n = keys->count - at < BATCH ? keys->count - at : BATCH;
        for (size_t i = 0; i < n; i++) {
            batch[i] = (seen_key){.data = keys->data + from, .len = keys->ends[at + i] - from};
            from = keys->ends[at + i];
        }
        seen_status status = what == ADD ? seen_add_many(set, batch, n, answers + at, error)
                                         : seen_check_many(set, batch, n, answers + at, error);
        if (status != SEEN_OK) {
            memset(answers + at + n, SEEN_UNKNOWN, keys->count - at - n);
            return status;
        }
    }
    return SEEN_OK;
}

napi_value sn_js_answers(napi_env env, const seen_answer *answers, size_t count, int what)
{
    napi_value memory, array;
    void *data;
    napi_create_arraybuffer(env, count, &data, &memory);
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)data)[i] =
            answers[i] == SEEN_UNKNOWN ? 2 : answers[i] == (what == ADD ? SEEN_NEW : SEEN_BEFORE);
    napi_create_typedarray(env, napi_uint8_array, count, memory, 0, &array);
    return array;
}

/* many(handle, keys, what) */
FUNCTION(many)
{
    napi_value argv[3], result = NULL;
    handle *h;
    int32_t what;
    arena keys = {0};
    seen_error error = {0};
    if (!arguments(env, info, 3, argv) || !(h = sn_js_handle(env, argv[0])))
        return NULL;
    napi_get_value_int32(env, argv[2], &what);
    seen_answer *answers = NULL;
    if (sn_js_arena(env, argv[1], &keys)) {
        answers = malloc(keys.count + 1);
        if (!answers)
            sn_js_type_error(env, "out of memory");
        else if (sn_js_many(h->set, what, &keys, answers, &error) != SEEN_OK)
            sn_js_throw(env, &error);
        else
            result = sn_js_answers(env, answers, keys.count, what);
    }
    free(answers);
    sn_js_arena_free(&keys);
    return result;
}

/* ---- whole sets ---- */

/* start(where or null, options, flags, create) */
FUNCTION(start)
{
    napi_value argv[4], result = NULL;
    napi_valuetype type;
    seen_options options;
    char *texts[3] = {0}, *where = NULL;
    size_t len = 0;
    uint32_t flags;
    bool create;
    if (!arguments(env, info, 4, argv))
        return NULL;
    napi_typeof(env, argv[0], &type);
    if (type == napi_string) {
        napi_get_value_string_utf8(env, argv[0], NULL, 0, &len);
        if ((where = malloc(len + 1)))
            napi_get_value_string_utf8(env, argv[0], where, len + 1, &len);
    }
    napi_get_value_uint32(env, argv[2], &flags);
    napi_get_value_bool(env, argv[3], &create);
    if (sn_js_options(env, argv[1], &options, texts)) {
        seen_error error = {0};
        seen_set *set;
        seen_status status = create ? seen_create(where, &options, flags, &set, &error)
                                    : seen_open(where, &options, flags, &set, &error);
        result = status == SEEN_OK ? sn_js_wrap(env, set) : sn_js_throw(env, &error);
    }
    free(where);
    for (int i = 0; i < 3; i++)
        free(texts[i]);
    return result;
}

FUNCTION(like)
{
    napi_value argv[1];
    handle *h;
    seen_set *set;
    seen_error error = {0};
    if (!arguments(env, info, 1, argv) || !(h = sn_js_handle(env, argv[0])))
        return NULL;
    if (seen_create_like(NULL, h->set, NULL, 0, &set, &error) != SEEN_OK)
        return sn_js_throw(env, &error);
    return sn_js_wrap(env, set);
}

FUNCTION(merge)
{
    napi_value argv[2];
    handle *into, *from;
    seen_error error = {0};
    if (!arguments(env, info, 2, argv) || !(into = sn_js_handle(env, argv[0])) ||
        !(from = sn_js_handle(env, argv[1])))
        return NULL;
    return seen_merge(into->set, from->set, &error) == SEEN_OK ? NULL : sn_js_throw(env, &error);
}

FUNCTION(rotate)
{
    napi_value argv[1];
    handle *h;
    seen_error error = {0};
    if (!arguments(env, info, 1, argv) || !(h = sn_js_handle(env, argv[0])))
        return NULL;
    return seen_rotate(h->set, &error) == SEEN_OK ? NULL : sn_js_throw(env, &error);
}

/* close(handle): without waiting for the disk; sync() does that. */
FUNCTION(close_set)
{
    napi_value argv[1];
    void *data = NULL;
    if (!arguments(env, info, 1, argv) || napi_get_value_external(env, argv[0], &data) != napi_ok)
        return NULL;
    handle *h = data;
    if (h->closing)
        return NULL;
    h->closing = true;
    h->users++;
    sn_js_release(h);
    return NULL;
}

static void put(napi_env env, napi_value object, const char *name, double value)
{
    napi_value number;
    napi_create_double(env, value, &number);
    napi_set_named_property(env, object, name, number);
}

static void put_text(napi_env env, napi_value object, const char *name, const char *value)
{
    napi_value text;
    napi_create_string_utf8(env, value, NAPI_AUTO_LENGTH, &text);
    napi_set_named_property(env, object, name, text);
}

FUNCTION(get_info)
{
    static const char *const KINDS[] = {"bloom", "counting"};
    static const char *const GROWTHS[] = {"fixed", "growing", "window"};
    napi_value argv[1], out, seed;
    handle *h;
    seen_info i = {.size = sizeof i};
    seen_error error = {0};
    if (!arguments(env, info, 1, argv) || !(h = sn_js_handle(env, argv[0])))
        return NULL;
    if (seen_get_info(h->set, &i, &error) != SEEN_OK)
        return sn_js_throw(env, &error);
    napi_create_object(env, &out);
    put_text(env, out, "kind", KINDS[i.kind]);
    put_text(env, out, "growth", GROWTHS[i.growth]);
    put_text(env, out, "store", i.store);
    put(env, out, "capacity", (double)i.capacity);
    put(env, out, "errorRate", i.error_rate);
    put(env, out, "bytes", (double)i.bytes);
    put(env, out, "hashes", i.hashes);
    put(env, out, "layers", i.layers);
    put(env, out, "fill", i.fill);
    put(env, out, "keysEstimated", i.keys_estimated);
    put(env, out, "errorRateNow", i.error_rate_now);
    napi_create_bigint_words(env, 0, 2, i.seed, &seed);
    napi_set_named_property(env, out, "seed", seed);
    return out;
}

FUNCTION(where)
{
    napi_value argv[1], out;
    handle *h;
    if (!arguments(env, info, 1, argv) || !(h = sn_js_handle(env, argv[0])))
        return NULL;
    const char *name = seen_where(h->set);
    if (!name)
        napi_get_null(env, &out);
    else
        napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &out);
    return out;
}

FUNCTION(remote)
{
    napi_value argv[1], out;
    handle *h;
    if (!arguments(env, info, 1, argv) || !(h = sn_js_handle(env, argv[0])))
        return NULL;
    napi_get_boolean(env, h->remote, &out);
    return out;
}

/* ---- bytes ---- */

typedef struct bytes {
    char *data;
    size_t len, room;
} bytes;

static seen_status append(void *context, const void *data, size_t len)
{
    bytes *b = context;
    if (b->len + len > b->room) {
        size_t room = b->room + b->room / 2 + len;
        char *grown = realloc(b->data, room);
        if (!grown)
            return SEEN_ERR_MEMORY;
        b->data = grown;
        b->room = room;
    }
    memcpy(b->data + b->len, data, len);
    b->len += len;
    return SEEN_OK;
}

FUNCTION(save)
{
    napi_value argv[1], out = NULL;
    handle *h;
    bytes b = {0};
    seen_error error = {0};
    if (!arguments(env, info, 1, argv) || !(h = sn_js_handle(env, argv[0])))
        return NULL;
    if (seen_save(h->set, append, &b, &error) != SEEN_OK)
        sn_js_throw(env, &error);
    else
        napi_create_buffer_copy(env, b.len, b.data, NULL, &out);
    free(b.data);
    return out;
}

static seen_status take(void *context, void *data, size_t len, size_t *got)
{
    bytes *b = context;
    *got = b->len < len ? b->len : len;
    if (*got)
        memcpy(data, b->data, *got);
    b->data += *got;
    b->len -= *got;
    return SEEN_OK;
}

FUNCTION(load)
{
    napi_value argv[1];
    void *data = NULL;
    bytes b = {0};
    bool is_buffer;
    seen_set *set;
    seen_error error = {0};
    if (!arguments(env, info, 1, argv))
        return NULL;
    if (napi_is_buffer(env, argv[0], &is_buffer) != napi_ok || !is_buffer)
        return sn_js_type_error(env, "expected a Uint8Array");
    napi_get_buffer_info(env, argv[0], &data, &b.len);
    b.data = data;
    if (seen_load(take, &b, &set, &error) != SEEN_OK)
        return sn_js_throw(env, &error);
    return sn_js_wrap(env, set);
}

FUNCTION(drop)
{
    napi_value argv[1];
    char name[4096];
    size_t len;
    seen_error error = {0};
    if (!arguments(env, info, 1, argv) ||
        napi_get_value_string_utf8(env, argv[0], name, sizeof name, &len) != napi_ok)
        return sn_js_type_error(env, "expected a path or an address");
    return seen_drop(name, NULL, &error) == SEEN_OK ? NULL : sn_js_throw(env, &error);
}

/* ---- planning, URLs ---- */

FUNCTION(plan)
{
    napi_value argv[1], out;
    double capacity = 0, bits = 0, hashes = 0;
    seen_parameters parameters = {.size = sizeof parameters};
    seen_plan p = {.size = sizeof p};
    seen_error error = {0};
    if (!arguments(env, info, 1, argv) || !number(env, argv[0], "capacity", &capacity) ||
        !number(env, argv[0], "errorRate", &parameters.error_rate) ||
        !number(env, argv[0], "bits", &bits) || !number(env, argv[0], "hashes", &hashes))
        return NULL;
    parameters.capacity = (uint64_t)capacity;
    parameters.bits = (uint64_t)bits;
    parameters.hashes = (uint32_t)hashes;
    if (seen_plan_make(&parameters, &p, &error) != SEEN_OK)
        return sn_js_throw(env, &error);
    napi_create_object(env, &out);
    put(env, out, "capacity", (double)p.capacity);
    put(env, out, "errorRate", p.error_rate);
    put(env, out, "predictedRate", p.predicted_rate);
    put(env, out, "bits", (double)p.bits);
    put(env, out, "bytes", (double)p.bytes);
    put(env, out, "hashes", p.hashes);
    return out;
}

/* canonicalUrl(url, base or undefined) */
FUNCTION(canonical_url)
{
    napi_value argv[2], result = NULL;
    char url_small[SMALL], base_small[SMALL], *url_large = NULL, *base_large = NULL;
    const void *url, *base = NULL;
    size_t len, base_len = 0, out_len = 0;
    napi_valuetype type;
    if (!arguments(env, info, 2, argv) || !key_of(env, argv[0], url_small, &url_large, &url, &len))
        return NULL;
    napi_typeof(env, argv[1], &type);
    if (type != napi_undefined && !key_of(env, argv[1], base_small, &base_large, &base, &base_len))
        goto out;
    size_t room = SEEN_URL_BOUND(len, base_len);
    char *canonical = malloc(room);
    if (canonical && seen_url_canonical(url, len, base, base_len, NULL, canonical, room,
                                        &out_len) == SEEN_URL_OK)
        napi_create_string_utf8(env, canonical, out_len, &result);
    else
        napi_get_null(env, &result);
    free(canonical);
out:
    free(url_large);
    free(base_large);
    return result;
}

NAPI_MODULE_INIT()
{
    static const struct {
        const char *name;
        napi_callback call;
    } FUNCTIONS[] = {{"one", one},
                     {"many", many},
                     {"manyAsync", sn_js_many_async},
                     {"start", start},
                     {"startAsync", sn_js_start_async},
                     {"syncAsync", sn_js_sync_async},
                     {"like", like},
                     {"merge", merge},
                     {"rotate", rotate},
                     {"close", close_set},
                     {"info", get_info},
                     {"where", where},
                     {"remote", remote},
                     {"save", save},
                     {"load", load},
                     {"drop", drop},
                     {"plan", plan},
                     {"canonicalUrl", canonical_url}};
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        napi_value function;
        napi_create_function(env, FUNCTIONS[i].name, NAPI_AUTO_LENGTH, FUNCTIONS[i].call, NULL,
                             &function);
        napi_set_named_property(env, exports, FUNCTIONS[i].name, function);
    }
    return exports;
}
