/* Outputs for which there is no memory, and a disk that says so only when the file is closed. */
#include "test_stream.h"

#include <errno.h>
#include <stdarg.h>

static bool close_fails, nameless_fails, malloc_fails, link_fails;

static int faulty_linkat(int from, const char *old, int to, const char *name, int flags)
{
    if (!link_fails)
        return linkat(from, old, to, name, flags);
    errno = EPERM;
    return -1;
}

static int faulty_close(int fd)
{
    int result = close(fd);
    if (!close_fails)
        return result;
    errno = EDQUOT;
    return -1;
}

static int faulty_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (nameless_fails && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return open(path, flags, mode);
}

static void *faulty_malloc(size_t size)
{
    return malloc_fails ? NULL : malloc(size);
}

/* The sources themselves, with calls that fail on request. */
#define close faulty_close
#define open faulty_open
#define malloc faulty_malloc
#define linkat faulty_linkat
#include "base/newfile.c"

#include "stream/io/output.c"
#undef close
#undef open
#undef malloc
#undef linkat

static void test_close_fails(void **state)
{
    (void)state;
    sn_output *output;
    seen_error error = {0};
    assert_int_equal(sn_output_open(scratch("out"), '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_output_write(output, "a\n", 2, NULL), SEEN_OK);
    close_fails = true;
    assert_int_equal(sn_output_finish(output, &error), SEEN_ERR_SPACE);
    close_fails = false;
    assert_non_null(strstr(error.message, "/out: cannot write: "));
}

static void test_no_memory_for_a_name(void **state)
{
    (void)state;
    sn_output *output = NULL;
    seen_error error = {0};
    nameless_fails = true;
    assert_int_equal(sn_output_open(scratch("other"), '\n', NULL, &output, NULL), SEEN_OK);
    sn_output_abandon(output);
    output = NULL;
    malloc_fails = true;
    assert_int_equal(sn_output_open(scratch("other"), '\n', NULL, &output, &error),
                     SEEN_ERR_MEMORY);
    nameless_fails = malloc_fails = false;
    assert_null(output);
    assert_non_null(strstr(error.message, "out of memory"));
    assert_int_not_equal(access(scratch("other"), F_OK), 0);
}

/* FAT and its like: no files without a name, and none with two. */
static void test_keep_without_links(void **state)
{
    (void)state;
    nameless_fails = link_fails = true;
    for (int i = 1; i <= 2; i++) {
        sn_output *output = NULL;
        assert_int_equal(sn_output_open(scratch("part"), '\n', NULL, &output, NULL), SEEN_OK);
        assert_int_equal(sn_output_write(output, i == 1 ? "a\n" : "b\n", 2, NULL), SEEN_OK);
        char *name = sn_output_keep(output);
        assert_non_null(name);
        assert_string_equal(strrchr(name, '/'), i == 1 ? "/part.partial" : "/part.partial.2");
        assert_file_is(name, i == 1 ? "a\n" : "b\n", 2);
        free(name);
    }
    nameless_fails = link_fails = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close_fails),
        cmocka_unit_test(test_no_memory_for_a_name),
        cmocka_unit_test(test_keep_without_links),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
