-- promote: moves delayed messages that are due by Redis' clock to the ready stream.
-- KEYS 1 delayed set  2 delayed payloads  3 ready stream
-- ARGV 1 maximum number to move
-- Returns {number moved, due time of the next, ms since 1970, or -1}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, id in ipairs(due) do
  local packed = redis.call('HGET', KEYS[2], id)
  redis.call('ZREM', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id)
  if packed then append(KEYS[3], id, packed) end
end
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
-- A score of +inf is a message that waits in its order line, which has no due time.
if #first == 0 or first[2] == 'inf' then return {#due, -1} end
return {#due, math.floor(tonumber(first[2]))}
