/* Growing sets of tag lines: memory and file, threads and processes, growth with concurrent
 * readers, merging, copying, power failures and kills between the pages, files of earlier
 * versions. */
#include "test_trust.h"

#include "base/io.h"
#include "local/tag_set.h"
#include "tests/sanitized.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { MANY = 4096, KEYS = SANITIZED ? 60000 : 400000 };

static seen_hash h[MANY];
static seen_answer got[MANY];

static seen_options growing(uint64_t capacity, double rate)
{
    return plain_options(SEEN_BLOOM, SEEN_GROWING, capacity, rate);
}

static seen_set *create(const char *where, const seen_options *options)
{
    seen_set *set = NULL;
    OK(seen_create(where, options, 0, &set, error));
    assert_non_null(sn_tag_set_of(set));
    return set;
}

static seen_set *reopen(const char *where, unsigned flags)
{
    seen_set *set = NULL;
    OK(seen_open(where, NULL, flags, &set, error));
    assert_non_null(sn_tag_set_of(set));
    return set;
}

static uint64_t add_keys(seen_set *set, uint64_t first, uint64_t count)
{
    uint64_t new_keys = 0;
    for (uint64_t at = 0; at < count; at += MANY) {
        size_t n = count - at < MANY ? (size_t)(count - at) : MANY;
        hashes_from(first + at, n, h);
        OK(seen_add_hashes(set, h, n, got, error));
        for (size_t i = 0; i < n; i++)
            new_keys += got[i] == SEEN_NEW;
    }
    return new_keys;
}

static uint64_t count_there(seen_set *set, uint64_t first, uint64_t count)
{
    uint64_t there = 0;
    for (uint64_t at = 0; at < count; at += MANY) {
        size_t n = count - at < MANY ? (size_t)(count - at) : MANY;
        hashes_from(first + at, n, h);
        OK(seen_check_hashes(set, h, n, got, error));
        for (size_t i = 0; i < n; i++)
            there += got[i] == SEEN_BEFORE;
    }
    return there;
}

static double rate_of(seen_set *set)
{
    seen_info info = {.size = sizeof info};
    OK(seen_get_info(set, &info, error));
    return info.error_rate_now;
}

/* ---- one thread ---- */

static void grows_from_any_size(void **state)
{
    (void)state;
    static const double RATE[] = {0.2, 0.01, 1e-3, 1e-6, 1e-9, 1e-12};
    static const uint64_t HINT[] = {1, 5000, 0};
    for (size_t r = 0; r < 6; r++)
        for (size_t i = 0; i < 3; i++)
            for (int file = 0; file < 2; file++) {
                seen_options options = growing(HINT[i], RATE[r]);
                seen_set *set = create(file ? at("f") : NULL, &options);
                seen_info info = {.size = sizeof info};
                uint64_t keys = KEYS / 4, new_keys = add_keys(set, 0, keys);
                assert_int_equal(count_there(set, 0, keys), keys);
                assert_int_equal(add_keys(set, 0, keys), 0);
                OK(seen_get_info(set, &info, error));
                assert_true(info.error_rate_now <= RATE[r] && info.error_rate_now > 0);
                assert_true(fabs(info.keys_estimated - (double)keys) < 0.01 * (double)keys);
                assert_true((double)new_keys > (double)keys * (1 - RATE[r]) - 100);
                assert_int_equal(info.format_version, 2);
                double wrong = (double)count_there(set, 1u << 30, 100000) / 1e5;
                assert_true(wrong <=
                            info.error_rate_now + 5 * sqrt(info.error_rate_now / 1e5) + 2e-5);
                if (file) {
                    OK(seen_close_checked(set, error));
                    set = reopen(at("f"), SEEN_READ_ONLY);
                    assert_int_equal(count_there(set, 0, keys), keys);
                }
                seen_close(set);
                unlink(at("f"));
            }
}

static void capacity_is_a_hint(void **state)
{
    (void)state;
    seen_options options = growing(1000000, 0.01);
    seen_set *set = create(NULL, &options);
    seen_info info = {.size = sizeof info}, after = info;
    OK(seen_get_shape(set, &info, error));
    add_keys(set, 0, 1000000);
    OK(seen_get_shape(set, &after, error));
    assert_int_equal(info.bytes, after.bytes); /* no growth up to the capacity */
    assert_true(info.bytes * 8 < 25 * UINT64_C(1000000) && info.capacity >= 1000000);
    seen_close(set);
}

static void removal_is_refused(void **state)
{
    (void)state;
    seen_options options = growing(0, 1e-6);
    seen_set *set = create(NULL, &options);
    seen_error e = {0};
    seen_answer answer;
    OK(seen_add(set, "a", 1, NULL, error));
    assert_int_equal(seen_remove(set, "a", 1, &answer, &e), SEEN_ERR_KIND);
    assert_non_null(strstr(e.message, "counting"));
    OK(seen_check(set, "a", 1, &answer, error));
    assert_int_equal(answer, SEEN_BEFORE);
    seen_close(set);
}

/* ---- threads ---- */

enum { THREADS = 4, PER_THREAD = KEYS / 2 };

typedef struct racer {
    pthread_t thread;
    seen_set *set;
    unsigned id;
    uint64_t new_keys, missing;
} racer;

static atomic_ullong added_until; /* all keys below are added */
static atomic_bool over;

/* All threads add the same keys in different orders: each is new for exactly one of them. */
static void *race(void *arg)
{
    racer *r = arg;
    rng random = {r->id + 1};
    seen_hash mine[512];
    seen_answer answers[512];
    for (uint64_t at = 0; at < PER_THREAD;) {
        size_t n = 1 + rng_below(&random, r->id % 2 ? 20 : 512);
        if (n > PER_THREAD - at)
            n = (size_t)(PER_THREAD - at);
        hashes_from(at, n, mine);
        seen_error error;
        if (seen_add_hashes(r->set, mine, n, answers, &error) != SEEN_OK)
            abort();
        for (size_t i = 0; i < n; i++)
            r->new_keys += answers[i] == SEEN_NEW;
        at += n;
        if (r->id == 0)
            atomic_store(&added_until, at);
    }
    return NULL;
}

/* Keys added before are present at every moment, during any growth. */
static void *look(void *arg)
{
    racer *r = arg;
    rng random = {r->id + 100};
    seen_hash mine[700];
    seen_answer answers[700];
    while (!atomic_load(&over)) {
        uint64_t known = atomic_load(&added_until);
        size_t n = 1 + rng_below(&random, 700);
        if (known < n)
            continue;
        hashes_from(rng_below(&random, known - n + 1), n, mine);
        seen_error error;
        if (seen_check_hashes(r->set, mine, n, answers, &error) != SEEN_OK)
            abort();
        for (size_t i = 0; i < n; i++)
            r->missing += answers[i] != SEEN_BEFORE;
    }
    return NULL;
}

static void race_on(const char *where, unsigned flags)
{
    seen_options options = growing(1, 1e-9);
    seen_set *set = NULL;
    racer r[THREADS + 2] = {0};
    uint64_t new_keys = 0;
    OK(seen_create(where, &options, flags, &set, error));
    atomic_store(&added_until, 0);
    atomic_store(&over, false);
    for (unsigned i = 0; i < THREADS + 2; i++) {
        r[i].set = set;
        r[i].id = i;
        assert_int_equal(pthread_create(&r[i].thread, NULL, i < THREADS ? race : look, &r[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(r[i].thread, NULL);
        new_keys += r[i].new_keys;
    }
    atomic_store(&over, true);
    for (unsigned i = THREADS; i < THREADS + 2; i++) {
        pthread_join(r[i].thread, NULL);
        assert_int_equal(r[i].missing, 0);
    }
    assert_int_equal(new_keys, PER_THREAD);
    assert_int_equal(count_there(set, 0, PER_THREAD), PER_THREAD);
    seen_close(set);
}

static void threads_race(void **state)
{
    (void)state;
    race_on(NULL, 0);
    race_on(at("f"), 0);
    unlink(at("f"));
    race_on(at("f"), SEEN_ALONE);
    unlink(at("f"));
}

/* ---- processes ---- */

/* Writers in several processes, readers in this one: each key is new once, none is missed. */
static void processes_race(void **state)
{
    (void)state;
    enum { PROCESSES = 3, EACH = KEYS / 8 };
    seen_options options = growing(1, 1e-9);
    seen_close(create(at("f"), &options));
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            seen_set *set = NULL;
            if (seen_open(at("f"), NULL, 0, &set, NULL) != SEEN_OK)
                _exit(1);
            uint64_t new_keys = 0;
            for (uint64_t at_key = 0; at_key < EACH; at_key += 300) {
                hashes_from(at_key, 300, h);
                if (seen_add_hashes(set, h, 300, got, NULL) != SEEN_OK)
                    _exit(1);
                for (int k = 0; k < 300; k++)
                    new_keys += got[k] == SEEN_NEW;
            }
            seen_close(set);
            _exit(write(pipes[1], &new_keys, sizeof new_keys) == sizeof new_keys ? 0 : 1);
        }
    seen_set *reader = reopen(at("f"), SEEN_READ_ONLY);
    uint64_t all = (EACH + 299) / 300 * 300, seen = 0;
    for (int done = 0; done < PROCESSES;) {
        uint64_t there = count_there(reader, 0, all);
        assert_true(there >= seen);
        seen = there;
        int status;
        pid_t child = waitpid(-1, &status, WNOHANG);
        assert_true(child == 0 || status == 0);
        done += child > 0;
    }
    assert_int_equal(count_there(reader, 0, all), all);
    uint64_t new_keys = 0, one;
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(read(pipes[0], &one, sizeof one), sizeof one);
        new_keys += one;
    }
    assert_int_equal(new_keys, all);
    seen_close(reader);
    close(pipes[0]);
    close(pipes[1]);
    unlink(at("f"));
}

/* ---- header pages ---- */

static void read_page(const char *path, int which, unsigned char page[SN_IMAGE_BYTES])
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, which * SN_IMAGE_BYTES, SEEK_SET), 0);
    assert_int_equal(fread(page, 1, SN_IMAGE_BYTES, f), SN_IMAGE_BYTES);
    fclose(f);
}

static void copy_file(const char *from, const char *to)
{
    size_t size;
    unsigned char *bytes = file_bytes(from, &size);
    file_put(to, bytes, size);
    free(bytes);
}

/* Growth since the last sync is in page B only, and tied to this boot of the system. After a kill
 * everything is present; after a reboot exactly what was synced. */
static void restart_falls_back(void **state)
{
    (void)state;
    seen_options options = growing(1, 1e-6);
    seen_set *set = create(at("f"), &options);
    unsigned char page[SN_IMAGE_BYTES];
    sn_image a, b;
    const char *why;
    add_keys(set, 0, 30000);
    OK(seen_sync(set, error));
    add_keys(set, 30000, 90000);
    copy_file(at("f"), at("killed")); /* the current state of the file */
    read_page(at("killed"), 0, page);
    assert_true(sn_image_decode(page, 0, &a, &why));
    read_page(at("killed"), 1, page);
    assert_true(sn_image_decode(page, 0, &b, &why));
    assert_true(b.sequence > a.sequence && b.boot[0] + b.boot[7] + b.boot[15] > 0);
    seen_set *killed = reopen(at("killed"), SEEN_READ_ONLY);
    assert_int_equal(count_there(killed, 0, 120000), 120000);
    seen_close(killed);
    /* Another boot ID: the page is not valid. */
    b.boot[3] ^= 1;
    sn_image_encode(&b, page);
    int fd = open(at("killed"), O_RDWR);
    assert_true(sn_io_write(fd, page, sizeof page, SN_IMAGE_BYTES));
    close(fd);
    for (int writer = 0; writer < 2; writer++) {
        killed = reopen(at("killed"), writer ? 0 : SEEN_READ_ONLY);
        assert_int_equal(count_there(killed, 0, 30000), 30000);
        if (writer) {
            add_keys(killed, 30000, 200000);
            assert_int_equal(count_there(killed, 0, 230000), 230000);
        }
        seen_close(killed);
    }
    killed = reopen(at("killed"), 0);
    assert_int_equal(count_there(killed, 0, 230000), 230000);
    seen_close(killed);
    assert_int_equal(count_there(set, 0, 120000), 120000);
    seen_close(set);
    /* Closed: durable, without a boot ID in either page. */
    for (int i = 0; i < 2; i++) {
        static const unsigned char ZERO[SN_BOOT_BYTES];
        read_page(at("f"), i, page);
        assert_true(sn_image_decode(page, 0, &a, &why));
        assert_memory_equal(a.boot, ZERO, SN_BOOT_BYTES);
    }
    unlink(at("f"));
    unlink(at("killed"));
}

/* The extents of the durable image are never overwritten: at every moment page A alone describes a
 * file with all synced keys. */
static void synced_extents_stay(void **state)
{
    (void)state;
    seen_options options = growing(1, 0.01);
    seen_set *set = create(at("f"), &options);
    uint64_t synced = 0;
    for (uint64_t round = 1; round <= 12; round++) {
        add_keys(set, synced, 20000);
        if (round % 3 == 0) {
            OK(seen_sync(set, error));
            synced += 20000;
        }
        copy_file(at("f"), at("cut"));
        unsigned char page[SN_IMAGE_BYTES];
        read_page(at("cut"), 0, page);
        int fd = open(at("cut"), O_RDWR);
        assert_true(sn_io_write(fd, page, sizeof page, SN_IMAGE_BYTES));
        close(fd);
        seen_set *cut = reopen(at("cut"), 0);
        assert_int_equal(count_there(cut, 0, synced), synced);
        add_keys(cut, synced, 20000);
        assert_int_equal(count_there(cut, 0, synced + 20000), synced + 20000);
        seen_close(cut);
    }
    seen_close(set);
    unlink(at("f"));
    unlink(at("cut"));
}

static double resident(void)
{
    unsigned long pages[2] = {0, 0};
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &pages[0], &pages[1]), 2);
    fclose(file);
    return (double)pages[1] * (double)sysconf(_SC_PAGESIZE);
}

/* The memory in use is hardly more than what the set reports, at any size. */
static void memory_stays_compact(void **state)
{
    (void)state;
    enum { FROM = 24, TO = 40, MILLION = 1000000 };
    if (SANITIZED)
        skip(); /* a sanitizer keeps memory of its own for each page */
    double before = resident(), more = 0;
    seen_options options = growing(1, 0.01);
    seen_set *set = create(NULL, &options);
    for (uint64_t n = 1; n <= TO; n++) {
        seen_info info = {.size = sizeof info};
        add_keys(set, (n - 1) * MILLION, MILLION);
        OK(seen_get_shape(set, &info, error));
        if (n > FROM)
            more += ((resident() - before) / (double)info.bytes - 1) / (TO - FROM);
    }
    if (more > 0.1)
        fail_msg("%.1f%% more memory than reported", 100 * more);
    seen_close(set);
}

/* The file is hardly larger than its partitions. */
static void files_stay_compact(void **state)
{
    (void)state;
    seen_options options = growing(1, 0.01);
    seen_set *set = create(at("f"), &options);
    for (uint64_t round = 0; round < 40; round++) {
        add_keys(set, round * 10000, 10000);
        OK(seen_sync(set, error));
    }
    seen_info info = {.size = sizeof info};
    struct stat st;
    OK(seen_get_shape(set, &info, error));
    assert_int_equal(stat(at("f"), &st), 0);
    if ((double)st.st_size > 2 * (double)info.bytes + 16384)
        fail_msg("%lld bytes for %llu", (long long)st.st_size, (unsigned long long)info.bytes);
    seen_close(set);
    unlink(at("f"));
}

static void counters_are_hints(void **state)
{
    (void)state;
    seen_options options = growing(1, 0.01);
    seen_set *set = create(at("f"), &options);
    add_keys(set, 0, 50000);
    seen_close(set);
    for (int high = 0; high < 2; high++) {
        uint64_t wrong[2 * SN_TAGS_PARTS];
        for (int i = 0; i < 2 * SN_TAGS_PARTS; i++)
            wrong[i] = high ? UINT64_MAX / 3 : 0;
        int fd = open(at("f"), O_RDWR);
        assert_true(sn_io_write(fd, wrong, sizeof wrong, 8192 + 64));
        close(fd);
        set = reopen(at("f"), 0);
        seen_info info = {.size = sizeof info};
        add_keys(set, 50000, 50000);
        assert_int_equal(count_there(set, 0, 100000), 100000);
        OK(seen_get_info(set, &info, error));
        assert_true(info.bytes * 8 < 30 * UINT64_C(100000));
        seen_close(set);
    }
    unlink(at("f"));
}

/* The file cannot grow: keys without room are undecided, the others stay; with space again it
 * continues. */
static void full_disk(void **state)
{
    (void)state;
    seen_options options = growing(1, 0.01);
    seen_set *set = create(at("f"), &options);
    struct rlimit limit, tight;
    struct stat st;
    assert_int_equal(stat(at("f"), &st), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    tight = limit;
    tight.rlim_cur = (rlim_t)st.st_size + 100000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    seen_status status = SEEN_OK;
    uint64_t done = 0, undecided = 0;
    while (status == SEEN_OK && done < 2000000) {
        seen_error e;
        hashes_from(done, MANY, h);
        status = seen_add_hashes(set, h, MANY, got, &e);
        done += MANY;
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(status, SEEN_ERR_SPACE);
    seen_answer reported[MANY];
    memcpy(reported, got, sizeof reported);
    OK(seen_check_hashes(set, h, MANY, got, error));
    for (size_t i = 0; i < MANY; i++) {
        undecided += reported[i] == SEEN_UNKNOWN;
        assert_true(reported[i] == SEEN_UNKNOWN || got[i] == SEEN_BEFORE);
    }
    assert_true(undecided > 0 && undecided < MANY);
    assert_int_equal(count_there(set, 0, done - MANY), done - MANY);
    add_keys(set, 0, 2 * done);
    assert_int_equal(count_there(set, 0, 2 * done), 2 * done);
    OK(seen_close_checked(set, error));
    set = reopen(at("f"), 0);
    assert_int_equal(count_there(set, 0, 2 * done), 2 * done);
    seen_close(set);
    unlink(at("f"));
}

/* ---- merge, copy, like ---- */

static void merges_in_any_order(void **state)
{
    (void)state;
    static const uint64_t SIZE[] = {1000, 70000, 20000, 5};
    for (int order = 0; order < 4; order++) {
        seen_options options = growing(0, 0.01);
        seen_set *all = create(order % 2 ? at("all") : NULL, &options);
        double sum = 0;
        for (uint64_t i = 0; i < 4; i++) {
            uint64_t day = (i + (uint64_t)order) % 4;
            seen_set *set = NULL;
            OK(seen_create_like(order % 2 ? NULL : at("day"), all, NULL, 0, &set, error));
            add_keys(set, day << 20, SIZE[day]);
            sum += rate_of(set);
            OK(seen_merge(all, set, error));
            double once = rate_of(all);
            OK(seen_merge(all, set, error));
            assert_true(rate_of(all) == once);
            seen_close(set);
            unlink(at("day"));
        }
        for (uint64_t day = 0; day < 4; day++)
            assert_int_equal(count_there(all, day << 20, SIZE[day]), SIZE[day]);
        assert_true(rate_of(all) <= sum * 1.0001);
        seen_close(all);
        unlink(at("all"));
    }
}

/* The rates add up. A merge that would exceed the error rate is refused and changes nothing. */
static void merge_keeps_the_promise(void **state)
{
    (void)state;
    if (SANITIZED)
        skip(); /* one thread, and millions of keys */
    for (int go_on = 0; go_on < 2; go_on++) {
        seen_options options = growing(1, 0.01);
        options.when_full = (seen_when_full)go_on;
        seen_set *all = create(NULL, &options);
        seen_status status = SEEN_OK;
        uint64_t day = 0;
        for (; day < 60 && status == SEEN_OK; day++) {
            seen_set *set = create(NULL, &options);
            seen_error e;
            add_keys(set, day << 20, 100000);
            double before = rate_of(all);
            status = seen_merge(all, set, &e);
            assert_true(status == SEEN_OK || status == SEEN_ERR_FULL);
            if (status != SEEN_OK) {
                assert_true(rate_of(all) == before);
                assert_non_null(strstr(e.message, "capacity"));
                OK(seen_merge(all, all, error));
            }
            seen_close(set);
        }
        assert_true(go_on ? day == 60 && rate_of(all) > 0.0105 : day < 60);
        assert_true(go_on || rate_of(all) <= 0.0105);
        seen_close(all);
    }
}

static void merge_mismatch(void **state)
{
    (void)state;
    seen_options options = growing(0, 1e-3);
    seen_set *a = create(NULL, &options), *layers = layered_create(NULL, &options);
    seen_error e;
    assert_int_equal(seen_merge(a, layers, &e), SEEN_ERR_MISMATCH);
    assert_non_null(strstr(e.message, "layers"));
    FAILS(SEEN_ERR_MISMATCH, seen_merge(layers, a, error));
    options.error_rate = 1e-6;
    seen_set *strict = create(NULL, &options);
    add_keys(strict, 0, 5000);
    FAILS(SEEN_ERR_MISMATCH, seen_merge(strict, a, error));
    OK(seen_merge(a, strict, error)); /* longer tags are truncated to the length of ours */
    assert_int_equal(count_there(a, 0, 5000), 5000);
    options.seed[0]++;
    seen_set *seed = create(NULL, &options);
    FAILS(SEEN_ERR_MISMATCH, seen_merge(strict, seed, error));
    seen_close(a);
    seen_close(layers);
    seen_close(strict);
    seen_close(seed);
}

static void copies_are_equal(void **state)
{
    (void)state;
    seen_options options = growing(100, 1e-4);
    seen_set *set = create(NULL, &options), *copy;
    add_keys(set, 0, 60000);
    OK(seen_copy(set, at("one"), 0, NULL, error));
    FAILS(SEEN_ERR_EXISTS, seen_copy(set, at("one"), 0, NULL, error));
    copy = reopen(at("one"), 0);
    assert_int_equal(count_there(copy, 0, 60000), 60000);
    assert_true(rate_of(copy) == rate_of(set));
    OK(seen_copy(copy, at("two"), 0, NULL, error));
    seen_set *two = reopen(at("two"), SEEN_READ_ONLY);
    assert_true(rate_of(two) == rate_of(set));
    assert_int_equal(count_there(two, 1u << 30, 300000), count_there(set, 1u << 30, 300000));
    seen_close(two);
    assert_int_equal(add_keys(set, 60000, 60000), add_keys(copy, 60000, 60000));
    assert_true(rate_of(copy) == rate_of(set));
    seen_error e;
    assert_int_equal(seen_copy(set, "redis://127.0.0.1:1/x", 0, NULL, &e), SEEN_ERR_KIND);
    assert_non_null(strstr(e.message, "Redis"));
    seen_set *sibling;
    assert_int_equal(seen_create_like("redis://127.0.0.1:1/x", set, NULL, 0, &sibling, &e),
                     SEEN_ERR_KIND);
    seen_close(set);
    seen_close(copy);
    unlink(at("one"));
    unlink(at("two"));
}

/* ---- earlier versions ---- */

/* A growing file of version 1 is opened with the options of a growing set, grows by layers, and
 * stays version 1. */
static void version_1_stays(void **state)
{
    (void)state;
    seen_options options = growing(0, 1e-4);
    options.capacity = 500;
    seen_close(layered_create(at("old"), &options));
    seen_set *set = NULL;
    OK(seen_create(at("old"), &options, SEEN_IF_ABSENT, &set, error));
    assert_null(sn_tag_set_of(set));
    add_keys(set, 0, 5000);
    seen_info info = {.size = sizeof info};
    OK(seen_get_info(set, &info, error));
    assert_true(info.layers > 1);
    assert_int_equal(info.format_version, 1);
    OK(seen_copy(set, at("copy"), 0, NULL, error));
    seen_close(set);
    OK(seen_open(at("copy"), NULL, 0, &set, error));
    assert_int_equal(count_there(set, 0, 5000), 5000);
    seen_close(set);
    unlink(at("old"));
    unlink(at("copy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_from_any_size),
        cmocka_unit_test(capacity_is_a_hint),
        cmocka_unit_test(removal_is_refused),
        cmocka_unit_test(threads_race),
        cmocka_unit_test(processes_race),
        cmocka_unit_test(restart_falls_back),
        cmocka_unit_test(synced_extents_stay),
        cmocka_unit_test(memory_stays_compact),
        cmocka_unit_test(files_stay_compact),
        cmocka_unit_test(counters_are_hints),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(merges_in_any_order),
        cmocka_unit_test(merge_keeps_the_promise),
        cmocka_unit_test(merge_mismatch),
        cmocka_unit_test(copies_are_equal),
        cmocka_unit_test(version_1_stays),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
