-- share: adjusts an instance's share of the permits to the demand of all instances. Uses Redis' clock.
-- KEYS 1 hash: instance -> its permits, its demand, end of its lease in ms
-- ARGV 1 instance  2 permits of all instances  3 demand, 0 to give up the share  4 permits in use  5 lease, ms
-- Returns {permits of this instance, number of instances}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local total, demand, used, lease = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
-- The permits that all other instances have, and those that this one had before.
local others, before = 0, 0
local demands = {demand}
local entries = redis.call('HGETALL', KEYS[1])
for index = 1, #entries, 2 do
  local entry = cmsgpack.unpack(entries[index + 1])
  if entry[3] <= now then
    redis.call('HDEL', KEYS[1], entries[index])
  elseif entries[index] == ARGV[1] then
    before = entry[1]
  else
    others = others + entry[1]
    demands[#demands + 1] = entry[2]
  end
end
-- All instances get equal shares, but none gets more than its demand. What instances with a small demand leave is divided among the others.
-- Each instance may have at least one permit. The smallest demands are subtracted first, until one exceeds an equal share of the rest.
table.sort(demands)
local remaining, share = total, 0
for index, other in ipairs(demands) do
  share = math.floor(remaining / (#demands - index + 1))
  if other > share then break end
  remaining = remaining - other
  share = demand
end
local permits = math.min(demand, math.max(share, 1))
-- Permits that other instances have cannot be given to this one. Permits that this one had before and that are in use cannot be taken away.
permits = math.max(math.min(permits, total - others), math.min(used, before), 0)
if demand == 0 and permits == 0 then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], cmsgpack.pack({permits, demand, now + lease}))
  redis.call('PEXPIRE', KEYS[1], lease * 2)
end
return {permits, #demands}
