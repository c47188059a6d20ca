/* The first ten lines: have I seen this before?      cc first.c -lseen */
#include <seen.h>
#include <stdio.h>

int main(void)
{
    seen_options options = {.size = sizeof options, .capacity = 1000000, .error_rate = 0.01};
    seen_set *set;
    if (seen_create(NULL, &options, 0, &set, NULL) != SEEN_OK)
        return 1;
    const char *words[] = {"apple", "pear", "apple"};
    for (int i = 0; i < 3; i++) {
        seen_answer answer;
        seen_add(set, words[i], i == 1 ? 4 : 5, &answer, NULL);
        printf("%s: %s\n", words[i], answer == SEEN_NEW ? "new" : "seen before");
    }
    seen_close(set);
    return 0;
}
