#!lua flags=allow-oom
-- Declares a session dead if its beat has not moved since it was observed.
-- KEYS session   ARGV beat   returns 1: it is dead, 0: it is not
local v = redis.call('HMGET', KEYS[1], 'state', 'beat')
if v[1] == 'dead' then return 1 end
if not v[1] then
  -- It never began: from now on it cannot.
  redis.call('HSET', KEYS[1], 'state', 'dead', 'beat', 0)
  return 1
end
if v[1] ~= 'live' or v[2] ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'state', 'dead')
return 1
