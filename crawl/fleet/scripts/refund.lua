#!lua flags=allow-oom
-- Returns the permits of a session that it did not bind to URLs.
-- KEYS registry   ARGV session bound   returns how many came back
local taken = tonumber(redis.call('HGET', KEYS[1], 'permits:' .. ARGV[1]))
if not taken then return 0 end
local back = taken - tonumber(ARGV[2])
if back ~= 0 then redis.call('HINCRBY', KEYS[1], 'started', -back) end -- -0 is no integer there
redis.call('HDEL', KEYS[1], 'permits:' .. ARGV[1])
return back
