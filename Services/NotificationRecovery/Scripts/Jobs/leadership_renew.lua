-- leadership_renew: renews or releases the lease of an app's leader.
-- KEYS 1 leader's lease
-- ARGV 1 token of the caller's term  2 lease, ms, or 0 to release it
-- Returns 1, or 0 if the term is over; then nothing is changed.
local lease = KEYS[1]
local token, duration = unpack(ARGV)
if redis.call('GET', lease) ~= token then return 0 end
if tonumber(duration) > 0 then
  redis.call('PEXPIRE', lease, duration)
else
  redis.call('DEL', lease)
end
return 1
