-- reserve: reserves units of a rate limit, by the generic cell rate algorithm, and may hold the limit for a time. Uses Redis' clock.
-- KEYS 1 the limit's state
-- ARGV 1 fewest units  2 most units, 0 to take none  3 µs between units  4 units at once  5 longest wait, µs
--      6 hold from now, µs, or 0
-- Returns {units granted or 0, wait in µs, now in µs}.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local state = redis.call('HMGET', KEYS[1], 'full', 'held')
local full, held = tonumber(state[1] or now), tonumber(state[2] or now)
local least, most, interval = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tolerance, latest, hold = interval * ARGV[4], now + ARGV[5], tonumber(ARGV[6])
local granted, wait = 0, 0
if hold > 0 then held = math.max(held, now + hold) end
if most > 0 then
  local base = math.max(full, now, held)
  local available = 0
  if held <= latest then available = math.max(0, math.floor((latest + tolerance - base) / interval)) end
  local taken = math.min(most, math.max(available, least))
  wait = math.max(base + interval * taken - tolerance, held, now) - now
  if available >= least then
    granted = taken
    full = base + interval * taken
  end
end
if granted > 0 or hold > 0 then
  redis.call('HSET', KEYS[1], 'full', string.format('%.0f', full), 'held', string.format('%.0f', held))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil((math.max(full, held, now) - now) / 1000) + 1000))
end
return {granted, wait, now}
