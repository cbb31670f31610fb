-- renew: starts the lease's time anew, if the worker still holds it.
-- KEYS 1 ready stream
-- ARGV 1 group  2 consumer  3 entry id  4 delivery count of the lease
-- Answers 1 when renewed, -1 when the lease is lost.
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1)
if #pending == 0 or pending[1][2] ~= ARGV[2] or pending[1][4] ~= tonumber(ARGV[4]) then return -1 end
redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'JUSTID')
return 1
