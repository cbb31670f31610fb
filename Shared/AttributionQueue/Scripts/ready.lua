-- ready: moves delayed messages to the ready stream now, in the order in which they are given.
-- KEYS 1 delayed set  2 delayed payloads  3 ready stream
-- ARGV 1… delivery ids
-- Answers how many were waiting.
local moved = 0
for _, id in ipairs(ARGV) do
  local due = redis.call('ZSCORE', KEYS[1], id)
  local packed = due and redis.call('HGET', KEYS[2], id)
  -- One that is due never waits for another of its order key: that must be finished first.
  if packed and due ~= 'inf' then
    redis.call('ZREM', KEYS[1], id)
    redis.call('HDEL', KEYS[2], id)
    local m = cmsgpack.unpack(packed)
    local words = {'*', 'i', id, 'k', m[1], 'b', m[2], 'a', m[3], 'n', m[4], 'h', m[5]}
    if m[6] then
      words[#words + 1] = 'o'
      words[#words + 1] = m[6]
    end
    redis.call('XADD', KEYS[3], unpack(words))
    moved = moved + 1
  end
end
return moved
