/* Prints the first occurrence of each line, across runs: first FILTER < lines */
#include <seen.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    seen_options options = {.size = sizeof options, .error_rate = 1e-6}; /* no capacity: it grows */
    seen_error error = {0};
    seen_set *set = NULL;
    char *line = NULL;
    size_t room = 0;
    seen_status status =
        seen_create(argc > 1 ? argv[1] : NULL, &options, SEEN_IF_ABSENT, &set, &error);
    for (ssize_t len; status == SEEN_OK && (len = getline(&line, &room, stdin)) >= 0;) {
        seen_answer answer = SEEN_UNKNOWN;
        len -= len > 0 && line[len - 1] == '\n';
        status = seen_add(set, line, (size_t)len, &answer, &error);
        if (answer == SEEN_NEW && (fwrite(line, 1, (size_t)len, stdout), putchar('\n') < 0))
            break;
    }
    free(line);
    if (status == SEEN_OK)
        status = seen_sync(set, &error);
    seen_close(set);
    if (status != SEEN_OK)
        fprintf(stderr, "first: %s\n", error.message);
    else if (ferror(stdin) || fflush(stdout) != 0 || ferror(stdout))
        perror("first");
    else
        return 0;
    return 2;
}
