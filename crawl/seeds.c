/* Start URLs, and the hosts that are in scope because of them. */
#include "crawl/engine.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Whether more is in scope with this seed. The same start URLs may be given any number of times. */
static bool widens(sn_engine *e, const char *url, size_t len)
{
    sn_scope_verdict verdict = sn_scope_check(e->intake.scope, url, len);
    return verdict == SN_SCOPE_OTHER_HOST || verdict == SN_SCOPE_PARENT;
}

seen_status sn_seeds_join(sn_engine *e, const char *url, size_t len)
{
    if (!widens(e, url, len))
        return SEEN_OK;
    if (!sn_scope_add_seed(e->intake.scope, url, len))
        return sn_error_memory(e->error);
    sn_link_cache_clear(e->intake.link_cache); /* links to it may have been skipped */
    return SEEN_OK;
}

seen_status sn_seeds_add(sn_engine *e, const char *url, size_t len)
{
    sn_frontier *f = e->intake.frontier;
    if (!widens(e, url, len))
        return SEEN_OK;
    seen_status status = sn_seeds_join(e, url, len);
    return status == SEEN_OK ? f->class->add_seed(f, url, len, e->error) : status;
}

seen_status sn_seeds_load(sn_engine *e, const char *line)
{
    bool ok = true;
    for (const char *end; ok && line && (end = strchr(line, '\n')) != NULL; line = end + 1)
        ok = sn_scope_add_seed(e->intake.scope, line, (size_t)(end - line));
    return ok ? SEEN_OK : sn_error_memory(e->error);
}

/* Browsers accept a host without a scheme; the message suggests the URL. */
static seen_status not_a_url(sn_engine *e, const char *url)
{
    bool local = strncmp(url, "localhost", 9) == 0 && strchr(":/", url[9]);
    const char *scheme = local ? "http://" : "https://";
    char whole[300];
    struct stat about;
    if (stat(url, &about) == 0 && S_ISREG(about.st_mode))
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                            "%s is a file, not a URL; to crawl the URLs in it, use -i %s", url,
                            url);
    bool bare = !strstr(url, "://") && strlen(url) < sizeof whole - 9;
    snprintf(whole, sizeof whole, "%s%s", scheme, bare ? url : "");
    size_t n = bare ? sn_admit_resolve(&e->intake, whole, strlen(whole), NULL, 0) : 0;
    const char *host = n > 0 ? e->intake.resolver.text + strlen(scheme) : "/";
    if ((local && n > 0) || memchr(host, '.', strcspn(host, "/:")) != NULL)
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT, "%s: no scheme; did you mean %.*s ?", url,
                            (int)n, e->intake.resolver.text);
    return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                        "%.200s is not a URL; a URL begins with http:// or https://", url);
}

/* A user who gives a name and a password expects them to be used. */
static bool has_credentials(const char *url)
{
    const char *host = strstr(url, "://");
    return host && memchr(host + 3, '@', strcspn(host + 3, "/?#\\")) != NULL;
}

/* The canonical URL is in the resolver; *len is its length. */
static seen_status resolve_start(sn_engine *e, const char *url, size_t *len)
{
    size_t n = *len = sn_admit_resolve(&e->intake, url, strlen(url), NULL, 0);
    if (n == 0 || n > e->options->max_url)
        return not_a_url(e, url);
    if (has_credentials(url))
        return sn_error_set(e->error, SEEN_ERR_ARGUMENT,
                            "pages are fetched without a name or password: write %.*s",
                            n < 400 ? (int)n : 400, e->intake.resolver.text);
    return SEEN_OK;
}

seen_status sn_seeds_check(sn_engine *e)
{
    const sn_crawl_options *o = e->options;
    seen_status status = SEEN_OK;
    for (size_t i = 0, n; i < o->start.count && status == SEEN_OK; i++)
        status = resolve_start(e, o->start.items[i], &n);
    return status;
}

seen_status sn_seeds_admit(sn_engine *e)
{
    const sn_crawl_options *o = e->options;
    uint64_t before = e->counts.found;
    sn_admit_begin(&e->intake);
    for (size_t i = 0; i < o->start.count; i++) {
        size_t n;
        seen_status status = resolve_start(e, o->start.items[i], &n);
        if (status == SEEN_OK)
            status = sn_seeds_add(e, e->intake.resolver.text, n);
        if (status == SEEN_OK)
            status = sn_admit_url(&e->intake, NULL, e->intake.resolver.text, n, 0, 0, SN_KIND_PAGE);
        if (status != SEEN_OK)
            return status;
    }
    seen_status status = sn_admit_commit(&e->intake);
    uint64_t fresh = e->counts.found - before;
    /* A shared frontier counts them itself. */
    if (!o->join)
        e->result->start_seen = o->start.count > fresh ? o->start.count - fresh : 0;
    return status;
}
