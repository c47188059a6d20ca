#!lua flags=allow-oom
-- A worker gives URLs that no page of the crawl leads to: start URLs, or pages that are put back. It calls this before
-- it pushes them, so that a crawl that was done is not while they are queued, and again after that: whoever has
-- summed before the push has an old sequence, and cannot end the crawl.
-- KEYS registry   ARGV id run given
--   run     1: a crawl that was done runs again
--   given   1: what was given is in the lists, or was seen before: without a URL in them the crawl is done
-- returns 1, -1: there is no crawl of this id
if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then return -1 end
redis.call('HINCRBY', KEYS[1], 'sequence', 1)
if ARGV[2] == '1' and redis.call('HGET', KEYS[1], 'state') == 'done' then redis.call('HSET', KEYS[1], 'state', 'run') end
if ARGV[3] == '1' then redis.call('HSET', KEYS[1], 'given', 1) end
return 1
