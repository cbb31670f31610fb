-- unsettle: keeps what a pushed subscription has read of one shard beyond its position.
-- KEYS 1 positions of pushed subscriptions  2 what is unsettled of each
-- ARGV 1 subscription  2 generation  3 what is to be kept; empty: nothing any more
-- Answers 1, or 0 when the subscription was set to another place, or ended, meanwhile.
local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held or string.match(held, '^%S+') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[2], ARGV[1]) else redis.call('HSET', KEYS[2], ARGV[1], ARGV[3]) end
return 1
