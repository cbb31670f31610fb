-- gap_begin: records a gap whose look-up begins. A later delivery that reports the gap again begins a new look-up.
-- KEYS 1 gap
-- ARGV 1 delivery that reports the gap  2 report  3 time at which the gap was found, ms  4 seconds to live
-- Returns 1, or 0 if the gap that this delivery reported is settled already.
local gap = KEYS[1]
local delivery, report, found, seconds = unpack(ARGV)
if redis.call('HGET', gap, 'delivery') ~= delivery then
  redis.call('HSET', gap, 'delivery', delivery, 'state', 'suspected', 'report', report, 'notifications', 0)
  redis.call('HSETNX', gap, 'suspectedAt', found)
  redis.call('HDEL', gap, 'completedAt', 'repairedBy', 'observedState', 'error')
end
redis.call('EXPIRE', gap, seconds)
return redis.call('HGET', gap, 'state') == 'suspected' and 1 or 0
