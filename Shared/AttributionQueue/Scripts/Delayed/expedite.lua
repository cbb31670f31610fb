-- expedite: makes a delayed message due now.
-- KEYS 1 delayed set
-- ARGV 1 delivery id
-- Returns 1 if the message was delayed, else 0. A message that waits in its order line (score +inf) is not expedited.
local due = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not due or due == 'inf' then return 0 end
redis.call('ZADD', KEYS[1], 0, ARGV[1])
return 1
