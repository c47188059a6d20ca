-- Creates the registry of a crawl unless it exists.
-- KEYS registry   ARGV field value ...   returns 1: created, 0: it existed
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local t = redis.call('TIME')
redis.call('HSET', KEYS[1], 'created', t[1] * 1000 + math.floor(t[2] / 1000), unpack(ARGV))
return 1
