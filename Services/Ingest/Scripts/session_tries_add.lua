-- session_tries_add: counts failed requests of a session.
-- KEYS 1 hash of the session's requests: for each ATT status and host their number, the times of the first and the last one, and the last
--      result
-- ARGV 1 seconds to live  2 time, ms  3… for each request: field and result
-- Returns the number of fields.
local key, time = KEYS[1], ARGV[2]
for place = 3, #ARGV, 2 do
  local before = redis.call('HGET', key, ARGV[place]) or ''
  local count, first = string.match(before, '^(%d+),(%d+),')
  redis.call('HSET', key, ARGV[place], string.format('%d,%s,%s,%s', (tonumber(count) or 0) + 1, first or time, time, ARGV[place + 1]))
end
redis.call('EXPIRE', key, ARGV[1])
return redis.call('HLEN', key)
