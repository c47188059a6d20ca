/* The slot of a key in a cluster: CRC16 of the key, or of its tag between braces, modulo 16384. */
#ifndef SN_REDIS_CLIENT_SLOT_H
#define SN_REDIS_CLIENT_SLOT_H

#include <stddef.h>
#include <stdint.h>

uint16_t sn_slot_of(const char *key, size_t len);
/* Continues the CRC: for names that share their beginning. */
uint16_t sn_slot_crc(uint16_t crc, const char *p, size_t len);

#endif
