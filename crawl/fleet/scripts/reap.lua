#!lua flags=allow-oom
-- Returns queues of a session that was declared dead to the queues that are ready.
-- KEYS ready owner tired   ARGV session queue ...   returns how many
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local n = 0
for i = 2, #ARGV do
  local queue = ARGV[i]
  if redis.call('HGET', KEYS[2], queue) == ARGV[1] then
    local depth = tonumber(string.sub(queue, 18)) or 0
    redis.call('HDEL', KEYS[2], queue)
    local host = 'owner:' .. string.sub(queue, 1, 16)
    if #queue > 16 and redis.call('HGET', KEYS[3], host) == ARGV[1] then redis.call('HDEL', KEYS[3], host) end
    redis.call('ZADD', KEYS[1], depth * 4398046511104 + now, queue)
    n = n + 1
  end
end
return n
