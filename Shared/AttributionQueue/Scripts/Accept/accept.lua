-- accept: claims a delivery's idempotency key and appends the message, in one step.
-- KEYS 1 deduplication bucket of the current generation  2 that of the previous one  3 that of the next one if another instance's
--      clock may be ahead by one generation, otherwise the same as 2
--      4 ready stream  5 delayed set  6 payloads  7 delivery record
--      8 the set by deadline, in a queue that is worked by deadline; elsewhere the order line, if the message keeps its order
-- ARGV 1 member of the bucket  2 bucket expiry, seconds  3 backlog limit of this shard  4 delivery id  5 record expiry, seconds
--      6 record, JSON  7 due time, ms, or 0 for no delay  8 kind  9 body  10 envelope
--      11 maximum size of a message that is announced with its content: bytes of body and envelope
--      Key 8 and ARGV 12 to 14 are absent for a message that keeps no order, such as a postback, in a queue without deadlines.
--      In a queue by deadline: 12 the word deadlines  13 the deadline, ms, or empty for none
--      With an order line: 12 accepted or verified, see entersLine in form.lua  13 the name of the order line  14 the group
-- An order line is a list of the ids of the unfinished messages of one order key. Only the first may be applied, delayed or retried. The
-- others are in the delayed set with score +inf until the one before them is finished. In the leased form (StoreForm), a message enters its
-- line here; in the owned form, commit.lua adds it when it is verified.
-- An entry of the ready stream has the fields i (delivery id), k (kind), b (body as it was received), a (envelope: all else of the message,
-- in JSON), and o (order line) if it keeps its order. payload.lua adds n (attempts), h (history) and r (deadline).
-- A payload is {kind, body, envelope, attempts, history, line or false, deadline or nil}.
-- Returns 1 if new, 0 if the key was claimed before, -1 if the backlog is full.
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then return 0 end
if KEYS[3] ~= KEYS[2] and redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 then return 0 end
local due = tonumber(ARGV[7])
local ready = redis.call('XLEN', KEYS[4])
local waiting = ready + redis.call('ZCARD', KEYS[5])
if ARGV[12] == 'deadlines' then waiting = waiting + redis.call('ZCARD', KEYS[8]) end
-- Full: 0 if the key is claimed already, else -1.
if waiting >= tonumber(ARGV[3]) then return redis.call('SISMEMBER', KEYS[1], ARGV[1]) - 1 end
if redis.call('SADD', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('EXPIRE', KEYS[1], ARGV[2], 'NX')
redis.call('SET', KEYS[7], ARGV[6], 'EX', ARGV[5])
local deadline = ARGV[12] == 'deadlines' and ARGV[13] ~= '' and ARGV[13]
local line = ARGV[12] ~= 'deadlines' and ARGV[13]
local announcement = ''
if deadline then
  if due > 0 then redis.call('ZADD', KEYS[5], due, ARGV[4]) else redis.call('ZADD', KEYS[8], deadline, ARGV[4]) end
  redis.call('HSET', KEYS[6], ARGV[4], cmsgpack.pack({ARGV[8], ARGV[9], ARGV[10], 0, '', false, deadline}))
elseif line and entersLine(KEYS[4], ARGV[14], ARGV[12]) and redis.call('RPUSH', KEYS[8], ARGV[4]) > 1 then
  redis.call('ZADD', KEYS[5], '+inf', ARGV[4])
  redis.call('HSET', KEYS[6], ARGV[4], cmsgpack.pack({ARGV[8], ARGV[9], ARGV[10], 0, '', line}))
elseif due > 0 then
  redis.call('ZADD', KEYS[5], due, ARGV[4])
  redis.call('HSET', KEYS[6], ARGV[4], cmsgpack.pack({ARGV[8], ARGV[9], ARGV[10], 0, '', line or nil}))
elseif line then
  redis.call('XADD', KEYS[4], '*', 'i', ARGV[4], 'k', ARGV[8], 'b', ARGV[9], 'a', ARGV[10], 'o', line)
else
  local id = redis.call('XADD', KEYS[4], '*', 'i', ARGV[4], 'k', ARGV[8], 'b', ARGV[9], 'a', ARGV[10])
  if ready == 0 and #ARGV[9] + #ARGV[10] <= tonumber(ARGV[11]) then
    announcement = '*1\r\n*2\r\n$' .. #id .. '\r\n' .. id .. '\r\n*8\r\n$1\r\ni\r\n$' .. #ARGV[4] .. '\r\n' .. ARGV[4] ..
      '\r\n$1\r\nk\r\n$' .. #ARGV[8] .. '\r\n' .. ARGV[8] .. '\r\n$1\r\nb\r\n$' .. #ARGV[9] .. '\r\n' .. ARGV[9] ..
      '\r\n$1\r\na\r\n$' .. #ARGV[10] .. '\r\n' .. ARGV[10] .. '\r\n'
  end
end
-- Published only if the stream was empty before; otherwise the shard's owner is reading already. The announcement has the format of a reply
-- to XRANGE, so that the owner can work the message without reading it. It is empty if the message is not in the stream, keeps its order or
-- is larger than ARGV 11: then the owner reads. If Redis refuses to publish, the owner finds the message at its next periodic read.
if ready == 0 then redis.pcall('SPUBLISH', KEYS[4], announcement) end
return 1
