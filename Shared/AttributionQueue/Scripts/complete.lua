-- complete: publishes the outcome, records the delivery's state and takes the message off the queue, in one step,
-- if the worker still holds the lease.
-- KEYS 1 ready stream  2 natural bucket, this generation  3 the last one  4 the next one  5 events stream  6 events index
--      7 delivery record
-- ARGV 1 group  2 consumer  3 entry id  4 delivery count of the lease  5 natural member, or empty  6 bucket expiry, seconds
--      7 state  8 record expiry, seconds  9 now, ms  10 reason, or empty  11 event id for the record, or empty
--      12… event id, type, JSON, for each event
-- Answers 1 when done, 0 when the natural key was seen before (no event), -1 when the lease is lost.
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1)
if #pending == 0 or pending[1][2] ~= ARGV[2] or pending[1][4] ~= tonumber(ARGV[4]) then return -1 end
local fresh = 1
if ARGV[5] ~= '' then
  for index = 2, 4 do
    if redis.call('SISMEMBER', KEYS[index], ARGV[5]) == 1 then fresh = 0 end
  end
  if fresh == 1 then
    redis.call('SADD', KEYS[2], ARGV[5])
    redis.call('EXPIRE', KEYS[2], ARGV[6], 'NX')
  end
end
if fresh == 1 then
  for index = 12, #ARGV, 3 do
    local id = redis.call('XADD', KEYS[5], '*', 'i', ARGV[index], 't', ARGV[index + 1], 'e', ARGV[index + 2])
    redis.call('HSET', KEYS[6], ARGV[index], id)
  end
end
redis.call('HSET', KEYS[7], 'state', ARGV[7], 'completedAt', ARGV[9], 'reason', ARGV[10], 'eventId', ARGV[11])
redis.call('HINCRBY', KEYS[7], 'attempts', 1)
redis.call('EXPIRE', KEYS[7], ARGV[8])
redis.call('XACK', KEYS[1], ARGV[1], ARGV[3])
redis.call('XDEL', KEYS[1], ARGV[3])
return fresh
