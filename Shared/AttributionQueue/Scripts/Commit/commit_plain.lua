-- commit_plain: settles a plain batch (PlainBatch), such as verified postbacks whose natural keys are new, in one step. It needs fewer
-- commands than commit.lua, which settles every other batch.
-- KEYS 1 ownership  2 ready stream  3 events, a stream: the feed of this shard  4 index: the entry of each event's id
--      5 subscriptions that request original bytes
--      then for each message: the record of its delivery, and if it has a natural key, its buckets in the current and in the previous
--      generation
-- ARGV 1 ownership  2 entry id of the first message  3 the smallest entry id above the last message's  4 expiry of records, seconds
--      5 1 if an event of the batch is stored with the original bytes while a subscription requests them, else 0
--      6 delivery id of the first message if it was announced and not read, else empty
--      then for each message: the natural key's member of its bucket and the bucket's expiry in seconds, both empty without a natural key;
--      the record; the number of words of its event in the stream; these words, a name and a value in turn: i the event's id first, then t
--      its type, e its JSON, v environment, and n ad network, p app and b bundle if it has them
-- Returns the number of messages left in the stream. A negative result means that nothing was changed:
--   -1 another worker owns the shard, the stream has earlier messages, or a natural key was claimed before
--   -2 the announced message is not the first of the stream
--   -3 a subscription requests original bytes
local call = redis.call
local ready, events = KEYS[2], KEYS[3]
if call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
if ARGV[6] ~= '' then
  local first = call('XRANGE', ready, '-', '+', 'COUNT', 1)[1]
  if not first or first[1] ~= ARGV[2] or first[2][1] ~= 'i' or first[2][2] ~= ARGV[6] then return -2 end
elseif #call('XRANGE', ready, '-', '(' .. ARGV[2], 'COUNT', 1) > 0 then
  return -1
end
if ARGV[5] == '1' and call('EXISTS', KEYS[5]) == 1 then return -3 end

-- Where the keys and arguments of each message begin.
local keyOf, argumentOf, buckets = {}, {}, {}
local key, argument = 6, 7
while ARGV[argument] do
  keyOf[#keyOf + 1], argumentOf[#argumentOf + 1] = key, argument
  if ARGV[argument] ~= '' then
    buckets[#buckets + 1] = KEYS[key + 1]
    key = key + 2
  end
  key = key + 1
  argument = argument + 4 + tonumber(ARGV[argument + 3])
end

-- Claims all natural keys or none. They differ from each other (PlainBatch). Each is checked before the first is added, except the first key
-- in the current generation: its SADD is the first write of the script, so if that finds the key claimed, nothing was changed.
local someBucketIsNew = #buckets > 0 and call('EXISTS', unpack(buckets)) < #buckets
local isFirst = true
for index, argument in ipairs(argumentOf) do
  local member, key = ARGV[argument], keyOf[index]
  if member ~= '' then
    if call('SISMEMBER', KEYS[key + 2], member) == 1 then return -1 end
    if not isFirst and call('SISMEMBER', KEYS[key + 1], member) == 1 then return -1 end
    isFirst = false
  end
end
for index, argument in ipairs(argumentOf) do
  if ARGV[argument] ~= '' and call('SADD', KEYS[keyOf[index] + 1], ARGV[argument]) == 0 then return -1 end
end

local published = {}
for index, argument in ipairs(argumentOf) do
  local key, count = keyOf[index], tonumber(ARGV[argument + 3])
  if count > 0 then
    published[#published + 1] = ARGV[argument + 5]
    published[#published + 1] = call('XADD', events, '*', unpack(ARGV, argument + 4, argument + 3 + count))
  end
  local record = ARGV[argument + 2]
  if not call('SET', KEYS[key], record, 'XX', 'KEEPTTL') then call('SET', KEYS[key], record, 'EX', ARGV[4]) end
  if someBucketIsNew and ARGV[argument] ~= '' then call('EXPIRE', KEYS[key + 1], ARGV[argument + 1], 'NX') end
end
if #published > 0 then call('HSET', KEYS[4], unpack(published)) end
call('XTRIM', ready, 'MINID', ARGV[3])
return call('XLEN', ready)
