-- keep: a prefix of accept that stores a value in the same step, if there is no value yet.
-- KEYS, after those of accept: the value's key  ARGV, after those of accept: the value, its expiry in seconds
-- If a value exists, accepts nothing and returns the value. Otherwise returns the result of accept, and the value is stored whatever that
-- result is.
local seconds = table.remove(ARGV)
local value = table.remove(ARGV)
local earlier = redis.call('SET', table.remove(KEYS), value, 'NX', 'GET', 'EX', seconds)
if earlier then return earlier end
