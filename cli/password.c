/* The password of Redis from a file. */
#include "base/error.h"
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sn_password_read(const char *path)
{
    char line[1024] = "";
    seen_error error = {0};
    errno = 0;
    FILE *file = fopen(path, "re");
    bool got = file && fgets(line, sizeof line, file);
    int failed = errno;
    if (file)
        fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    if (!got && failed)
        sn_error_cannot(&error, failed, "read the password in", path);
    else if (!line[0])
        sn_error_set(&error, SEEN_ERR_ARGUMENT, "%s: no password in its first line", path);
    else if (!setenv("REDISCLI_AUTH", line, 1))
        return true;
    sn_message_report(&error);
    return false;
}
