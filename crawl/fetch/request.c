/* Passes headers and URLs to libcurl in the cheapest way.
 *
 * libcurl assembles the headers that are separate options (User-Agent, Accept-Encoding) and the URL
 * byte by byte for each request, and parses the URL first. Headers given as lines are only copied,
 * and if the parts of a URL are known only the path has to be set. */
#include "crawl/fetch/request.h"

#include "crawl/fetch/unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Headers ---- */

static bool add_header(struct curl_slist **list, const char *name, const char *value)
{
    size_t room = strlen(name) + strlen(value) + sizeof ": ";
    char *line = malloc(room);
    if (!line)
        return false;
    snprintf(line, room, "%s: %s", name, value);
    struct curl_slist *more = curl_slist_append(*list, line);
    free(line);
    if (more)
        *list = more;
    return more != NULL;
}

static bool is_given(const char *name, const char *const *more, size_t count)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < count; i++)
        if (strncasecmp(more[i], name, len) == 0 && more[i][len] == ':')
            return true;
    return false;
}

struct curl_slist *sn_request_headers(const char *agent, const char *const *more, size_t count)
{
    struct curl_slist *list = NULL;
    /* Readable characters are kept; others may be replaced. */
    bool ok = add_header(&list, "Accept-Encoding", sn_unpack_names());
    if (!is_given("Accept", more, count))
        ok = ok && add_header(&list, "Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8");
    if (!is_given("User-Agent", more, count))
        ok = ok && add_header(&list, "User-Agent", agent);
    for (size_t i = 0; ok && i < count; i++) {
        if (strncasecmp(more[i], "Accept-Encoding:", 16) == 0)
            continue;
        struct curl_slist *longer = curl_slist_append(list, more[i]);
        ok = longer != NULL;
        list = ok ? longer : list;
    }
    if (ok)
        return list;
    curl_slist_free_all(list);
    return NULL;
}

/* ---- URLs ---- */

bool sn_request_url_create(sn_request_url *u)
{
    u->parts = curl_url();
    return u->parts != NULL;
}

void sn_request_url_free(sn_request_url *u)
{
    curl_url_cleanup(u->parts);
    u->parts = NULL;
}

/* The length of "https://example.org:8443". */
static size_t origin_len(const char *text)
{
    const char *host = strstr(text, "://");
    return host ? strcspn(host + 3, "/?#") + (size_t)(host + 3 - text) : 0;
}

/* From one page of a host to the next only the path changes. A path with escapes is not set alone:
 * libcurl would write those in lower case. */
static bool set_path(sn_request_url *u, const char *text)
{
    size_t len = u->origin_len;
    return len > 0 && strncmp(text, u->origin, len) == 0 && text[len] == '/' &&
           !strpbrk(text + len, "%?#") &&
           curl_url_set(u->parts, CURLUPART_PATH, text + len, 0) == CURLUE_OK &&
           curl_url_set(u->parts, CURLUPART_QUERY, NULL, 0) == CURLUE_OK;
}

/* A query may be present and empty; later versions of libcurl omit its question mark. */
static bool set_target(sn_request_url *u, CURL *easy, const char *path)
{
    size_t len = strlen(path);
    bool needed = len > 1 && path[0] == '/' && path[len - 1] == '?';
    if (!needed && !u->target)
        return true;
    u->target = needed;
    return curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, needed ? path : NULL) == CURLE_OK;
}

bool sn_request_url_set(sn_request_url *u, CURL *easy, const char *text)
{
    if (set_path(u, text))
        return set_target(u, easy, text + u->origin_len);
    size_t len = origin_len(text);
    u->origin_len = 0;
    /* A relative URL would be resolved against the previous page. */
    CURLUcode code = len == 0 ? CURLUE_MALFORMED_INPUT
                              : curl_url_set(u->parts, CURLUPART_URL, text, CURLU_PATH_AS_IS);
    if (code == CURLUE_OUT_OF_MEMORY)
        return false;
    if (code != CURLUE_OK)
        return curl_easy_setopt(easy, CURLOPT_CURLU, NULL) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_URL, text) == CURLE_OK;
    if (len < SN_REQUEST_ORIGIN_MAX) {
        memcpy(u->origin, text, len);
        u->origin_len = len;
    }
    return curl_easy_setopt(easy, CURLOPT_CURLU, u->parts) == CURLE_OK &&
           set_target(u, easy, text + len);
}
