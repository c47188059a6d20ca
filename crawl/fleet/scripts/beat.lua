#!lua flags=allow-oom
-- A heartbeat, with the counters of the session as absolute numbers.
-- KEYS session figures   ARGV pages number, field value ...
-- returns the number of the beat, -1: not live
if redis.call('HGET', KEYS[1], 'state') ~= 'live' then return -1 end
if #ARGV > 0 then redis.call('HSET', KEYS[1], unpack(ARGV)) end
local t = redis.call('TIME')
redis.call('HSET', KEYS[1], 'at', t[1] * 1000 + math.floor(t[2] / 1000))
local beat = redis.call('HINCRBY', KEYS[1], 'beat', 1)
-- Pages over time: every ten seconds at first, every minute later.
local width = beat < 2000 and 10 or 60
redis.call('HSET', KEYS[2], 't:' .. t[1] - t[1] % width, ARGV[2])
return beat
