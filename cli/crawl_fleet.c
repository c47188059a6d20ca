/* `seen crawl --join`, and the commands about a shared crawl. */
#include "cli/crawl_fleet.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const words[] = {"",     "status", "pause",  "resume",
                                    "stop", "failed", "export", "drop"};

sn_crawl_fleet_word sn_crawl_fleet_find(const sn_args *args)
{
    for (int i = SN_FLEET_STATUS; i <= SN_FLEET_DROP && args->operand_count > 0; i++)
        if (strcmp(args->operands[0], words[i]) == 0)
            return (sn_crawl_fleet_word)i;
    return SN_FLEET_NONE;
}

/* ---- joining ---- */

bool sn_crawl_fleet_load(sn_crawl_options *options, bool urls, void **keep, seen_error *error)
{
    bool there;
    if (sn_crawl_load_shared(options, &there, keep, error) != SEEN_OK)
        return false;
    if (there || urls)
        return true;
    error->status = SEEN_ERR_NOT_FOUND;
    snprintf(
        error->message, sizeof error->message,
        "%.200s: there is no crawl of this name; check the address, or give a URL to start one",
        options->join);
    return false;
}

bool sn_crawl_fleet_again(const sn_args *args, const sn_crawl_result *result,
                          const seen_error *error)
{
    if (!result->session_lost || atomic_load(sn_stop_flag()) != 0)
        return false;
    sn_note(args, "%s; joining again", error->message);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    return atomic_load(sn_stop_flag()) == 0;
}

int sn_crawl_fleet(sn_args *args, sn_crawl_fleet_word word, const char *ca_file, bool watch,
                   bool force)
{
    (void)args, (void)word, (void)ca_file, (void)watch, (void)force;
    return sn_trouble("not there yet");
}
