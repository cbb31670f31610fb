-- schedule: notes that a shard has a delayed message, and wakes the pollers when it is due before all others.
-- KEYS 1 shards by when they must be looked at  2 wakes
-- ARGV 1 shard  2 due, ms, or -1 for none  3 1 when a look at this shard ends
-- Answers 1.
if ARGV[3] == '1' then redis.call('ZREM', KEYS[1], ARGV[1] .. '*') end
local due = tonumber(ARGV[2])
if due < 0 then return 1 end
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
redis.call('ZADD', KEYS[1], 'LT', due, ARGV[1])
if #first == 0 or due < tonumber(first[2]) then redis.call('XADD', KEYS[2], 'MAXLEN', 1, '*', 'd', due) end
return 1
