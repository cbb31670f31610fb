-- compare_and_set: writes a value if the stored one is still the one that was read.
-- KEYS 1 value
-- ARGV 1 value that was read, empty for none  2 new value  3 seconds to live
-- Returns 1 if it was written, else 0.
local key = KEYS[1]
local read, new, seconds = unpack(ARGV)
local current = redis.call('GET', key) or ''
if current ~= read then return 0 end
redis.call('SET', key, new, 'EX', seconds)
return 1
