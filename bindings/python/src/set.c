/* The type Base: a handle of libseen, one key at a time, and whole sets. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

static set_object *of(PyObject *object)
{
    return (set_object *)object;
}

/* ---- life ---- */

static void adopt(set_object *self, seen_set *set)
{
    seen_info info = {.size = sizeof info};
    self->set = set;
    self->hasher = seen_hasher_of(set);
    self->generation = sn_py_forks;
    if (seen_get_shape(set, &info, NULL) == SEEN_OK) {
        self->remote = strncmp(info.store, "redis", 5) == 0;
        self->counting = info.kind == SEEN_COUNTING;
    }
}

/* This process inherited the handle of another: a set in memory is a copy of its own; a file or a
 * server is opened again, so that the two processes have locks and connections of their own. */
static int reopen(set_object *self)
{
    self->users = 0; /* of threads that only the parent has */
    self->generation = sn_py_forks;
    if (!seen_where(self->set))
        return 0;
    seen_options options;
    seen_error error = {0};
    seen_set *set;
    seen_close(self->set);
    self->set = NULL;
    if (sn_py_options(self->options, &options) != 0)
        return -1;
    const char *where = PyUnicode_AsUTF8AndSize(self->where, NULL);
    if (!where)
        return -1;
    if (seen_open(where, &options, self->flags, &set, &error) != SEEN_OK) {
        sn_py_raise(&error);
        return -1;
    }
    adopt(self, set);
    return 0;
}

int sn_py_usable(set_object *self)
{
    if (!self->set || self->closing) {
        PyErr_SetString(PyExc_ValueError, "the set is closed");
        return -1;
    }
    return self->generation == sn_py_forks ? 0 : reopen(self);
}

void sn_py_enter(set_object *self)
{
    self->users++;
    Py_INCREF((PyObject *)self);
}

void sn_py_leave(set_object *self)
{
    if (--self->users == 0 && self->closing) {
        seen_close(self->set);
        self->set = NULL;
    }
    Py_DECREF((PyObject *)self);
}

static void set_dealloc(PyObject *object)
{
    set_object *self = of(object);
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    seen_close(self->set);
    Py_XDECREF(self->where);
    Py_XDECREF(self->options);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF((PyObject *)type);
}

static int set_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT((PyObject *)Py_TYPE(object));
    Py_VISIT(of(object)->options);
    return 0;
}

/* _start(where, options, create_flags, open_flags, create): one handle, created or opened. */
static PyObject *set_start(PyObject *object, PyObject *args)
{
    set_object *self = of(object);
    PyObject *where, *dict;
    unsigned flags, open_flags;
    int create;
    if (!PyArg_ParseTuple(args, "OO!IIp", &where, &PyDict_Type, &dict, &flags, &open_flags,
                          &create))
        return NULL;
    if (self->set) {
        PyErr_SetString(PyExc_ValueError, "the set is already open");
        return NULL;
    }
    seen_options options;
    const char *name = NULL;
    if (sn_py_options(dict, &options) != 0)
        return NULL;
    if (where != Py_None && !(name = PyUnicode_AsUTF8AndSize(where, NULL)))
        return NULL;
    seen_error error = {0};
    seen_set *set;
    seen_status status;
    Py_BEGIN_ALLOW_THREADS status = create ? seen_create(name, &options, flags, &set, &error)
                                           : seen_open(name, &options, flags, &set, &error);
    Py_END_ALLOW_THREADS if (status != SEEN_OK) return sn_py_raise(&error);
    sn_py_replace(&self->where, Py_NewRef(where));
    sn_py_replace(&self->options, Py_NewRef(dict));
    self->flags = open_flags;
    adopt(self, set);
    Py_RETURN_NONE;
}

/* _start_like(like, where, options, flags, open_flags) */
static PyObject *set_start_like(PyObject *object, PyObject *args)
{
    set_object *self = of(object), *like;
    PyObject *where, *dict;
    unsigned flags, open_flags;
    if (!PyArg_ParseTuple(args, "OOO!II", (PyObject **)&like, &where, &PyDict_Type, &dict, &flags,
                          &open_flags))
        return NULL;
    if (!PyObject_TypeCheck((PyObject *)like, Py_TYPE(object)) || self->set) {
        PyErr_SetString(PyExc_TypeError, "like() takes a Set");
        return NULL;
    }
    seen_options options;
    const char *name = NULL;
    if (sn_py_usable(like) != 0 || sn_py_options(dict, &options) != 0)
        return NULL;
    if (where != Py_None && !(name = PyUnicode_AsUTF8AndSize(where, NULL)))
        return NULL;
    seen_error error = {0};
    seen_set *set, *from = like->set;
    seen_status status;
    sn_py_enter(like);
    Py_BEGIN_ALLOW_THREADS status = seen_create_like(name, from, &options, flags, &set, &error);
    Py_END_ALLOW_THREADS sn_py_leave(like);
    if (status != SEEN_OK)
        return sn_py_raise(&error);
    sn_py_replace(&self->where, Py_NewRef(where));
    sn_py_replace(&self->options, Py_NewRef(dict));
    self->flags = open_flags;
    adopt(self, set);
    Py_RETURN_NONE;
}

static PyObject *set_close(PyObject *object, PyObject *unused)
{
    (void)unused;
    set_object *self = of(object);
    if (!self->set || self->closing)
        Py_RETURN_NONE;
    if (self->generation != sn_py_forks) { /* the parent's handle: nothing of ours is in it */
        seen_close(self->set);
        self->set = NULL;
        Py_RETURN_NONE;
    }
    seen_error error = {0};
    seen_status status;
    seen_set *set = self->set;
    sn_py_enter(self);
    self->closing = true;
    Py_BEGIN_ALLOW_THREADS status = seen_sync(set, &error);
    Py_END_ALLOW_THREADS sn_py_leave(self);
    return status == SEEN_OK ? Py_NewRef(Py_None) : sn_py_raise(&error);
}

/* ---- one key ---- */

typedef seen_status (*one_call)(seen_set *, const void *, size_t, seen_answer *, seen_error *);

/* The answer for one key, or SEEN_UNKNOWN with an exception. */
static seen_answer ask(set_object *self, PyObject *key, one_call call)
{
    key_bytes bytes;
    seen_answer answer = SEEN_UNKNOWN;
    seen_error error;
    seen_status status;
    if (sn_py_usable(self) != 0 || sn_py_key(key, &bytes) != 0)
        return SEEN_UNKNOWN;
    if (self->remote) {
        seen_set *set = self->set;
        sn_py_enter(self);
        Py_BEGIN_ALLOW_THREADS status = call(set, bytes.data, (size_t)bytes.len, &answer, &error);
        Py_END_ALLOW_THREADS sn_py_leave(self);
    } else {
        status = call(self->set, bytes.data, (size_t)bytes.len, &answer, &error);
    }
    sn_py_key_release(&bytes);
    if (status == SEEN_OK)
        return answer;
    sn_py_raise(&error);
    return SEEN_UNKNOWN;
}

static PyObject *truth(seen_answer answer, seen_answer yes)
{
    return answer == SEEN_UNKNOWN ? NULL : Py_NewRef(answer == yes ? Py_True : Py_False);
}

static PyObject *set_add(PyObject *self, PyObject *key)
{
    return truth(ask(of(self), key, seen_add), SEEN_NEW);
}

static PyObject *set_discard(PyObject *self, PyObject *key)
{
    return truth(ask(of(self), key, seen_remove), SEEN_BEFORE);
}

static PyObject *set_remove(PyObject *self, PyObject *key)
{
    seen_answer answer = ask(of(self), key, seen_remove);
    if (answer == SEEN_BEFORE)
        Py_RETURN_NONE;
    if (answer == SEEN_NEW)
        PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}

static int set_contains(PyObject *self, PyObject *key)
{
    seen_answer answer = ask(of(self), key, seen_check);
    return answer == SEEN_UNKNOWN ? -1 : answer == SEEN_BEFORE;
}

/* ---- whole sets ---- */

typedef seen_status (*plain_call)(seen_set *, seen_error *);

static PyObject *call_plain(set_object *self, plain_call call)
{
    seen_error error = {0};
    seen_status status;
    if (sn_py_usable(self) != 0)
        return NULL;
    seen_set *set = self->set;
    sn_py_enter(self);
    Py_BEGIN_ALLOW_THREADS status = call(set, &error);
    Py_END_ALLOW_THREADS sn_py_leave(self);
    return status == SEEN_OK ? Py_NewRef(Py_None) : sn_py_raise(&error);
}

static PyObject *set_sync(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call_plain(of(self), seen_sync);
}

static PyObject *set_rotate(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call_plain(of(self), seen_rotate);
}

static PyObject *set_merge(PyObject *object, PyObject *other)
{
    set_object *self = of(object), *from = of(other);
    seen_error error = {0};
    seen_status status;
    if (sn_py_usable(self) != 0 || sn_py_usable(from) != 0)
        return NULL;
    seen_set *into = self->set, *source = from->set;
    sn_py_enter(self);
    sn_py_enter(from);
    Py_BEGIN_ALLOW_THREADS status = seen_merge(into, source, &error);
    Py_END_ALLOW_THREADS sn_py_leave(from);
    sn_py_leave(self);
    return status == SEEN_OK ? Py_NewRef(Py_None) : sn_py_raise(&error);
}

/* _copy(where, flags, options) */
static PyObject *set_copy(PyObject *object, PyObject *args)
{
    set_object *self = of(object);
    const char *where;
    unsigned flags;
    PyObject *dict;
    seen_options options;
    seen_error error = {0};
    seen_status status;
    if (!PyArg_ParseTuple(args, "sIO!", &where, &flags, &PyDict_Type, &dict) ||
        sn_py_usable(self) != 0 || sn_py_options(dict, &options) != 0)
        return NULL;
    seen_set *set = self->set;
    sn_py_enter(self);
    Py_BEGIN_ALLOW_THREADS status = seen_copy(set, where, flags, &options, &error);
    Py_END_ALLOW_THREADS sn_py_leave(self);
    return status == SEEN_OK ? Py_NewRef(Py_None) : sn_py_raise(&error);
}

typedef struct buffer {
    char *data;
    size_t len, room, at;
} buffer;

static seen_status append(void *context, const void *data, size_t len)
{
    buffer *b = context;
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

static seen_status take(void *context, void *data, size_t len, size_t *got)
{
    buffer *b = context;
    *got = b->len - b->at < len ? b->len - b->at : len;
    if (*got)
        memcpy(data, b->data + b->at, *got);
    b->at += *got;
    return SEEN_OK;
}

static PyObject *set_to_bytes(PyObject *object, PyObject *unused)
{
    (void)unused;
    set_object *self = of(object);
    buffer out = {0};
    seen_error error = {0};
    seen_status status;
    if (sn_py_usable(self) != 0)
        return NULL;
    seen_set *set = self->set;
    sn_py_enter(self);
    Py_BEGIN_ALLOW_THREADS status = seen_save(set, append, &out, &error);
    Py_END_ALLOW_THREADS sn_py_leave(self);
    PyObject *bytes = status == SEEN_OK ? PyBytes_FromStringAndSize(out.data, (Py_ssize_t)out.len)
                                        : sn_py_raise(&error);
    free(out.data);
    return bytes;
}

/* _load(bytes-like) */
static PyObject *set_load(PyObject *object, PyObject *data)
{
    set_object *self = of(object);
    Py_buffer view;
    if (self->set) {
        PyErr_SetString(PyExc_ValueError, "the set is already open");
        return NULL;
    }
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) != 0)
        return NULL;
    buffer in = {.data = view.buf, .len = (size_t)view.len};
    seen_error error = {0};
    seen_set *set;
    seen_status status;
    Py_BEGIN_ALLOW_THREADS status = seen_load(take, &in, &set, &error);
    Py_END_ALLOW_THREADS PyBuffer_Release(&view);
    if (status != SEEN_OK)
        return sn_py_raise(&error);
    sn_py_replace(&self->where, Py_NewRef(Py_None));
    sn_py_replace(&self->options, PyDict_New());
    adopt(self, set);
    Py_RETURN_NONE;
}

/* ---- properties ---- */

/* _info(measure) -> dict */
static PyObject *set_info(PyObject *object, PyObject *measure)
{
    static const char *const KINDS[] = {"bloom", "counting"};
    static const char *const GROWTHS[] = {"fixed", "growing", "window"};
    static const char *const HASHES[] = {"xxh3", "siphash"};
    static const char *const FULL[] = {"refuse", "go on"};
    set_object *self = of(object);
    seen_info i = {.size = sizeof i};
    seen_error error = {0};
    seen_status status;
    bool all = PyObject_IsTrue(measure) == 1;
    if (sn_py_usable(self) != 0)
        return NULL;
    seen_set *set = self->set;
    sn_py_enter(self);
    Py_BEGIN_ALLOW_THREADS status =
        all ? seen_get_info(set, &i, &error) : seen_get_shape(set, &i, &error);
    Py_END_ALLOW_THREADS sn_py_leave(self);
    if (status != SEEN_OK)
        return sn_py_raise(&error);
    return Py_BuildValue(
        "{s:s,s:s,s:s,s:s,s:s,s:K,s:d,s:K,s:K,s:I,s:I,s:I,s:K,s:(KK),s:d,s:d,s:d,s:N}", "kind",
        KINDS[i.kind], "growth", GROWTHS[i.growth], "hash", HASHES[i.hash], "store", i.store,
        "when_full", FULL[i.when_full], "capacity", (unsigned long long)i.capacity, "error_rate",
        i.error_rate, "bits", (unsigned long long)i.bits, "bytes", (unsigned long long)i.bytes,
        "hashes", i.hashes, "layers", i.layers, "generations", i.generations, "window_seconds",
        (unsigned long long)i.window_seconds, "seed", (unsigned long long)i.seed[0],
        (unsigned long long)i.seed[1], "fill", i.fill, "keys_estimated", i.keys_estimated,
        "error_rate_now", i.error_rate_now, "sampled", PyBool_FromLong(i.sampled));
}

static PyObject *get_where(PyObject *object, void *unused)
{
    (void)unused;
    set_object *self = of(object);
    const char *where = self->set ? seen_where(self->set) : NULL;
    return where ? PyUnicode_DecodeFSDefault(where) : Py_NewRef(Py_None);
}

static PyObject *get_closed(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!of(object)->set || of(object)->closing);
}

/* What pickling needs: the address, the options and the flags, to open the set again. */
static PyObject *get_origin(PyObject *object, void *unused)
{
    (void)unused;
    set_object *self = of(object);
    return Py_BuildValue("(OOI)", self->where ? self->where : Py_None,
                         self->options ? self->options : Py_None, self->flags);
}

/* Does nothing: what a method call costs (bench/bindings). */
static PyObject *set_nothing(PyObject *self, PyObject *key)
{
    (void)self;
    (void)key;
    Py_RETURN_NONE;
}

#define DOC(text) PyDoc_STR(text)

static PyMethodDef methods[] = {
    {"add", set_add, METH_O,
     DOC("add(key) -> bool\n\nAdd one key; True if it is new. Exactly one caller gets True.")},
    {"discard", set_discard, METH_O,
     DOC("discard(key) -> bool\n\nCounting sets: remove one addition of a key; False if absent.")},
    {"remove", set_remove, METH_O,
     DOC("remove(key)\n\nCounting sets: remove one addition of a key; KeyError if absent.")},
    {"add_many", sn_py_add_many, METH_O,
     DOC("add_many(keys) -> bytes\n\nAdd keys; one byte for each: 1 if new, 0 if present.")},
    {"check_many", sn_py_check_many, METH_O,
     DOC("check_many(keys) -> bytes\n\nLook keys up; one byte for each: 1 if present, 0 if not.")},
    {"new", sn_py_new, METH_O,
     DOC("new(keys) -> list\n\nAdd keys; return those that are new, in their order.")},
    {"sync", set_sync, METH_NOARGS,
     DOC("sync()\n\nMake durable what was added: it then survives a power failure.")},
    {"rotate", set_rotate, METH_NOARGS,
     DOC("rotate()\n\nWindows: start the next generation; the oldest is forgotten.")},
    {"close", set_close, METH_NOARGS,
     DOC("close()\n\nSync and close. May be called more than once.")},
    {"to_bytes", set_to_bytes, METH_NOARGS,
     DOC("to_bytes() -> bytes\n\nThe set as bytes: those of its file.")},
    {"_update", sn_py_update, METH_O, NULL},
    {"_start", set_start, METH_VARARGS, NULL},
    {"_start_like", set_start_like, METH_VARARGS, NULL},
    {"_load", set_load, METH_O, NULL},
    {"_merge", set_merge, METH_O, NULL},
    {"_copy", set_copy, METH_VARARGS, NULL},
    {"_info", set_info, METH_O, NULL},
    {"_nothing", set_nothing, METH_O, NULL},
    {0},
};

static PyGetSetDef properties[] = {
    {"where", get_where, NULL, DOC("Path or address, without a password. None: in memory."), NULL},
    {"closed", get_closed, NULL, DOC("Whether the set is closed."), NULL},
    {"_origin", get_origin, NULL, NULL, NULL},
    {0},
};

PyObject *sn_py_set_type(PyObject *module)
{
    PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)set_dealloc},
        {Py_tp_traverse, (void *)set_traverse},
        {Py_tp_methods, methods},
        {Py_tp_getset, properties},
        {Py_sq_contains, (void *)set_contains},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "seen._seen.Base",
        .basicsize = sizeof(set_object),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };
    return PyType_FromModuleAndSpec(module, &spec, NULL);
}
