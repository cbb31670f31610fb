-- schedule: writes when shards must be queried, and wakes waiting workers if that is before all other entries.
-- KEYS 1 shards by when they must be looked at  2 wakes
-- ARGV 1 1 if a query of these shards has ended  then for each its number and when it is due, ms, or -1 for never
-- Returns 1.
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
