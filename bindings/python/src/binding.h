/* The extension module seen._seen: libseen for Python, on the limited API, so that one build serves
 * Python 3.11 and later.
 *
 *     seen/__init__.py   the public names; options and modes in Python
 *         |
 *     module.c           the module: plan, drop, canonical_url, exceptions
 *     set.c              the type Base: one handle, one key, whole sets
 *     batch.c            many keys: hashed with the GIL held, added with the GIL released
 *     keys.c             str or bytes-like -> bytes -> hash
 */
#ifndef SEEN_BINDING_H
#define SEEN_BINDING_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <seen.h>

typedef struct set_object {
    PyObject_HEAD seen_set *set; /* NULL: closed */
    seen_hasher hasher;          /* of the set */
    bool remote;                 /* in Redis: every call waits for a server, without the GIL */
    bool counting;
    bool closing;        /* closed by one thread while others are in a call */
    int users;           /* calls that have released the GIL */
    unsigned generation; /* of the process that opened it: see sn_py_forks */
    PyObject *where;     /* the address as given, also with a password; None: memory */
    PyObject *options;   /* dict, for opening it again */
    unsigned flags;      /* for opening it again */
} set_object;

/* Puts a new reference in the place of an old one. */
static inline void sn_py_replace(PyObject **place, PyObject *value)
{
    PyObject *old = *place;
    *place = value;
    Py_XDECREF(old);
}

/* ---- module.c ---- */

/* Counts the forks between the first process and this one. */
extern unsigned sn_py_forks;

/* Raises the exception of error->status; returns NULL. */
PyObject *sn_py_raise(const seen_error *error);

/* The same with the answers of the keys before the failure, as its attribute `partial`. */
PyObject *sn_py_raise_partial(const seen_error *error, PyObject *partial);

/* Fills seen_options from a dict; strings stay alive as long as the dict. -1: an exception. */
int sn_py_options(PyObject *dict, seen_options *options);

/* ---- keys.c ---- */

typedef struct key_bytes {
    const char *data;
    Py_ssize_t len;
    Py_buffer view; /* .obj is NULL unless the buffer protocol was used */
} key_bytes;

/* The bytes of a str (UTF-8) or bytes-like object, until released. -1: an exception. */
int sn_py_key(PyObject *key, key_bytes *bytes);
void sn_py_key_release(key_bytes *bytes);
int sn_py_hash(const seen_hasher *hasher, PyObject *key, seen_hash *hash);

/* ---- set.c ---- */

PyObject *sn_py_set_type(PyObject *module);

/* Makes sure that the set is open, and opened by this process. -1: an exception. */
int sn_py_usable(set_object *self);

/* Around a call without the GIL, during which another thread may close the set. */
void sn_py_enter(set_object *self);
void sn_py_leave(set_object *self);

/* ---- batch.c ---- */

PyObject *sn_py_update(PyObject *self, PyObject *keys);
PyObject *sn_py_add_many(PyObject *self, PyObject *keys);
PyObject *sn_py_check_many(PyObject *self, PyObject *keys);
PyObject *sn_py_new(PyObject *self, PyObject *keys);

#endif
