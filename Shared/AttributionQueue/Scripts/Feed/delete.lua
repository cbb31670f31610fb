-- delete: deletes a subscription. A later subscription with its name starts with a higher generation.
-- KEYS 1 subscriptions  2 first generation of new subscriptions  3 health of endpoints
-- ARGV 1 subscription
-- Returns {the stored subscription or nil, first generation of new subscriptions}.
local stored = redis.call('HGET', KEYS[1], ARGV[1])
local first = tonumber(redis.call('GET', KEYS[2]) or '0')
if stored then
  local isRead, subscription = pcall(cjson.decode, stored)
  first = math.max(first, (isRead and tonumber(subscription.generation) or 0) + 1)
  redis.call('SET', KEYS[2], string.format('%.0f', first))
  redis.call('HDEL', KEYS[1], ARGV[1])
end
redis.call('HDEL', KEYS[3], ARGV[1])
return {stored, string.format('%.0f', first)}
