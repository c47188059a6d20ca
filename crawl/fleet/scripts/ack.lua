#!lua flags=allow-oom
-- Acknowledges pages of queues that the session owns; releases some of the queues.
-- KEYS ready owner meta tired applied pages, then per queue: list, state
-- ARGV session mark count returned, then per queue:
--   queue, head, done, freed, bits, pages, release, rested, wait, granted
--   head    number of the first element that is kept     done    URLs acknowledged
--   freed   bytes of the elements before head            bits    what is done in the elements kept
--   pages   fetched from the host so far, '' if it is not counted
--   release 1: the session gives the queue back          rested  1: the host's delay has passed
--   wait    milliseconds that the next owner must leave the host alone; '' as it was
--   granted URLs of the elements kept, from the first, that have a permit
-- mark as in pick; for --max-pages, what the session has done in this bucket so far:
--   count   pages               returned  URLs that had a permit and were not fetched
-- All numbers are absolute for the owner: repeating the call changes nothing.
-- returns how many queues belong to another session
local other, done, freed = 0, {}, 0
local i = 5
for k = 7, #KEYS, 2 do
  local list, state, queue = KEYS[k], KEYS[k + 1], ARGV[i]
  if redis.call('HGET', KEYS[2], queue) ~= ARGV[1] then
    other = other + 1
  else
    local host = string.match(queue, '^[^:]+')
    local depth = string.match(queue, ':(%d+)$') or '0'
    local old = redis.call('HMGET', state, 'head', 'done', 'freed')
    local head, n, f = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
    local cut = head - (tonumber(old[1]) or 0)
    if cut > 0 then redis.call('LTRIM', list, cut, -1) end
    done[depth] = (done[depth] or 0) + n - (tonumber(old[2]) or 0)
    freed = freed + f - (tonumber(old[3]) or 0)
    if ARGV[i + 5] ~= '' then redis.call('HSET', KEYS[6], host, ARGV[i + 5]) end
    if ARGV[i + 8] ~= '' and ARGV[i + 7] ~= '1' then
      redis.call('HSET', KEYS[4], host, ARGV[i + 8] == '0' and ARGV[1] or ARGV[1] .. ':' .. ARGV[i + 8])
    end
    if ARGV[i + 6] == '1' then
      redis.call('HDEL', KEYS[2], queue)
      if ARGV[i + 7] == '1' and string.match(redis.call('HGET', KEYS[4], host) or '', '^[^:]*') == ARGV[1] then
        redis.call('HDEL', KEYS[4], host)
      end
      if redis.call('EXISTS', list) == 1 then
        local t = redis.call('TIME')
        local now = t[1] * 1000 + math.floor(t[2] / 1000)
        redis.call('ZADD', KEYS[1], tonumber(depth) * 4398046511104 + now + math.min(tonumber(ARGV[i + 8]) or 0, 1000), queue)
      end
    end
    if ARGV[i + 6] == '1' and ARGV[i + 4] == '' and ARGV[i + 9] == '0' then
      redis.call('DEL', state)
    else
      redis.call('HSET', state, 'head', head, 'done', n, 'freed', f, 'bits', ARGV[i + 4],
        'granted', ARGV[i + 9])
    end
  end
  i = i + 10
end
for depth, n in pairs(done) do
  if n > 0 then redis.call('HINCRBY', KEYS[3], 'done:' .. depth, n) end
end
if freed > 0 then redis.call('HINCRBY', KEYS[3], 'bytes', -freed) end
for k, field in ipairs({'pages', 'returned'}) do
  if other == 0 and ARGV[k + 2] ~= '0' then
    local mine = string.sub(field, 1, 1) .. ':' .. ARGV[1]
    local before = tonumber(redis.call('HGET', KEYS[5], mine)) or 0
    redis.call('HINCRBY', KEYS[3], field, tonumber(ARGV[k + 2]) - before)
    redis.call('HSET', KEYS[5], mine, ARGV[k + 2])
  end
end
redis.call('HSET', KEYS[5], 'm:' .. ARGV[1], ARGV[2])
return other
