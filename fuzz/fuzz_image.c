/* A file with any contents: it is refused and left unchanged, or it is a working set.
 *
 * The first byte determines how the input becomes a file: unchanged; as the first page, with a
 * valid checksum, so that the values behind it are reached; or as changes to a valid page. Oracle:
 * a refused file is unchanged and the error has a reason; an accepted one answers lookups, keeps
 * additions, survives open and copy with the same bytes, and returns the same info afterwards. */
#include "base/bytes.h"
#include "filter/plan.h"
#include "hash/hash.h"
#include "seen.h"
#include "set/image.h"
#include "set/layers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 17 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static char path[2][100], folder[100];

static void clean_up(void)
{
    unlink(path[0]);
    unlink(path[1]);
    rmdir(folder);
}

static void name_files(void)
{
    if (path[0][0])
        return;
    snprintf(folder, sizeof folder, "%s/seen-fuzz.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    const char *made = mkdtemp(folder);
    check(made != NULL);
    atexit(clean_up);
    snprintf(path[0], sizeof path[0], "%s/a", made);
    snprintf(path[1], sizeof path[1], "%s/b", made);
}

/* A valid page to change; planned once for each of its sixteen kinds. */
static void good_page(uint8_t which, unsigned char page[SN_IMAGE_BYTES], uint64_t *bytes)
{
    static sn_image made[16];
    sn_image *image = &made[which % 16];
    seen_options options = {.size = sizeof options,
                            .kind = which & 1 ? SEEN_COUNTING : SEEN_BLOOM,
                            .growth = (seen_growth)(which % 16 / 2 % (which & 1 ? 2 : 3)),
                            .capacity = 40,
                            .error_rate = 0.05,
                            .generations = 3,
                            .window_seconds = which & 8 ? 100 : 0,
                            .seed_given = true};
    if (options.growth != SEEN_WINDOW)
        options.generations = 0, options.window_seconds = 0;
    if (!image->layers)
        check(sn_layers_begin(&options, image, NULL) == SEEN_OK);
    sn_image_encode(image, page);
    *bytes = sn_image_end(image);
}

static void seal(unsigned char *page)
{
    sn_store64(page + SN_IMAGE_BYTES - 8, sn_hash_checksum(page, SN_IMAGE_BYTES - 8));
}

/* Creates the bytes of the file from the input; returns their number. */
static size_t shape(const uint8_t *data, size_t size, unsigned char *file)
{
    static size_t used;
    memset(file, 0, used);
    used = FILE_MAX;
    uint8_t how = size ? data[0] : 0;
    data += size > 0;
    size -= size > 0;
    if (how % 4 == 0) {
        size = size < FILE_MAX ? size : FILE_MAX;
        memcpy(file, data, size);
        return used = size;
    }
    uint64_t bytes = 65536;
    if (how % 4 == 1) {
        memcpy(file, data, size < SN_IMAGE_BYTES ? size : SN_IMAGE_BYTES);
    } else {
        good_page(how / 4, file, &bytes);
        for (size_t i = 0; i + 3 <= size; i += 3) /* offset (two bytes), value */
            file[(size_t)(data[i] | data[i + 1] << 8) % (how % 4 == 2 ? 512 : 32768)] = data[i + 2];
    }
    seal(file);
    if (how & 64)
        memcpy(file + SN_IMAGE_BYTES, file, SN_IMAGE_BYTES);
    if (bytes < FILE_MAX)
        used = (size_t)bytes + (how & 128 ? 5000 : 0);
    return used;
}

/* The first file stays open, so that only its bytes are written again for each input. */
static int first = -1;

static void put(const unsigned char *file, size_t size)
{
    if (first < 0)
        first = open(path[0], O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(first >= 0 && ftruncate(first, (off_t)size) == 0);
    check(pwrite(first, file, size, 0) == (ssize_t)size);
}

static bool same(const unsigned char *file, size_t size)
{
    static unsigned char have[FILE_MAX + 8192];
    ssize_t n = pread(first, have, sizeof have, 0);
    return n == (ssize_t)size && memcmp(have, file, size) == 0;
}

/* Adds and looks up keys. A window by time with another clock may drop them at once. */
static void add_keys(seen_set *set, const seen_key *key, size_t count, bool forgets)
{
    seen_answer reported[64], found[64];
    seen_error e = {0};
    seen_status status = seen_add_many(set, key, count, reported, &e);
    check(status == SEEN_OK || strlen(e.message) > 10);
    check(seen_check_many(set, key, count, found, &e) == SEEN_OK);
    for (size_t i = 0; i < count; i++) {
        check(reported[i] <= SEEN_BEFORE || (status != SEEN_OK && reported[i] == SEEN_UNKNOWN));
        check(found[i] == SEEN_BEFORE || reported[i] == SEEN_UNKNOWN || forgets);
    }
}

static void use(seen_set *set)
{
    seen_error e = {0};
    seen_info info = {.size = sizeof info};
    check(seen_get_info(set, &info, &e) == SEEN_OK);
    check(info.fill >= 0 && info.fill <= 1 && info.error_rate_now >= 0 && info.error_rate_now <= 1);
    enum { KEYS = 40, ALONE = 4 };
    char text[KEYS][16];
    seen_key key[KEYS];
    for (int i = 0; i < KEYS; i++)
        key[i] = (seen_key){text[i], (size_t)sprintf(text[i], "key %d", i)};
    for (int i = 0; i < ALONE; i++)
        add_keys(set, key + i, 1, info.growth == SEEN_WINDOW);
    add_keys(set, key + ALONE, KEYS - ALONE, info.growth == SEEN_WINDOW);
    seen_answer answer = SEEN_UNKNOWN;
    if (info.kind == SEEN_COUNTING)
        check(seen_remove(set, "key 1", 5, &answer, &e) == SEEN_OK);
    if (info.growth == SEEN_WINDOW)
        check(seen_rotate(set, &e) == SEEN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char file[FILE_MAX + 8192];
    name_files();
    size_t bytes = shape(data, size, file);
    put(file, bytes);
    seen_set *set = NULL, *copy = NULL;
    seen_error e = {0};
    seen_status status = seen_open(path[0], NULL, SEEN_READ_ONLY, &set, &e);
    check(same(file, bytes));
    if (status != SEEN_OK) {
        check(!set && strlen(e.message) > 10);
        seen_status again = seen_open(path[0], NULL, 0, &set, &e);
        check(again == status && same(file, bytes));
        return 0;
    }
    seen_info before = {.size = sizeof before}, after = {.size = sizeof after};
    check(seen_get_info(set, &before, &e) == SEEN_OK);
    if (before.bytes > FILE_MAX * 4) {
        seen_close(set);
        return 0;
    }
    check(seen_copy(set, path[1], SEEN_REPLACE, NULL, &e) == SEEN_OK);
    seen_close(set);
    check(seen_open(path[1], NULL, SEEN_READ_ONLY, &copy, &e) == SEEN_OK);
    check(seen_get_info(copy, &after, &e) == SEEN_OK);
    check(before.bytes == after.bytes && before.layers == after.layers &&
          before.fill == after.fill && before.seed[0] == after.seed[0] &&
          before.capacity == after.capacity && before.error_rate_now == after.error_rate_now);
    seen_close(copy);
    if (seen_open(path[0], NULL, 0, &set, &e) == SEEN_OK) {
        use(set);
        seen_close(set);
        check(seen_open(path[0], NULL, SEEN_READ_ONLY, &set, &e) == SEEN_OK);
        seen_close(set);
    }
    return 0;
}
