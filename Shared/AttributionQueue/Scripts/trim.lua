-- trim: deletes events that every subscription has acknowledged and that are old enough, and those past the retention.
-- KEYS 1 events stream  2 events index
-- ARGV 1 id below which acknowledged events may go  2 id below which all go  3 how many at the most
-- Answers {deleted, of these unacknowledged}.
local function less(a, b)
  local am, as = string.match(a, '^(%d+)-(%d+)$')
  local bm, bs = string.match(b, '^(%d+)-(%d+)$')
  if tonumber(am) ~= tonumber(bm) then return tonumber(am) < tonumber(bm) end
  return tonumber(as) < tonumber(bs)
end
local bound = ARGV[1]
if redis.call('EXISTS', KEYS[1]) == 0 then return {0, 0} end
local groups = redis.call('XINFO', 'GROUPS', KEYS[1])
-- Without a subscription nobody has acknowledged anything: a first one may still ask for all from the beginning.
if #groups == 0 then bound = ARGV[2] end
for _, info in ipairs(groups) do
  local group = {}
  for index = 1, #info, 2 do group[info[index]] = info[index + 1] end
  local first = redis.call('XPENDING', KEYS[1], group['name'])
  local limit = group['last-delivered-id']
  if first[1] > 0 then
    limit = first[2]
  else
    local ms, seq = string.match(limit, '^(%d+)-(%d+)$')
    limit = ms .. '-' .. string.format('%.0f', tonumber(seq) + 1)
  end
  if less(limit, bound) then bound = limit end
end
local deleted, lost = 0, 0
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[3])) do
  local acknowledged = less(entry[1], bound)
  if not acknowledged and not less(entry[1], ARGV[2]) then break end
  if not acknowledged then lost = lost + 1 end
  redis.call('HDEL', KEYS[2], entry[2][2])
  redis.call('XDEL', KEYS[1], entry[1])
  deleted = deleted + 1
end
return {deleted, lost}
