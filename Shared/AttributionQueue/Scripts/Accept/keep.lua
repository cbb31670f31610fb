-- keep: a prefix of accept that stores a value in the same step, unless it exists.
-- KEYS, after those of accept: the value's key  ARGV, after those of accept: the value, its expiry in seconds
-- Returns the existing value, and accepts nothing then; else what accept returns.
local seconds = table.remove(ARGV)
local value = table.remove(ARGV)
local earlier = redis.call('SET', table.remove(KEYS), value, 'NX', 'GET', 'EX', seconds)
if earlier then return earlier end
