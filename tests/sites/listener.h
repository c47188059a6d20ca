/* A listening socket of the test on the loopback. */
#ifndef TESTS_SITES_LISTENER_H
#define TESTS_SITES_LISTENER_H

#include <arpa/inet.h>
#include <sys/socket.h>

/* Listens on a free port; -1 on failure. */
static inline int test_listen(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, len) != 0 || listen(listener, 16) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &len) != 0)
        return -1;
    *port = ntohs(address.sin_port);
    return listener;
}

#endif
