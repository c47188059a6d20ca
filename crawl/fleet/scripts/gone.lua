#!lua flags=allow-oom
-- A dead session has been recovered: its journal and record are deleted.
-- KEYS session journal record   ARGV state   returns 1: done, 0: it was not dead
if redis.call('HGET', KEYS[1], 'state') ~= 'dead' then return 0 end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('HSET', KEYS[1], 'state', ARGV[1])
return 1
