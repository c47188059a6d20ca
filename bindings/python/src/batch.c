/* Many keys in one call. Each batch is hashed with the GIL held, so that no key has to be kept
 * alive, and added or looked up with the GIL released. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096 };

typedef seen_status (*hash_call)(seen_set *, const seen_hash *, size_t, seen_answer *,
                                 seen_error *);

/* Where the keys come from: a list or tuple by index, anything else by its iterator. */
typedef struct source {
    PyObject *list, *tuple, *iterator;
    Py_ssize_t at;
} source;

typedef struct work {
    set_object *self;
    hash_call call;
    source from;
    seen_hash *hashes;
    seen_answer *answers;
    size_t count;         /* of this batch */
    PyObject **keys;      /* the keys of this batch, if the caller wants them back; owned */
    seen_answer yes;      /* the answer that becomes 1 */
    PyObject *result;     /* list of new keys, or NULL */
    unsigned char *bytes; /* one for each key so far, or NULL */
    size_t length, room;
} work;

static int source_open(source *from, PyObject *keys)
{
    *from = (source){0};
    if (PyUnicode_Check(keys) || PyBytes_Check(keys)) {
        PyErr_SetString(PyExc_TypeError, "expected several keys, got one: put it into a list");
        return -1;
    }
    if (PyList_Check(keys))
        from->list = keys;
    else if (PyTuple_Check(keys))
        from->tuple = keys;
    else if (!(from->iterator = PyObject_GetIter(keys)))
        return -1;
    return 0;
}

/* A new reference, or NULL at the end or with an exception. The list may change between calls. */
static PyObject *source_next(source *from)
{
    PyObject *key = NULL;
    if (from->iterator)
        return PyIter_Next(from->iterator);
    if (from->list)
        key = from->at < PyList_Size(from->list) ? PyList_GetItem(from->list, from->at) : NULL;
    else
        key = from->at < PyTuple_Size(from->tuple) ? PyTuple_GetItem(from->tuple, from->at) : NULL;
    from->at++;
    Py_XINCREF(key);
    return key;
}

/* Hashes the next keys. -1: an exception. */
static int fill(work *w)
{
    for (w->count = 0; w->count < BATCH; w->count++) {
        PyObject *key = source_next(&w->from);
        if (!key)
            return PyErr_Occurred() ? -1 : 0;
        int failed = sn_py_hash(&w->self->hasher, key, &w->hashes[w->count]);
        if (w->keys && !failed)
            w->keys[w->count] = key;
        else
            Py_DECREF(key);
        if (failed)
            return -1;
    }
    return 0;
}

static int keep_bytes(work *w)
{
    if (w->length + w->count > w->room) {
        size_t room = 2 * (w->length + w->count);
        unsigned char *bytes = PyMem_Realloc(w->bytes, room);
        if (!bytes) {
            PyErr_NoMemory();
            return -1;
        }
        w->bytes = bytes;
        w->room = room;
    }
    for (size_t i = 0; i < w->count; i++) {
        seen_answer answer = w->answers[i];
        w->bytes[w->length + i] = answer == SEEN_UNKNOWN ? 2 : answer == w->yes;
    }
    w->length += w->count;
    return 0;
}

static int keep_new(work *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->answers[i] == SEEN_NEW && PyList_Append(w->result, w->keys[i]) != 0)
            return -1;
    return 0;
}

static void drop_keys(work *w)
{
    for (size_t i = 0; w->keys && i < w->count; i++)
        Py_DECREF(w->keys[i]);
    w->count = 0;
}

static PyObject *result_of(const work *w)
{
    if (w->result)
        return Py_NewRef(w->result);
    if (w->yes == SEEN_UNKNOWN)
        return Py_NewRef(Py_None);
    return PyBytes_FromStringAndSize((const char *)w->bytes, (Py_ssize_t)w->length);
}

/* One batch; returns the number of keys in it, or -1 with an exception. */
static long do_batch(work *w)
{
    if (sn_py_usable(w->self) != 0)
        return -1;
    if (fill(w) != 0) {
        drop_keys(w);
        return -1;
    }
    size_t count = w->count;
    if (count == 0)
        return 0;
    seen_error error = {0};
    seen_status status;
    sn_py_enter(w->self);
    seen_set *set = w->self->set;
    Py_BEGIN_ALLOW_THREADS status = w->call(set, w->hashes, count, w->answers, &error);
    Py_END_ALLOW_THREADS sn_py_leave(w->self);
    int kept = w->result ? keep_new(w) : w->yes == SEEN_UNKNOWN ? 0 : keep_bytes(w);
    drop_keys(w);
    if (kept != 0)
        return -1;
    if (status == SEEN_OK)
        return (long)count;
    PyObject *partial = result_of(w);
    if (partial)
        sn_py_raise_partial(&error, partial);
    Py_XDECREF(partial);
    return -1;
}

static PyObject *run(work *w, PyObject *keys, bool keep_keys)
{
    PyObject *out = NULL;
    long done = -1;
    if (source_open(&w->from, keys) != 0)
        return NULL;
    w->hashes = PyMem_Malloc(BATCH * sizeof *w->hashes);
    w->answers = PyMem_Malloc(BATCH);
    w->keys = keep_keys ? PyMem_Malloc(BATCH * sizeof *w->keys) : NULL;
    w->result = keep_keys ? PyList_New(0) : NULL;
    if (!w->hashes || !w->answers || (keep_keys && (!w->keys || !w->result)))
        PyErr_NoMemory();
    else
        while ((done = do_batch(w)) == BATCH)
            ;
    if (done >= 0)
        out = result_of(w);
    Py_XDECREF(w->result);
    Py_XDECREF(w->from.iterator);
    PyMem_Free(w->hashes);
    PyMem_Free(w->answers);
    PyMem_Free(w->keys);
    PyMem_Free(w->bytes);
    return out;
}

PyObject *sn_py_update(PyObject *self, PyObject *keys)
{
    work w = {.self = (set_object *)self, .call = seen_add_hashes, .yes = SEEN_UNKNOWN};
    return run(&w, keys, false);
}

PyObject *sn_py_add_many(PyObject *self, PyObject *keys)
{
    work w = {.self = (set_object *)self, .call = seen_add_hashes, .yes = SEEN_NEW};
    return run(&w, keys, false);
}

PyObject *sn_py_check_many(PyObject *self, PyObject *keys)
{
    work w = {.self = (set_object *)self, .call = seen_check_hashes, .yes = SEEN_BEFORE};
    return run(&w, keys, false);
}

PyObject *sn_py_new(PyObject *self, PyObject *keys)
{
    work w = {.self = (set_object *)self, .call = seen_add_hashes, .yes = SEEN_NEW};
    return run(&w, keys, true);
}
