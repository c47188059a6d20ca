#!lua flags=allow-oom
-- Returns the permits of a session that it did not bind to URLs. The session gets no more.
-- KEYS registry   ARGV session bound   returns how many came back
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end -- the crawl was dropped
local field = 'permits:' .. ARGV[1]
local has = redis.call('HGET', KEYS[1], field)
redis.call('HSET', KEYS[1], field, 'over')
if not has or has == 'over' then return 0 end
local back = tonumber(has) - tonumber(ARGV[2])
if back ~= 0 then redis.call('HINCRBY', KEYS[1], 'started', -back) end -- -0 is no integer there
return back
