-- subscription_compare_and_set: writes a subscription's history, if the stored history is still the one that was read. It also sets the
-- time at which silence about the subscription becomes a gap.
-- KEYS 1 history  2 subscriptions of the shard by due time of silence
-- ARGV 1 history that was read, empty for none  2 new history  3 seconds to live  4 the subscription's name
--      5 due time of silence, ms, or empty for none
-- Returns 1 if the history was written, else 0.
local history, dueTimes = unpack(KEYS)
local read, new, seconds, name, due = unpack(ARGV)
local current = redis.call('GET', history) or ''
if current ~= read then return 0 end
redis.call('SET', history, new, 'EX', seconds)
if due == '' then
  redis.call('ZREM', dueTimes, name)
else
  redis.call('ZADD', dueTimes, due, name)
end
return 1
