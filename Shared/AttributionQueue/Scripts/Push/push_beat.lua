-- push_beat: writes a pusher's heartbeat, releases endpoints, and takes endpoints without an owner.
-- KEYS 1 pushers by their last heartbeat  2 owners of endpoints
-- ARGV 1 pusher  2 time without a heartbeat after which a pusher counts as dead, ms  3 number of endpoints to release
--      4… these endpoints, then the endpoints that the pusher wants
-- Returns {live pushers, wanted endpoints that the pusher owns now}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local pushers, owners, me = KEYS[1], KEYS[2], ARGV[1]
redis.call('ZADD', pushers, now, me)
redis.call('ZREMRANGEBYSCORE', pushers, '-inf', '(' .. string.format('%.0f', now - tonumber(ARGV[2])))
local given = tonumber(ARGV[3])
for index = 4, 3 + given do
  if redis.call('HGET', owners, ARGV[index]) == me then redis.call('HDEL', owners, ARGV[index]) end
end
local own = {}
for index = 4 + given, #ARGV do
  local owner = redis.call('HGET', owners, ARGV[index])
  if owner == me then
    own[#own + 1] = ARGV[index]
  elseif not owner or not redis.call('ZSCORE', pushers, owner) then
    redis.call('HSET', owners, ARGV[index], me)
    own[#own + 1] = ARGV[index]
  end
end
return {redis.call('ZRANGE', pushers, 0, -1), own}
