-- migration_cancel: cancels a migration in which purchases wait.
-- KEYS 1 counts
-- ARGV 1 now, ms
-- Returns 1 if the migration is cancelled now or was cancelled before, 0 if no purchase waits.
-- The keys keep the long time to live of a migration in which purchases wait, because its messages in the queue need them.
local counts = KEYS[1]
local now = ARGV[1]
if redis.call('HEXISTS', counts, 'cancelledAt') == 1 then return 1 end
if waiting(counts) <= 0 then return 0 end
redis.call('HSET', counts, 'cancelledAt', now, 'updatedAt', now)
return 1
