-- commerce_notification_add: stores a notification of an Advanced Commerce request or purchase, unless too many are stored.
-- KEYS 1 notifications by their UUID
-- ARGV 1 UUID  2 notification in JSON  3 maximum number of notifications  4 expiry after the last one was added, seconds
-- Returns 1 if it is stored, else 0.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
