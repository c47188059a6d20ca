/* Runs a fuzz target over every file of a corpus folder: the replay that `make test` does. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    size_t size = 0, room = 4096;
    uint8_t *data = malloc(room);
    for (size_t got; data && (got = fread(data + size, 1, room - size, file)) > 0;) {
        size += got;
        if (size == room)
            data = realloc(data, room *= 2);
    }
    fclose(file);
    if (!data)
        exit(1);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (!dir) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(dir));) {
            char path[4096];
            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            replay_file(path);
            count++;
        }
        closedir(dir);
    }
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    printf("%d inputs replayed\n", count);
    return count == 0;
}
