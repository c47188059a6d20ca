/* The meaning of server errors, and advice. */
#include "base/error.h"
#include "redis/client/channel.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    seen_status status;
    const char *advice;
} TABLE[] = {
    {"OOM", SEEN_ERR_SPACE, "raise maxmemory, free some memory, or create a smaller filter"},
    {"MISCONF", SEEN_ERR_SPACE,
     "the server cannot save and refuses writes; see its log and the space on its disk"},
    {"READONLY", SEEN_ERR_SERVER, "this is a replica; give the address of its master"},
    {"LOADING", SEEN_ERR_SERVER, "the server is still loading its data; try again later"},
    {"MASTERDOWN", SEEN_ERR_SERVER, "the replica has lost its master; try again later"},
    {"CLUSTERDOWN", SEEN_ERR_SERVER, "part of the cluster is down; see CLUSTER INFO"},
    {"BUSY", SEEN_ERR_SERVER, "a script blocks the server; see SCRIPT KILL"},
    {"WRONGTYPE", SEEN_ERR_FORMAT,
     "a key of this name belongs to something else; choose another name"},
    {"NOPERM", SEEN_ERR_PERMISSION,
     "the user lacks a permission; docs/redis.md lists the commands and keys to allow"},
    {"NOAUTH", SEEN_ERR_PERMISSION,
     "give a password: in REDISCLI_AUTH, --redis-password-file or the address (user:password@)"},
    {"WRONGPASS", SEEN_ERR_PERMISSION, "check the user and the password"},
    {"NOREPLICAS", SEEN_ERR_SERVER, "the master has too few replicas; see min-replicas-to-write"},
    {"MOVED", SEEN_ERR_SERVER, "this server is part of a cluster; write redis-cluster://"},
    {"CROSSSLOT", SEEN_ERR_SERVER, "this server is part of a cluster; write redis-cluster://"},
    {"ERR unknown command", SEEN_ERR_SERVER, "seen needs Redis 6 or later, with EVAL and BITFIELD"},
    {"ERR This instance has cluster support disabled", SEEN_ERR_SERVER,
     "this is not a cluster; write redis://"},
};

seen_status sn_errors_from_reply(const sn_redis_address *address, const sn_node *node,
                                 const sn_reply *reply, seen_error *error)
{
    char server[SN_REDIS_HOST + 16] = "";
    if (address->cluster && node)
        snprintf(server, sizeof server, " (%s:%u)", node->place.host, node->place.port);
    if (!sn_reply_is_error(reply))
        return sn_error_set(error, SEEN_ERR_SERVER, "%s%s: unexpected reply; is it Redis?",
                            address->shown, server);
    const char *text = sn_reply_text(reply, 0);
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (sn_reply_error_is(reply, TABLE[i].word) ||
            (TABLE[i].word[0] == 'E' && strncmp(text, TABLE[i].word, strlen(TABLE[i].word)) == 0))
            return sn_error_set(error, TABLE[i].status, "%s%s: %.200s; %s", address->shown, server,
                                text, TABLE[i].advice);
    return sn_error_set(error, SEEN_ERR_SERVER, "%s%s: the server refused: %.200s", address->shown,
                        server, text);
}
