-- advance: stores the position of a pushed subscription in one shard, and its unsettled events after it.
-- KEYS 1 positions of pushed subscriptions  2 unsettled events by subscription  3 events stream
-- ARGV 1 subscription  2 generation  3 new position, an entry id; empty: unchanged  4 number of events between the old and the new position
--      5 entry id from which these were counted; empty: unknown  6 unsettled events; empty: unchanged; -: none
-- Returns 1, or 0 if the subscription was set to another position or deleted meanwhile.
local stored = redis.call('HGET', KEYS[1], ARGV[1])
if not stored then return 0 end
local generation, id, read = string.match(stored, '^(%S+) (%S+) (%S+)$')
if generation ~= ARGV[2] then return 0 end
if ARGV[6] == '-' then
  redis.call('HDEL', KEYS[2], ARGV[1])
elseif ARGV[6] ~= '' then
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[6])
end
if ARGV[3] == '' then return 1 end

local function parts(text)
  local ms, number = string.match(text, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(number)
end
local ms, number = parts(id)
local newMs, newNumber = parts(ARGV[3])
-- The position may already be further, because events were dropped meanwhile.
if newMs < ms or newMs == ms and newNumber <= number then return 1 end

local count = tonumber(ARGV[4])
if id ~= ARGV[5] then
  -- The stored position differs from the one from which the caller counted, because events were dropped or another process stored progress.
  -- The events up to the new position are counted again, at most 20,000.
  local counted, from, steps = 0, id, 0
  repeat
    local entries = redis.call('XRANGE', KEYS[3], '(' .. from, ARGV[3], 'COUNT', 200)
    counted, steps = counted + #entries, steps + 1
    if #entries > 0 then from = entries[#entries][1] end
  until #entries < 200 or steps == 100
  count = steps < 100 and counted or math.max(counted, count)
end
redis.call('HSET', KEYS[1], ARGV[1], generation .. ' ' .. ARGV[3] .. ' ' .. string.format('%.0f', tonumber(read) + count))
return 1
