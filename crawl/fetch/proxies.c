/* The addresses of proxies. */
#include "crawl/fetch/proxies.h"

#include <curl/curl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static void resolve(sn_proxies *p, const char *host, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    if (getaddrinfo(host, port, &hints, &list) != 0)
        return;
    for (const struct addrinfo *a = list; a && p->count < SN_PROXIES_MAX; a = a->ai_next)
        if (a->ai_addrlen <= sizeof p->address[0])
            memcpy(&p->address[p->count++], a->ai_addr, a->ai_addrlen);
    freeaddrinfo(list);
}

static void add(sn_proxies *p, const char *url)
{
    char *host = NULL, *port = NULL;
    CURLU *parts = !url || *url == '\0' ? NULL : curl_url();
    if (parts &&
        curl_url_set(parts, CURLUPART_URL, url, CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME) ==
            CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
        if (curl_url_get(parts, CURLUPART_PORT, &port, 0) != CURLUE_OK)
            port = NULL;
        char *name = host;
        size_t len = strlen(name);
        if (len > 2 && name[0] == '[') { /* an IPv6 address */
            name[len - 1] = '\0';
            name++;
        }
        resolve(p, name, port ? port : "1080");
    }
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(parts);
}

void sn_proxies_find(sn_proxies *p, const char *proxy)
{
    /* HTTP_PROXY is not used: in a CGI program the client controls it. */
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                        "ALL_PROXY"};
    p->count = 0;
    if (proxy)
        add(p, proxy);
    for (size_t i = 0; !proxy && i < sizeof names / sizeof names[0]; i++)
        add(p, getenv(names[i]));
}

static bool same(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *x = (const void *)a, *y = (const void *)b;
        return x->sin_port == y->sin_port && x->sin_addr.s_addr == y->sin_addr.s_addr;
    }
    const struct sockaddr_in6 *x = (const void *)a, *y = (const void *)b;
    return a->sa_family == AF_INET6 && x->sin6_port == y->sin6_port &&
           memcmp(&x->sin6_addr, &y->sin6_addr, sizeof x->sin6_addr) == 0;
}

bool sn_proxies_have(const sn_proxies *p, const struct sockaddr *address)
{
    for (size_t i = 0; i < p->count; i++)
        if (same((const struct sockaddr *)&p->address[i], address))
            return true;
    return false;
}
