/* Runs a fuzz target over its inputs, as in `make test`: each argument is a folder of inputs or a
 * pack of them (see README.md). */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char magic[] = "seen fuzz pack 1\n";

static void fail(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    exit(1);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path, "cannot be opened");
    size_t room = 4096;
    uint8_t *data = malloc(room);
    *size = 0;
    for (size_t got; data && (got = fread(data + *size, 1, room - *size, file)) > 0;) {
        *size += got;
        if (*size == room)
            data = realloc(data, room *= 2);
    }
    if (!data || ferror(file))
        fail(path, "cannot be read");
    fclose(file);
    return data;
}

/* Each input is allocated with its exact size, so that AddressSanitizer detects reads past its
 * end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        fail("memory", "exhausted");
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int replay_pack(const char *path)
{
    size_t size, at = sizeof magic - 1;
    uint8_t *data = read_file(path, &size);
    int count = 0;
    if (size < at || memcmp(data, magic, at) != 0)
        fail(path, "not a pack of fuzz inputs");
    while (at < size) {
        const uint8_t *head = data + at;
        if (size - at < 4)
            fail(path, "cut off");
        size_t length =
            head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
        at += 4;
        if (size - at < length)
            fail(path, "cut off");
        run(data + at, length);
        at += length;
        count++;
    }
    free(data);
    return count;
}

static int replay_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        fail(path, "cannot be opened");
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char name[4096];
        size_t size;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        uint8_t *data = read_file(name, &size);
        run(data, size);
        free(data);
        count++;
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        struct stat info;
        bool folder = stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode);
        int found = folder ? replay_folder(argv[i]) : replay_pack(argv[i]);
        if (found == 0)
            fail(argv[i], "no inputs");
        count += found;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    printf("%d inputs replayed\n", count);
    return count == 0;
}
