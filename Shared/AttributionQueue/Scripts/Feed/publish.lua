-- publish: appends an event outside of a commit, unless it exists.
-- KEYS 1 events stream  2 events index
-- ARGV 1 event id  2 type  3 JSON  4 app that filters compare, empty for none
-- Returns 1 if it was appended, else 0.
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
local entry = redis.call('XADD', KEYS[1], '*', 'i', ARGV[1], 't', ARGV[2], 'e', ARGV[3], 'n', '', 'p', '', 'b', ARGV[4], 'v', '')
redis.call('HSET', KEYS[2], ARGV[1], entry)
return 1
