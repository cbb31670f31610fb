-- recovery_create: stores a new job and lists it as running. An existing job with the same id is not changed.
-- KEYS 1 job  2 ids of the app's running jobs
-- ARGV 1 job  2 seconds to live  3 the job's id
-- Returns 1, or 0 if the job exists.
local key, running = unpack(KEYS)
local job, seconds, id = unpack(ARGV)
if not redis.call('SET', key, job, 'NX', 'EX', seconds) then return 0 end
redis.call('SADD', running, id)
return 1
