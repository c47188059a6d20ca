#!lua flags=allow-oom
-- Takes permits to fetch pages, of which there are so many in the whole crawl.
-- KEYS registry   ARGV session limit want had   returns how many were granted
--   limit of the crawl, and the permits that were returned so far
--   had   permits the session got so far: a call that is sent again gets the same answer
--   none to a session that was refunded: it is over
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end -- the crawl was dropped
local has = redis.call('HGET', KEYS[1], 'permits:' .. ARGV[1])
if has == 'over' then return 0 end
local taken = tonumber(has) or 0
if taken > tonumber(ARGV[4]) then return taken - tonumber(ARGV[4]) end
local left = tonumber(ARGV[2]) - (tonumber(redis.call('HGET', KEYS[1], 'started')) or 0)
local n = math.min(left, tonumber(ARGV[3]))
if n <= 0 then return 0 end
redis.call('HINCRBY', KEYS[1], 'started', n)
redis.call('HINCRBY', KEYS[1], 'permits:' .. ARGV[1], n)
return n
