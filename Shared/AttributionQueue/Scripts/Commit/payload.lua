-- A prefix of scripts that move delayed messages to the ready stream.
-- wake: notifies the owner of a shard that its empty stream gets a message. The channel has the stream's name. If Redis refuses to publish,
-- the owner finds the message at its next periodic read.
local function wake(ready) redis.pcall('SPUBLISH', ready, '') end
-- append: moves a delayed message to the ready stream. A payload in an unknown format is moved unchanged, with the order line that the
-- caller passes; the worker makes it a dead letter. accept.lua describes the format of a payload.
local function append(ready, id, packed, line)
  local isRead, fields = pcall(cmsgpack.unpack, packed)
  isRead = isRead and type(fields) == 'table' and type(fields[1]) == 'string' and type(fields[2]) == 'string'
    and type(fields[3]) == 'string' and type(fields[4]) == 'number' and type(fields[5]) == 'string'
  local words = {'*', 'i', id, 'payload', packed}
  if isRead then
    words = {'*', 'i', id, 'k', fields[1], 'b', fields[2], 'a', fields[3], 'n', fields[4], 'h', fields[5]}
    line = line or fields[6]
  end
  if line then words[#words + 1], words[#words + 2] = 'o', line end
  if isRead and tonumber(fields[7]) then words[#words + 1], words[#words + 2] = 'r', fields[7] end
  if redis.call('XLEN', ready) == 0 then wake(ready) end
  redis.call('XADD', ready, unpack(words))
end
