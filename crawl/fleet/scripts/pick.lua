#!lua flags=allow-oom
-- Takes queues that are due.
-- KEYS ready owner applied tired
-- ARGV session most level ahead mark
--   ahead   a score so far in the future means that the clock was set back: the queue is due
--   mark    number of this write of the session: whether it survived a failover is looked up later
-- returns -1: the session is closed; -2: this call was executed before, and its answer was lost
--   with the connection: the owners say what it took; otherwise queue, session that last asked the host or '', ...
--   session:MS   the host must be left alone for so long: kept until the new owner changes it
local a = redis.call('HGET', KEYS[3], ARGV[1])
if a and string.sub(a, 1, 1) == 'x' then return -1 end
if redis.call('HGET', KEYS[3], 'm:' .. ARGV[1]) == ARGV[5] then return -2 end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local base = tonumber(ARGV[3]) * 4398046511104
local due = redis.call('ZRANGEBYSCORE', KEYS[1], base, base + now, 'LIMIT', 0, ARGV[2])
if #due == 0 then
  due = redis.call('ZRANGEBYSCORE', KEYS[1], base + now + ARGV[4], base + 4398046511103, 'LIMIT', 0, ARGV[2])
end
local out = {}
for i, queue in ipairs(due) do
  local host = string.match(queue, '^[^:]+')
  redis.call('ZREM', KEYS[1], queue)
  redis.call('HSET', KEYS[2], queue, ARGV[1])
  out[2 * i - 1] = queue
  local last = redis.call('HGET', KEYS[4], host) or ''
  out[2 * i] = last
  redis.call('HSET', KEYS[4], host, ARGV[1] .. (string.match(last, ':.*') or ''))
end
if #due > 0 then redis.call('HSET', KEYS[3], 'm:' .. ARGV[1], ARGV[5]) end
return out
