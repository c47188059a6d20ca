-- Begins a session. Refused if an observer has declared it dead already.
-- KEYS session   ARGV field value ...   returns 1: live, 0: refused
local state = redis.call('HGET', KEYS[1], 'state')
if state == 'live' then return 1 end -- the call was sent again; the number of a session is random
if state then return 0 end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('HSET', KEYS[1], 'state', 'live', 'beat', 0, 'at', now, unpack(ARGV))
return 1
