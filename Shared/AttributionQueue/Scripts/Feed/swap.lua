-- swap: replaces the stored state of a subscription if it did not change (compare and swap).
-- KEYS 1 subscriptions
-- ARGV 1 name  2 expected state  3 new state
-- Returns 1, or 0 if the state is another.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
