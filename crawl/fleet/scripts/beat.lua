#!lua flags=allow-oom
-- A heartbeat, with the counters of the session that changed, as absolute numbers.
-- KEYS session figures   ARGV pages, then field value ...   pages: '' if it did not change
-- returns the number of the beat, -1: not live
local v = redis.call('HMGET', KEYS[1], 'state', 'beat', 'at', 'pages')
if v[1] ~= 'live' then return -1 end
local t = redis.call('TIME')
local beat = v[2] + 1
redis.call('HSET', KEYS[1], 'beat', beat, 'at', t[1] * 1000 + math.floor(t[2] / 1000), unpack(ARGV, 2))
if ARGV[1] ~= '' then
  -- Pages until the end of a second at first, of ten seconds or a minute later.
  local function begin(number, seconds)
    local width = number < 300 and 1 or number < 2000 and 10 or 60
    return seconds - seconds % width, width
  end
  -- A heartbeat without new pages wrote none: after a pause, when the new ones began to come.
  local from, width = begin(v[2] + 0, math.floor(v[3] / 1000))
  local past = redis.call('HMGET', KEYS[2], 't:' .. from, 't:' .. from + width)
  if not past[1] and not past[2] then redis.call('HSET', KEYS[2], 't:' .. from, v[4] or 0) end
  from, width = begin(beat, t[1] + 0)
  redis.call('HSET', KEYS[2], 't:' .. from + width, ARGV[1])
end
return beat
