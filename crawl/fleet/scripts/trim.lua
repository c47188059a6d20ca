#!lua flags=allow-oom
-- Removes pages from the front of the list of failures: they were returned to their queues.
-- KEYS failed meta   ARGV before count
--   before: how many were ever removed, when these were read: a call that is sent again, or another
--   worker that returned the same pages, removes no others
-- returns how many were removed
if tonumber(redis.call('HGET', KEYS[2], 'retried') or 0) ~= tonumber(ARGV[1]) then return 0 end
redis.call('LTRIM', KEYS[1], ARGV[2], -1)
redis.call('HINCRBY', KEYS[2], 'retried', ARGV[2])
return tonumber(ARGV[2])
