-- outage_recovered: stores the time up to which an ongoing outage was recovered, if the caller still leads the app.
-- KEYS 1 leader's lease  2 time up to which the outage was recovered
-- ARGV 1 token of the caller's term  2 this time, ms  3 seconds to live
-- Returns 1, or 0 if the term is over; then nothing is written.
local lease, recovered = unpack(KEYS)
local token, moment, seconds = unpack(ARGV)
if redis.call('GET', lease) ~= token then return 0 end
redis.call('SET', recovered, moment, 'EX', seconds)
return 1
