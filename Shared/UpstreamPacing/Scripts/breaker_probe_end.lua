-- breaker_probe_end: records the result of a probe. Enough successful probes close the breaker. A failed probe opens it again, for a longer
-- pause. After an abandoned probe, another one may be made. Uses Redis' clock.
-- KEYS 1 state of the breaker  2 results of calls  3 probes in flight, scored by the time at which they time out
-- ARGV 1 the probe's number  2 the probe's period  3 succeeded, failed or abandoned  4 number of probes that must succeed
--      5 first pause, ms  6 longest pause, ms  7 part of the pause by which it is shortened, 0 to 1  8 time to live of the keys, ms
-- Returns {phase, period, ms until a probe is allowed, now in ms}. Phases: 0 closed, 1 half open, 2 open.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local state = redis.call('HMGET', KEYS[1], 'phase', 'period', 'until', 'succeeded', 'pause')
local phase, period, probeAt = tonumber(state[1] or 0), tonumber(state[2] or 0), tonumber(state[3] or 0)
if phase == 1 and period == tonumber(ARGV[2]) and redis.call('ZREM', KEYS[3], ARGV[1]) == 1 then
  if ARGV[3] == 'failed' then
    local pause = math.min((state[5] or ARGV[5]) * 2, tonumber(ARGV[6]))
    phase, period = 2, period + 1
    probeAt = now + math.max(1, pause - math.floor(pause * ARGV[7]))
    redis.call('HSET', KEYS[1], 'phase', phase, 'period', period, 'until', string.format('%.0f', probeAt), 'pause', pause)
    redis.call('DEL', KEYS[3])
  elseif ARGV[3] == 'succeeded' then
    if (state[4] or 0) + 1 < tonumber(ARGV[4]) then
      redis.call('HINCRBY', KEYS[1], 'succeeded', 1)
    else
      phase, period = 0, period + 1
      redis.call('HSET', KEYS[1], 'phase', phase, 'period', period, 'succeeded', 0)
      redis.call('DEL', KEYS[2], KEYS[3])
    end
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[8])
end
return {phase, period, phase == 2 and math.max(0, probeAt - now) or 0, now}
