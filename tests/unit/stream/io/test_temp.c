/* Temporary files and their users: records, bitmaps, copies. */
#include "stream/exact/records.h"
#include "stream/io/copy.h"
#include "stream/io/temp.h"
#include "test_stream.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

static bool mmap_fails;

static void *faulty_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    errno = ENOMEM;
    return mmap_fails ? MAP_FAILED : mmap(at, bytes, protection, flags, fd, offset);
}

/* Includes the source, with mappings that fail on demand. */
#define mmap faulty_mmap
#include "stream/exact/keepmap.c"
#undef mmap

static unsigned files_in_scratch(void)
{
    unsigned count = 0;
    DIR *dir = opendir(scratch_dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(dir);
    return count;
}

static void test_write_and_read(void **state)
{
    (void)state;
    sn_temp *temp;
    size_t total = 1 << 20, at = 0;
    char *all = malloc(total), *back = malloc(total);
    for (size_t i = 0; i < total; i++)
        all[i] = (char)random_next();
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(sn_temp_open(scratch_dir, 0, &temp, NULL), SEEN_OK);
        assert_int_equal(files_in_scratch(), 0);
        for (at = 0; at < total;) {
            size_t part = random_below(random_below(4) ? 100 : 200000) + 1;
            part = part < total - at ? part : total - at;
            assert_int_equal(sn_temp_write(temp, all + at, part, NULL), SEEN_OK);
            at += part;
            assert_int_equal(sn_temp_length(temp), at);
        }
        assert_int_equal(sn_temp_flush(temp, NULL), SEEN_OK);
        size_t got;
        assert_int_equal(sn_temp_read(temp, 0, back, total, &got, NULL), SEEN_OK);
        assert_int_equal(got, total);
        assert_memory_equal(all, back, total);
        assert_int_equal(sn_temp_read(temp, total - 5, back, 10, &got, NULL), SEEN_OK);
        assert_int_equal(got, 5);
        sn_temp_close(temp);
    }
    free(all);
    free(back);
}

static void test_no_folder(void **state)
{
    (void)state;
    sn_temp *temp;
    seen_error error;
    assert_int_equal(sn_temp_open(scratch("missing"), 0, &temp, &error), SEEN_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, "missing"));
}

/* Line numbers are restored, also above 32 bits and around the change of the upper half. */
static void test_records(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0,           1,           4294967294u, 4294967295u,
                                       4294967296u, 4294967297u, 1ull << 40,  (1ull << 40) + 7};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    sn_records records;
    assert_int_equal(sn_records_open(&records, scratch_dir, 0, NULL), SEEN_OK);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(sn_records_add(&records, (seen_hash){~0ull, i}, numbers[i], NULL),
                         SEEN_OK);
    assert_int_equal(sn_records_flush(&records, NULL), SEEN_OK);
    for (size_t room = 1; room <= COUNT; room++)
        for (size_t at = 0; at < COUNT;) {
            seen_hash hashes[COUNT];
            size_t got;
            uint64_t base;
            assert_int_equal(sn_records_read(&records, at, hashes, room, &got, &base, NULL),
                             SEEN_OK);
            assert_in_range(got, 1, room);
            for (size_t i = 0; i < got; i++) {
                assert_true(sn_records_number(base, hashes[i]) == numbers[at + i]);
                assert_int_equal(hashes[i].hi, at + i);
                assert_int_equal(hashes[i].lo >> 32, 0xffffffffu);
            }
            at += got;
        }
    size_t got;
    uint64_t base;
    seen_hash hash;
    assert_int_equal(sn_records_read(&records, COUNT, &hash, 1, &got, &base, NULL), SEEN_OK);
    assert_int_equal(got, 0);
    sn_records_close(&records);
}

static void check_map(uint64_t bits)
{
    sn_keepmap map;
    assert_int_equal(sn_keepmap_open(&map, bits, scratch_dir, NULL), SEEN_OK);
    uint64_t places[] = {0, 1, 63, 64, bits / 2, bits - 1};
    for (size_t i = 0; i < 6; i++)
        assert_false(sn_keepmap_get(&map, places[i]));
    for (size_t i = 0; i < 6; i++)
        sn_keepmap_set(&map, places[i]);
    for (size_t i = 0; i < 6; i++)
        assert_true(sn_keepmap_get(&map, places[i]));
    assert_false(sn_keepmap_get(&map, 2));
    assert_false(sn_keepmap_get(&map, 65));
    assert_false(sn_keepmap_get(&map, bits - 2));
    sn_keepmap_close(&map);
    assert_int_equal(files_in_scratch(), 0);
}

static void test_map(void **state)
{
    (void)state;
    check_map(1000);
    check_map(200000000); /* beyond what is kept in memory */
    sn_keepmap map;
    seen_error error;
    assert_int_equal(sn_keepmap_open(&map, 200000000, scratch("missing"), &error),
                     SEEN_ERR_NOT_FOUND);
}

static void test_copy(void **state)
{
    (void)state;
    sn_copy copy;
    sn_input *input;
    char to[20];
    size_t got;
    assert_int_equal(sn_copy_open(&copy, scratch_dir, NULL), SEEN_OK);
    assert_int_equal(sn_copy_add(&copy, "a\nb", 3, '\n', NULL), SEEN_OK);
    assert_int_equal(sn_copy_add(&copy, "", 0, '\n', NULL), SEEN_OK);
    assert_int_equal(sn_copy_add(&copy, "c\n", 2, '\n', NULL), SEEN_OK);
    assert_int_equal(sn_copy_add(&copy, "d", 1, '\n', NULL), SEEN_OK);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(sn_copy_input(&copy, NULL, &input, NULL), SEEN_OK);
        assert_int_equal(sn_input_read(input, to, sizeof to, &got, NULL), SEEN_OK);
        assert_int_equal(got, 8);
        assert_memory_equal(to, "a\nb\nc\nd\n", 8);
        sn_input_close(input);
    }
    sn_copy_close(&copy);
}

/* A folder whose path leaves no room for a file name. */
static void test_long_name(void **state)
{
    (void)state;
    char dir[4095];
    memset(dir, 'x', sizeof dir);
    for (size_t i = 0; i < sizeof dir; i += 2)
        dir[i] = '/';
    dir[sizeof dir - 1] = '\0';
    sn_temp *temp = NULL;
    seen_error error = {0};
    assert_int_equal(sn_temp_open(dir, 0, &temp, &error), SEEN_ERR_IO); /* not SEEN_ERR_NOT_FOUND */
    assert_null(temp);
}

/* The folder may not have been chosen by the user: the message says how to choose one. */
static void test_missing_folder(void **state)
{
    (void)state;
    sn_temp *temp = NULL;
    seen_error error = {0};
    assert_int_equal(sn_temp_open("/no/such", 0, &temp, &error), SEEN_ERR_NOT_FOUND);
    assert_string_equal(error.message,
                        "cannot create a temporary file in /no/such: No such file or "
                        "directory; name another folder with -T");
}

/* Another process truncates a temporary file, or it cannot be emptied. */
static void test_meddled_with(void **state)
{
    (void)state;
    sn_records records;
    seen_hash hashes[4];
    size_t got;
    uint64_t base;
    seen_error error = {0};
    assert_int_equal(sn_records_open(&records, scratch_dir, 0, NULL), SEEN_OK);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(sn_records_add(&records, (seen_hash){i, i}, i, NULL), SEEN_OK);
    assert_int_equal(sn_records_flush(&records, NULL), SEEN_OK);
    assert_int_equal(ftruncate(sn_temp_fd(records.temp), 3 * sizeof *hashes), 0);
    assert_int_equal(sn_records_read(&records, 0, hashes, 4, &got, &base, &error), SEEN_ERR_IO);
    assert_non_null(strstr(error.message, scratch_dir));
    assert_non_null(strstr(error.message, "became shorter"));
    sn_records_close(&records);
}

/* A bitmap without disk space or address space. */
static void test_no_room_for_a_map(void **state)
{
    (void)state;
    struct rlimit before, small;
    sn_keepmap map;
    seen_error error = {0};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1 << 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    seen_status status = sn_keepmap_open(&map, 200000000, scratch_dir, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, error.status);
    assert_int_not_equal(status, SEEN_OK);
    assert_non_null(strstr(error.message, "cannot reserve a temporary file in"));
    mmap_fails = true;
    status = sn_keepmap_open(&map, 200000000, scratch_dir, &error);
    assert_int_equal(sn_keepmap_open(&map, 1000, scratch_dir, NULL), SEEN_ERR_MEMORY);
    mmap_fails = false;
    assert_int_equal(status, SEEN_ERR_MEMORY);
    assert_non_null(strstr(error.message, "cannot map a temporary file in"));
    assert_int_equal(files_in_scratch(), 0);
}

int main(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_long_name),
        cmocka_unit_test(test_missing_folder),
        cmocka_unit_test(test_meddled_with),
        cmocka_unit_test(test_no_room_for_a_map),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
