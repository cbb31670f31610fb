-- drop: drops the oldest unacknowledged events of one shard for a subscription. Events that its filter excludes (unwanted events), and
-- events that it has settled after an unsettled one, are skipped and do not count as dropped.
-- KEYS 1 events stream  2 positions of pushed subscriptions  3 dropped events by subscription  4 unsettled events by subscription
-- ARGV 1 subscription  2 maximum number to drop; 0: only skips unwanted events  3 only events before this entry id; +: no limit
--      4 filter in MessagePack; empty: all events  5 maximum number of events to read
-- Returns {number of dropped events, number of skipped events, 1 if there may be more}.
local stream, positions, name, maxDropped, before = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), ARGV[3]
local wants, maxRead = makeFilter(ARGV[4]), tonumber(ARGV[5])
local dropped, skipped, more = 0, 0, 0
local rangeEnd = before == '+' and '+' or '(' .. before

local function less(a, b)
  local am, as = string.match(a, '^(%d+)-(%d+)$')
  local bm, bs = string.match(b, '^(%d+)-(%d+)$')
  return tonumber(am) < tonumber(bm) or am == bm and tonumber(as) < tonumber(bs)
end

local function finished()
  if dropped > 0 then redis.call('HINCRBY', KEYS[3], name, dropped) end
  return {dropped, skipped, more}
end

local position = redis.call('HGET', positions, name)
local generation, last, read, cursor, open
if position then
  generation, last, read = string.match(position, '^(%S+) (%S+) (%S+)$')
  read = tonumber(read)
  local words = {}
  for word in string.gmatch(redis.call('HGET', KEYS[4], name) or '', '%S+') do words[#words + 1] = word end
  if words[1] == generation then
    cursor, open = words[2], {}
    -- The events follow the generation, the cursor, its offset and the base. Older builds left out the base.
    for index = #words % 4 == 0 and 5 or 4, #words, 4 do open[words[index]] = true end
  end
else
  local pending = redis.pcall('XPENDING', stream, name, '-', rangeEnd, math.max(1, math.min(maxDropped, maxRead)))
  if pending['err'] then return {0, 0, 0} end
  if maxDropped > 0 then
    for _, entry in ipairs(pending) do dropped = dropped + redis.call('XACK', stream, name, entry[1]) end
  end
  for _, words in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    local group = fieldsOf(words)
    if group['name'] == name then last, read = group['last-delivered-id'], group['entries-read'] end
  end
  if not last then return finished() end
end

local newLast, advanced = last, 0
local entries = redis.call('XRANGE', stream, '(' .. last, '+', 'COUNT', maxRead)
more = #entries == maxRead and 1 or 0
for _, entry in ipairs(entries) do
  local isSettled = cursor and not open[entry[1]] and not less(cursor, entry[1])
  if not isSettled and (not wants or wants(fieldsOf(entry[2]))) then
    if dropped >= maxDropped or before ~= '+' and not less(entry[1], before) then
      more = 0
      break
    end
    dropped = dropped + 1
  else
    skipped = skipped + 1
  end
  newLast, advanced = entry[1], advanced + 1
end
if advanced > 0 then
  if position then
    redis.call('HSET', positions, name, generation .. ' ' .. newLast .. ' ' .. string.format('%.0f', read + advanced))
  elseif read then
    redis.call('XGROUP', 'SETID', stream, name, newLast, 'ENTRIESREAD', read + advanced)
  else
    redis.call('XGROUP', 'SETID', stream, name, newLast)
  end
end
return finished()
