/* A copy of lines read from a pipe. */
#include "stream/io/copy.h"

seen_status sn_copy_open(sn_copy *copy, const char *dir, seen_error *error)
{
    *copy = (sn_copy){0};
    return sn_temp_open(dir, 0, &copy->temp, error);
}

void sn_copy_close(sn_copy *copy)
{
    sn_temp_close(copy->temp);
    *copy = (sn_copy){0};
}

seen_status sn_copy_add(sn_copy *copy, const char *bytes, size_t length, char terminator,
                        seen_error *error)
{
    if (!length)
        return SEEN_OK;
    seen_status status = sn_temp_write(copy->temp, bytes, length, error);
    if (status == SEEN_OK && bytes[length - 1] != terminator)
        status = sn_temp_write(copy->temp, &terminator, 1, error);
    return status;
}

seen_status sn_copy_input(sn_copy *copy, sn_stop *stop, sn_input **input, seen_error *error)
{
    seen_status status = sn_temp_flush(copy->temp, error);
    if (status != SEEN_OK)
        return status;
    return sn_input_open_fd(sn_temp_fd(copy->temp), "the copy of the input", stop, input, error);
}
