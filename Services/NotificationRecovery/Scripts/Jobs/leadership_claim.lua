-- leadership_claim: makes the caller the leader of an app, if the app has none.
-- KEYS 1 leader's lease  2 token of the last term
-- ARGV 1 lease, ms
-- Returns the token of the new term, or 0 if there is a leader.
local lease, lastToken = unpack(KEYS)
local duration = ARGV[1]
if redis.call('EXISTS', lease) == 1 then return 0 end
local token = redis.call('INCR', lastToken)
redis.call('SET', lease, token, 'PX', duration)
return token
