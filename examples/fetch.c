/* Fetches each URL once, identified by its canonical form, also across runs.
 *     fetch visited.seen URL...        (link with -lseen -lcurl) */
#include <curl/curl.h>
#include <seen.h>
#include <stdio.h>
#include <string.h>

static size_t ignore(char *data, size_t size, size_t count, void *total)
{
    (void)data;
    *(size_t *)total += size * count;
    return size * count;
}

int main(int argc, char **argv)
{
    seen_options options = {.size = sizeof options, .growth = SEEN_GROWING, .error_rate = 1e-6};
    seen_set *set;
    seen_error error;
    if (argc < 2 || seen_create(argv[1], &options, SEEN_IF_ABSENT, &set, &error) != SEEN_OK) {
        fprintf(stderr, "%s\n", argc < 2 ? "usage: fetch FILTER URL..." : error.message);
        return 2;
    }
    CURL *curl = curl_easy_init();
    size_t bytes;
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &bytes);
    for (int i = 2; i < argc; i++) {
        char url[2048];
        size_t len;
        seen_answer answer;
        if (seen_url_canonical(argv[i], strlen(argv[i]), NULL, 0, NULL, url, sizeof url - 1,
                               &len) != SEEN_URL_OK) {
            printf("not a URL, or a very long one\n");
            continue;
        }
        url[len] = '\0';
        if (seen_check(set, url, len, &answer, &error) != SEEN_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 2;
        }
        if (answer == SEEN_BEFORE) {
            printf("%s: fetched before\n", url);
            continue;
        }
        bytes = 0;
        curl_easy_setopt(curl, CURLOPT_URL, url);
        if (curl_easy_perform(curl) != CURLE_OK) {
            printf("%s: failed; it can be tried again\n", url);
            continue;
        }
        /* First write the result, then remember it: after a crash a page may be fetched twice, but
         * none is lost. */
        printf("%s: %zu bytes\n", url, bytes);
        if (seen_add(set, url, len, NULL, &error) != SEEN_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 2;
        }
    }
    curl_easy_cleanup(curl);
    return seen_close_checked(set, NULL) != SEEN_OK;
}
