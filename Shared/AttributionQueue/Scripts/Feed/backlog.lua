-- backlog: counts the unacknowledged events of subscriptions in one shard. Writes nothing.
-- KEYS 1 events stream  2 positions of pushed subscriptions  3 dropped events by subscription  4 unsettled events by subscription
-- ARGV 1 the subscription; empty: all
-- Returns a list of {subscription, number of events, entry id of the oldest or empty, number of dropped events}.
local function fieldsOf(words)
  local field = {}
  for index = 1, #words, 2 do field[words[index]] = words[index + 1] end
  return field
end
local answer, wanted = {}, ARGV[1]
local dropped = fieldsOf(redis.call('HGETALL', KEYS[3]))
local info = redis.pcall('XINFO', 'STREAM', KEYS[1])
local stream = info['err'] and {} or fieldsOf(info)

-- The id of the first entry after this one; empty if there is none.
local function idAfter(id)
  local found = redis.call('XRANGE', KEYS[1], '(' .. id, '+', 'COUNT', 1)[1]
  return found and found[1] or ''
end

for _, words in ipairs(info['err'] and {} or redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local group = fieldsOf(words)
  local name = group['name']
  if wanted == '' or wanted == name then
    local lag, oldest = group['lag'], idAfter(group['last-delivered-id'])
    -- After a restart, Redis may permanently count too few events as read. If no event follows the position, none is left.
    if oldest == '' then lag = 0 end
    -- Redis does not know the lag if events after the position were deleted.
    if not lag then lag = #redis.call('XRANGE', KEYS[1], '(' .. group['last-delivered-id'], '+', 'COUNT', 1000) end
    if group['pending'] > 0 then oldest = redis.call('XPENDING', KEYS[1], name)[2] end
    answer[#answer + 1] = {name, group['pending'] + lag, oldest, tonumber(dropped[name] or 0)}
  end
end
local positions = wanted == '' and redis.call('HGETALL', KEYS[2]) or {wanted, redis.call('HGET', KEYS[2], wanted)}
for index = 1, #positions, 2 do
  if positions[index + 1] then
    local name = positions[index]
    local generation, id, read = string.match(positions[index + 1], '^(%S+) (%S+) (%S+)$')
    local unsettledCount, first = 0, ''
    local unsettled = redis.call('HGET', KEYS[4], name)
    if unsettled then
      -- After the position, everything up to a cursor is settled except for the listed events. The cursor's offset is valid only if it was
      -- counted from the current position.
      local unsettledGeneration, cursor, offset, base, events = string.match(unsettled, '^(%S+) (%S+) (%S+) (%S+)(.*)$')
      local _, words = string.gsub(events or '', '%S+', '')
      if unsettledGeneration == generation and base == id and words % 4 == 0 then
        unsettledCount, first = words / 4, string.match(events, '^ (%S+)') or ''
        id, read = cursor, tonumber(read) + tonumber(offset)
      end
    end
    local waiting = math.max(0, (stream['entries-added'] or 0) - tonumber(read))
    local oldest = waiting > 0 and idAfter(id) or ''
    -- The count may include deleted events that the subscription had not read.
    if oldest == '' then waiting = 0 end
    if unsettledCount > 0 then oldest = first end
    answer[#answer + 1] = {name, unsettledCount + waiting, oldest, tonumber(dropped[name] or 0)}
  end
end
return answer
