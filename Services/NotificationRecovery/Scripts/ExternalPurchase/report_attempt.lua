-- report_attempt: counts an attempt to send a report, before the attempt is made. Two fields count the attempts of a round: callers see
-- "attempts", and "sent" tells the worker whether Apple may have the report already.
-- KEYS 1 report
-- ARGV 1 round
-- Returns the number of earlier attempts in the round, or -1 if the round is over.
local report = KEYS[1]
local round = tonumber(ARGV[1])
local state, currentRound = unpack(redis.call('HMGET', report, 'state', 'round'))
if state ~= 'waiting' or tonumber(currentRound) ~= round then return -1 end
redis.call('HINCRBY', report, 'attempts', 1)
return redis.call('HINCRBY', report, 'sent', 1) - 1
