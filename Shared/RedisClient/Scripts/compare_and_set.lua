-- compare_and_set: writes a value if the stored one is still the one that the caller has read.
-- KEYS 1 the value
-- ARGV 1 the value that was read, empty if there was none  2 the new value  3 seconds until the value expires
-- Returns 1 if it was written, else 0.
local key = KEYS[1]
local read, new, seconds = unpack(ARGV)
local current = redis.call('GET', key) or ''
if current ~= read then return 0 end
redis.call('SET', key, new, 'EX', seconds)
return 1
