/* The module: planning, URLs, exceptions. */
#include "binding.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

unsigned sn_py_forks;

/* status (int) -> exception class; filled by seen/__init__.py */
static PyObject *exceptions;

static void count_fork(void)
{
    sn_py_forks++;
}

/* ---- exceptions ---- */

PyObject *sn_py_raise_partial(const seen_error *error, PyObject *partial)
{
    PyObject *status = PyLong_FromLong(error->status), *type = NULL, *text = NULL, *made = NULL;
    if (status)
        type = PyDict_GetItemWithError(exceptions, status);
    if (type)
        text = PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "replace");
    if (text)
        made = PyObject_CallFunctionObjArgs(type, text, NULL);
    if (made && PyObject_SetAttrString(made, "status", status) == 0 &&
        (!partial || PyObject_SetAttrString(made, "partial", partial) == 0))
        PyErr_SetObject(type, made);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, error->message);
    Py_XDECREF(made);
    Py_XDECREF(text);
    Py_XDECREF(status);
    return NULL;
}

PyObject *sn_py_raise(const seen_error *error)
{
    return sn_py_raise_partial(error, NULL);
}

static PyObject *register_exceptions(PyObject *module, PyObject *dict)
{
    (void)module;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "expected a dict");
        return NULL;
    }
    sn_py_replace(&exceptions, Py_NewRef(dict));
    Py_RETURN_NONE;
}

/* ---- options ---- */

static int take_number(PyObject *dict, const char *name, uint64_t most, uint64_t *to)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    if (!value || value == Py_None)
        return 0;
    unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Format(PyExc_ValueError, "%s: must be between 0 and %llu", name,
                         (unsigned long long)most);
        return -1;
    }
    if (number > most) {
        PyErr_Format(PyExc_ValueError, "%s: must be at most %llu", name, (unsigned long long)most);
        return -1;
    }
    *to = number;
    return 0;
}

static int take_small(PyObject *dict, const char *name, uint32_t *to)
{
    uint64_t number = *to;
    if (take_number(dict, name, UINT32_MAX, &number) != 0)
        return -1;
    *to = (uint32_t)number;
    return 0;
}

static int take_text(PyObject *dict, const char *name, const char **to)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    if (!value || value == Py_None)
        return 0;
    *to = PyUnicode_AsUTF8AndSize(value, NULL);
    return *to ? 0 : -1;
}

static int take_rate(PyObject *dict, double *to)
{
    PyObject *value = PyDict_GetItemString(dict, "error_rate");
    if (!value || value == Py_None)
        return 0;
    *to = PyFloat_AsDouble(value);
    return PyErr_Occurred() ? -1 : 0;
}

static int take_seed(PyObject *dict, seen_options *o)
{
    PyObject *value = PyDict_GetItemString(dict, "seed");
    unsigned long long low, high;
    if (!value || value == Py_None)
        return 0;
    if (!PyArg_ParseTuple(value, "KK", &low, &high))
        return -1;
    o->seed_given = true;
    o->seed[0] = low;
    o->seed[1] = high;
    return 0;
}

int sn_py_options(PyObject *dict, seen_options *o)
{
    uint32_t kind = 0, growth = 0, hash = 0, full = 0, layout = 0, renew = 0;
    *o = (seen_options){.size = sizeof *o};
    if (take_small(dict, "kind", &kind) || take_small(dict, "growth", &growth) ||
        take_small(dict, "hash", &hash) || take_small(dict, "when_full", &full) ||
        take_small(dict, "layout", &layout) || take_small(dict, "renew", &renew) ||
        take_number(dict, "capacity", UINT64_MAX, &o->capacity) ||
        take_rate(dict, &o->error_rate) || take_number(dict, "bits", UINT64_MAX, &o->bits) ||
        take_small(dict, "hashes", &o->hashes) || take_seed(dict, o) ||
        take_small(dict, "generations", &o->generations) ||
        take_number(dict, "window_seconds", UINT64_MAX, &o->window_seconds) ||
        take_number(dict, "ttl_seconds", UINT64_MAX, &o->ttl_seconds) ||
        take_small(dict, "connect_ms", &o->connect_ms) ||
        take_small(dict, "command_ms", &o->command_ms) ||
        take_small(dict, "retry_ms", &o->retry_ms) || take_text(dict, "tls_ca", &o->tls_ca) ||
        take_text(dict, "tls_cert", &o->tls_cert) || take_text(dict, "tls_key", &o->tls_key))
        return -1;
    o->kind = (seen_kind)kind;
    o->growth = (seen_growth)growth;
    o->hash = (seen_hash_kind)hash;
    o->when_full = (seen_when_full)full;
    o->layout = (seen_layout)layout;
    o->renew = renew != 0;
    return 0;
}

/* ---- functions ---- */

static PyObject *drop(PyObject *module, PyObject *args)
{
    (void)module;
    const char *where;
    PyObject *dict;
    seen_options options;
    seen_error error = {0};
    seen_status status;
    if (!PyArg_ParseTuple(args, "sO!", &where, &PyDict_Type, &dict) ||
        sn_py_options(dict, &options) != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = seen_drop(where, &options, &error);
    Py_END_ALLOW_THREADS return status == SEEN_OK ? Py_NewRef(Py_None) : sn_py_raise(&error);
}

static PyObject *plan(PyObject *module, PyObject *dict)
{
    (void)module;
    seen_parameters parameters = {.size = sizeof parameters};
    seen_plan p = {.size = sizeof p};
    seen_error error = {0};
    uint32_t kind = 0;
    if (take_small(dict, "kind", &kind) ||
        take_number(dict, "capacity", UINT64_MAX, &parameters.capacity) ||
        take_rate(dict, &parameters.error_rate) ||
        take_number(dict, "bits", UINT64_MAX, &parameters.bits) ||
        take_small(dict, "hashes", &parameters.hashes))
        return NULL;
    parameters.kind = (seen_kind)kind;
    if (seen_plan_make(&parameters, &p, &error) != SEEN_OK)
        return sn_py_raise(&error);
    return Py_BuildValue(
        "{s:K,s:d,s:d,s:K,s:K,s:I,s:d}", "capacity", (unsigned long long)p.capacity, "error_rate",
        p.error_rate, "predicted_rate", p.predicted_rate, "bits", (unsigned long long)p.bits,
        "bytes", (unsigned long long)p.bytes, "hashes", p.hashes, "bits_per_key", p.bits_per_key);
}

static PyObject *url_answer(seen_url_result result, const char *out, size_t len)
{
    switch (result) {
    case SEEN_URL_OK:
        return PyUnicode_FromStringAndSize(out, (Py_ssize_t)len);
    case SEEN_URL_NO_MEMORY:
        return PyErr_NoMemory();
    default:
        Py_RETURN_NONE;
    }
}

/* canonical_url(url, base, flags, drop: tuple of str) */
static PyObject *canonical_url(PyObject *module, PyObject *args)
{
    (void)module;
    const char *url, *base, *names[64];
    Py_ssize_t len, base_len;
    unsigned flags;
    PyObject *dropped;
    if (!PyArg_ParseTuple(args, "s#z#IO!", &url, &len, &base, &base_len, &flags, &PyTuple_Type,
                          &dropped))
        return NULL;
    Py_ssize_t count = PyTuple_Size(dropped);
    if (count > 64) {
        PyErr_SetString(PyExc_ValueError, "drop: at most 64 names");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (!(names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(dropped, i), NULL)))
            return NULL;
    seen_url_options options = {
        .size = sizeof options, .flags = flags, .drop = names, .drop_count = (size_t)count};
    char small[4096], *out = small;
    size_t out_len = 0, room = SEEN_URL_BOUND(len, base ? base_len : 0);
    if (room > sizeof small && !(out = PyMem_Malloc(room)))
        return PyErr_NoMemory();
    seen_url_result result = seen_url_canonical(url, (size_t)len, base, base ? (size_t)base_len : 0,
                                                &options, out, room, &out_len);
    PyObject *answer = url_answer(result, out, out_len);
    if (out != small)
        PyMem_Free(out);
    return answer;
}

static PyMethodDef functions[] = {
    {"drop", drop, METH_VARARGS, NULL},
    {"plan", plan, METH_O, NULL},
    {"canonical_url", canonical_url, METH_VARARGS, NULL},
    {"register_exceptions", register_exceptions, METH_O, NULL},
    {0},
};

/* ---- the module ---- */

static int start(PyObject *module)
{
    static bool watching;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError,
                        "seen does not support sub-interpreters; import it in the main one");
        return -1;
    }
    if (!watching && pthread_atfork(NULL, NULL, count_fork) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    watching = true;
    PyObject *type = sn_py_set_type(module);
    if (!type)
        return -1;
    int failed = PyModule_AddObjectRef(module, "Base", type);
    Py_DECREF(type);
    if (failed || PyModule_AddStringConstant(module, "version", seen_version()) != 0)
        return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)start}, {0, NULL}};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "seen._seen",
                                 .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit__seen(void)
{
    return PyModuleDef_Init(&definition);
}
