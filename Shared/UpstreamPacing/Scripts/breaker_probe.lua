-- breaker_probe: admits a call as a probe of whether the server has recovered, if the pause is over and fewer probes than allowed are in
-- flight. A probe that has timed out without a result no longer counts. Uses Redis' clock.
-- KEYS 1 state of the breaker  2 probes in flight, scored by the time at which they time out
-- ARGV 1 number of probes that must succeed  2 timeout of a probe, ms  3 time to live of the keys, ms
-- Returns {phase, period, ms until a probe is allowed, now in ms, number of the caller's probe or 0}. Phases: 0 closed, 1 half open,
-- 2 open.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local state = redis.call('HMGET', KEYS[1], 'phase', 'period', 'until', 'succeeded')
local phase, period, probeAt = tonumber(state[1] or 0), tonumber(state[2] or 0), tonumber(state[3] or 0)
local succeeded, number = tonumber(state[4] or 0), 0
if phase == 2 and now >= probeAt then
  phase, period, succeeded = 1, period + 1, 0
  redis.call('HSET', KEYS[1], 'phase', phase, 'period', period, 'succeeded', 0)
  redis.call('DEL', KEYS[2])
end
if phase == 1 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  if redis.call('ZCARD', KEYS[2]) + succeeded < tonumber(ARGV[1]) then
    number = redis.call('HINCRBY', KEYS[1], 'number', 1)
    redis.call('ZADD', KEYS[2], now + ARGV[2], number)
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    redis.call('PEXPIRE', KEYS[2], ARGV[3])
  end
end
return {phase, period, phase == 2 and probeAt - now or 0, now, number}
