-- own: takes a shard if its ownership did not change since the caller read it, and prepares it for the owned or the leased form.
-- KEYS 1 ownership  2 ready stream  3 suspects
-- ARGV 1 the known ownership, empty for none  2 the new owner  3 1 if the former owner ended without giving it back
--      4 maximum number of messages that the former owner may have been processing  5 group  6 1 for the leased form, 0 for the owned form
-- An ownership is an epoch, a space, and the owner's name, or - for none. Epochs only grow, so requests of an owner with an earlier one
-- are refused.
-- In the owned form, the group's position is after every possible id: other members of the group read nothing, and their
-- leases end. In the leased form, the group continues from its former position, or from the first entry.
-- The former owner may have crashed on one of the messages that it was processing. Up to the last of them, `until`, each start is counted.
-- Returns {current ownership, 1 if it was taken, suspects as names and values}.
local known, ready, group, areLeased = ARGV[1], KEYS[2], ARGV[5], ARGV[6] == '1'
local behindAll = '18446744073709551615-18446744073709551615'
local current = redis.call('GET', KEYS[1]) or ''
if current ~= known then return {current, 0, {}} end
local epoch = tonumber(string.match(current, '^%d+') or '0') + 1
local ownership = string.format('%.0f', epoch) .. ' ' .. ARGV[2]
redis.call('SET', KEYS[1], ownership)
if not areLeased then
  redis.pcall('XGROUP', 'DESTROY', ready, group)
  redis.call('XGROUP', 'CREATE', ready, group, behindAll, 'MKSTREAM')
elseif redis.pcall('XGROUP', 'CREATE', ready, group, '0', 'MKSTREAM').err then
  for _, info in ipairs(redis.call('XINFO', 'GROUPS', ready)) do
    local field = {}
    for place = 1, #info, 2 do field[info[place]] = info[place + 1] end
    if field.name == group and field['last-delivered-id'] == behindAll then redis.call('XGROUP', 'SETID', ready, group, '0') end
  end
end
if ARGV[3] == '1' and not areLeased then
  local begun = redis.call('XRANGE', ready, '-', '+', 'COUNT', ARGV[4])
  if #begun > 0 then redis.call('HSET', KEYS[3], 'until', begun[#begun][1]) end
end
return {ownership, 1, redis.call('HGETALL', KEYS[3])}
