#!lua flags=allow-oom
-- Closes a bucket to a session: pick, push and ack refuse it from now on; a replay may still push.
-- KEYS applied   ARGV session   returns 1
local a = redis.call('HGET', KEYS[1], ARGV[1]) or '0'
if string.sub(a, 1, 1) ~= 'x' then redis.call('HSET', KEYS[1], ARGV[1], 'x' .. a) end
return 1
