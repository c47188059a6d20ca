/* A full disk: a small file system in memory, which needs the permission to mount one (else:
 * skipped).
 *
 * Filters are created and grow until there is no space: refused with a message, nothing incomplete
 * is left, existing files are intact, and with space again everything continues. */
#include "rig.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>

/* Adds until it fails; returns how many were acknowledged. */
static uint64_t add_until_full(seen_set *set, uint64_t first, seen_status wanted)
{
    for (uint64_t i = first; i < 10000000; i++) {
        seen_hash h = hash_of(i);
        seen_answer answer;
        seen_error e = {0};
        seen_status status = seen_add_hashes(set, &h, 1, &answer, &e);
        if (status == SEEN_OK)
            continue;
        if (status != wanted || strlen(e.message) < 20)
            die("the wrong error", e.message);
        return i;
    }
    die("the disk", "is never full");
    return 0;
}

int main(void)
{
    folder_make("/tmp", "full");
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", folder, "tmpfs", 0, "size=512k") != 0) {
        fprintf(stderr, "SKIPPED: no right to mount a small file system (%s)\n", strerror(errno));
        rmdir(folder);
        return 77;
    }
    seen_options options = {
        .size = sizeof options, .growth = SEEN_GROWING, .capacity = 1000, .error_rate = 0.001};
    seen_set *set, *other = NULL;
    seen_error e = {0};
    if (seen_create(at("set"), &options, 0, &set, &e) != SEEN_OK)
        die("create", e.message);
    uint64_t keys = add_until_full(set, 0, SEEN_ERR_SPACE);
    must_have(set, 0, keys, "on the full disk");
    if (seen_sync(set, &e) != SEEN_OK)
        die("sync", e.message);
    /* No space for a copy, a second one, or a large one; the first is unchanged. */
    if (seen_copy(set, at("copy"), 0, NULL, &e) != SEEN_ERR_SPACE)
        die("copy", "fits");
    seen_options large = {.size = sizeof large, .capacity = 100000000};
    if (seen_create(at("large"), &large, 0, &other, &e) != SEEN_ERR_SPACE || other)
        die("large", "fits");
    if (seen_create(at("set"), &large, SEEN_REPLACE, &other, &e) != SEEN_ERR_SPACE || other)
        die("set", "was replaced");
    if (folder_count(NULL) != 1)
        die("something", "was left on the full disk");
    must_have(set, 0, keys, "on the full disk");
    seen_close(set);
    if (seen_open(at("set"), NULL, 0, &set, &e) != SEEN_OK)
        die("open", e.message);
    must_have(set, 0, keys, "on the full disk");
    /* With space again it continues. */
    if (mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=1m") != 0)
        die("remount", strerror(errno));
    uint64_t more = add_until_full(set, keys, SEEN_ERR_SPACE);
    if (more < keys + 1000)
        die("the set", "does not go on");
    must_have(set, 0, more, "on the full disk");
    seen_close(set);
    printf("full at %llu and at %llu keys; nothing lost\n", (unsigned long long)keys,
           (unsigned long long)more);
    umount(folder);
    return rmdir(folder) != 0;
}
