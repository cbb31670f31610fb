-- report_begin: stores a report and begins a round of attempts to send it, unless the report waits already or Apple has accepted it.
-- KEYS 1 report
-- ARGV 1 digest of the report  2 its body  3 now, ms  4 seconds to live
-- Returns {1, round} if the report must be sent to Apple, {2} if Apple has accepted it, {3} if another report has its identifier.
local report = KEYS[1]
local digest, body, now, seconds = unpack(ARGV)
local state, knownDigest, knownRound = unpack(redis.call('HMGET', report, 'state', 'digest', 'round'))
if state == 'waiting' or state == 'accepted' then
  if knownDigest ~= digest then return {3} end
  if state == 'accepted' then return {2} end
  return {1, tonumber(knownRound)}
end
local round = redis.call('HINCRBY', report, 'round', 1)
redis.call('HSET', report, 'state', 'waiting', 'digest', digest, 'body', body, 'attempts', 0, 'sent', 0, 'receivedAt', now)
redis.call('HDEL', report, 'completedAt', 'error', 'errors')
redis.call('EXPIRE', report, seconds)
return {1, round}
