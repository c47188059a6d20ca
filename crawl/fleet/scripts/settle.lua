#!lua flags=allow-oom
-- Deletes a batch from the journal, and records the hashes of the URLs that were pushed. The journal
-- of a session that is not live is frozen: a worker that recovers it may have added the URLs and not
-- pushed them yet.
-- KEYS session journal record   ARGV number offset hashes   returns 1, -1: not live
if redis.call('HGET', KEYS[1], 'state') ~= 'live' then return -1 end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('SETRANGE', KEYS[3], ARGV[2], ARGV[3])
return 1
