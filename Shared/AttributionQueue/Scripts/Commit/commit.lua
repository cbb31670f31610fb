-- commit: settles messages of one shard's ready stream in one step, if the worker still owns the shard or has leased the messages.
-- Plain batches (PlainBatch), which most batches are, are settled by commit_plain.lua or by a transaction instead.
-- KEYS 1 ownership  2 ready stream  3 delayed set  4 delayed payloads  5 dead letters  6 events  7 events index
--      8 bodies of rejected deliveries
--      9 suspects  10 a key that never exists (Keys.absent): a cluster then refuses the script while the slot moves, when keys that are
--      built below could be on the other node  11 subscriptions that request original bytes
--      12 and 13 index and sizes of the bodies of rejected deliveries (rejected.lua)
--      The keys of single messages are built from names in the arguments; all are in the same slot.
-- ARGV 1 a map in MessagePack about the messages; after it two texts for each message, in the order of the stream: the record of its
--      delivery and the JSON of its event, each empty if there is none. They are not in the map, because Lua hashes every string that it
--      unpacks.
-- Fields of the map that are the same for all messages:
--   owner: the ownership, if the worker owns the shard
--   group, consumer: the names under which the worker has leased the messages, if it does not own the shard
--   first: true if the messages are consecutive from the stream's first entry on
--   now: ms since 1970
--   nextId: the smallest id above the entry id of the last message
--   recordSeconds: the expiry of records
--   lines: the prefix of the keys of order lines
--   rejectedBytes: the limit for the bodies of rejected deliveries
--   buckets: the deduplication buckets of natural keys, as four lists with the same indices: current (name in the current generation),
--     previous (in the previous one), next (in the next one, only if a clock may already be in it) and seconds (expiry)
-- Seconds are passed as text, because Redis formats Lua numbers slowly.
-- Fields that differ by message are columns: lists with a value for each message, false for none. Empty columns are left out. Columns are
-- faster to unpack than one map per message.
--   entry: entry id in the stream
--   id: delivery id
--   record: key of the delivery's record
--   late: true if the expiry of the record restarts now
--   line: order line, if the message keeps its order
--   lineId: id of the message in the line, if it differs from id
--   ordered: true if the message is verified and is settled only if it is the first of its line; otherwise it waits
--   delivered: delivery count of the lease, if the message is leased
--   event, type, network, app, bundle, environment: the event that the message publishes, with its attributes for filters
--   bucket, member: natural key, as the index of its bucket and the member of that bucket
--   staysIfClaimed: true if a message whose natural key was claimed before is left unchanged (outcome 2): its handler then decides
--   details, detail: bucket and member of a digest that is stored with the natural key
--   keepsOriginal: true if the bytes that the sender sent are stored with the event while a subscription requests them
--   other: a map of fields that few messages have
--     of a completed message:
--       more: further events, each with an id, a type, JSON and attributes
--       forgotten: buckets and members of an idempotency key to remove
--       kept: if the body is stored: reason, event (id of the rejection's event) and entry (of the index, rejected.lua)
--       own: a value of the service, as key, value and seconds
--       deadLetter, attempts: text of a dead letter that is written in addition, without a body, and its attempts
--     of a delayed message: due (ms), attempts, history
--     of a dead letter: dead (error), attempts, history
--     of an unreadable entry: unreadable (error), final (true if it can never be replayed)
--     waits: true if the message is verified and an earlier message of its order key is unfinished
--     suspected: true if the start of the message was counted
-- A message that is delayed or waits has a position in its line. When a message is finished, the next one in the line becomes ready.
-- Returns {0} if another worker owns the shard or the stream has an earlier message. Otherwise returns {1, list of outcomes, number of
-- messages left in the stream, number of bodies of rejected deliveries that were dropped}. An outcome is:
--    1 settled
--    0 settled without an event, because the natural key was claimed before
--    2 the natural key was claimed before, and the message is unchanged
--    3 the message waits in its order line
--   -1 the lease was lost
local all = cmsgpack.unpack(ARGV[1])
if all.owner and redis.call('GET', KEYS[1]) ~= all.owner then return {0} end
local ready, delayed, payloads, dead, events, eventsIndex = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local call, none = redis.call, {}
local entries, ids = all.entry, all.id
local others, lines, ordered = all.other or none, all.line or none, all.ordered or none
-- After a failover, the new primary may still have messages that the old one had settled. They come before the messages of this batch:
-- XTRIM below would delete them unsettled, and settling this batch first would change the order.
local areFirst = all.owner and all.first
if areFirst and #call('XRANGE', ready, '-', '(' .. entries[1], 'COUNT', '1') > 0 then return {0} end

local function isStillHeld(index)
  if all.owner then return true end
  local lease = redis.pcall('XPENDING', ready, all.group, entries[index], entries[index], 1)[1]
  return lease and lease[2] == all.consumer and lease[4] == all.delivered[index]
end

-- Most buckets of this generation exist and have an expiry. Buckets of the next generation exist only if a clock is ahead. One command for
-- each generation checks all buckets.
local buckets, bucketOf, members = all.buckets, all.bucket, all.member
local staysIfClaimed, details, detailOf = all.staysIfClaimed or none, all.details or none, all.detail
local areNew, areAhead = false, false
if buckets then
  areNew = call('EXISTS', unpack(buckets.current)) < #buckets.current
  areAhead = buckets.next and call('EXISTS', unpack(buckets.next)) > 0
end

-- Claims a natural key; false if it was claimed before.
local function claimKey(index)
  local bucket, member = bucketOf[index], members[index]
  if call('SISMEMBER', buckets.previous[bucket], member) == 1 then return false end
  if areAhead and call('SISMEMBER', buckets.next[bucket], member) == 1 then return false end
  if call('SADD', buckets.current[bucket], member) == 0 then return false end
  if areNew then call('EXPIRE', buckets.current[bucket], buckets.seconds[bucket], 'NX') end
  if details[index] then
    call('SADD', details[index], detailOf[index])
    call('EXPIRE', details[index], buckets.seconds[bucket], 'NX')
  end
  return true
end

-- The fields of a message in the stream by name, and as a list. Nil if it was deleted by hand: the script must not fail halfway, because
-- Redis does not roll back.
local function stored(index)
  local entry = call('XRANGE', ready, entries[index], entries[index])[1]
  if not entry then return nil, {} end
  local field = {n = '0', h = '', k = '', b = '', a = ''}
  for word = 1, #entry[2], 2 do field[entry[2][word]] = entry[2][word + 1] end
  return field, entry[2]
end

local published, isPublished = {}, {}
local keepsOriginals

-- Rebuilds the bytes that the sender sent and their content type from the body and its attributes, while a subscription requests them.
local function original(index)
  if keepsOriginals == nil then keepsOriginals = call('EXISTS', KEYS[11]) == 1 end
  if not keepsOriginals then return nil end
  local field = stored(index)
  local isRead, envelope = pcall(cjson.decode, field and field.a or '')
  if not isRead or field.b == '' then return nil end
  local attributes = envelope.a or {}
  local body = attributes.bodyWhole or (attributes.bodyBefore or '') .. field.b .. (attributes.bodyAfter or '')
  return body, attributes.contentType or 'application/json'
end

-- True if the event was not published before. A delivery without a natural key may be rejected again and must not publish a second event.
local function isUnpublished(event)
  if isPublished[event] or call('HEXISTS', eventsIndex, event) == 1 then return false end
  isPublished[event] = true
  return true
end

-- Appends an event. The environment is always written, even if empty: its presence shows that all attributes are known.
local function appendEvent(event, type, json, network, app, bundle, environment, body, contentType)
  local words = {'*', 'i', event, 't', type, 'e', json, 'v', environment or ''}
  if network then words[#words + 1], words[#words + 2] = 'n', network end
  if app then words[#words + 1], words[#words + 2] = 'p', app end
  if bundle then words[#words + 1], words[#words + 2] = 'b', bundle end
  if body then
    for _, word in ipairs({'o', body, 'c', contentType}) do words[#words + 1] = word end
  end
  published[#published + 1] = event
  published[#published + 1] = call('XADD', events, unpack(words))
end

-- The number of bodies of rejected deliveries that were dropped.
local dropped = 0
local eventOf, types, keepsOriginal = all.event or none, all.type, all.keepsOriginal or none
local networks, apps, bundles, environments = all.network or none, all.app or none, all.bundle or none, all.environment or none

local function publish(index, hasNaturalKey)
  if hasNaturalKey or isUnpublished(eventOf[index]) then
    local body, contentType
    if keepsOriginal[index] then body, contentType = original(index) end
    appendEvent(eventOf[index], types[index], ARGV[2 * index + 1], networks[index], apps[index], bundles[index], environments[index], body,
      contentType)
  end
end

local function complete(index, other)
  local isNew = not bucketOf or not bucketOf[index] or claimKey(index)
  if not isNew and staysIfClaimed[index] then return 2 end
  if isNew and eventOf[index] then publish(index, bucketOf and bucketOf[index]) end
  if other == none then return isNew and 1 or 0 end
  if isNew then
    for _, event in ipairs(other.more or none) do
      if bucketOf and bucketOf[index] or isUnpublished(event.id) then
        appendEvent(event.id, event.type, event.json, event.network, event.app, event.bundle, event.environment)
      end
    end
  end
  for _, claim in ipairs(other.forgotten or none) do
    call('SREM', claim.bucket, claim.member)
    -- Redis deletes a bucket that becomes empty. A later claim may create it again and must then set its expiry.
    areNew = true
  end
  local kept = other.kept
  if kept and all.rejectedBytes > 0 then
    local field = stored(index)
    if field then
      local packed = cmsgpack.pack({field.k, field.b, field.a, 0, '', lines[index] or false, false, kept.reason, kept.event, kept.entry})
      dropped = dropped + keepRejected(KEYS[8], KEYS[12], KEYS[13], ids[index], kept.entry, packed, all.rejectedBytes)
    end
  end
  if other.own then call('SET', other.own.key, other.own.value, 'EX', other.own.seconds) end
  if other.deadLetter then
    -- The dead letter has no body and is final, because nothing is left to work.
    local field = stored(index)
    if field then
      call('XADD', dead, '*', 'i', ids[index], 'k', field.k, 'b', '', 'a', field.a, 'n', other.attempts,
        'h', field.h .. all.now .. ' ' .. other.deadLetter .. '\n', 'x', other.deadLetter, 'd', all.now, 'f', 1)
    end
  end
  return isNew and 1 or 0
end

-- Delays the message. Returns true if it stays in its order line, false if it was deleted by hand.
local function delay(index, other, line, first)
  local field = stored(index)
  if not field then return false end
  if ordered[index] and not first then call('RPUSH', line, ids[index]) end
  call('ZADD', delayed, other.due, ids[index])
  call('HSET', payloads, ids[index],
    cmsgpack.pack({field.k, field.b, field.a, other.attempts, other.history, lines[index] or false, field.r}))
  return true
end

-- Adds a message to its order line after the unfinished ones. If none is left, the message becomes ready again, and later messages of its
-- order key find it in the line.
local function wait(index, line)
  local field, id = stored(index), ids[index]
  if not field then return finish(line, delayed, payloads, ready, id) end
  if not call('LPOS', line, id) then call('RPUSH', line, id) end
  local packed = cmsgpack.pack({field.k, field.b, field.a, tonumber(field.n) or 0, field.h, lines[index]})
  if call('LINDEX', line, 0) == id then return append(ready, id, packed, lines[index]) end
  call('ZADD', delayed, '+inf', id)
  call('HSET', payloads, id, packed)
end

local function addDeadLetter(index, other)
  local field = stored(index)
  if not field then return end
  local words = {
    '*', 'i', ids[index], 'k', field.k, 'b', field.b, 'a', field.a, 'n', other.attempts, 'h', other.history, 'x', other.dead, 'd', all.now,
  }
  if lines[index] then words[#words + 1], words[#words + 2] = 'o', lines[index] end
  if field.r then words[#words + 1], words[#words + 2] = 'r', field.r end
  call('XADD', dead, unpack(words))
end

-- Adds the dead letter of an unreadable entry, with all fields of the entry.
local function addUnreadableDeadLetter(index, other)
  local field, fields = stored(index)
  if not field then return end
  local words, has = {'*'}, {}
  local function add(name, value)
    has[name] = true
    words[#words + 1], words[#words + 2] = name, value
  end
  add('i', ids[index])
  add('x', other.unreadable)
  add('d', all.now)
  if other.final then add('f', 1) end
  -- Many fields are packed into one, because unpack takes a limited number of values.
  if #fields > 1000 then fields = {'fields', cmsgpack.pack(fields)} end
  for word = 1, #fields, 2 do
    local name, value = fields[word], fields[word + 1]
    -- The prefix keeps a field of the entry apart from a field of the dead letter with the same name.
    if not (name == 'i' and value == ids[index]) then add((has[name] or name == 'f') and 'own ' .. name or name, value) end
  end
  -- A replayed message needs these fields.
  if not has.n then add('n', 0) end
  if not has.h then add('h', '') end
  call('XADD', dead, unpack(words))
end

local outcomes, finished, lineIds, records, isLate = {}, {}, all.lineId or none, all.record, all.late or none
for index, entry in ipairs(entries) do
  local other = others[index] or none
  local line, id = lines[index] and all.lines .. lines[index], lineIds[index] or ids[index]
  -- Read for unverified messages too: in the leased form, a message enters its line when it is accepted.
  local first = line and call('LINDEX', line, 0)
  local outcome, staysInLine = 1, false
  if not isStillHeld(index) then
    outcome, staysInLine = -1, true
  elseif other.waits or ordered[index] and first and first ~= id then
    outcome, staysInLine = 3, true
    wait(index, line)
  elseif other.due then
    staysInLine = delay(index, other, line, first)
  elseif other.dead then
    addDeadLetter(index, other)
  elseif other.unreadable then
    addUnreadableDeadLetter(index, other)
  else
    outcome = complete(index, other)
    if outcome == 2 then
      staysInLine = true
      if ordered[index] and not first then call('RPUSH', line, id) end
    end
  end
  outcomes[index] = outcome
  if first == id and not staysInLine then finish(line, delayed, payloads, ready, id) end
  if outcome ~= 2 and outcome ~= -1 then
    finished[#finished + 1] = entry
    local record = ARGV[2 * index]
    if record ~= '' and (isLate[index] or not call('SET', records[index], record, 'XX', 'KEEPTTL')) and not other.unreadable then
      call('SET', records[index], record, 'EX', all.recordSeconds)
    end
    if other.suspected then call('HDEL', KEYS[9], entry) end
  end
end
if #published > 0 then call('HSET', eventsIndex, unpack(published)) end
if #finished > 0 then
  if all.group then call('XACK', ready, all.group, unpack(finished)) end
  if areFirst and #finished == #entries then
    call('XTRIM', ready, 'MINID', all.nextId)
  else
    call('XDEL', ready, unpack(finished))
  end
end
return {1, outcomes, call('XLEN', ready), dropped}
