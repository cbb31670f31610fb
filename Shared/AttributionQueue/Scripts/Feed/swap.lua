-- swap: replaces the stored state of a subscription, if it did not change.
-- KEYS 1 subscriptions
-- ARGV 1 name  2 what stands there  3 what is to stand there
-- Returns 1, or 0 when something else stands there by now.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
