-- migration_cancel: cancels a migration in which purchases wait.
-- KEYS 1 counts
-- ARGV 1 now, ms
-- Returns 1 if it is cancelled now or was before, 0 if no purchase waits.
-- The keys keep the time to live of a waiting migration, because they must outlive its messages.
local counts = KEYS[1]
local now = ARGV[1]
if redis.call('HEXISTS', counts, 'cancelledAt') == 1 then return 1 end
if waiting(counts) <= 0 then return 0 end
redis.call('HSET', counts, 'cancelledAt', now, 'updatedAt', now)
return 1
