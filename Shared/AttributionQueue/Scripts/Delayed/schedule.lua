-- schedule: writes the times at which shards must be queried, and wakes waiting workers if one of them is before all other entries.
-- KEYS 1 schedule: shards by the time of their next query  2 wake stream
-- ARGV 1 1 if a query of these shards has ended  then for each shard: its number and the time of its next query, ms, or -1 for never
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
