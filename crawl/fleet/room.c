/* Memory of the servers: what the lists may take, and waiting while there is no room.
 *
 * Links wait before they are in the seen-set, and their pages are not acknowledged: nothing is lost
 * and nothing is requested until there is room. The gate is the intent. A server that is at its
 * maxmemory refuses it; the steps after it, heartbeats and acknowledgements may exceed maxmemory
 * (flag allow-oom of the scripts). */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- what the servers are configured for ---- */

typedef struct servers {
    char run_id[64][SN_RUN_ID + 1]; /* those that were counted */
    size_t count;
    uint64_t memory;
    bool unlimited, evicts;
    char policy[32];
} servers;

/* The value of a field of INFO; "" if it has none. */
static void info_field(const char *info, const char *name, char *value, size_t room)
{
    size_t len = strlen(name);
    value[0] = '\0';
    for (const char *line = info; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) == 0 && line[len] == ':')
            snprintf(value, room, "%.*s", (int)strcspn(line + len + 1, "\r\n"), line + len + 1);
    }
}

static bool take_info(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    servers *s = context;
    char id[SN_RUN_ID + 1], memory[32], policy[32];
    (void)tag, (void)again;
    /* A user who may not read it is on their own. */
    if (sn_reply_is_error(r) || r->items != 1 || r->item[0].type != REDIS_REPLY_STRING) {
        s->unlimited = true;
        return true;
    }
    info_field(sn_reply_text(r, 0), "run_id", id, sizeof id);
    info_field(sn_reply_text(r, 0), "maxmemory", memory, sizeof memory);
    info_field(sn_reply_text(r, 0), "maxmemory_policy", policy, sizeof policy);
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->run_id[i], id) == 0)
            return true;
    if (s->count < sizeof s->run_id / sizeof s->run_id[0])
        memcpy(s->run_id[s->count++], id, sizeof id);
    uint64_t bytes = strtoull(memory, NULL, 10);
    s->unlimited |= bytes == 0;
    s->memory += bytes;
    /* volatile-*: only robots rules have an expiry, and those can be fetched again. */
    if (strncmp(policy, "allkeys", 7) == 0) {
        s->evicts = true;
        memcpy(s->policy, policy, sizeof policy);
    }
    return true;
}

seen_status sn_room_configure(sn_fleet *f, seen_error *error)
{
    servers s = {0};
    /* Before the crawl is created it has no buckets. */
    for (unsigned b = 0; b <= f->conn.buckets; b++) {
        uint16_t slot = b < f->conn.buckets ? f->conn.slot[b] : f->conn.name_slot;
        sn_command_begin(f->conn.ch, b, slot, 1);
        sn_command_text(f->conn.ch, "INFO");
    }
    seen_status status = sn_fleet_run(&f->conn, take_info, &s, error);
    if (status == SEEN_OK && s.evicts)
        return sn_error_set(error, SEEN_ERR_SERVER,
                            "%s: the server deletes keys when its memory is full, which would lose "
                            "URLs: its maxmemory-policy is %s; set it to noeviction",
                            sn_client_address(f->conn.client)->shown, s.policy);
    f->memory_default = s.unlimited ? 0 : s.memory / 10 * 8;
    return status;
}

/* ---- waiting ---- */

static void set_full(sn_fleet *f, bool full)
{
    pthread_mutex_lock(&f->lock);
    f->full = full;
    pthread_mutex_unlock(&f->lock);
}

/* A moment, in which the session lives on. It ends when the engine has closed: the links that wait
 * are abandoned, and their pages are not acknowledged. */
static seen_status pause_full(sn_fleet *f)
{
    pthread_mutex_lock(&f->lock);
    f->abandoned = f->closing;
    pthread_mutex_unlock(&f->lock);
    if (f->abandoned)
        return sn_error_set(f->clerk_error, SEEN_ERR_SPACE, "%s: no room for links",
                            sn_client_address(f->conn.client)->shown);
    seen_status status = sn_session_beat(f);
    if (status == SEEN_OK)
        status = sn_session_poll(f);
    if (status == SEEN_OK)
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    return status;
}

bool sn_room_refused(sn_fleet *f, seen_status *status)
{
    if (*status != SEEN_ERR_SPACE) {
        if (*status == SEEN_OK && f->refused)
            set_full(f, f->refused = false);
        return false;
    }
    set_full(f, f->refused = true);
    *status = pause_full(f);
    return *status == SEEN_OK;
}

seen_status sn_room_wait(sn_fleet *f)
{
    enum { LOOK_MS = 200 };
    for (;;) {
        int64_t now = sn_fleet_now();
        uint64_t bytes = 0;
        pthread_mutex_lock(&f->lock);
        bool full = f->full;
        pthread_mutex_unlock(&f->lock);
        if (!full && (f->memory == 0 || now - f->measured_at < LOOK_MS))
            return SEEN_OK;
        f->measured_at = now;
        seen_status status = sn_session_sum(f, "meta", "bytes", &bytes);
        if (status != SEEN_OK)
            return status;
        full = f->memory > 0 && bytes >= f->memory;
        set_full(f, full);
        if (!full)
            return SEEN_OK;
        status = pause_full(f);
        if (status != SEEN_OK)
            return status;
    }
}
