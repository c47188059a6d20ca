/* Files that are damaged, cut, foreign, or changed while they are open. */
#include "test_file.h"
#include "test_layered.h"

#include "base/bytes.h"
#include "hash/hash.h"
#include "set/image.h"
#include "set/store.h"

/* Every byte of a small file flipped in turn: refused, or the same answers where the checksum of a
 * page covers it; in the lines a flip is an answer of one key at most, and never a crash. */
static void test_flips(void **state)
{
    (void)state;
    for (int growth = 0; growth < 3; growth++) {
        seen_options options = plain_options(SEEN_BLOOM, (seen_growth)growth, 60, 0.01);
        options.generations = 2;
        seen_set *set = create("f", options, 0);
        add_range(set, 0, 59);
        seen_close(set);
        size_t size;
        unsigned char *good = file_bytes(at("f"), &size);
        assert_true(size < (growth == SEEN_GROWING ? 400000 : 64000));
        uint64_t refused = 0, other = 0;
        for (size_t i = 0; i < size; i += i < 8192 || i >= 16384 ? 1 : 7) {
            if (size > 64000 && i >= 16384 && good[i] == 0 && i % 97 != 0)
                continue; /* an empty slot like all others */
            unsigned char bad = (unsigned char)(good[i] ^ (i < 16384 ? 1u << i % 8 : 255u));
            write_at("f", &bad, 1, (off_t)i);
            seen_error e;
            seen_status status = seen_open(at("f"), NULL, SEEN_READ_ONLY, &set, &e);
            if (status == SEEN_OK) {
                size_t there = count_there(set, 0, 59);
                assert_true(i < 16384 ? there == 59 : there >= 20);
                other += there != 59;
                seen_close(set);
            } else {
                assert_int_equal(status, SEEN_ERR_FORMAT);
                refused++;
            }
            write_at("f", good + i, 1, (off_t)i);
        }
        assert_int_equal(refused, 0); /* one page is always whole */
        assert_true(other > 10);
        /* Both pages: refused, and the file is left as it was. */
        for (size_t i = 0; i < 4096; i += 5) {
            unsigned char bad = (unsigned char)(good[i] ^ 0x10);
            write_at("f", &bad, 1, (off_t)i);
            write_at("f", &bad, 1, (off_t)i + 4096);
            FAILS(SEEN_ERR_FORMAT, seen_open(at("f"), NULL, 0, &set, error));
            write_at("f", good + i, 1, (off_t)i);
            write_at("f", good + i, 1, (off_t)i + 4096);
        }
        size_t again;
        unsigned char *after = file_bytes(at("f"), &again);
        assert_int_equal(size, again);
        assert_memory_equal(good, after, size);
        free(after);
        free(good);
        drop("f");
    }
}

static void test_truncations(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_GROWING, 60, 0.01);
    seen_set *set = layered_create(at("f"), &options);
    add_range(set, 0, 200);
    sn_image image;
    OK(set->ops->image(set, &image, error));
    const sn_layer *last = &image.layer[image.layers - 1];
    uint64_t need = last->offset + sn_geometry_bytes(&last->geometry);
    seen_close(set);
    size_t size;
    unsigned char *good = file_bytes(at("f"), &size);
    for (size_t cut = 0; cut<size; cut += cut % 512> 2 && cut % 512 < 500 ? 61 : 1) {
        assert_int_equal(truncate(at("f"), (off_t)cut), 0);
        if (cut >= need)
            break;
        FAILS(SEEN_ERR_FORMAT, seen_open(at("f"), NULL, 0, &set, error));
        struct stat st;
        assert_int_equal(stat(at("f"), &st), 0);
        assert_int_equal(st.st_size, cut);
        file_put(at("f"), good, size);
    }
    file_put(at("f"), good, size);
    set = open_set("f", 0);
    assert_int_equal(count_there(set, 0, 200), 200);
    seen_close(set);
    free(good);
    drop("f");
}

/* Also if only the padding behind the last line is missing. */
static void test_cut_padding(void **state)
{
    (void)state;
    for (int growth = 0; growth < 3; growth++) {
        seen_set *set = create("f", plain_options(SEEN_BLOOM, (seen_growth)growth, 60, 0.01), 0);
        struct stat st;
        seen_close(set);
        assert_int_equal(stat(at("f"), &st), 0);
        assert_int_equal(st.st_size % 4096, 0);
        assert_int_equal(truncate(at("f"), st.st_size - 1), 0);
        FAILS(SEEN_ERR_FORMAT, seen_open(at("f"), NULL, 0, &set, error));
        unlink(at("f"));
    }
}

static void test_foreign(void **state)
{
    (void)state;
    seen_set *set = NULL;
    file_put(at("text"), "hello\n", 6);
    FAILS(SEEN_ERR_FORMAT, seen_open(at("text"), NULL, 0, &set, error));
    static char zero[100000];
    file_put(at("text"), zero, sizeof zero);
    FAILS(SEEN_ERR_FORMAT, seen_open(at("text"), NULL, 0, &set, error));
    file_put(at("text"), zero, 0);
    FAILS(SEEN_ERR_FORMAT, seen_open(at("text"), NULL, 0, &set, error));
    unlink(at("text"));
    FAILS(SEEN_ERR_FORMAT, seen_open("/dev/null", NULL, 0, &set, error));
    FAILS(SEEN_ERR_IO, seen_open(scratch_path, NULL, 0, &set, error));
    FAILS(SEEN_ERR_FORMAT, seen_open(scratch_path, NULL, SEEN_READ_ONLY, &set, error));
    assert_null(set);
    /* A name that would steer a terminal. */
    seen_error e;
    assert_int_equal(seen_open(at("a\x1b[31m\nb"), NULL, 0, &set, &e), SEEN_ERR_NOT_FOUND);
    for (const char *p = e.message; *p; p++)
        assert_true(*p >= 0x20);
    assert_non_null(strstr(e.message, "a\\x1b[31m\\nb"));
}

/* The file is overwritten while it is open: noticed, or nothing changes for who has it open. */
static void test_changed_underneath(void **state)
{
    (void)state;
    static const char JUNK[8192] = "junk";
    seen_options options = plain_options(SEEN_BLOOM, SEEN_GROWING, 100, 1e-6);
    seen_set *set = layered_create(at("f"), &options), *other;
    add_range(set, 0, 50);
    seen_set *reader = open_set("f", SEEN_READ_ONLY);
    size_t size, large;
    unsigned char *good = file_bytes(at("f"), &size);
    write_at("f", JUNK, sizeof JUNK, 0);
    hashes_from(0, 3, batch);
    FAILS(SEEN_ERR_CHANGED, seen_check_hashes(reader, batch, 3, told, error));
    assert_int_equal(told[2], SEEN_UNKNOWN);
    FAILS(SEEN_ERR_CHANGED, seen_add_hashes(set, batch, 3, told, error));
    assert_int_equal(told[0], SEEN_UNKNOWN);
    FAILS(SEEN_ERR_CHANGED, seen_copy(set, at("copy"), 0, NULL, error));
    write_at("f", good, size, 0);
    OK(seen_check_hashes(reader, batch, 3, told, error));
    /* Another filter written over it, in place. */
    options.capacity = 5000;
    other = layered_create(at("other"), &options);
    add_range(other, 0, 6000 < MANY ? 6000 : MANY);
    OK(seen_close_checked(other, error));
    unsigned char *foreign = file_bytes(at("other"), &large);
    foreign[88] = 77; /* another sequence */
    sn_store64(foreign + 4088, sn_hash_checksum(foreign, 4088));
    write_at("f", foreign, large, 0);
    FAILS(SEEN_ERR_CHANGED, seen_check_hashes(reader, batch, 3, told, error));
    FAILS(SEEN_ERR_CHANGED, seen_add_hashes(set, batch, 3, told, error));
    free(good);
    free(foreign);
    seen_close(reader);
    seen_close(set);
    unlink(at("other"));
    unlink(at("f"));
    assert_int_equal(scratch_count(), 0);
}

/* What goes into a file that has no name any more is lost when it is closed: sync does not say that
 * it lasts. */
static void test_replaced(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 1000, 1e-6);
    for (int removed = 0; removed < 2; removed++) {
        seen_set *set = create("f", options, 0);
        add_range(set, 0, 50);
        OK(seen_sync(set, error));
        if (removed)
            OK(seen_drop(at("f"), NULL, error));
        else
            OK(seen_copy(set, at("f"), SEEN_REPLACE, NULL, error));
        add_range(set, 100, 50);
        assert_int_equal(count_there(set, 100, 50), 50);
        FAILS(SEEN_ERR_CHANGED, seen_sync(set, error));
        FAILS(SEEN_ERR_CHANGED, seen_close_checked(set, error));
        if (removed)
            continue;
        set = open_set("f", 0);
        assert_int_equal(count_there(set, 0, 50), 50);
        assert_int_equal(count_there(set, 100, 50), 0);
        OK(seen_close_checked(set, error));
        drop("f");
    }
    assert_int_equal(scratch_count(), 0);
}

/* A fifo must not be waited for. */
static void test_fifo(void **state)
{
    (void)state;
    seen_set *set = NULL;
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    FAILS(SEEN_ERR_FORMAT, seen_open(at("fifo"), NULL, 0, &set, error));
    FAILS(SEEN_ERR_FORMAT, seen_open(at("fifo"), NULL, SEEN_READ_ONLY, &set, error));
    unlink(at("fifo"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_cut_padding),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_changed_underneath),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_fifo),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
