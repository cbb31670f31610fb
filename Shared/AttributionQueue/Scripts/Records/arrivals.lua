-- arrivals: counts verified notifications of an app by their time of receipt. A long enough silence between them is recorded;
-- a notification received within a recorded silence splits it, because verification happens in any order.
-- KEYS 1 counts by bucket, with the prefix `p` (older builds wrote no prefix and counted unverified notifications)  2 last arrival
--      3 silences by their end
-- ARGV 1 length of a bucket, ms  2 minimum length of a silence, ms  3 how long counts and silences are stored, ms
--      then for each group, oldest first: number of notifications, time of the first receipt and of the last, ms
-- Returns now, ms.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bucket, minSilence, retention = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local isNewBucket = false
local function text(number) return string.format('%.0f', number) end
local function addSilence(from, to)
  if to - from > minSilence then redis.call('ZADD', KEYS[3], text(to), text(from) .. '-' .. text(to)) end
end
for index = 4, #ARGV, 3 do
  -- A time of receipt in the future, from a clock that is ahead, must not hide a silence until then.
  local count, first, final = tonumber(ARGV[index]), math.min(ARGV[index + 1], now), math.min(ARGV[index + 2], now)
  if final > now - retention then
    local field = 'p' .. text(math.floor(final / bucket))
    if redis.call('HINCRBY', KEYS[1], field, count) == count then isNewBucket = true end
    if last == 0 then
      last = final
    elseif first > last then
      addSilence(last, first)
      last = final
    else
      for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. text(first), '+inf')) do
        local from, to = string.match(member, '^(%d+)-(%d+)$')
        if from and tonumber(from) < final then
          redis.call('ZREM', KEYS[3], member)
          addSilence(tonumber(from), first)
          addSilence(final, tonumber(to))
        end
      end
      last = math.max(last, final)
    end
  end
end
if last > 0 then redis.call('SET', KEYS[2], text(last), 'PX', ARGV[3]) end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', text(now - retention))
redis.call('PEXPIRE', KEYS[3], ARGV[3])
if isNewBucket then
  -- Removes expired entries.
  local oldest = math.floor((now - retention) / bucket)
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    local number = tonumber(string.match(field, '%d+'))
    if number and number < oldest then redis.call('HDEL', KEYS[1], field) end
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return now
