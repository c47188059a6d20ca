#!lua flags=allow-oom
-- Appends elements to lists, once per number and session.
-- KEYS ready owner meta applied list ...
-- ARGV session number replay ahead, then per list: queue, URLs, element
--   queue    HOST, or HOST:DEPTH in a crawl by levels
--   replay   1: for a session that was declared dead
--   ahead    milliseconds until the host may be asked, by the server's clock; a hint
-- returns the number of URLs, 0: the number was applied before, -1: the session is closed
local a = redis.call('HGET', KEYS[4], ARGV[1]) or '0'
local closed = string.sub(a, 1, 1) == 'x'
if closed and ARGV[3] ~= '1' then return -1 end
if tonumber(closed and string.sub(a, 2) or a) >= tonumber(ARGV[2]) then return 0 end
local urls, bytes, sum, new = 0, 0, {}, {}
local i = 5
for k = 5, #KEYS do
  local queue, n, element = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local depth = #queue > 16 and tonumber(string.sub(queue, 18)) or 0
  if redis.call('RPUSH', KEYS[k], element) == 1 then new[#new + 1] = queue end
  sum[depth] = (sum[depth] or 0) + n
  urls = urls + n
  bytes = bytes + #element
  i = i + 3
end
if #new > 0 then
  local ready, t = {}, redis.call('TIME')
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  for i, owner in ipairs(redis.call('HMGET', KEYS[2], unpack(new))) do
    if not owner then
      ready[#ready + 1] = (tonumber(string.sub(new[i], 18)) or 0) * 4398046511104 + now
      ready[#ready + 1] = new[i]
    end
  end
  if #ready > 0 then redis.call('ZADD', KEYS[1], 'NX', unpack(ready)) end
end
for depth, n in pairs(sum) do redis.call('HINCRBY', KEYS[3], 'pushed:' .. depth, n) end
redis.call('HINCRBY', KEYS[3], 'bytes', bytes)
redis.call('HSET', KEYS[4], ARGV[1], (closed and 'x' or '') .. ARGV[2])
return urls
