/* Returns failed pages to their queues: `seen crawl failed --retry-failed`.
 *
 * The list of failures of a bucket is read in pieces. Each piece is pushed through the journal like
 * new links, and then removed from the list. After a crash in between its pages are in both: they
 * are fetched again, or returned twice, but never lost. */
#include "base/error.h"
#include "crawl/fleet/internal.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 500 };

typedef struct piece {
    sn_fleet *f;
    sn_offers *offers;
    size_t lines;
    uint64_t before; /* lines of the list that were ever removed */
    bool failed;
} piece;

enum { TAG_BEFORE, TAG_LINES };

/* Fields: depth, kind, status, reason, URL, parent, separated by tabs; see note_failed. */
static void offer_line(piece *p, const char *line)
{
    const char *field[6] = {line};
    for (int i = 1; i < 6; i++) {
        const char *tab = strchr(field[i - 1], '\t');
        if (!tab)
            return; /* not a line of this program */
        field[i] = tab + 1;
    }
    sn_frontier_link link = {.url = field[4],
                             .len = (uint32_t)(field[5] - field[4] - 1),
                             .parent = field[5],
                             .parent_len = (uint32_t)strlen(field[5]),
                             .depth = (uint16_t)strtoul(field[0], NULL, 10),
                             .kind = (uint8_t)strtoul(field[1], NULL, 10),
                             .flags = SN_OFFER_AGAIN};
    link.hash = sn_frontier_hash(&p->f->base, link.url, link.len, link.kind);
    p->failed |= !sn_offers_add(p->offers, &link);
}

static bool take_piece(void *context, uint32_t tag, const sn_reply *r, bool again)
{
    piece *p = context;
    (void)again;
    if (tag == TAG_BEFORE) {
        p->before = (uint64_t)sn_fleet_reply_number(r, 0);
        return r->items == 1 && !sn_reply_is_error(r);
    }
    if (r->items < 1 || r->item[0].type != REDIS_REPLY_ARRAY)
        return false;
    p->lines = r->items - 1;
    for (size_t i = 1; i < r->items; i++)
        offer_line(p, sn_reply_text(r, i));
    return true;
}

/* Returns up to `most` pages from the front of a bucket's list. */
static seen_status retry_piece(sn_fleet *f, unsigned b, size_t most, size_t *lines, uint64_t *count)
{
    sn_offers *o = &f->taken_offers;
    piece p = {.f = f, .offers = o};
    o->count = o->text.len = 0;
    o->parent_len = 0;
    sn_command_begin(f->conn.ch, TAG_BEFORE, f->conn.slot[b], 3);
    sn_command_text(f->conn.ch, "HGET");
    sn_fleet_key_bucket(&f->conn, b, "meta");
    sn_command_text(f->conn.ch, "retried");
    sn_command_begin(f->conn.ch, TAG_LINES, f->conn.slot[b], 4);
    sn_command_text(f->conn.ch, "LRANGE");
    sn_fleet_key_bucket(&f->conn, b, "failed");
    sn_command_text(f->conn.ch, "0");
    sn_command_number(f->conn.ch, most - 1);
    seen_status status = sn_fleet_run(&f->conn, take_piece, &p, f->clerk_error);
    *lines = p.lines;
    if (status == SEEN_OK && p.failed)
        return sn_error_set(f->clerk_error, SEEN_ERR_MEMORY, "out of memory");
    if (status != SEEN_OK || p.lines == 0)
        return status;
    status = sn_journal_run(f, o);
    if (status != SEEN_OK)
        return status;
    *count += o->count;
    sn_fleet_call(&f->conn, 0, f->conn.slot[b], SN_LUA_TRIM, 2, 2);
    sn_fleet_key_bucket(&f->conn, b, "failed");
    sn_fleet_key_bucket(&f->conn, b, "meta");
    sn_command_number(f->conn.ch, p.before);
    sn_command_number(f->conn.ch, p.lines);
    return sn_fleet_run(&f->conn, NULL, NULL, f->clerk_error);
}

/* Only the pages that are listed now: those that fail again concurrently are appended. */
static seen_status retry_bucket(sn_fleet *f, unsigned b, uint64_t *count)
{
    long long left;
    sn_command_begin(f->conn.ch, 0, f->conn.slot[b], 2);
    sn_command_text(f->conn.ch, "LLEN");
    sn_fleet_key_bucket(&f->conn, b, "failed");
    seen_status status = sn_fleet_run_number(&f->conn, &left, f->clerk_error);
    while (status == SEEN_OK && left > 0) {
        size_t lines = 0, most = left < PIECE ? (size_t)left : PIECE;
        status = retry_piece(f, b, most, &lines, count);
        left -= lines > 0 ? (long long)lines : left;
        if (status == SEEN_OK)
            status = sn_session_beat(f);
    }
    return status;
}

seen_status sn_fleet_retry(const sn_fleet_options *options, uint64_t *count, seen_error *error)
{
    sn_fleet *f = NULL;
    *count = 0;
    seen_status status = sn_fleet_begin(options, &f, NULL, error);
    if (!f)
        return status;
    if (f->limit)
        status = sn_error_set(error, SEEN_ERR_ARGUMENT,
                              "%s: this crawl has reached its --max-pages; nothing was put back",
                              sn_client_address(f->conn.client)->shown);
    for (unsigned b = 0; b < f->conn.buckets && status == SEEN_OK; b++)
        status = retry_bucket(f, b, count);
    seen_error ignored;
    f->clerk_error = status == SEEN_OK ? error : &ignored;
    seen_status left = sn_session_leave(f);
    f->base.class->close(&f->base);
    return status == SEEN_OK ? left : status;
}
