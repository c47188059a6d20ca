#!lua flags=allow-oom
-- Changes fields of the registry if one of them and the sequence are as expected.
-- KEYS registry   ARGV field expected sequence, then field value ...   returns 1: changed, 0: not
local v = redis.call('HMGET', KEYS[1], ARGV[1], 'sequence')
if v[1] ~= ARGV[2] or (ARGV[3] ~= '' and v[2] ~= ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 4))
redis.call('HINCRBY', KEYS[1], 'sequence', 1)
return 1
