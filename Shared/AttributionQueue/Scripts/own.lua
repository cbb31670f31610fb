-- own: takes a shard, if its ownership is still what the caller knows of it.
-- KEYS 1 ownership  2 ready stream  3 suspects
-- ARGV 1 the ownership that is known, or nothing where there is none  2 the new owner  3 1 when the one before ended without giving it back
--      4 how many messages it may have been working
-- An ownership is an epoch, a space, and the owner's name, or - for nobody's. Epochs only grow: what an owner of an earlier one still
-- sends is refused.
-- Of messages that an owner died over one may be what it died of. Up to the last of them, `until`, each is counted before it is worked.
-- Answers {the ownership now, 1 when it was taken, suspects as names and values}.
local current = redis.call('GET', KEYS[1]) or ''
if current ~= ARGV[1] then return {current, 0, {}} end
local epoch = tonumber(string.match(current, '^%d+') or '0') + 1
local ownership = string.format('%.0f', epoch) .. ' ' .. ARGV[2]
redis.call('SET', KEYS[1], ownership)
if ARGV[3] == '1' then
  local begun = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', ARGV[4])
  if #begun > 0 then redis.call('HSET', KEYS[3], 'until', begun[#begun][1]) end
end
return {ownership, 1, redis.call('HGETALL', KEYS[3])}
