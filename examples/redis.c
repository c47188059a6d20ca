/* A set shared by machines: every program that runs this with the same address shares one set.
 *     redis redis://localhost/visited https://example.org/ https://example.org/about */
#include <seen.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    seen_options options = {.size = sizeof options, .capacity = 1000000, .error_rate = 1e-6};
    seen_set *set;
    seen_error error;
    if (argc < 2) {
        fprintf(stderr, "usage: redis redis://HOST[:PORT]/NAME KEY...\n");
        return 2;
    }
    /* Programs that create it concurrently get the same set; different parameters are refused. */
    if (seen_create(argv[1], &options, SEEN_IF_ABSENT, &set, &error) != SEEN_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        seen_answer answer;
        if (seen_add(set, argv[i], strlen(argv[i]), &answer, &error) != SEEN_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 2;
        }
        printf("%s: %s\n", argv[i], answer == SEEN_NEW ? "new" : "seen before");
    }
    seen_close(set);
    return 0;
}
