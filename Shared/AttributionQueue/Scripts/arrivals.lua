-- arrivals: notifications of an app that came. Redis' own clock decides. The first after a long silence records it.
-- KEYS 1 counts by bucket  2 the last arrival  3 silences by their end
-- ARGV 1 count  2 bucket, ms  3 a silence is longer than, ms  4 how long counts and silences are remembered, ms
-- Answers {now, start of the silence that ended now or 0}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local start = 0
if last > 0 and now - last > tonumber(ARGV[3]) then
  start = last
  redis.call('ZADD', KEYS[3], now, string.format('%.0f-%.0f', start, now))
end
local keep = tonumber(ARGV[4])
redis.call('SET', KEYS[2], string.format('%.0f', now), 'PX', ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - keep)
redis.call('PEXPIRE', KEYS[3], ARGV[4])
local bucket = math.floor(now / tonumber(ARGV[2]))
if redis.call('HINCRBY', KEYS[1], string.format('%.0f', bucket), ARGV[1]) == tonumber(ARGV[1]) then
  -- A new bucket: the time to forget old ones.
  local oldest = math.floor((now - keep) / tonumber(ARGV[2]))
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if tonumber(field) < oldest then redis.call('HDEL', KEYS[1], field) end
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {now, start}
