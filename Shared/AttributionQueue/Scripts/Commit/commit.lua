-- commit: settles messages of one shard's ready stream in one step, those that the worker still holds.
-- KEYS 1 ownership  2 ready stream  3 delayed set  4 delayed payloads  5 dead letters  6 events  7 events index  8 rejected bodies
--      9 suspects  10 a key that never exists, so that a cluster does not run this while the slot moves: keys that are not named here would
--      be missing  11 subscriptions that ask for original bytes
--      Keys of single messages are made of the names that these arguments have; all lie in the same slot.
-- ARGV 1 what is said of the messages, packed; behind it stand two texts for each message, in the order of the stream: the record of its
--      delivery and the JSON of its event, either empty where there is none. They are not packed, since Lua hashes every string whole.
-- The worker owns the shard (owner: the ownership, as it has it), and these are the stream's first messages; or it has leased each of them
-- (group, consumer), and delivered says of each how often it was delivered.
-- first: the messages follow one another in the stream, from its first entry on.
-- What all have in common, too: now, ms; behind, the entry id after the last of them; recordSeconds, how long records are kept; lines, what
-- the names of lines begin with; rejectedBodies and rejectedBytes, how many bodies are kept and how long they may be; buckets, those in which
-- natural keys are looked for, each a place in four lists: its name in this generation, in the last one, in the next one too if a clock may
-- be in it already, and how many seconds it is kept.
-- Seconds are written in digits: Redis formats a number of Lua's slowly.
-- What differs is in lists, a value for each message, false where it has none; a list of which nothing is needed is left out. A map for each
-- message would cost three times as much to unpack.
--   entry, its id in the stream; id; record, the name of its record; late: its record is kept from now on, not from its acceptance
--   line when it keeps its order, lineId, the id that it stands there by if it is not its own
--   ordered: it is proved, and what becomes of it holds only if it is its turn; otherwise it waits
--   event, type, network, app, bundle, environment: the event that it completes with, and what filters go by
--   bucket, member: its natural key; detail, a member too, and details, the name of its bucket
--   keepsOriginal: its event keeps what the sender sent, while somebody asks for that
--   other: a map of what few messages have:
--     of one that is completed: more, further events, each with an id, a type, JSON and what filters go by; holds, when it is to be kept as it
--       is if the natural key was counted before; forgotten, where a claimed idempotency key may be, names of buckets and members; keepsBody;
--       own, a record of the service's own, a key, a value and seconds; letter, what a dead letter without a body says, and attempts
--     delayed: due, ms; attempts and history as they are then
--     dead: dead, what the letter says; attempts and history as they are then
--     unreadable: unreadable, what the letter says; final, when it can never be put back
--     waits: it is proved, and something of its order key that was accepted before is unfinished
--     suspected: it was counted when it was begun
-- A message that is delayed, or waits, has a place in its line; one that is finished leaves its place, if it has one, to the one behind it.
-- Answers {0} when another owns the shard, or its stream has a message before these, or {1, an outcome for each message, how many
-- messages are in the stream then}.
-- Outcomes: 1 done; 0 done, and the natural key was counted before, so that there is no event; 2 it was counted before, and the message is
-- where it was; 3 it waits for its turn; -1 its lease is lost.
local all = cmsgpack.unpack(ARGV[1])
if all.owner and redis.call('GET', KEYS[1]) ~= all.owner then return {0} end
local ready, delayed, payloads, dead, events, index = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local call, none = redis.call, {}
local entries, ids = all.entry, all.id
local others, lines, ordered = all.other or none, all.line or none, all.ordered or none
-- A replica that took over may still have messages that its primary had settled. They stand before these: to trim up to these would delete
-- them unsettled, and to settle these first would change the order.
local areFirst = all.owner and all.first
if areFirst and #call('XRANGE', ready, '-', '(' .. entries[1], 'COUNT', '1') > 0 then return {0} end

local function isHeld(place)
  if all.owner then return true end
  local lease = redis.pcall('XPENDING', ready, all.group, entries[place], entries[place], 1)[1]
  return lease and lease[2] == all.consumer and lease[4] == all.delivered[place]
end

-- Most buckets of this generation are there already, and expire, and few are of the next one, which another's clock has to be ahead for:
-- asked for all at once.
local buckets, bucketOf, members = all.buckets, all.bucket, all.member
local details, detailOf = all.details or none, all.detail
local areNew, areAhead = false, false
if buckets then
  areNew = call('EXISTS', unpack(buckets.this)) < #buckets.this
  areAhead = buckets.next and call('EXISTS', unpack(buckets.next)) > 0
end

-- Claims a natural key; false when it was counted before.
local function isFirst(place)
  local bucket, member = bucketOf[place], members[place]
  if call('SISMEMBER', buckets.last[bucket], member) == 1 then return false end
  if areAhead and call('SISMEMBER', buckets.next[bucket], member) == 1 then return false end
  if call('SADD', buckets.this[bucket], member) == 0 then return false end
  if areNew then call('EXPIRE', buckets.this[bucket], buckets.seconds[bucket], 'NX') end
  if details[place] then
    call('SADD', details[place], detailOf[place])
    call('EXPIRE', details[place], buckets.seconds[bucket], 'NX')
  end
  return true
end

-- The fields of a message as the stream has them; none where a hand has taken it away: a script is not undone where it fails.
local function stored(place)
  local entry = call('XRANGE', ready, entries[place], entries[place])[1]
  if not entry then return nil, {} end
  local field = {n = '0', h = '', k = '', b = '', a = ''}
  for word = 1, #entry[2], 2 do field[entry[2][word]] = entry[2][word + 1] end
  return field, entry[2]
end

local published, isPublished = {}, {}
local keepsOriginals

-- What the sender sent, and its content type, while a subscription asks for it: put together from the body and what is said beside it.
local function original(place)
  if keepsOriginals == nil then keepsOriginals = call('EXISTS', KEYS[11]) == 1 end
  if not keepsOriginals then return nil end
  local field = stored(place)
  local isRead, envelope = pcall(cjson.decode, field and field.a or '')
  if not isRead or field.b == '' then return nil end
  local said = envelope.a or {}
  return said.bodyWhole or (said.bodyBefore or '') .. field.b .. (said.bodyAfter or ''), said.contentType or 'application/json'
end

-- A rejected delivery may be judged again, and rejected again: it stays one event. A natural key is new here.
local function isUnknown(event)
  if isPublished[event] or call('HEXISTS', index, event) == 1 then return false end
  isPublished[event] = true
  return true
end

-- Appends an event. Of what filters go by the environment always stands there, if empty: so it is told that the rest is known.
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

local eventOf, types, keepsOriginal = all.event or none, all.type, all.keepsOriginal or none
local networks, apps, bundles, environments = all.network or none, all.app or none, all.bundle or none, all.environment or none

local function publish(place, hasNaturalKey)
  if hasNaturalKey or isUnknown(eventOf[place]) then
    local body, contentType
    if keepsOriginal[place] then body, contentType = original(place) end
    appendEvent(eventOf[place], types[place], ARGV[2 * place + 1], networks[place], apps[place], bundles[place], environments[place], body,
      contentType)
  end
end

local function complete(place, other)
  local isNew = not bucketOf or not bucketOf[place] or isFirst(place)
  if not isNew and other.holds then return 2 end
  if isNew and eventOf[place] then publish(place, bucketOf and bucketOf[place]) end
  if other == none then return isNew and 1 or 0 end
  if isNew then
    for _, event in ipairs(other.more or none) do
      if bucketOf and bucketOf[place] or isUnknown(event.id) then
        appendEvent(event.id, event.type, event.json, event.network, event.app, event.bundle, event.environment)
      end
    end
  end
  for _, claim in ipairs(other.forgotten or none) do
    call('SREM', claim.bucket, claim.member)
    -- A bucket that it leaves empty is gone, and new when a later message needs it.
    areNew = true
  end
  if other.keepsBody and all.rejectedBodies > 0 then
    local field = stored(place)
    local body = field and field.b
    if body and #body <= all.rejectedBytes then call('XADD', KEYS[8], 'MAXLEN', all.rejectedBodies, '*', 'i', ids[place], 'b', body) end
  end
  if other.own then call('SET', other.own.key, other.own.value, 'EX', other.own.seconds) end
  if other.letter then
    -- Without its body, and final: there is nothing to be worked again.
    local field = stored(place)
    if field then
      call('XADD', dead, '*', 'i', ids[place], 'k', field.k, 'b', '', 'a', field.a, 'n', other.attempts,
        'h', field.h .. all.now .. ' ' .. other.letter .. '\n', 'x', other.letter, 'd', all.now, 'f', 1)
    end
  end
  return isNew and 1 or 0
end

-- Answers whether it is delayed now.
local function delay(place, other, line, first)
  local field = stored(place)
  if not field then return false end
  if ordered[place] and not first then call('RPUSH', line, ids[place]) end
  call('ZADD', delayed, other.due, ids[place])
  call('HSET', payloads, ids[place],
    cmsgpack.pack({field.k, field.b, field.a, other.attempts, other.history, lines[place] or false, field.r}))
  return true
end

-- Puts a message behind those of its order key that are unfinished. Where none is any more, it is worked next: what comes later finds it
-- in its line.
local function wait(place, line)
  local field, id = stored(place), ids[place]
  if not field then return finish(line, delayed, payloads, ready, id) end
  if not call('LPOS', line, id) then call('RPUSH', line, id) end
  local packed = cmsgpack.pack({field.k, field.b, field.a, tonumber(field.n) or 0, field.h, lines[place]})
  if call('LINDEX', line, 0) == id then return append(ready, id, packed, lines[place]) end
  call('ZADD', delayed, '+inf', id)
  call('HSET', payloads, id, packed)
end

local function bury(place, other)
  local field = stored(place)
  if not field then return end
  local words = {
    '*', 'i', ids[place], 'k', field.k, 'b', field.b, 'a', field.a, 'n', other.attempts, 'h', other.history, 'x', other.dead, 'd', all.now,
  }
  if lines[place] then words[#words + 1], words[#words + 2] = 'o', lines[place] end
  if field.r then words[#words + 1], words[#words + 2] = 'r', field.r end
  call('XADD', dead, unpack(words))
end

-- With every field that it has.
local function buryUnreadable(place, other)
  local field, fields = stored(place)
  if not field then return end
  local words, has = {'*'}, {}
  local function add(name, value)
    has[name] = true
    words[#words + 1], words[#words + 2] = name, value
  end
  add('i', ids[place])
  add('x', other.unreadable)
  add('d', all.now)
  if other.final then add('f', 1) end
  -- More than one command may have.
  if #fields > 1000 then fields = {'fields', cmsgpack.pack(fields)} end
  for word = 1, #fields, 2 do
    local name, value = fields[word], fields[word + 1]
    if not (name == 'i' and value == ids[place]) then add((has[name] or name == 'f') and 'own ' .. name or name, value) end
  end
  -- One that is put back must have them.
  if not has.n then add('n', 0) end
  if not has.h then add('h', '') end
  call('XADD', dead, unpack(words))
end

local outcomes, finished, lineIds, records, isLate = {}, {}, all.lineId or none, all.record, all.late or none
for place, entry in ipairs(entries) do
  local other = others[place] or none
  local line, id = lines[place] and all.lines .. lines[place], lineIds[place] or ids[place]
  -- Also of one that is not proved: it may have been put there when it was accepted.
  local first = line and call('LINDEX', line, 0)
  local outcome, keepsPlace = 1, false
  if not isHeld(place) then
    outcome, keepsPlace = -1, true
  elseif other.waits or ordered[place] and first and first ~= id then
    outcome, keepsPlace = 3, true
    wait(place, line)
  elseif other.due then
    keepsPlace = delay(place, other, line, first)
  elseif other.dead then
    bury(place, other)
  elseif other.unreadable then
    buryUnreadable(place, other)
  else
    outcome = complete(place, other)
    if outcome == 2 then
      keepsPlace = true
      if ordered[place] and not first then call('RPUSH', line, id) end
    end
  end
  outcomes[place] = outcome
  if first == id and not keepsPlace then finish(line, delayed, payloads, ready, id) end
  if outcome ~= 2 and outcome ~= -1 then
    finished[#finished + 1] = entry
    local record = ARGV[2 * place]
    if record ~= '' and (isLate[place] or not call('SET', records[place], record, 'XX', 'KEEPTTL')) and not other.unreadable then
      call('SET', records[place], record, 'EX', all.recordSeconds)
    end
    if other.suspected then call('HDEL', KEYS[9], entry) end
  end
end
if #published > 0 then call('HSET', index, unpack(published)) end
if #finished > 0 then
  if all.group then call('XACK', ready, all.group, unpack(finished)) end
  if areFirst and #finished == #entries then
    call('XTRIM', ready, 'MINID', all.behind)
  else
    call('XDEL', ready, unpack(finished))
  end
end
return {1, outcomes, call('XLEN', ready)}
