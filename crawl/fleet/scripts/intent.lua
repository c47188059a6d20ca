-- Writes a batch to the journal of a live session.
-- KEYS session journal   ARGV number batch   returns 1, -1: not live
if redis.call('HGET', KEYS[1], 'state') ~= 'live' then return -1 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 1
