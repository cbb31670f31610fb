-- migration_task_state: reads whether a purchase must still be looked up.
-- KEYS 1 counts  2 the set of finished purchases that may contain the purchase
-- ARGV 1 purchase
-- Returns 1 if its look-up has ended, 2 if the migration was cancelled, else 0.
local counts, finished = unpack(KEYS)
local purchase = ARGV[1]
if redis.call('SISMEMBER', finished, purchase) == 1 then return 1 end
if redis.call('HEXISTS', counts, 'cancelledAt') == 1 then return 2 end
return 0
