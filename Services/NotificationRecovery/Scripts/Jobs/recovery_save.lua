-- recovery_save: stores a job's progress, if the caller still leads the app.
-- KEYS 1 leader's lease  2 job  3 ids of the app's running jobs
-- ARGV 1 token of the caller's term  2 job  3 seconds to live  4 the job's id  5 1 if the job is still running
-- Returns 1, or 0 if the term is over; then nothing is written.
local lease, key, running = unpack(KEYS)
local token, job, seconds, id, isRunning = unpack(ARGV)
if redis.call('GET', lease) ~= token then return 0 end
redis.call('SET', key, job, 'EX', seconds)
if isRunning ~= '1' then redis.call('SREM', running, id) end
return 1
