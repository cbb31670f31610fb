-- own: takes a shard if its ownership did not change since the caller read it, and prepares it for the owned or the leased form.
-- KEYS 1 ownership  2 ready stream  3 suspects  4 delayed set  5 delayed payloads
--      6 a key that never exists (Keys.absent): a cluster then refuses the script while the slot moves, when order lines, whose keys are
--      built below, could be on the other node
-- ARGV 1 the known ownership, empty for none  2 the new owner  3 1 if the former owner ended without giving it back
--      4 maximum number of messages that the former owner may have been processing  5 group
--      6 form in which the caller works the shard (StoreForm): 1 leased, 0 owned
--      7 the prefix of the keys of order lines
-- An ownership is an epoch, a space, and the name of the owner, or - if there is none. Each new owner increments the epoch, so every script
-- call of a former owner is refused.
-- In the owned form, the position of the consumer group is after every possible id, and the group is created anew: other members of it read
-- nothing, and their leases end. In the leased form, the group continues from its former position, or from the first entry.
-- A message that keeps its order enters its order line when it is accepted in the leased form, and when it is verified in the owned form.
-- When a shard changes to the leased form, the messages that were accepted in the owned form and were not tried yet enter their lines here,
-- before messages that are accepted after them. As after an accept in the leased form, only the first message of a line stays in the
-- stream.
-- If the former owner ended without giving the shard back, one of the messages that it was processing may have crashed it. The field
-- `until` of the suspects is the entry id of the last of them; the new owner counts each start of a message up to it (suspect.lua).
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
  -- Entry id and delivery id of the messages in the stream, in the order in which they were accepted, by the name of their line, which is
  -- hexadecimal. Entries with attempts are left out, because they were appended again after an attempt. So are unreadable ones, which
  -- become dead letters wherever they are.
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
    for index = #messages, 1, -1 do
      local id = messages[index][2]
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
  redis.call('XGROUP', 'CREATE', ready, group, greatestId, 'MKSTREAM')
else
  local position = groupPosition(ready, group)
  -- The lines come before the group: if a key of a wrong type ends the script, the next call tries again.
  if not position or position == greatestId then enterLines() end
  if not position then
    call('XGROUP', 'CREATE', ready, group, '0', 'MKSTREAM')
  elseif position == greatestId then
    call('XGROUP', 'SETID', ready, group, '0')
  end
end
if ARGV[3] == '1' and not areLeased then
  local started = redis.call('XRANGE', ready, '-', '+', 'COUNT', ARGV[4])
  if #started > 0 then redis.call('HSET', KEYS[3], 'until', started[#started][1]) end
end
return {ownership, 1, redis.call('HGETALL', KEYS[3])}
