-- migration_add: counts a batch of receipts once, and records its purchases and failures.
-- KEYS 1 counts  2 results of batches  3 failures  4… for each purchase: the set of known purchases that may contain it
-- ARGV 1 batch  2 now, ms  3 seconds to live  4 seconds to live while purchases wait  5 app  6 number of receipts
--      7 number of receipts without a purchase  8 maximum number of stored failures  9 number of failures of this batch
--      10… these failures  then the purchases, in the order of their sets in KEYS
-- Returns one text with a digit for each purchase: 1 if it is new to the migration, else 0. The same batch returns the same text again.
-- Returns -1 if the migration belongs to another app, -2 if it was cancelled; then nothing is written.
local counts, batches, failures = KEYS[1], KEYS[2], KEYS[3]
local batch, now, seconds, secondsOfWaiting, app = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local receipts, noPurchase, maxFailures, failureCount = ARGV[6], ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
local firstSet, firstFailure = 4, 10
local firstPurchase = firstFailure + failureCount

local owner = redis.call('HGET', counts, 'bundleId')
if owner and owner ~= app then return -1 end
local earlier = redis.call('HGET', batches, batch)
if earlier then return earlier end
if redis.call('HEXISTS', counts, 'cancelledAt') == 1 then return -2 end

local flags = {}
local queued = 0
for index = firstSet, #KEYS do
  local purchase = ARGV[firstPurchase + index - firstSet]
  local isNew = redis.call('SADD', KEYS[index], purchase)
  flags[#flags + 1] = tostring(isNew)
  queued = queued + isNew
end

redis.call('HSETNX', counts, 'startedAt', now)
redis.call('HSET', counts, 'bundleId', app, 'updatedAt', now)
redis.call('HINCRBY', counts, 'receipts', receipts)
redis.call('HINCRBY', counts, 'noPurchase', noPurchase)
redis.call('HINCRBY', counts, 'unreadable', failureCount)
redis.call('HINCRBY', counts, 'queued', queued)
redis.call('HINCRBY', counts, 'duplicates', #flags - queued)
for index = firstFailure, firstPurchase - 1 do
  if redis.call('XLEN', failures) < maxFailures then
    redis.call('XADD', failures, '*', 'f', ARGV[index])
  else
    redis.call('HINCRBY', counts, 'notKept', 1)
  end
end

local result = table.concat(flags)
redis.call('HSET', batches, batch, result)
expire(counts, seconds, secondsOfWaiting)
return result
