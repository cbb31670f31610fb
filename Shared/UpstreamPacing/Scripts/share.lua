-- share: adjusts an instance's share of the permits to the demand of all instances. Uses Redis' clock.
-- KEYS 1 hash: instance -> held, wanted, end of the lease in ms
-- ARGV 1 instance  2 permits of all instances  3 wanted, 0 to leave  4 in use now  5 lease, ms
-- Returns {permits of this instance now, instances}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local total, wanted, used, lease = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local others, held = 0, 0
local wants = {wanted}
local entries = redis.call('HGETALL', KEYS[1])
for index = 1, #entries, 2 do
  local entry = cmsgpack.unpack(entries[index + 1])
  if entry[3] <= now then
    redis.call('HDEL', KEYS[1], entries[index])
  elseif entries[index] == ARGV[1] then
    held = entry[1]
  else
    others = others + entry[1]
    wants[#wants + 1] = entry[2]
  end
end
-- Equal shares, at least one permit each while there are any. No instance gets more than it wants; what such an instance leaves is shared
-- among the others.
table.sort(wants)
local left, part = total, 0
for index, want in ipairs(wants) do
  part = math.floor(left / (#wants - index + 1))
  if want > part then break end
  left = left - want
  part = wanted
end
local permits = math.min(wanted, math.max(part, 1))
-- Permits that other instances hold cannot be given to this one, and permits in use cannot be taken away; those in use were held before.
permits = math.max(math.min(permits, total - others), math.min(used, held), 0)
if wanted == 0 and permits == 0 then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], cmsgpack.pack({permits, wanted, now + lease}))
  redis.call('PEXPIRE', KEYS[1], lease * 2)
end
return {permits, #wants}
