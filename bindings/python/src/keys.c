/* Keys: str as UTF-8, bytes-like objects as they are. "a" and b"a" are the same key. */
#include "binding.h"

int sn_py_key(PyObject *key, key_bytes *bytes)
{
    bytes->view.obj = NULL;
    if (PyUnicode_Check(key)) {
        bytes->data = PyUnicode_AsUTF8AndSize(key, &bytes->len);
        return bytes->data ? 0 : -1;
    }
    if (PyBytes_Check(key)) {
        bytes->data = PyBytes_AsString(key);
        bytes->len = PyBytes_Size(key);
        return 0;
    }
    if (!PyObject_CheckBuffer(key)) {
        PyErr_Format(PyExc_TypeError,
                     "keys are str or bytes-like, not %R: encode it (never with hash())",
                     (PyObject *)Py_TYPE(key));
        return -1;
    }
    if (PyObject_GetBuffer(key, &bytes->view, PyBUF_SIMPLE) != 0)
        return -1;
    bytes->data = bytes->view.buf;
    bytes->len = bytes->view.len;
    return 0;
}

void sn_py_key_release(key_bytes *bytes)
{
    if (bytes->view.obj)
        PyBuffer_Release(&bytes->view);
}

int sn_py_hash(const seen_hasher *hasher, PyObject *key, seen_hash *hash)
{
    key_bytes bytes;
    if (sn_py_key(key, &bytes) != 0)
        return -1;
    *hash = seen_hash_key(hasher, bytes.data, (size_t)bytes.len);
    sn_py_key_release(&bytes);
    return 0;
}
