-- tail: reads the events of one shard after a position, and the time up to which they are complete.
-- KEYS 1 events stream
-- ARGV 1 position, an entry id; $: reads no events and returns only the id of the newest  2 maximum number of events
-- Returns {now in ms, entry id of the last returned event or else the position, list of entries}.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
if ARGV[1] == '$' then
  local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  return {now, last and last[1] or '0-0', {}}
end
local entries = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
return {now, #entries > 0 and entries[#entries][1] or ARGV[1], entries}
