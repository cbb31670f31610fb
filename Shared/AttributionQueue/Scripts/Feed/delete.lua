-- delete: deletes a subscription. A later one with its name begins with a generation higher than all of this one.
-- KEYS 1 subscriptions  2 the generation that new ones begin with  3 how endpoints do
-- ARGV 1 subscription
-- Returns {the subscription as it was kept, or nothing, the generation that new ones begin with}.
local held = redis.call('HGET', KEYS[1], ARGV[1])
local first = tonumber(redis.call('GET', KEYS[2]) or '0')
if held then
  local isRead, subscription = pcall(cjson.decode, held)
  first = math.max(first, (isRead and tonumber(subscription.generation) or 0) + 1)
  redis.call('SET', KEYS[2], string.format('%.0f', first))
  redis.call('HDEL', KEYS[1], ARGV[1])
end
redis.call('HDEL', KEYS[3], ARGV[1])
return {held, string.format('%.0f', first)}
