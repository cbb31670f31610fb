-- commit_plain: settles a plain batch (PlainBatch), such as verified postbacks whose natural keys are new, in one step. It needs fewer
-- commands than commit.lua, which settles every other batch.
-- KEYS 1 ownership  2 ready stream  3 events, a stream: the feed of this shard  4 index: the entry of each event's id
--      5 subscriptions that request original bytes
--      then for each message: the record of its delivery, and if it has a natural key, the buckets of this generation and of the last one
-- ARGV 1 ownership  2 entry id of the first message  3 the smallest entry id above the last message's  4 expiry of records, seconds
--      5 1 if original bytes are stored with an event while a subscription requests them, else 0
--      6 delivery id of the first message if it was announced and not read, else empty
--      then for each message: the natural key's member of its bucket and the bucket's expiry in seconds, both empty without a natural key;
--      the record; the number of words of its event in the stream; these words, a name and a value in turn: i the event's id first, then t its
--      type, e its JSON, v environment, and n ad network, p app and b bundle if it has them
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
local keyOf, wordOf, buckets = {}, {}, {}
local key, word = 6, 7
while ARGV[word] do
  keyOf[#keyOf + 1], wordOf[#wordOf + 1] = key, word
  if ARGV[word] ~= '' then
    buckets[#buckets + 1] = KEYS[key + 1]
    key = key + 2
  end
  key = key + 1
  word = word + 4 + tonumber(ARGV[word + 3])
end

-- Claims all natural keys or none: each is checked before the first is added. The first needs no SISMEMBER in this generation, because its
-- own SADD shows whether it is new, and nothing is written before.
local areNew = #buckets > 0 and call('EXISTS', unpack(buckets)) < #buckets
local isFirst = true
for place, word in ipairs(wordOf) do
  local member, key = ARGV[word], keyOf[place]
  if member ~= '' then
    if call('SISMEMBER', KEYS[key + 2], member) == 1 then return -1 end
    if not isFirst and call('SISMEMBER', KEYS[key + 1], member) == 1 then return -1 end
    isFirst = false
  end
end
for place, word in ipairs(wordOf) do
  if ARGV[word] ~= '' and call('SADD', KEYS[keyOf[place] + 1], ARGV[word]) == 0 then return -1 end
end

local published = {}
for place, word in ipairs(wordOf) do
  local key, count = keyOf[place], tonumber(ARGV[word + 3])
  if count > 0 then
    published[#published + 1] = ARGV[word + 5]
    published[#published + 1] = call('XADD', events, '*', unpack(ARGV, word + 4, word + 3 + count))
  end
  local record = ARGV[word + 2]
  if not call('SET', KEYS[key], record, 'XX', 'KEEPTTL') then call('SET', KEYS[key], record, 'EX', ARGV[4]) end
  if areNew and ARGV[word] ~= '' then call('EXPIRE', KEYS[key + 1], ARGV[word + 1], 'NX') end
end
if #published > 0 then call('HSET', KEYS[4], unpack(published)) end
call('XTRIM', ready, 'MINID', ARGV[3])
return call('XLEN', ready)
