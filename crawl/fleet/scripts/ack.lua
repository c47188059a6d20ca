#!lua flags=allow-oom
-- Acknowledges pages of queues that the session owns; releases some of the queues.
-- KEYS ready owner meta tired applied pages, the lists of all queues, the states of those that change
-- ARGV session mark queues changed freed pages returned done, all queues, their cuts, then per changed
--   queue: bits, host_pages, release, rested, wait, granted
--   mark       as in pick; this call must be the one after the last that the bucket has
--   queues     how many; the first `changed` of them change more than their list
--   freed      bytes of the elements removed from all lists
--   pages, returned   for --max-pages: pages, and URLs that had a permit and were not fetched
--   done       URLs acknowledged, by depth: DEPTH:NUMBER,...
--   cut        elements to remove from the front of the list
--   bits       what is done in the elements that stay
--   host_pages fetched from the host so far, '' if they are not counted
--   release    1: the session gives the queue back, 2: the last one that it owns of the host
--   rested     1: the host's delay has passed
--   wait       milliseconds that the next owner must leave the host alone; '' as it was
--   granted    URLs of the elements that stay, from the first, that have a permit; '': the queue has no
--              state and needs none
-- returns 0: done, now or before; -1: an earlier write of the session is missing; otherwise how many
--   queues belong to another session: then nothing is changed
local session, n, m = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local mine, mark = 'm:' .. session, tonumber(ARGV[2])
local last = tonumber(redis.call('HGET', KEYS[5], mine) or 0)
if last >= mark then return 0 end
if last ~= mark - 1 then return -1 end
local other = 0
for _, owner in ipairs(redis.call('HMGET', KEYS[2], unpack(ARGV, 9, 8 + n))) do
  if owner ~= session then other = other + 1 end
end
if other > 0 then return other end

for i = 1, n do
  local cut = ARGV[8 + n + i]
  if cut ~= '0' then redis.call('LTRIM', KEYS[6 + i], cut, '-1') end
end
-- One command for all queues wherever there is one.
local pages, tired, rested, released, free, ready, done = {}, {}, {}, {}, {}, {}, {}
local at, now = 8 + 2 * n
for i = 1, m do
  local bits, counted, release, rest, wait, granted = unpack(ARGV, at + 1, at + 6)
  local queue = ARGV[8 + i]
  at = at + 6
  if counted ~= '' then
    pages[#pages + 1] = string.sub(queue, 1, 16)
    pages[#pages + 1] = counted
  end
  if wait ~= '' and rest ~= '1' then
    tired[#tired + 1] = string.sub(queue, 1, 16)
    tired[#tired + 1] = wait == '0' and session or session .. ':' .. wait
  end
  if bits == '' and granted == '0' then
    done[#done + 1] = KEYS[6 + n + i]
  elseif granted ~= '' then
    redis.call('HSET', KEYS[6 + n + i], 'bits', bits, 'granted', granted)
  end
  if release ~= '0' then
    released[#released + 1] = queue
    if release == '2' and #queue > 16 then free[#free + 1] = 'owner:' .. string.sub(queue, 1, 16) end
    if rest == '1' then rested[#rested + 1] = string.sub(queue, 1, 16) end
    if redis.call('EXISTS', KEYS[6 + i]) == 1 then
      if not now then
        local t = redis.call('TIME')
        now = t[1] * 1000 + math.floor(t[2] / 1000)
      end
      local depth = tonumber(string.sub(queue, 18)) or 0
      ready[#ready + 1] = depth * 4398046511104 + now + math.min(tonumber(wait) or 0, 1000)
      ready[#ready + 1] = queue
    end
  end
end
if #done > 0 then redis.call('DEL', unpack(done)) end
if #pages > 0 then redis.call('HSET', KEYS[6], unpack(pages)) end
if #tired > 0 then redis.call('HSET', KEYS[4], unpack(tired)) end
if #released > 0 then redis.call('HDEL', KEYS[2], unpack(released)) end
if #free > 0 then redis.call('HDEL', KEYS[4], unpack(free)) end
if #ready > 0 then redis.call('ZADD', KEYS[1], unpack(ready)) end
if #rested > 0 then
  local gone = {}
  for i, who in ipairs(redis.call('HMGET', KEYS[4], unpack(rested))) do
    if who and string.sub(who, 1, #session) == session then gone[#gone + 1] = rested[i] end
  end
  if #gone > 0 then redis.call('HDEL', KEYS[4], unpack(gone)) end
end

for depth, urls in string.gmatch(ARGV[8], '(%d+):(%d+)') do
  redis.call('HINCRBY', KEYS[3], 'done:' .. depth, urls)
end
if ARGV[5] ~= '0' then redis.call('HINCRBY', KEYS[3], 'bytes', '-' .. ARGV[5]) end
if ARGV[6] ~= '0' then redis.call('HINCRBY', KEYS[3], 'pages', ARGV[6]) end
if ARGV[7] ~= '0' then redis.call('HINCRBY', KEYS[3], 'returned', ARGV[7]) end
redis.call('HSET', KEYS[5], mine, ARGV[2])
return 0
