-- count: counts events of one shard behind a place, some at a time. Reads only.
-- KEYS 1 events stream
-- ARGV 1 entry id behind which is counted  2 the last entry id that counts; empty: the last there is  3 how many at the most
-- Returns {events that were ever added, the last entry id that counts, how many were counted, where the next call begins; empty when all
-- are counted}.
local info = redis.pcall('XINFO', 'STREAM', KEYS[1])
if info['err'] then return {0, '0-0', 0, ''} end
local stream = {}
for index = 1, #info, 2 do stream[info[index]] = info[index + 1] end
local last = ARGV[2] ~= '' and ARGV[2] or stream['last-generated-id']
local most = tonumber(ARGV[3])
local found = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], last, 'COUNT', most)
return {stream['entries-added'], last, #found, #found == most and found[most][1] or ''}
