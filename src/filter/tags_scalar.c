/* The tag kernel in plain C: the reference that every faster kernel must match. */
#include "filter/tags.h"

static inline uint32_t lanes_matching(const char *line, uint16_t lane)
{
    uint32_t found = 0;
    for (unsigned i = 0; i < 32; i++) {
        unsigned have = sn_tags_lane(line, i), below = have ? have - 1 : 0;
        found |= (uint32_t)(((have ^ lane) & ~(have ^ below)) == 0) << i;
    }
    return found;
}

static inline uint32_t lanes_empty(const char *line)
{
    uint32_t empty = 0;
    for (unsigned i = 0; i < 32; i++)
        empty |= (uint32_t)(sn_tags_lane(line, i) == 0) << i;
    return empty;
}

#define HAVE_MATCHING(extra) false

static inline uint32_t tags_matching(const char *line, uint64_t code, unsigned extra)
{
    (void)extra;
    return lanes_matching(line, (uint16_t)code);
}

#include "filter/tags_body.h"
#include "filter/tags_grow_body.h"

const sn_tags_kernel sn_tags_scalar = {.name = "scalar",
                                       .check = body_check,
                                       .check_one = body_check_one,
                                       .add = body_add,
                                       .rewrite = body_rewrite};
