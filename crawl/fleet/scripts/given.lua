#!lua flags=allow-oom
-- A session gives URLs that no page of the crawl leads to: start URLs, or pages that are put back. While it does, the
-- crawl cannot end: no sum has what is only in its journal.
-- KEYS registry   ARGV id session step
--   seed    its hosts are in scope: the others read the list
--   begin   before the first is in the journal; a crawl that was done runs again
--   end     all are in the lists, or were seen before: without any in them the crawl is done
--   over    the session has ended in between, and was recovered
-- returns 1, -1: there is no crawl of this id
local v = redis.call('HMGET', KEYS[1], 'id', 'state', 'giving')
if v[1] ~= ARGV[1] then return -1 end
local giving = string.gsub(v[3] or '', ARGV[2] .. ' ', '')
if ARGV[3] == 'begin' then
  giving = giving .. ARGV[2] .. ' '
  if v[2] == 'done' then redis.call('HSET', KEYS[1], 'state', 'run') end
elseif ARGV[3] == 'end' then
  redis.call('HSET', KEYS[1], 'given', 1)
end
if ARGV[3] ~= 'seed' then redis.call('HSET', KEYS[1], 'giving', giving) end
redis.call('HINCRBY', KEYS[1], 'sequence', 1)
return 1
