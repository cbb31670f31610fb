-- migration_finish: counts the result of a purchase's look-up once.
-- KEYS 1 counts  2 results of batches  3 failures  4 the set of finished purchases for this purchase  5 its set of known purchases
-- ARGV 1 purchase  2 now, ms  3 seconds to live  4 seconds to live while purchases wait  5 number of transactions
--      6 number of subscriptions  7 maximum number of stored failures  8 failure, or empty if the purchase was migrated
-- Returns 1, or 0 if it was counted before.
-- The keys 2 and 5 are only passed because their time to live is extended too.
local counts, failures, finished = KEYS[1], KEYS[3], KEYS[4]
local purchase, now, seconds, secondsOfWaiting = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local transactions, subscriptions, maxFailures, failure = ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8]

if redis.call('SADD', finished, purchase) == 0 then return 0 end
redis.call('HSET', counts, 'updatedAt', now)
redis.call('HINCRBY', counts, 'transactions', transactions)
redis.call('HINCRBY', counts, 'subscriptions', subscriptions)
if failure == '' then
  redis.call('HINCRBY', counts, 'migrated', 1)
else
  redis.call('HINCRBY', counts, 'refused', 1)
  if redis.call('XLEN', failures) < maxFailures then
    redis.call('XADD', failures, '*', 'f', failure)
  else
    redis.call('HINCRBY', counts, 'notKept', 1)
  end
end
expire(counts, seconds, secondsOfWaiting)
return 1
