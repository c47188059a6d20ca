/* tests/oracle/robots_dump: which paths a robots.txt allows, for comparison with another program.
 *
 * Reads cases from standard input: a decimal length, a newline, that many bytes of robots.txt, and
 * again a length, a newline and a path. Prints 1 or 0 for each. The agent is "seen". */
#include <stdio.h>
#include <stdlib.h>

#include "crawl/robots/robots.h"

static char *read_text(size_t *len)
{
    if (scanf("%zu", len) != 1 || getchar() != '\n')
        return NULL;
    char *text = malloc(*len + 1);
    if (text != NULL && fread(text, 1, *len, stdin) != *len)
        abort();
    return text;
}

int main(void)
{
    size_t len, path_len;
    for (char *text; (text = read_text(&len)) != NULL; free(text)) {
        char *path = read_text(&path_len);
        sn_robots *robots = sn_robots_parse(text, len, "seen/1.0");
        if (path == NULL || robots == NULL)
            return 1;
        bool allowed = sn_robots_allowed(robots, path, path_len);
        /* The rules stored for other processes have the same meaning. */
        size_t again_len;
        char *again = sn_robots_text(robots, &again_len);
        sn_robots *copy = again == NULL ? NULL : sn_robots_parse(again, again_len, "seen/1.0");
        if (copy == NULL || sn_robots_allowed(copy, path, path_len) != allowed) {
            fprintf(stderr, "the stored form differs:\n%s\npath %s\n", again, path);
            return 1;
        }
        putchar(allowed ? '1' : '0');
        sn_robots_destroy(copy);
        sn_robots_destroy(robots);
        free(again);
        free(path);
    }
    return 0;
}
