-- breaker_count: counts results of calls while the breaker is closed, and opens the breaker if too many calls failed. If there are no
-- results, it only returns the state. Uses Redis' clock.
-- KEYS 1 state of the breaker  2 hash of the results: start of a part of the window -> calls, failures  3 probes in flight
-- ARGV 1 period in which the calls were admitted  2 number of successful calls  3 number of failed calls  4 window, ms
--      5 length of a part of the window, ms  6 least number of calls with which the breaker opens
--      7 ratio of failed calls at which the breaker opens  8 pause, ms  9 part of the pause by which it is shortened, 0 to 1
--      10 time to live of the keys, ms
-- Returns {phase, period, ms until a probe is allowed, now in ms}. Phases: 0 closed, 1 half open, 2 open.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local state = redis.call('HMGET', KEYS[1], 'phase', 'period', 'until')
local phase, period, probeAt = tonumber(state[1] or 0), tonumber(state[2] or 0), tonumber(state[3] or 0)
local calls, failures = ARGV[2] + ARGV[3], tonumber(ARGV[3])
if phase == 0 and period == tonumber(ARGV[1]) and calls > 0 then
  local part = string.format('%.0f', now - now % ARGV[5])
  redis.call('HINCRBY', KEYS[2], part .. ':calls', calls)
  redis.call('HINCRBY', KEYS[2], part .. ':failures', failures)
  redis.call('PEXPIRE', KEYS[2], ARGV[10])
  local sum = {calls = 0, failures = 0}
  local results = redis.call('HGETALL', KEYS[2])
  for index = 1, #results, 2 do
    local start, name = string.match(results[index], '^(%d+):(%a+)$')
    if tonumber(start) <= now - ARGV[4] then
      redis.call('HDEL', KEYS[2], results[index])
    else
      sum[name] = sum[name] + results[index + 1]
    end
  end
  -- Successes never open the breaker, even if the number of calls reaches the required number with them.
  if failures > 0 and sum.calls >= tonumber(ARGV[6]) and sum.failures >= ARGV[7] * sum.calls then
    phase, period = 2, period + 1
    probeAt = now + math.max(1, ARGV[8] - math.floor(ARGV[8] * ARGV[9]))
    redis.call('HSET', KEYS[1], 'phase', phase, 'period', period, 'until', string.format('%.0f', probeAt), 'pause', ARGV[8])
    redis.call('PEXPIRE', KEYS[1], ARGV[10])
    redis.call('DEL', KEYS[2], KEYS[3])
  end
end
return {phase, period, phase == 2 and math.max(0, probeAt - now) or 0, now}
