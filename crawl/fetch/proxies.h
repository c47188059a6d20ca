/* The addresses of proxies, to which connections are allowed although they are usually private. */
#ifndef SN_CRAWL_FETCH_PROXIES_H
#define SN_CRAWL_FETCH_PROXIES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define SN_PROXIES_MAX 16

typedef struct sn_proxies {
    struct sockaddr_storage address[SN_PROXIES_MAX];
    size_t count;
} sn_proxies;

/* Resolves a proxy, or with NULL those given in the environment. */
void sn_proxies_find(sn_proxies *proxies, const char *proxy);
bool sn_proxies_have(const sn_proxies *proxies, const struct sockaddr *address);

#endif
