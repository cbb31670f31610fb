-- snapshot: counts the messages of one shard of a queue, all at the same moment.
-- KEYS 1 ready stream  2 delayed set  3 dead-letter stream  4 set by deadline
-- ARGV 1 group
-- Returns {number of ready and leased messages, of leased ones, of delayed ones, of dead letters, time at which the oldest ready or leased
-- message was appended to the stream, ms, or -1}.
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1])
local leased = pending['err'] and 0 or pending[1]
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
local oldest = first and tonumber(string.match(first[1], '^(%d+)-')) or -1
local ready = redis.call('XLEN', KEYS[1]) + redis.call('ZCARD', KEYS[4])
return {ready, leased, redis.call('ZCARD', KEYS[2]), redis.call('XLEN', KEYS[3]), oldest}
