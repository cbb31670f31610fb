-- trim: deletes events that every subscription has settled and that are old enough.
-- KEYS 1 events stream  2 events index  3 positions of pushed subscriptions
-- ARGV 1 entry id before which settled events may be deleted  2 the same by the retention: the later of both applies, or only this one if
--      there is no subscription  3 maximum number to delete
-- Returns the number of deleted events.
local function less(a, b)
  local am, as = string.match(a, '^(%d+)-(%d+)$')
  local bm, bs = string.match(b, '^(%d+)-(%d+)$')
  if tonumber(am) ~= tonumber(bm) then return tonumber(am) < tonumber(bm) end
  return tonumber(as) < tonumber(bs)
end
local function idAfter(id)
  local ms, number = string.match(id, '^(%d+)-(%d+)$')
  -- Lua cannot represent a sequence number of more than 15 digits exactly. It counts as the last of its millisecond.
  if #number > 15 then return string.format('%.0f', tonumber(ms) + 1) .. '-0' end
  return ms .. '-' .. string.format('%.0f', tonumber(number) + 1)
end
local bound = less(ARGV[1], ARGV[2]) and ARGV[2] or ARGV[1]
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local groups, positions = redis.call('XINFO', 'GROUPS', KEYS[1]), redis.call('HVALS', KEYS[3])
-- Without a subscription, no event counts as settled: a new subscription may start at the beginning.
if #groups == 0 and #positions == 0 then bound = ARGV[2] end
for _, info in ipairs(groups) do
  local group = {}
  for index = 1, #info, 2 do group[info[index]] = info[index + 1] end
  local first = redis.call('XPENDING', KEYS[1], group['name'])
  local limit = first[1] > 0 and first[2] or idAfter(group['last-delivered-id'])
  if less(limit, bound) then bound = limit end
end
for _, position in ipairs(positions) do
  local limit = idAfter(string.match(position, '^%S+ (%S+)'))
  if less(limit, bound) then bound = limit end
end
local deleted = 0
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[3])) do
  if not less(entry[1], bound) then break end
  redis.call('HDEL', KEYS[2], entry[2][2])
  redis.call('XDEL', KEYS[1], entry[1])
  deleted = deleted + 1
end
return deleted
