-- migration_finish: counts the result of a purchase's look-up once.
-- KEYS 1 counts  2 results of batches  3 failures  4 the set of finished purchases for this purchase  5 its set of known purchases
-- ARGV 1 purchase  2 now, ms  3 seconds to live  4 seconds to live while purchases wait  5 number of transactions
--      6 number of subscriptions  7 maximum number of stored failures  8 the count of the result: migrated or refused
--      9 number of ids and signed transactions that could not be used although the purchase was migrated  10… failures
-- Returns 1, or 0 if it was counted before.
-- The keys 2 and 5 are only passed because their time to live is extended too.
local counts, failures, finished = KEYS[1], KEYS[3], KEYS[4]
local purchase, now, seconds, secondsOfWaiting = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local transactions, subscriptions, maxFailures, result, partialFailures = ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9]
local firstFailure = 10

if redis.call('SADD', finished, purchase) == 0 then return 0 end
redis.call('HSET', counts, 'updatedAt', now)
redis.call('HINCRBY', counts, 'transactions', transactions)
redis.call('HINCRBY', counts, 'subscriptions', subscriptions)
redis.call('HINCRBY', counts, result, 1)
redis.call('HINCRBY', counts, 'partialFailures', partialFailures)
for index = firstFailure, #ARGV do
  if redis.call('XLEN', failures) < maxFailures then
    redis.call('XADD', failures, '*', 'f', ARGV[index])
  else
    redis.call('HINCRBY', counts, 'notKept', 1)
  end
end
expire(counts, seconds, secondsOfWaiting)
return 1
