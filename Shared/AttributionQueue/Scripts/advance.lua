-- advance: notes that a pushed subscription is done with the events of one shard up to a place.
-- KEYS 1 positions of pushed subscriptions
-- ARGV 1 subscription  2 generation  3 entry id  4 how many events it has gone on by
-- Answers 1, or 0 when the subscription was set to another place, or ended, meanwhile.
local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held then return 0 end
local generation, id, read = string.match(held, '^(%S+) (%S+) (%S+)$')
if generation ~= ARGV[2] then return 0 end
local function parts(text)
  local ms, number = string.match(text, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(number)
end
local ms, number = parts(id)
local newMs, newNumber = parts(ARGV[3])
-- What was dropped meanwhile is counted already.
if newMs < ms or newMs == ms and newNumber <= number then return 1 end
redis.call('HSET', KEYS[1], ARGV[1], generation .. ' ' .. ARGV[3] .. ' ' .. string.format('%.0f', tonumber(read) + tonumber(ARGV[4])))
return 1
