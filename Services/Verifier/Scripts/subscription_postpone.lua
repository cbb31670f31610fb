-- subscription_postpone: changes the time at which silence about a subscription becomes a gap, unless this time was changed since it was
-- read.
-- KEYS 1 subscriptions of the shard by due time of silence
-- ARGV 1 the subscription's name  2 due time that was read, ms  3 new due time, ms, or empty for none
-- Returns 1 if the time was changed, else 0.
local dueTimes = KEYS[1]
local name, read, new = unpack(ARGV)
local due = redis.call('ZSCORE', dueTimes, name)
if not due or tonumber(due) ~= tonumber(read) then return 0 end
if new == '' then
  redis.call('ZREM', dueTimes, name)
else
  redis.call('ZADD', dueTimes, new, name)
end
return 1
