-- health: stores the health of a subscription's endpoint, unless the subscription was deleted meanwhile.
-- KEYS 1 subscriptions  2 health of endpoints
-- ARGV 1 subscription  2 creation time of the subscription, ms  3 health to store
-- Returns 1, or 0 if the subscription was deleted.
local stored = redis.call('HGET', KEYS[1], ARGV[1])
local isRead, subscription = pcall(cjson.decode, stored or '')
if not isRead or string.format('%.0f', tonumber(subscription.createdAt) or 0) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
return 1
