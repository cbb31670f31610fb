-- heartbeat: writes a heartbeat of an ingest instance by Redis' clock. The first one after a long pause of all instances records an outage.
-- KEYS 1 instances by their last heartbeat  2 outages by their end
-- ARGV 1 instance  2 minimum length of an outage, ms  3 how long instances and outages are stored, ms
-- Returns {now, start of the outage that ended with this heartbeat or 0}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
local start = 0
if #last == 2 and now - tonumber(last[2]) > tonumber(ARGV[2]) then
  start = tonumber(last[2])
  redis.call('ZADD', KEYS[2], now, string.format('%.0f-%.0f', start, now))
end
redis.call('ZADD', KEYS[1], now, ARGV[1])
local old = now - tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', old)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', old)
return {now, start}
