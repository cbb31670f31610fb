-- take: leases the messages of a shard with the nearest deadlines. Before that, delayed messages that are due by Redis' clock are added to
-- the set by deadline.
-- KEYS 1 ready stream  2 delayed set  3 payloads  4 set by deadline
-- ARGV 1 group  2 consumer  3 number to take  4 maximum number of due messages to move  5 number of next deadlines to return
--      6 latest deadline to take, because another worker may have taken the messages that this worker knew
-- Returns {entries in the format of XREADGROUP, due time of the next delayed message in ms since 1970 or -1, number of messages in the set
-- by deadline, their next deadlines}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit = tonumber(ARGV[3])
local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[4])
for _, id in ipairs(due) do
  local packed = redis.call('HGET', KEYS[3], id)
  redis.call('ZREM', KEYS[2], id)
  if packed then
    local isRead, m = pcall(cmsgpack.unpack, packed)
    local deadline = isRead and type(m) == 'table' and tonumber(m[7])
    -- A damaged deadline, which workers cannot read as a time, counts as none.
    if deadline and deadline >= 0 and deadline < 2 ^ 53 and deadline % 1 == 0 then
      redis.call('ZADD', KEYS[4], deadline, id)
    else
      -- A message without a deadline goes to the stream and is leased before all others.
      redis.call('HDEL', KEYS[3], id)
      append(KEYS[1], id, packed)
    end
  end
end
local taken = limit > 0 and redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', ARGV[6], 'LIMIT', 0, limit) or {}
for _, id in ipairs(taken) do
  local packed = redis.call('HGET', KEYS[3], id)
  redis.call('ZREM', KEYS[4], id)
  redis.call('HDEL', KEYS[3], id)
  if packed then append(KEYS[1], id, packed) end
end
-- This also leases up to 16 entries that were in the stream already, such as a replayed dead letter without a deadline.
local read = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', #taken + 16, 'STREAMS', KEYS[1], '>')
local entries = read and read[1][2] or {}
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
local next = #first > 0 and first[2] or '-1'
local coming = {}
local ahead = redis.call('ZRANGE', KEYS[4], 0, ARGV[5] - 1, 'WITHSCORES')
for index = 2, #ahead, 2 do coming[#coming + 1] = ahead[index] end
return {entries, next, redis.call('ZCARD', KEYS[4]), coming}
