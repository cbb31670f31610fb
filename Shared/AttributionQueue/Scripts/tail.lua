-- tail: the events of one shard behind a place, and the time up to which there are no others.
-- KEYS 1 events stream
-- ARGV 1 entry id behind which they are; $: none, only the last one's id is told  2 how many at the most
-- Answers {now in ms, last entry id of the stream, list of entries}.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local entries = ARGV[1] == '$' and {} or redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return {now, last and last[1] or '0-0', entries}
