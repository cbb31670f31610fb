-- In front of what takes a message off the queue.
-- finish: takes a finished message out of its line and makes the one behind it ready.
local function finish(line, delayed, payloads, ready, id)
  redis.call('LREM', line, 1, id)
  local following = redis.call('LINDEX', line, 0)
  local packed = following and redis.call('HGET', payloads, following)
  -- The one in front may be worked or delayed already: then this was not the first.
  if not packed or redis.call('ZSCORE', delayed, following) ~= 'inf' then return end
  append(ready, following, packed, string.match(line, ':line:(.*)$'))
  redis.call('ZREM', delayed, following)
  redis.call('HDEL', payloads, following)
end
