/* Sentences of the stream: the reason and what to do are there however long the name is, and no
 * byte of a name commands the terminal. */
#include "stream/io/fail.h"
#include "test_stream.h"

#include <errno.h>

static void test_says_what_to_do(void **state)
{
    (void)state;
    static const struct {
        int code;
        seen_status status;
        const char *words;
    } cases[] = {
        {ENOSPC, SEEN_ERR_SPACE, "cannot read x: No space left on device; free some space"},
        {EDQUOT, SEEN_ERR_SPACE, "; free some space"},
        {EFBIG, SEEN_ERR_SPACE, "; allow larger files (ulimit -f)"},
        {EMFILE, SEEN_ERR_IO, "; allow more open files (ulimit -n)"},
        {ENOMEM, SEEN_ERR_MEMORY, "cannot read x: "},
        {ENOENT, SEEN_ERR_NOT_FOUND, "; check the name"},
        {ENOTDIR, SEEN_ERR_IO, "; check the name"},
        {ENAMETOOLONG, SEEN_ERR_IO, "; check the name"},
        {EACCES, SEEN_ERR_PERMISSION, "Permission denied; check who may"},
        {EROFS, SEEN_ERR_PERMISSION, "; check who may"},
        {EIO, SEEN_ERR_IO, "cannot read x: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen_error error = {0};
        assert_int_equal(sn_stream_fail_system(&error, cases[i].code, "read", "x"),
                         cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        assert_non_null(strstr(error.message, cases[i].words));
    }
    assert_int_equal(sn_stream_fail_system(NULL, ENOENT, "read", "x"), SEEN_ERR_NOT_FOUND);
}

static void test_long_names(void **state)
{
    (void)state;
    static const char END[] = ": No such file or directory; check the name";
    for (size_t length = 400; length < 5000; length += length < 600 ? 1 : 400) {
        char name[5000];
        seen_error error = {0};
        memset(name, length % 2 ? 'n' : '\x1b', length);
        name[length] = '\0';
        sn_stream_fail_system(&error, ENOENT, "open", name);
        size_t got = strnlen(error.message, sizeof error.message);
        assert_in_range(got, 400, sizeof error.message - 1);
        assert_memory_equal(error.message, "cannot open ", 12);
        assert_string_equal(error.message + got - (sizeof END - 1), END);
        assert_null(strchr(error.message, '\x1b'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_says_what_to_do),
        cmocka_unit_test(test_long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
