/* Sets in files: flags, several handles, header pages after crashes, counters. */
#include "test_file.h"

#include "base/bytes.h"
#include "base/io.h"
#include "local/tag_set.h"
#include "set/image.h"
#include "set/store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* ---- flags ---- */

static void test_create_flags(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, MANY, 1e-6);
    seen_set *set = create("f", options, 0), *other = NULL;
    add_range(set, 0, 100);
    FAILS(SEEN_ERR_EXISTS, seen_create(at("f"), &options, 0, &other, error));
    /* The same parameters: the same set, independent of its creator. */
    OK(seen_create(at("f"), &options, SEEN_IF_ABSENT, &other, error));
    assert_int_equal(count_there(other, 0, 100), 100);
    seen_close(other);
    options.seed_given = false;
    OK(seen_create(at("f"), &options, SEEN_IF_ABSENT, &other, error));
    seen_close(other);
    other = NULL;
    seen_options wrong[7] = {options, options, options, options, options, options, options};
    wrong[0].capacity++;
    wrong[1].error_rate = 1e-5;
    wrong[2].kind = SEEN_COUNTING;
    wrong[3].growth = SEEN_GROWING;
    wrong[4].seed_given = true;
    wrong[4].seed[0]++;
    wrong[5].growth = SEEN_WINDOW;
    wrong[6].when_full = SEEN_FULL_GO_ON;
    for (size_t i = 0; i < 7; i++)
        FAILS(SEEN_ERR_MISMATCH, seen_create(at("f"), &wrong[i], SEEN_IF_ABSENT, &other, error));
    assert_null(other);
    assert_int_equal(count_there(set, 0, 100), 100);
    /* Replaced: handles of the old file still work. */
    other = create("f", options, SEEN_REPLACE);
    assert_int_equal(count_there(other, 0, 100), 0);
    assert_int_equal(count_there(set, 0, 100), 100);
    seen_close(set);
    seen_close(other);
    drop("f");
    OK(seen_create(at("f"), &options, SEEN_IF_ABSENT, &other, error));
    seen_close(other);
    drop("f");
    FAILS(SEEN_ERR_NOT_FOUND, seen_create(at("no/f"), &options, SEEN_IF_ABSENT, &other, error));
    FAILS(SEEN_ERR_NOT_FOUND, seen_open(at("no"), NULL, 0, &other, error));
}

static void test_read_only(void **state)
{
    (void)state;
    seen_set *set = create("f", plain_options(SEEN_COUNTING, SEEN_FIXED, MANY, 1e-6), 0);
    add_range(set, 0, 100);
    seen_set *reader = open_set("f", SEEN_READ_ONLY);
    assert_int_equal(count_there(reader, 0, 100), 100);
    FAILS(SEEN_ERR_PERMISSION, seen_add(reader, "a", 1, NULL, error));
    FAILS(SEEN_ERR_PERMISSION, seen_remove(reader, "a", 1, NULL, error));
    FAILS(SEEN_ERR_PERMISSION, seen_add_hashes(reader, batch, 3, reported, error));
    assert_int_equal(reported[2], SEEN_UNKNOWN);
    OK(seen_sync(reader, error));
    seen_info info = {.size = sizeof info};
    OK(seen_get_info(reader, &info, error));
    assert_string_equal(info.store, "file");
    assert_true(info.keys_estimated > 90 && info.keys_estimated < 110);
    add_range(set, 500, 1); /* additions through other handles are visible at once */
    assert_int_equal(count_there(reader, 500, 1), 1);
    seen_close(reader);
    seen_close(set);
    assert_int_equal(chmod(at("f"), 0400), 0);
    reader = open_set("f", SEEN_READ_ONLY);
    seen_close(reader);
    drop("f");
    seen_close(create("f", plain_options(SEEN_BLOOM, SEEN_WINDOW, MANY, 1e-6), 0));
    reader = open_set("f", SEEN_READ_ONLY);
    FAILS(SEEN_ERR_PERMISSION, seen_rotate(reader, error));
    seen_close(reader);
    drop("f");
}

/* If the folder is read-only the filter stays, and the error is reported. */
static void test_drop_refused(void **state)
{
    (void)state;
    bool root = geteuid() == 0;
    seen_close(create("f", plain_options(SEEN_BLOOM, SEEN_FIXED, MANY, 1e-6), 0));
    assert_int_equal(chmod(at("f"), 0444), 0);
    assert_int_equal(chmod(scratch_path, 0555), 0);
    if (root)
        setfsuid(65534); /* root may modify anything: run as another user */
    FAILS(SEEN_ERR_PERMISSION, seen_drop(at("f"), NULL, error));
    if (root)
        setfsuid(0);
    assert_int_equal(chmod(scratch_path, 0700), 0);
    drop("f");
}

static void test_alone(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_GROWING, 100, 1e-6);
    seen_set *one = create("f", options, SEEN_ALONE), *two = NULL;
    FAILS(SEEN_ERR_PERMISSION, seen_open(at("f"), NULL, 0, &two, error));
    FAILS(SEEN_ERR_PERMISSION, seen_open(at("f"), NULL, SEEN_ALONE, &two, error));
    seen_set *reader = open_set("f", SEEN_READ_ONLY);
    add_range(one, 0, MANY);
    assert_int_equal(count_there(one, 0, MANY), MANY);
    assert_int_equal(count_there(reader, 0, MANY), MANY); /* growth is detected */
    seen_close(one);
    two = open_set("f", 0);
    FAILS(SEEN_ERR_PERMISSION, seen_open(at("f"), NULL, SEEN_ALONE, &one, error));
    one = open_set("f", 0);
    seen_close(one);
    seen_close(two);
    one = open_set("f", SEEN_ALONE);
    assert_int_equal(count_there(one, 0, MANY), MANY);
    seen_close(one);
    seen_close(reader);
    drop("f");
}

/* ---- several handles, reopening ---- */

static void test_reopen(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int growth = 0; growth < (kind ? 2 : 3); growth++) {
            seen_options options = plain_options((seen_kind)kind, (seen_growth)growth,
                                                 growth == 1 ? 200 : 3 * MANY, 1e-6);
            seen_set *set = create("f", options, 0);
            for (uint64_t round = 0; round < 6; round++) {
                add_range(set, round * 500, 500);
                if (round % 2)
                    seen_close(set);
                else
                    OK(seen_close_checked(set, error));
                set = open_set("f", 0);
                assert_int_equal(count_there(set, 0, 500 * (round + 1)), 500 * (round + 1));
            }
            /* The counters are restored: the set knows how full it is. */
            sn_image image;
            uint64_t added = 0;
            OK(set->ops->image(set, &image, error));
            for (uint32_t i = 0; i < image.layers; i++)
                added += image.layer[i].added;
            for (unsigned p = 0; sn_image_has_tags(&image) && p < SN_TAGS_PARTS; p++)
                added += sn_tag_set_of(set)->counts[p][0];
            assert_in_range(added, 2990, 3020);
            seen_close(set);
            drop("f");
        }
}

static void test_two_handles(void **state)
{
    (void)state;
    for (int growth = 1; growth < 3; growth++) {
        seen_options options =
            plain_options(SEEN_BLOOM, (seen_growth)growth, growth == 1 ? 50 : 20 * MANY, 1e-9);
        seen_set *a = create("f", options, 0), *b = open_set("f", 0),
                 *reader = open_set("f", SEEN_READ_ONLY);
        for (uint64_t i = 0; i < 2000; i++) {
            seen_set *writer = i % 3 ? a : b, *other = i % 3 ? b : a;
            assert_int_equal(add_key(writer, i), SEEN_NEW);
            assert_int_equal(add_key(other, i), SEEN_BEFORE);
            assert_true(is_there(reader, hash_of(i)));
            if (growth == SEEN_WINDOW && i % 500 == 499)
                OK(seen_rotate(writer, error));
        }
        assert_int_equal(count_there(a, 0, 2000), 2000);
        assert_int_equal(count_there(b, 0, 2000), 2000);
        seen_close(a);
        seen_close(b);
        seen_close(reader);
        drop("f");
    }
}

/* ---- pages ---- */

/* Overrides the system call: makes writing one page fail. */
static bool fail_page_a, fail_page_b;

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t where)
{
    if (len == 4096 && ((fail_page_a && where == 0) || (fail_page_b && where == 4096))) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, data, len, where);
}

/* Either page may be damaged at any time; the other one is sufficient. */
static void test_lost_page(void **state)
{
    (void)state;
    static const char JUNK[4096] = "junk";
    seen_set *set = create("f", plain_options(SEEN_BLOOM, SEEN_GROWING, 100, 1e-6), 0);
    add_range(set, 0, 1000);
    seen_close(set);
    for (int page = 0; page < 2; page++) {
        write_at("f", JUNK, sizeof JUNK, page * 4096);
        for (unsigned flags = 0; flags <= SEEN_READ_ONLY; flags += SEEN_READ_ONLY) {
            set = open_set("f", flags);
            assert_int_equal(count_there(set, 0, 1000), 1000);
            seen_close(set);
        }
        /* The next change of the image restores both. */
        set = open_set("f", 0);
        add_range(set, 1000, MANY);
        assert_int_equal(count_there(set, 0, 1000), 1000);
        seen_close(set);
    }
    set = open_set("f", 0);
    assert_int_equal(count_there(set, 1000, MANY), MANY);
    seen_close(set);
    write_at("f", JUNK, sizeof JUNK, 0);
    write_at("f", JUNK, sizeof JUNK, 4096);
    FAILS(SEEN_ERR_FORMAT, seen_open(at("f"), NULL, 0, &set, error));
    unlink(at("f"));
}

/* Two crashes: the first between the pages, so that B is older than A; the second, later, while
 * page A is being written. Keys added and synced in between must not be lost with page A. */
static void test_two_crashes(void **state)
{
    (void)state;
    static const char JUNK[4096] = "torn";
    seen_options options = plain_options(SEEN_BLOOM, SEEN_GROWING, 100, 1e-6);
    seen_set *set = layered_create(at("f"), &options);
    unsigned char old[4096];
    int fd = open(at("f"), O_RDWR);
    assert_int_equal(pread(fd, old, 4096, 0), 4096);
    add_range(set, 0, 120); /* a second layer */
    OK(seen_close_checked(set, error));
    assert_int_equal(pwrite(fd, old, 4096, 4096), 4096); /* the first crash */
    set = open_set("f", 0);
    add_range(set, 120, 15); /* in the second layer, durable */
    OK(seen_sync(set, error));
    fail_page_a = true; /* the second crash: page A was partially written */
    hashes_from(1000, MANY, batch);
    FAILS(SEEN_ERR_IO, seen_add_hashes(set, batch, MANY, reported, error));
    fail_page_a = false;
    assert_int_equal(pwrite(fd, JUNK, 4096, 0), 4096);
    seen_close(set);
    close(fd);
    set = open_set("f", 0);
    assert_int_equal(count_there(set, 0, 135), 135);
    add_range(set, 1000, MANY);
    assert_int_equal(count_there(set, 0, 135), 135);
    seen_close(set);
    drop("f");
}

/* A page that could not be written: the set reports it, and continues when possible. */
static void test_failed_publish(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= SEEN_ALONE; flags += SEEN_ALONE)
        for (int growth = 1; growth < 3; growth++) {
            seen_options options = plain_options(SEEN_BLOOM, (seen_growth)growth, 100, 1e-6);
            seen_set *set = layered_create(at("f"), &options);
            uint64_t next = 0;
            if (flags) {
                seen_close(set);
                set = open_set("f", flags);
            }
            for (int round = 0; round < 5; round++) {
                *(round % 2 ? &fail_page_a : &fail_page_b) = true;
                hashes_from(next, MANY, batch);
                FAILS(SEEN_ERR_IO, seen_add_hashes(set, batch, MANY, reported, error));
                fail_page_a = fail_page_b = false;
                uint64_t decided = 0;
                while (reported[decided] != SEEN_UNKNOWN)
                    decided++;
                uint64_t last = growth == 1 ? decided : decided < 90 ? decided : 90;
                assert_int_equal(count_there(set, next + decided - last, last), last);
                next += decided;
                add_range(set, next, 5);
                next += 5;
                assert_int_equal(count_there(set, next - 5, 5), 5);
            }
            if (growth == SEEN_GROWING)
                assert_int_equal(count_there(set, 0, next), next);
            seen_close(set);
            set = open_set("f", 0);
            assert_int_equal(count_there(set, next - 5, 5), 5);
            seen_close(set);
            drop("f");
        }
}

/* Bytes appended after the last layer do not become part of the next one. */
static void test_appended(void **state)
{
    (void)state;
    seen_set *set = create("f", plain_options(SEEN_BLOOM, SEEN_GROWING, 300, 1e-4), 0);
    add_range(set, 0, 100);
    seen_close(set);
    static unsigned char junk[100000];
    memset(junk, 0xff, sizeof junk);
    struct stat st;
    assert_int_equal(stat(at("f"), &st), 0);
    write_at("f", junk, sizeof junk, st.st_size);
    set = open_set("f", 0);
    add_range(set, 100, 2000);
    assert_int_equal(count_there(set, 0, 2100), 2100);
    assert_true(count_there(set, 1000000, MANY) < 10);
    seen_close(set);
    drop("f");
}

/* ---- counters ---- */

static uint64_t counter_of(seen_set *set)
{
    sn_image image;
    OK(set->ops->image(set, &image, error));
    return image.layer[0].added;
}

/* A counter that contradicts the bits is corrected; a correct one is left unchanged. */
static void test_counters(void **state)
{
    (void)state;
    static const uint64_t LIES[] = {0, 5, 1000000, UINT64_MAX, UINT64_MAX - 2000};
    seen_set *set = create("f", plain_options(SEEN_BLOOM, SEEN_FIXED, 4000, 0.001), 0);
    add_range(set, 0, MANY);
    seen_close(set);
    for (size_t i = 0; i < 5; i++) {
        set = open_set("f", 0);
        uint64_t right = counter_of(set);
        assert_in_range(right, MANY - 200, MANY + 200);
        seen_close(set);
        unsigned char lie[8];
        sn_store64(lie, LIES[i]);
        write_at("f", lie, 8, 8192);
    }
    set = open_set("f", 0);
    hashes_from(10000, MANY, batch);
    FAILS(SEEN_ERR_FULL, seen_add_hashes(set, batch, MANY, reported, error));
    seen_close(set);
    drop("f");
}

/* A window with a counter that is too high would rotate early and drop recent keys. */
static void test_counters_of_window(void **state)
{
    (void)state;
    static const uint64_t LIES[] = {0, 99, 1000000, UINT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        seen_set *set = create("f", plain_options(SEEN_BLOOM, SEEN_WINDOW, 700, 1e-9), 0);
        add_range(set, 0, 50);
        seen_close(set);
        unsigned char lie[8];
        sn_store64(lie, LIES[i]);
        write_at("f", lie, 8, 8192);
        set = open_set("f", 0);
        assert_in_range(counter_of(set), 30, 50);
        seen_close(set);
        drop("f");
    }
}

static void test_counters_at_any_size(void **state)
{
    (void)state;
    rng r = {test_seed()};
    for (int round = 0; round < 60; round++) {
        uint64_t capacity = 1 + rng_below(&r, round % 2 ? 300 : 60000);
        seen_set *set = create("f",
                               plain_options((seen_kind)(round % 3 == 0), SEEN_FIXED, capacity,
                                             round % 5 ? 0.01 : 1e-6),
                               0);
        uint64_t added = 0, n = rng_below(&r, capacity + 1);
        while (added < n) {
            size_t part = n - added < MANY ? (size_t)(n - added) : MANY;
            add_range(set, added, part);
            added += part;
        }
        uint64_t before = counter_of(set);
        seen_close(set);
        set = open_set("f", 0);
        if (counter_of(set) != before)
            fail_msg("%llu of %llu keys: the counter was %llu and became %llu",
                     (unsigned long long)n, (unsigned long long)capacity,
                     (unsigned long long)before, (unsigned long long)counter_of(set));
        seen_close(set);
        drop("f");
    }
}

/* Few keys in many lines: a sample without keys does not prove that there are none, and one with
 * some does not determine their number. */
static void test_counters_of_few(void **state)
{
    (void)state;
    rng r = {test_seed()};
    for (int round = 0; round < 40; round++) {
        bool window = round % 2;
        seen_options options = plain_options(SEEN_BLOOM, window ? SEEN_WINDOW : SEEN_FIXED,
                                             window ? 400000 : 1000, window ? 1e-6 : 0);
        options.generations = window ? 2 : 0;
        options.bits = window ? 0 : 2 << 23;
        seen_set *set = create("f", options, 0);
        size_t n = (size_t)rng_below(&r, 1000);
        add_range(set, rng_next(&r) >> 1, n);
        seen_close(set);
        set = open_set("f", 0);
        assert_int_equal(counter_of(set), n);
        seen_close(set);
        drop("f");
    }
}

/* The rate follows from the memory, and its last bits depend on the machine. */
static void test_same_rate(void **state)
{
    (void)state;
    static const uint64_t HASHES[] = {0, 4, 40};
    for (size_t i = 0; i < 6; i++) {
        seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 1000, 0);
        options.bits = 1000 * (4 + 40 * (i % 3));
        options.hashes = (uint32_t)HASHES[i % 3];
        seen_set *set = create("f", options, 0), *other = NULL;
        sn_image image;
        OK(set->ops->image(set, &image, error));
        seen_close(set);
        double rate = sn_image_rate_from64(image.rate64);
        image.rate64 = sn_image_rate_to64(i < 3 ? rate * (1 - 4e-16) : rate * (1 - 1e-6) - 1e-18);
        unsigned char page[SN_IMAGE_BYTES];
        sn_image_encode(&image, page);
        write_at("f", page, sizeof page, 0);
        write_at("f", page, sizeof page, SN_IMAGE_BYTES);
        seen_status status = seen_create(at("f"), &options, SEEN_IF_ABSENT, &other, NULL);
        assert_int_equal(status, i < 3 ? SEEN_OK : SEEN_ERR_MISMATCH);
        seen_close(other);
        drop("f");
    }
}

/* ---- large pages ---- */

static size_t large_page(void)
{
    return 65536;
}

/* The file offsets of all mappings. */
static size_t count_maps(const char *path, size_t multiple)
{
    char line[1000];
    size_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long long from, to, offset;
        if (!strstr(line, path) || sscanf(line, "%llx-%llx %*s %llx", &from, &to, &offset) != 3)
            continue;
        assert_int_equal(offset % multiple, 0);
        count++;
    }
    fclose(maps);
    return count;
}

/* A system with pages of 64 KiB only maps multiples of that. */
static void test_large_pages(void **state)
{
    (void)state;
    size_t (*page)(void) = sn_io_page;
    for (int growth = 0; growth < 3; growth++) {
        sn_io_page = large_page;
        seen_set *set =
            create("f", plain_options(SEEN_BLOOM, (seen_growth)growth, 5 * MANY, 1e-6), 0);
        for (uint64_t i = 0; i < (growth == SEEN_GROWING ? 12 : 4); i++)
            add_range(set, i * MANY, MANY);
        if (growth == SEEN_WINDOW)
            OK(seen_rotate(set, error));
        seen_info info = {.size = sizeof info};
        OK(seen_get_shape(set, &info, error));
        assert_int_equal(info.layers > 1, growth == SEEN_WINDOW);
        assert_in_range(count_maps(at("f"), large_page()), 2, 50);
        OK(seen_close_checked(set, error));
        assert_int_equal(count_maps(at("f"), large_page()), 0);
        set = open_set("f", SEEN_READ_ONLY);
        assert_in_range(count_maps(at("f"), large_page()), 2, 50);
        for (uint64_t i = 0; i < 4; i++)
            assert_int_equal(count_there(set, i * MANY, MANY), MANY);
        seen_close(set);
        sn_io_page = page;
        set = open_set("f", 0);
        for (uint64_t i = 0; i < 4; i++)
            assert_int_equal(count_there(set, i * MANY, MANY), MANY);
        seen_close(set);
        drop("f");
    }
}

/* ---- creation ---- */

static void test_permissions(void **state)
{
    (void)state;
    struct stat st;
    mode_t mask = umask(077);
    seen_set *set = create("f", plain_options(SEEN_BLOOM, SEEN_FIXED, 100, 0.01), 0);
    assert_int_equal(stat(at("f"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    umask(022);
    OK(seen_copy(set, at("f"), SEEN_REPLACE, NULL, error));
    assert_int_equal(stat(at("f"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
    umask(mask);
    seen_close(set);
    /* Opening follows a link; replacing replaces the link and not its target. */
    assert_int_equal(symlink("f", at("link")), 0);
    set = open_set("link", 0);
    seen_close(set);
    FAILS(SEEN_ERR_ARGUMENT, seen_drop(at("link"), NULL, error)); /* ambiguous */
    assert_int_equal(scratch_count(), 2);
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 7, 0.01);
    FAILS(SEEN_ERR_EXISTS, seen_create(at("link"), &options, 0, &set, error));
    set = create("link", options, SEEN_REPLACE);
    seen_close(set);
    set = open_set("f", 0);
    seen_info info = {.size = sizeof info};
    OK(seen_get_shape(set, &info, error));
    assert_int_equal(info.capacity, 100);
    seen_close(set);
    unlink(at("link"));
    /* A dangling link is not followed to create its target. */
    assert_int_equal(symlink("elsewhere", at("link")), 0);
    FAILS(SEEN_ERR_EXISTS, seen_create(at("link"), &options, 0, &set, error));
    assert_int_not_equal(access(at("elsewhere"), F_OK), 0);
    unlink(at("link"));
    drop("f");
}

/* A file whose name was taken by another one is not the one that the next process opens, even if it
 * has a second name. A file that was only moved is still valid, and so is one opened by a relative
 * path from another folder. */
static void test_sync_reports(void **state)
{
    (void)state;
    char here[1000];
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 100, 0.01);
    seen_set *set = create("f", options, 0), *other = NULL;
    assert_int_equal(link(at("f"), at("second")), 0);
    OK(seen_sync(set, error));
    seen_close(create("f", options, SEEN_REPLACE));
    FAILS(SEEN_ERR_CHANGED, seen_sync(set, error));
    seen_close(set);
    unlink(at("second"));
    set = open_set("f", 0);
    assert_int_equal(rename(at("f"), at("moved")), 0);
    OK(seen_sync(set, error));
    other = create("f", options, 0);
    FAILS(SEEN_ERR_CHANGED, seen_sync(set, error));
    FAILS(SEEN_ERR_CHANGED, seen_close_checked(set, error));
    OK(seen_close_checked(other, error));
    OK(seen_drop(at("moved"), NULL, error));
    assert_int_equal(symlink("f", at("link")), 0);
    set = open_set("link", 0);
    OK(seen_close_checked(set, error));
    unlink(at("link"));
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(scratch_path), 0);
    OK(seen_open("f", NULL, 0, &set, error));
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(chdir("folder"), 0);
    OK(seen_sync(set, error)); /* no such file in this folder, */
    OK(seen_create("f", &options, 0, &other, error));
    OK(seen_sync(set, error)); /* and here another one */
    seen_close(other);
    OK(seen_drop("f", NULL, error));
    assert_int_equal(rename(at("f"), at("moved")), 0);
    seen_close(create("f", options, 0));
    FAILS(SEEN_ERR_CHANGED, seen_sync(set, error));
    seen_close(set);
    OK(seen_drop(at("moved"), NULL, error));
    assert_int_equal(chdir(here), 0);
    assert_int_equal(rmdir(at("folder")), 0);
    drop("f");
}

/* A limit on file size: refused, nothing left behind, the old set intact. */
static void test_no_room(void **state)
{
    (void)state;
    struct rlimit limit, tight;
    seen_options small = plain_options(SEEN_BLOOM, SEEN_GROWING, 1000, 0.01);
    seen_options large = plain_options(SEEN_BLOOM, SEEN_FIXED, 100000000, 0.01);
    seen_set *set = layered_create(at("f"), &small), *other = NULL;
    add_range(set, 0, 500);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    tight = limit;
    tight.rlim_cur = 24000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    FAILS(SEEN_ERR_SPACE, seen_create(at("g"), &large, 0, &other, error));
    hashes_from(500, MANY, batch);
    seen_error e = {0};
    seen_status status = seen_add_hashes(set, batch, MANY, reported, &e);
    size_t decided = 0;
    while (decided < MANY && reported[decided] != SEEN_UNKNOWN)
        decided++;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(status, SEEN_ERR_SPACE);
    assert_true(decided > 100 && decided < MANY);
    assert_int_equal(count_there(set, 0, 500 + decided), 500 + decided);
    assert_int_equal(scratch_count(), 1);
    add_range(set, 500, MANY); /* with room again it continues */
    seen_close(set);
    set = open_set("f", 0);
    assert_int_equal(count_there(set, 500, MANY), MANY);
    seen_close(set);
    drop("f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_flags),
        cmocka_unit_test(test_same_rate),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_drop_refused),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_reopen),
        cmocka_unit_test(test_two_handles),
        cmocka_unit_test(test_lost_page),
        cmocka_unit_test(test_two_crashes),
        cmocka_unit_test(test_failed_publish),
        cmocka_unit_test(test_appended),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_counters_of_window),
        cmocka_unit_test(test_counters_at_any_size),
        cmocka_unit_test(test_counters_of_few),
        cmocka_unit_test(test_large_pages),
        cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_sync_reports),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
