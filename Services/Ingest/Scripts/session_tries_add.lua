-- session_tries_add: counts failed requests with which a session was sent to hosts.
-- KEYS 1 hash of the session's failed requests. A field is an ATT status and a host (SessionTries.Target); its value is the number of
--      requests, the times of the first and the last request, and the last result, separated by commas
-- ARGV 1 seconds to live  2 time of these requests, ms  3… for each request: field and result
-- Returns the number of fields.
local key, time = KEYS[1], ARGV[2]
for index = 3, #ARGV, 2 do
  local stored = redis.call('HGET', key, ARGV[index]) or ''
  local count, first = string.match(stored, '^(%d+),(%d+),')
  redis.call('HSET', key, ARGV[index], string.format('%d,%s,%s,%s', (tonumber(count) or 0) + 1, first or time, time, ARGV[index + 1]))
end
redis.call('EXPIRE', key, ARGV[1])
return redis.call('HLEN', key)
