-- own: takes a shard if its ownership did not change since the caller read it, and prepares it for the owned or the leased form.
-- KEYS 1 ownership  2 ready stream  3 suspects  4 delayed set  5 delayed payloads  6 a key that never exists, so that a cluster does not run
--      this while the slot moves, when order lines, whose keys are not named here, could be missing
-- ARGV 1 the known ownership, empty for none  2 the new owner  3 1 if the former owner ended without giving it back
--      4 maximum number of messages that the former owner may have been processing  5 group  6 1 for the leased form, 0 for the owned form
--      7 the prefix of the keys of order lines
-- An ownership is an epoch, a space, and the owner's name, or - for none. Epochs only grow, so requests of an owner with an earlier one
-- are refused.
-- In the owned form, the group's position is after every possible id: other members of the group read nothing, and their
-- leases end. In the leased form, the group continues from its former position, or from the first entry.
-- A message that keeps its order enters its order line when it is accepted in the leased form, and when it is verified in the owned form. When
-- a shard changes to the leased form, the messages that were accepted in the owned form and were not tried yet enter their lines here, before
-- messages that are accepted after them. As after an accept in the leased form, only the first message of a line stays in the stream.
-- The former owner may have crashed on one of the messages that it was processing. Up to the last of them, `until`, each start is counted.
-- Returns {current ownership, 1 if it was taken, suspects as names and values}.
local known, ready, group, areLeased = ARGV[1], KEYS[2], ARGV[5], ARGV[6] == '1'
local call = redis.call

-- Moves a message from the stream to the delayed set, where it waits until it is the first of its line.
local function delay(entry, id, name)
  local field, stored = {}, call('XRANGE', ready, entry, entry)[1][2]
  for word = 1, #stored, 2 do field[stored[word]] = stored[word + 1] end
  call('ZADD', KEYS[4], '+inf', id)
  call('HSET', KEYS[5], id, cmsgpack.pack({field.k, field.b, field.a, 0, '', name}))
  call('XDEL', ready, entry)
end

local function enterLines()
  -- By the name of the line, which is hexadecimal: entry id and delivery id of its messages in the stream, in the order in which they were
  -- accepted. Left out are entries with attempts, which have been appended again since, and unreadable ones, which become dead letters
  -- wherever they are.
  local waiting, from = {}, '-'
  repeat
    local entries = call('XRANGE', ready, from, '+', 'COUNT', 100)
    for _, entry in ipairs(entries) do
      local field = {}
      for word = 1, #entry[2], 2 do field[entry[2][word]] = entry[2][word + 1] end
      if field.i and field.k and field.b and field.a and not field.n and string.match(field.o or '', '^%x+$') then
        waiting[field.o] = waiting[field.o] or {}
        table.insert(waiting[field.o], {entry[1], field.i})
      end
      from = '(' .. entry[1]
    end
  until #entries == 0
  for name, messages in pairs(waiting) do
    local line, isIn, following = ARGV[7] .. name, {}, nil
    for _, id in ipairs(call('LRANGE', line, 0, -1)) do isIn[id] = true end
    for place = #messages, 1, -1 do
      local id = messages[place][2]
      if not isIn[id] then
        if following then call('LINSERT', line, 'BEFORE', following, id) else call('RPUSH', line, id) end
      end
      following = id
    end
    local first = call('LINDEX', line, 0)
    for _, message in ipairs(messages) do
      if message[2] ~= first then delay(message[1], message[2], name) end
    end
  end
end

local current = redis.call('GET', KEYS[1]) or ''
if current ~= known then return {current, 0, {}} end
local epoch = tonumber(string.match(current, '^%d+') or '0') + 1
local ownership = string.format('%.0f', epoch) .. ' ' .. ARGV[2]
redis.call('SET', KEYS[1], ownership)
if not areLeased then
  redis.pcall('XGROUP', 'DESTROY', ready, group)
  redis.call('XGROUP', 'CREATE', ready, group, behindAll, 'MKSTREAM')
else
  local position = groupPosition(ready, group)
  -- The lines come before the group: if a key of a wrong type ends the script, the next call tries again.
  if not position or position == behindAll then enterLines() end
  if not position then
    call('XGROUP', 'CREATE', ready, group, '0', 'MKSTREAM')
  elseif position == behindAll then
    call('XGROUP', 'SETID', ready, group, '0')
  end
end
if ARGV[3] == '1' and not areLeased then
  local begun = redis.call('XRANGE', ready, '-', '+', 'COUNT', ARGV[4])
  if #begun > 0 then redis.call('HSET', KEYS[3], 'until', begun[#begun][1]) end
end
return {ownership, 1, redis.call('HGETALL', KEYS[3])}
