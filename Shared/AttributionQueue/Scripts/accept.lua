-- accept: claims a delivery's idempotency key and appends the message, in one step.
-- KEYS 1 seen bucket, this generation  2 the last one  3 the next one (another instance's clock may be ahead)
--      4 ready stream  5 delayed set  6 payloads  7 delivery record
--      8 line of its order key, if it keeps its order, or the set by deadline, in a queue that is worked by deadline
-- ARGV 1 member  2 bucket expiry, seconds  3 backlog bound of this shard  4 delivery id  5 record expiry, seconds
--      6 now, ms  7 due, ms, or 0 for at once  8 queue  9 kind  10 body  11 attributes
--      12 what the line is told by, if it keeps its order  13 deadline, ms, or empty, in such a queue
-- A line is the ids of the unfinished messages of one order key. Only its first may be worked, delayed or retried; the others wait
-- among the delayed ones, due never, until the one before them is finished.
-- A payload is {kind, body, attributes, attempts, history, line or false, deadline or nil}.
-- Answers 1 when new, 0 when seen before, -1 when the backlog is full.
for index = 1, 3 do
  if redis.call('SISMEMBER', KEYS[index], ARGV[1]) == 1 then return 0 end
end
local due = tonumber(ARGV[7])
local waiting = redis.call('XLEN', KEYS[4]) + redis.call('ZCARD', KEYS[5])
if ARGV[13] then waiting = waiting + redis.call('ZCARD', KEYS[8]) end
if waiting >= tonumber(ARGV[3]) then return -1 end
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2], 'NX')
redis.call('HSET', KEYS[7], 'state', 'accepted', 'acceptedAt', ARGV[6], 'queue', ARGV[8], 'kind', ARGV[9], 'attempts', 0)
redis.call('EXPIRE', KEYS[7], ARGV[5])
local deadline = ARGV[13] and ARGV[13] ~= '' and ARGV[13]
local line = not ARGV[13] and KEYS[8] and ARGV[12]
if deadline then
  if due > 0 then redis.call('ZADD', KEYS[5], due, ARGV[4]) else redis.call('ZADD', KEYS[8], deadline, ARGV[4]) end
  redis.call('HSET', KEYS[6], ARGV[4], cmsgpack.pack({ARGV[9], ARGV[10], ARGV[11], 0, '', false, deadline}))
elseif line and redis.call('RPUSH', KEYS[8], ARGV[4]) > 1 then
  redis.call('ZADD', KEYS[5], '+inf', ARGV[4])
  redis.call('HSET', KEYS[6], ARGV[4], cmsgpack.pack({ARGV[9], ARGV[10], ARGV[11], 0, '', line}))
elseif due > 0 then
  redis.call('ZADD', KEYS[5], due, ARGV[4])
  redis.call('HSET', KEYS[6], ARGV[4], cmsgpack.pack({ARGV[9], ARGV[10], ARGV[11], 0, '', line or nil}))
elseif line then
  redis.call('XADD', KEYS[4], '*', 'i', ARGV[4], 'k', ARGV[9], 'b', ARGV[10], 'a', ARGV[11], 'n', 0, 'h', '', 'o', line)
else
  redis.call('XADD', KEYS[4], '*', 'i', ARGV[4], 'k', ARGV[9], 'b', ARGV[10], 'a', ARGV[11], 'n', 0, 'h', '')
end
return 1
