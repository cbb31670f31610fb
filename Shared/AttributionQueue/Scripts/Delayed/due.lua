-- due: takes the shards whose delayed messages are due. Redis' own clock decides. Until the look at it ends, a shard stands under a
-- second name: a poller that dies meanwhile has another one look a little later, and what is noted meanwhile is not lost.
-- KEYS 1 shards by when they must be looked at  2 wakes
-- ARGV 1 how long a look may take, ms
-- Answers {in how many ms the next is due or -1, id of the last wake, list of shards}.
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
