-- count: counts the events of one shard after a position, a limited number per call. Writes nothing.
-- KEYS 1 events stream
-- ARGV 1 position, an entry id  2 last entry id to count; empty: that of the newest event  3 maximum number to count
-- Returns {number of events ever added, last entry id to count, number counted, position for the next call or empty if all are counted}.
local info = redis.pcall('XINFO', 'STREAM', KEYS[1])
if info['err'] then return {0, '0-0', 0, ''} end
local stream = {}
for index = 1, #info, 2 do stream[info[index]] = info[index + 1] end
local last = ARGV[2] ~= '' and ARGV[2] or stream['last-generated-id']
local limit = tonumber(ARGV[3])
local found = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], last, 'COUNT', limit)
return {stream['entries-added'], last, #found, #found == limit and found[limit][1] or ''}
