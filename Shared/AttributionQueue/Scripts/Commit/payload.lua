-- In front of what takes messages from among the delayed ones.
-- ring: tells the owner of a shard that its empty stream is not to stay so: the stream's name is the channel. Where that is refused the
-- owner finds it when it looks.
local function ring(ready) redis.pcall('SPUBLISH', ready, '') end
-- append: puts a delayed message on the ready stream. One whose payload is of another form goes there as it is, in the line that it is
-- known to stand in: who leases it makes a dead letter of it.
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
  if redis.call('XLEN', ready) == 0 then ring(ready) end
  redis.call('XADD', ready, unpack(words))
end
