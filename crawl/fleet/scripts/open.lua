-- Begins a session. Refused if the session exists: an observer may have declared it dead already.
-- KEYS session   ARGV field value ...   returns 1: live, 0: refused
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('HSET', KEYS[1], 'state', 'live', 'beat', 0, 'at', now, unpack(ARGV))
return 1
