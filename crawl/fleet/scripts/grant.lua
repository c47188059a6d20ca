#!lua flags=allow-oom
-- Binds permits of --max-pages to the first URLs of queues that the session owns. They stay with the
-- queue: if the session dies, the next owner may fetch these URLs and no others in their place.
-- KEYS owner applied, then per queue: state
-- ARGV session mark total, then per queue: queue, granted
--   mark as in pick; total: permits that the session has bound in this bucket so far
--   granted: URLs, counted from the first element that is kept
-- All numbers are absolute: repeating the call changes nothing.
-- returns how many queues belong to another session; if any, nothing is bound; -1: an earlier write
--   of the session is missing
local last, mark = tonumber(redis.call('HGET', KEYS[2], 'm:' .. ARGV[1]) or 0), tonumber(ARGV[2])
if last >= mark then return 0 end
if last ~= mark - 1 then return -1 end
local other = 0
for k = 3, #KEYS do
  if redis.call('HGET', KEYS[1], ARGV[2 * k - 2]) ~= ARGV[1] then other = other + 1 end
end
if other > 0 then return other end
for k = 3, #KEYS do redis.call('HSET', KEYS[k], 'granted', ARGV[2 * k - 1]) end
redis.call('HSET', KEYS[2], 'g:' .. ARGV[1], ARGV[3], 'm:' .. ARGV[1], ARGV[2])
return 0
