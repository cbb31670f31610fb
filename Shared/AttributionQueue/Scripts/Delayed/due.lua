-- due: takes the shards that are due by Redis' clock. Until its query ends, a shard stays in the schedule under a second name (with an
-- asterisk), so that another worker queries it if this one crashes, and so that entries written meanwhile are not lost.
-- KEYS 1 schedule: shards by the time of their next query  2 wake stream
-- ARGV 1 maximum duration of a query, ms
-- Returns {ms until the next shard is due or -1, id of the last wake, list of shards}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local shards = {}
local taken = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
  local shard = string.gsub(name, '%*$', '')
  redis.call('ZREM', KEYS[1], name)
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), shard .. '*')
  if not taken[shard] then
    taken[shard] = true
    shards[#shards + 1] = shard
  end
end
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local wake = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
return {#first == 0 and -1 or math.max(0, math.floor(tonumber(first[2]) - now)), wake and wake[1] or '0-0', shards}
