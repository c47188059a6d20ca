/* The address of a filter in Redis, parsed.
 *
 *   redis://[user:password@]host[:port][/db]/NAME
 *   redis-cluster://[user:password@]host[:port][,host[:port]...]/NAME
 *   redis+unix://[user:password@]/path/to/socket[/db]/NAME
 *   rediss:// and rediss-cluster://: the same as redis:// and redis-cluster://, with TLS
 *
 * User, password and NAME may contain any bytes, written as %XX. In redis:// a first part of only
 * digits is the database if another part follows. In redis+unix:// the NAME is the last part. */
#ifndef SN_REDIS_CLIENT_ADDRESS_H
#define SN_REDIS_CLIENT_ADDRESS_H

#include "seen.h"

enum {
    SN_REDIS_SEEDS = 16,
    SN_REDIS_HOST = 256,
    SN_REDIS_SECRET = 512,
    SN_REDIS_NAME = 256, /* the longest NAME, in bytes */
    SN_REDIS_PATH = 108, /* of a unix socket */
};

typedef struct sn_redis_place {
    char host[SN_REDIS_HOST];
    uint16_t port; /* 0: host is the path of a unix socket */
} sn_redis_place;

typedef struct sn_redis_address {
    bool cluster, tls;
    unsigned seeds; /* more than one only for a cluster */
    sn_redis_place seed[SN_REDIS_SEEDS];
    bool has_password;
    char user[SN_REDIS_SECRET], password[SN_REDIS_SECRET];
    size_t user_len, password_len;
    unsigned db;
    char name[SN_REDIS_NAME];
    size_t name_len;
    char shown[600]; /* the address without user and password: for messages */
} sn_redis_address;

/* Parses `where`; the error has the reason. */
seen_status sn_redis_address_parse(const char *where, sn_redis_address *address, seen_error *error);

#endif
