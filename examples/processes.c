/* One file shared by processes: each key is new to exactly one of them. */
#include <seen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 4, KEYS = 2000 };

static int work(const char *path)
{
    seen_set *set;
    seen_error error;
    int new_keys = 0;
    if (seen_open(path, NULL, 0, &set, &error) != SEEN_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    for (int i = 0; i < KEYS; i++) {
        seen_answer answer;
        if (seen_add(set, &i, sizeof i, &answer, &error) != SEEN_OK)
            exit(2);
        new_keys += answer == SEEN_NEW;
    }
    seen_close_checked(set, NULL); /* additions survive a power failure */
    return new_keys;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "shared.seen";
    seen_options options = {.size = sizeof options, .capacity = KEYS, .error_rate = 1e-9};
    seen_set *set;
    seen_error error = {.message = "no pipe"};
    int pipes[2], total = 0;
    if (seen_create(path, &options, SEEN_REPLACE, &set, &error) != SEEN_OK || pipe(pipes) != 0) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    seen_close(set);
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            int new_keys = work(path);
            _exit(write(pipes[1], &new_keys, sizeof new_keys) != (ssize_t)sizeof new_keys);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int new_keys = 0;
        if (read(pipes[0], &new_keys, sizeof new_keys) != (ssize_t)sizeof new_keys)
            return 2;
        total += new_keys;
    }
    while (wait(NULL) > 0)
        ;
    printf("%d processes added the same %d keys; they were told \"new\" %d times in all\n",
           PROCESSES, KEYS, total);
    return total != KEYS;
}
