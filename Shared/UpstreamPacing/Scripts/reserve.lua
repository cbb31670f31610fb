-- reserve: reserves units of a rate limit by the generic cell rate algorithm (RateBucket.swift does the same), and can hold the limit for a
-- time in which no unit may be used. Uses Redis' clock.
-- KEYS 1 the limit's state: the time at which the bucket will be full again, and the end of the hold
-- ARGV 1 least number of units  2 greatest number of units, 0 to reserve none  3 µs between units  4 burst, units  5 longest wait, µs
--      6 length of the hold from now, µs, or 0
-- Returns {units granted or 0, wait in µs, now in µs}.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local state = redis.call('HMGET', KEYS[1], 'full', 'held')
local full, held = tonumber(state[1] or now), tonumber(state[2] or now)
local minUnits, maxUnits, interval = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tolerance, latest, hold = interval * ARGV[4], now + ARGV[5], tonumber(ARGV[6])
local granted, wait = 0, 0
if hold > 0 then held = math.max(held, now + hold) end
if maxUnits > 0 then
  local base = math.max(full, now, held)
  local available = 0
  if held <= latest then available = math.max(0, math.floor((latest + tolerance - base) / interval)) end
  local units = math.min(maxUnits, math.max(available, minUnits))
  wait = math.max(base + interval * units - tolerance, held, now) - now
  if available >= minUnits then
    granted = units
    full = base + interval * units
  end
end
if granted > 0 or hold > 0 then
  redis.call('HSET', KEYS[1], 'full', string.format('%.0f', full), 'held', string.format('%.0f', held))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil((math.max(full, held, now) - now) / 1000) + 1000))
end
return {granted, wait, now}
