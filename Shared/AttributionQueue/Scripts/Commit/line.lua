-- A prefix of scripts that remove a message from its queue.
-- finish: removes a finished message from its order line and makes the next one ready.
local function finish(line, delayed, payloads, ready, id)
  redis.call('LREM', line, 1, id)
  local following = redis.call('LINDEX', line, 0)
  local packed = following and redis.call('HGET', payloads, following)
  -- Only a message that waits in its line has a payload and the score +inf. If the first one has not, it is being worked or delayed, so the
  -- finished message was not the first.
  if not packed or redis.call('ZSCORE', delayed, following) ~= 'inf' then return end
  append(ready, following, packed, string.match(line, ':line:(.*)$'))
  redis.call('ZREM', delayed, following)
  redis.call('HDEL', payloads, following)
end
