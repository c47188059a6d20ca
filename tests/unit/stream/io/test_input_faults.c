/* Inputs whose descriptor goes bad, or that are stopped in the middle of a read. */
#include "test_stream.h"

#include <errno.h>
#include <sys/stat.h>

static bool fstat_fails, lseek_fails;
static void (*before_read)(void);

static int faulty_fstat(int fd, struct stat *at)
{
    errno = EIO;
    return fstat_fails ? -1 : fstat(fd, at);
}

static off_t faulty_lseek(int fd, off_t to, int from)
{
    errno = EIO;
    return lseek_fails ? -1 : lseek(fd, to, from);
}

static ssize_t faulty_read(int fd, void *to, size_t len)
{
    if (!before_read)
        return read(fd, to, len);
    before_read();
    errno = EAGAIN;
    return -1;
}

/* The source itself, with calls that fail when told to. */
#define fstat faulty_fstat
#define lseek faulty_lseek
#define read faulty_read
#include "stream/io/input.c"
#undef fstat
#undef lseek
#undef read

static sn_stop stop;

static void stop_now(void)
{
    sn_stop_set(&stop, SN_STOP_ASKED);
}

static void test_no_descriptor(void **state)
{
    (void)state;
    sn_input *input = NULL;
    seen_error error = {0};
    assert_int_not_equal(sn_input_open_fd(-1, "a list", NULL, &input, &error), SEEN_OK);
    assert_non_null(strstr(error.message, "cannot read a list"));
    assert_null(input);
}

static void test_no_identity(void **state)
{
    (void)state;
    const char *path = scratch("in");
    write_file(path, "a\n", 2);
    sn_input *input;
    seen_error error = {0};
    char to[8];
    size_t got;
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    fstat_fails = true;
    assert_int_equal(sn_input_read(input, to, sizeof to, &got, &error), SEEN_ERR_IO);
    fstat_fails = false;
    assert_non_null(strstr(error.message, "cannot read "));
    sn_input_close(input);
}

static void test_no_way_back(void **state)
{
    (void)state;
    write_file(scratch("in"), "a\n", 2);
    int file = open(scratch("in"), O_RDONLY), saved = dup(STDIN_FILENO);
    assert_true(file >= 0 && saved >= 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO);
    sn_input *input;
    seen_error error = {0};
    char to[8];
    size_t got;
    assert_int_equal(sn_input_open(NULL, 0, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(sn_input_read(input, to, sizeof to, &got, &error), SEEN_OK);
    assert_int_equal(got, 2);
    lseek_fails = true;
    assert_int_equal(sn_input_rewind(input, &error), SEEN_ERR_IO);
    lseek_fails = false;
    assert_non_null(strstr(error.message, "cannot read again standard input"));
    assert_int_equal(sn_input_rewind(input, &error), SEEN_OK);
    sn_input_close(input);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(file);
}

/* A descriptor that said it had something, had nothing, and a stop meanwhile. */
static void test_stop_in_a_read(void **state)
{
    (void)state;
    const char *path = scratch("in");
    write_file(path, "a\n", 2);
    sn_input *input;
    char to[8];
    size_t got = 9;
    assert_int_equal(sn_stop_init(&stop, NULL), SEEN_OK);
    assert_int_equal(sn_input_open(&path, 1, &stop, &input, NULL), SEEN_OK);
    before_read = stop_now;
    assert_int_equal(sn_input_read(input, to, sizeof to, &got, NULL), SEEN_OK);
    before_read = NULL;
    assert_int_equal(got, 0);
    assert_true(sn_input_stopped(input));
    sn_input_close(input);
    sn_stop_free(&stop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_descriptor),
        cmocka_unit_test(test_no_identity),
        cmocka_unit_test(test_no_way_back),
        cmocka_unit_test(test_stop_in_a_read),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
