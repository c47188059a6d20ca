/* Each line once, exactly. */
#include "stream/fail.h"
#include "stream/uniq_inside.h"

seen_status sn_uniq_plan_exact(const sn_uniq_options *options, sn_uniq_plan *plan,
                               seen_error *error)
{
    (void)options, (void)plan;
    return sn_stream_fail(error, SEEN_ERR_UNSUPPORTED, "this build has no exact tables");
}

seen_status sn_uniq_run_exact(sn_uniq *u, seen_error *error)
{
    (void)u;
    return sn_stream_fail(error, SEEN_ERR_UNSUPPORTED, "this build has no exact tables");
}
