-- clear: deletes the data of a deleted subscription in one shard, except for the data of a new subscription with the same name.
-- KEYS 1 events stream  2 positions of pushed subscriptions  3 dropped events by subscription  4 unsettled events by subscription
-- ARGV 1 subscription  2 first generation of new subscriptions
-- Returns 1, or 0 if there is a position of a new subscription.
local name, first = ARGV[1], tonumber(ARGV[2])
redis.pcall('XGROUP', 'DESTROY', KEYS[1], name)
local function isNew(key)
  local stored = redis.call('HGET', key, name)
  return stored and (tonumber(string.match(stored, '^%S+') or '') or 0) >= first
end
if not isNew(KEYS[4]) then redis.call('HDEL', KEYS[4], name) end
if isNew(KEYS[2]) then return 0 end
redis.call('HDEL', KEYS[2], name)
redis.call('HDEL', KEYS[3], name)
return 1
