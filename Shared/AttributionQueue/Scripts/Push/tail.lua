-- tail: reads the events of one shard after a position, and the time up to which they are complete.
-- KEYS 1 events stream
-- ARGV 1 entry id behind which they are; $: none, only the last one's id is told  2 how many at the most
-- Returns {now in ms, entry id of the last of these, or what they are behind where there are none, list of entries}.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
if ARGV[1] == '$' then
  local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  return {now, last and last[1] or '0-0', {}}
end
local entries = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
return {now, #entries > 0 and entries[#entries][1] or ARGV[1], entries}
