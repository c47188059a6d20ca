#!lua flags=allow-oom
-- A dead session has been recovered: its journal is deleted. Its record stays for a while, for the
-- replays of others that died at the same time.
-- KEYS session journal record   ARGV state ms   returns 1: done, 0: it was not dead
if redis.call('HGET', KEYS[1], 'state') ~= 'dead' then return 0 end
redis.call('DEL', KEYS[2])
redis.call('PEXPIRE', KEYS[3], ARGV[2])
redis.call('HSET', KEYS[1], 'state', ARGV[1])
return 1
