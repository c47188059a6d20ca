/* "Not again within 30 days": a window that drops old keys by itself. */
#include <seen.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "mailed.seen";
    seen_options options = {.size = sizeof options,
                            .growth = SEEN_WINDOW,
                            .capacity = 100000, /* letters in 30 days */
                            .error_rate = 1e-6,
                            .window_seconds = 30 * 86400};
    seen_set *set;
    seen_error error;
    /* Opens it if it exists: run the program twice, and the second time no mail is sent. */
    if (seen_create(path, &options, SEEN_IF_ABSENT, &set, &error) != SEEN_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    const char *readers[] = {"ada@example.org", "bob@example.org", "ada@example.org"};
    for (int i = 0; i < 3; i++) {
        seen_answer answer;
        if (seen_add(set, readers[i], strlen(readers[i]), &answer, &error) != SEEN_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 2;
        }
        printf("%s: %s\n", readers[i], answer == SEEN_NEW ? "write" : "not again within 30 days");
    }
    return seen_close_checked(set, NULL) != SEEN_OK;
}
