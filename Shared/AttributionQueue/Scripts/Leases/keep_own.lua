-- keep_own: writes a service's value about a message, if the worker has not lost the message's lease.
-- KEYS 1 ready stream  2 value
-- ARGV 1 group  2 consumer  3 entry id  4 delivery count  5 value  6 seconds to live
-- Returns 1 if it was written, 0 if the lease was lost.
local group, consumer, entry, delivered, value, seconds = unpack(ARGV)
local lease = redis.pcall('XPENDING', KEYS[1], group, entry, entry, 1)[1]
if not lease or lease[2] ~= consumer or lease[4] ~= tonumber(delivered) then return 0 end
redis.call('SET', KEYS[2], value, 'EX', seconds)
return 1
