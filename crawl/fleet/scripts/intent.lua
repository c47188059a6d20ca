-- Writes a batch to the journal of a live session.
-- KEYS session journal   ARGV number batch   returns 1, -1: not live
-- The session keeps the number: whether a failover lost the batch is looked up later.
if redis.call('HGET', KEYS[1], 'state') ~= 'live' then return -1 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[1], 'intent', ARGV[1])
return 1
