-- reverify: puts a rejected delivery back into its queue with the same id, to be judged again.
-- KEYS 1 to 3 bodies, index and sizes of rejected deliveries  4 delivery record  5 ready stream  6 delayed set  7 delayed payloads
--      8 its order line, if the message keeps its order
-- ARGV 1 delivery id  2 its index entry as the caller has read it  3 envelope that replaces the stored one  4 record  5 record expiry, seconds
--      6 accepted or verified, see entersLine in form.lua  7 group
-- Returns 1 if it was queued; 0 if its body is not stored, or is that of a later rejection; -1 if its record shows that it is not rejected:
-- a repeat of the delivery waits in the queue, or was verified.
local packed = redis.call('HGET', KEYS[1], ARGV[1])
local field = packed and cmsgpack.unpack(packed)
if not field or field[10] ~= ARGV[2] then return 0 end
local record = redis.call('GET', KEYS[4])
if record then
  local isRead, fields = pcall(cjson.decode, record)
  local state = isRead and type(fields) == 'table' and fields.s
  if state ~= 'rejected' then
    -- Only a delivery that waits can be rejected again.
    if state ~= 'accepted' then removeRejected(KEYS[1], KEYS[2], KEYS[3], ARGV[2]) end
    return -1
  end
end
removeRejected(KEYS[1], KEYS[2], KEYS[3], ARGV[2])
local line = field[6] or nil
local payload = cmsgpack.pack({field[1], field[2], ARGV[3], 0, '', line})
if line and entersLine(KEYS[5], ARGV[7], ARGV[6]) and redis.call('RPUSH', KEYS[8], ARGV[1]) > 1 then
  redis.call('ZADD', KEYS[6], '+inf', ARGV[1])
  redis.call('HSET', KEYS[7], ARGV[1], payload)
else
  append(KEYS[5], ARGV[1], payload, line)
end
redis.call('SET', KEYS[4], ARGV[4], 'EX', ARGV[5])
return 1
