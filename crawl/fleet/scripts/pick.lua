#!lua flags=allow-oom
-- Takes queues that are due, in a crawl by levels those up to the level: sitemaps and pages that are put back may have
-- an earlier depth. A host has a queue for each depth there: one session owns all that have an owner, as `tired` has
-- under owner:HOST, so that only one sends requests to the host.
-- KEYS ready owner applied tired
-- ARGV session most level ahead mark
--   ahead   a score so far in the future means that the clock was set back: the queue is due
--   mark    number of this write of the session to the bucket: if the one before it is missing, a failover
--           has lost it, and what the session knows of its queues is wrong
-- returns -1: the session is closed; -3: an earlier write of it is missing; -2: this call was executed before, and its answer was lost
--   with the connection: the owners say what it took; otherwise queue, session that last asked the host or '', ...
--   session:MS   the host must be left alone for so long: kept until the new owner changes it
local v = redis.call('HMGET', KEYS[3], ARGV[1], 'm:' .. ARGV[1])
local last, mark = tonumber(v[2] or 0), tonumber(ARGV[5])
if v[1] and string.sub(v[1], 1, 1) == 'x' then return -1 end
if last == mark then return -2 end
if last ~= mark - 1 then return -3 end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local most = math.min(tonumber(ARGV[2]), 1000) -- of some thousand values on, unpack fails
local base = tonumber(ARGV[3]) * 4398046511104
local due = redis.call('ZRANGEBYSCORE', KEYS[1], 0, base + now, 'LIMIT', 0, most)
if #due == 0 then
  due = redis.call('ZRANGEBYSCORE', KEYS[1], base + now + ARGV[4], base + 4398046511103, 'LIMIT', 0, most)
end
if #due == 0 then return {} end
local hosts, owner, tired, out = {}, {}, {}, {}
for i, queue in ipairs(due) do hosts[i] = string.sub(queue, 1, 16) end
if #due[1] > 16 then
  local fields, all, later = {}, due, {}
  for i, host in ipairs(hosts) do fields[i] = 'owner:' .. host end
  hosts, due = {}, {}
  for i, other in ipairs(redis.call('HMGET', KEYS[4], unpack(fields))) do
    if other and other ~= ARGV[1] then
      later[#later + 1] = base + now + 500
      later[#later + 1] = all[i]
    else
      hosts[#hosts + 1], due[#due + 1] = string.sub(all[i], 1, 16), all[i]
      tired[#tired + 1], tired[#tired + 2] = fields[i], ARGV[1]
    end
  end
  if #later > 0 then redis.call('ZADD', KEYS[1], unpack(later)) end
  if #due == 0 then return {} end
end
for i, last in ipairs(redis.call('HMGET', KEYS[4], unpack(hosts))) do
  last = last or ''
  out[2 * i - 1], out[2 * i] = due[i], last
  owner[2 * i - 1], owner[2 * i] = due[i], ARGV[1]
  tired[#tired + 1], tired[#tired + 2] = hosts[i], ARGV[1] .. (string.match(last, ':.*') or '')
end
redis.call('HSET', KEYS[2], unpack(owner))
redis.call('HSET', KEYS[4], unpack(tired))
redis.call('ZREM', KEYS[1], unpack(due))
redis.call('HSET', KEYS[3], 'm:' .. ARGV[1], ARGV[5])
return out
