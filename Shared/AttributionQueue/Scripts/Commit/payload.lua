-- A prefix of scripts that move delayed messages to the ready stream.
-- wake: notifies the owner of a shard that its empty stream gets a message. The channel has the stream's name. If Redis refuses to publish,
-- the owner finds the message at its next periodic read.
local function wake(ready) redis.pcall('SPUBLISH', ready, '') end
-- append: moves a delayed message to the ready stream. A payload in an unknown form is moved unchanged, with the order line that the caller
-- passes; the worker makes it a dead letter.
local function append(ready, id, packed, line)
  local isRead, m = pcall(cmsgpack.unpack, packed)
  isRead = isRead and type(m) == 'table' and type(m[1]) == 'string' and type(m[2]) == 'string' and type(m[3]) == 'string'
    and type(m[4]) == 'number' and type(m[5]) == 'string'
  local words = {'*', 'i', id, 'payload', packed}
  if isRead then
    words = {'*', 'i', id, 'k', m[1], 'b', m[2], 'a', m[3], 'n', m[4], 'h', m[5]}
    line = line or m[6]
  end
  if line then words[#words + 1], words[#words + 2] = 'o', line end
  if isRead and tonumber(m[7]) then words[#words + 1], words[#words + 2] = 'r', m[7] end
  if redis.call('XLEN', ready) == 0 then wake(ready) end
  redis.call('XADD', ready, unpack(words))
end
