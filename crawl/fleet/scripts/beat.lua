#!lua flags=allow-oom
-- A heartbeat, with the counters of the session that changed, as absolute numbers.
-- KEYS session figures   ARGV pages, then field value ...   pages: '' if it did not change
-- returns the number of the beat, -1: not live
local v = redis.call('HMGET', KEYS[1], 'state', 'beat')
if v[1] ~= 'live' then return -1 end
local t = redis.call('TIME')
local beat = v[2] + 1
redis.call('HSET', KEYS[1], 'beat', beat, 'at', t[1] * 1000 + math.floor(t[2] / 1000), unpack(ARGV, 2))
if ARGV[1] ~= '' then
  -- Pages until the end of a second at first, of ten seconds or a minute later.
  local width = beat < 300 and 1 or beat < 2000 and 10 or 60
  redis.call('HSET', KEYS[2], 't:' .. t[1] - t[1] % width + width, ARGV[1])
end
return beat
