-- report_note: stores Apple's answer to a report, or why there is none yet.
-- KEYS 1 report
-- ARGV 1 round  2 state  3 now, ms, or empty while the report waits  4 error, or empty  5 Apple's errors in JSON
-- Returns 1, or 0 if the round is over; then nothing is written.
local report = KEYS[1]
local round, newState, completed, failure, errors = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local state, currentRound = unpack(redis.call('HMGET', report, 'state', 'round'))
if state ~= 'waiting' or tonumber(currentRound) ~= round then return 0 end
redis.call('HSET', report, 'state', newState, 'error', failure, 'errors', errors)
if completed ~= '' then redis.call('HSET', report, 'completedAt', completed) end
return 1
