/* Which addresses a crawler may connect to. */
#ifndef SN_CRAWL_FETCH_ADDRESS_H
#define SN_CRAWL_FETCH_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Whether this is an address of the public Internet. False for loopback, private, link-local,
 * shared, multicast, documentation, benchmarking and reserved ranges, for IPv6 addresses that embed
 * such an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo), and for families other than
 * IP. */
bool sn_address_public(const struct sockaddr *address);

/* The address in text, without its port; empty for families other than IP. */
void sn_address_text(const struct sockaddr *address, char *out, size_t room);

bool sn_address_public_v4(uint32_t address); /* host byte order */
bool sn_address_public_v6(const uint8_t address[16]);

#endif
