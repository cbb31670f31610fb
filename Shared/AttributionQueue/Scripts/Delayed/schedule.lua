-- schedule: notes when shards must be looked at, and wakes those that wait when that is before all that was noted.
-- KEYS 1 shards by when they must be looked at  2 wakes
-- ARGV 1 1 when a look at these shards ends  then for each its number and when it is due, ms, or -1 for never
-- Answers 1.
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local nearest
for index = 2, #ARGV, 2 do
  local shard, due = ARGV[index], tonumber(ARGV[index + 1])
  if ARGV[1] == '1' then redis.call('ZREM', KEYS[1], shard .. '*') end
  if due >= 0 then
    redis.call('ZADD', KEYS[1], 'LT', due, shard)
    if not nearest or due < nearest then nearest = due end
  end
end
if nearest and (#first == 0 or nearest < tonumber(first[2])) then redis.call('XADD', KEYS[2], 'MAXLEN', 1, '*', 'd', nearest) end
return 1
