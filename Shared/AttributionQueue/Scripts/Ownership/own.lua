-- own: takes a shard, if its ownership is still what the caller knows of it, to work it in one form or the other.
-- KEYS 1 ownership  2 ready stream  3 suspects
-- ARGV 1 the ownership that is known, or nothing where there is none  2 the new owner  3 1 when the one before ended without giving it back
--      4 how many messages it may have been working  5 group  6 1 when messages are leased one by one by the group
-- An ownership is an epoch, a space, and the owner's name, or - for nobody's. Epochs only grow: what an owner of an earlier one still
-- sends is refused.
-- Where the owner alone reads the stream, the group stands behind every id that there can be: others of the group read nothing, and what
-- they have leased is theirs no more. Where messages are leased, it reads on from where it stood, or from the first entry.
-- Of messages that an owner died over one may be what it died of. Up to the last of them, `until`, each is counted before it is worked.
-- Answers {the ownership now, 1 when it was taken, suspects as names and values}.
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
