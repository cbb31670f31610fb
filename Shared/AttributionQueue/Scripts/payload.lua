-- In front of what takes messages from among the delayed ones.
-- append: puts a delayed message on the ready stream. One whose payload is of another form goes there as it is, in the line that it is
-- known to stand in: who leases it makes a dead letter of it.
local function append(ready, id, packed, line)
  local isRead, m = pcall(cmsgpack.unpack, packed)
  isRead = isRead and type(m) == 'table'
  for index, form in ipairs({'string', 'string', 'string', 'number', 'string'}) do isRead = isRead and type(m[index]) == form end
  local words = {'*', 'i', id}
  local function add(name, value) words[#words + 1], words[#words + 2] = name, value end
  if isRead then
    for index, name in ipairs({'k', 'b', 'a', 'n', 'h'}) do add(name, m[index]) end
    line = line or m[6]
  else
    add('payload', packed)
  end
  if line then add('o', line) end
  if isRead and tonumber(m[7]) then add('r', m[7]) end
  redis.call('XADD', ready, unpack(words))
end
