-- ready: moves delayed messages to the ready stream now, in the order of the arguments.
-- KEYS 1 delayed set  2 delayed payloads  3 ready stream
-- ARGV 1… delivery ids
-- Returns the number of moved messages. Messages that are not delayed, or that wait in their order line, are left as they are.
local moved = 0
for _, id in ipairs(ARGV) do
  local due = redis.call('ZSCORE', KEYS[1], id)
  local packed = due and redis.call('HGET', KEYS[2], id)
  -- Only a message that waits in its order line has the score +inf.
  if packed and due ~= 'inf' then
    redis.call('ZREM', KEYS[1], id)
    redis.call('HDEL', KEYS[2], id)
    append(KEYS[3], id, packed)
    moved = moved + 1
  end
end
return moved
