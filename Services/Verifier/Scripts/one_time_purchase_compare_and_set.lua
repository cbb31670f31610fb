-- one_time_purchase_compare_and_set: writes the history of a one-time purchase if the stored one is still the one that was read.
-- KEYS 1 history
-- ARGV 1 history that was read, empty for none  2 new history  3 seconds to live
-- Returns 1 if it was written, else 0.
local history = KEYS[1]
local read, new, seconds = unpack(ARGV)
local current = redis.call('GET', history) or ''
if current ~= read then return 0 end
redis.call('SET', history, new, 'EX', seconds)
return 1
