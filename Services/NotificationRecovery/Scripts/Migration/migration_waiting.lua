-- A prefix of scripts that must know whether purchases of a migration still wait to be looked up. It defines two functions, whose first
-- parameter is the key of the counts.
-- waiting: returns the number of queued purchases that were neither migrated nor refused.
local function waiting(counts)
  local queued, migrated, refused = unpack(redis.call('HMGET', counts, 'queued', 'migrated', 'refused'))
  return tonumber(queued or 0) - tonumber(migrated or 0) - tonumber(refused or 0)
end
-- expire: sets the time to live of all keys of the script, which is longer while purchases wait.
local function expire(counts, seconds, secondsOfWaiting)
  local timeToLive = waiting(counts) > 0 and secondsOfWaiting or seconds
  for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, timeToLive) end
end
