#!lua flags=allow-oom
-- In front of `complete` and `retry`: what takes a message off the queue is done where Redis has no memory for more, or it could never
-- be worked off.
-- line: takes a finished message out of its line and makes the one behind it ready.
local function finish(line, delayed, payloads, ready, id)
  redis.call('LREM', line, 1, id)
  local following = redis.call('LINDEX', line, 0)
  local packed = following and redis.call('HGET', payloads, following)
  -- The one in front may be worked or delayed already: then this was not the first.
  if not packed or redis.call('ZSCORE', delayed, following) ~= 'inf' then return end
  redis.call('ZREM', delayed, following)
  redis.call('HDEL', payloads, following)
  local m = cmsgpack.unpack(packed)
  redis.call('XADD', ready, '*', 'i', following, 'k', m[1], 'b', m[2], 'a', m[3], 'n', m[4], 'h', m[5], 'o', m[6])
end
