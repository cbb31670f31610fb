-- beat: writes a worker's heartbeat by Redis' clock, and removes dead workers.
-- KEYS 1 workers by their last heartbeat
-- ARGV 1 worker, or empty to read only  2 how long a worker without a heartbeat counts as alive, ms
-- Returns the live workers.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[1] ~= '' then redis.call('ZADD', KEYS[1], now, ARGV[1]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
return redis.call('ZRANGE', KEYS[1], 0, -1)
