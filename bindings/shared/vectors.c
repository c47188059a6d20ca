/* Plays the table of test vectors: vectors TABLE FOLDER. See README.md. */
#include <seen.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *line)
{
    fprintf(stderr, "C: %s: %s\n", what, line);
    exit(1);
}

static seen_set *create(char *line, const char *folder)
{
    char name[64], kind[16], hash[16], path[4096];
    unsigned long long capacity, low, high;
    double rate;
    seen_set *set;
    seen_error error;
    if (sscanf(line, "set %63s %llu %lf %15s %15s %llu %llu", name, &capacity, &rate, kind, hash,
               &low, &high) != 7)
        fail("not a set", line);
    seen_options options = {.size = sizeof options,
                            .capacity = capacity,
                            .error_rate = rate,
                            .kind = strcmp(kind, "counting") == 0 ? SEEN_COUNTING : SEEN_BLOOM,
                            .hash = strcmp(hash, "siphash") == 0 ? SEEN_SIPHASH : SEEN_XXH3,
                            .seed_given = true,
                            .seed = {low, high}};
    snprintf(path, sizeof path, "%s/%s.seen", folder, name);
    if (seen_create(path, &options, 0, &set, &error) != SEEN_OK)
        fail(error.message, line);
    return set;
}

static void play(seen_set *set, const char *line)
{
    unsigned char key[4096];
    const char *hex = line + 4;
    size_t len = 0;
    for (unsigned byte; sscanf(hex, "%2x", &byte) == 1 && hex[0] != ' '; hex += 2)
        key[len++] = (unsigned char)byte;
    bool add = strncmp(line, "add", 3) == 0, expected = atoi(strrchr(line, ' ')) == 1;
    seen_answer answer = SEEN_UNKNOWN;
    seen_error error;
    if ((add ? seen_add(set, key, len, &answer, &error)
             : seen_check(set, key, len, &answer, &error)) != SEEN_OK)
        fail(error.message, line);
    if ((answer == (add ? SEEN_NEW : SEEN_BEFORE)) != expected)
        fail("another answer", line);
}

int main(int argc, char **argv)
{
    FILE *table = argc == 3 ? fopen(argv[1], "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    seen_set *set = NULL;
    if (!table)
        fail("usage", "vectors TABLE FOLDER");
    while (getline(&line, &room, table) > 0) {
        if (strncmp(line, "set ", 4) == 0) {
            seen_close(set);
            set = create(line, argv[2]);
        } else {
            play(set, line);
        }
    }
    seen_close(set);
    free(line);
    fclose(table);
    return 0;
}
