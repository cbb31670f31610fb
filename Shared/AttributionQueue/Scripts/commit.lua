-- commit: settles messages of one shard's ready stream in one step, those that the worker still holds.
-- KEYS 1 ownership  2 ready stream  3 delayed set  4 delayed payloads  5 dead letters  6 events  7 events index  8 rejected bodies
--      9 suspects  10 a key that never exists, so that a cluster does not run this while the slot moves: keys that are not named here would
--      be missing  11 subscriptions that ask for original bytes
--      Keys of single messages are made of the names that these arguments have; all lie in the same slot.
-- ARGV 1 what holds for all messages, packed  2… the messages, packed, in the order of the stream, each followed by its texts: these are
--      not packed, since Lua hashes every string whole. What is a text below is told by how far it stands behind its message.
-- The worker owns the shard (owner: the ownership, as it has it), and these are the stream's first messages; or it has leased each of them
-- (group, consumer), and each names how often it was delivered.
-- first: the messages follow one another in the stream, from its first entry on.
-- All messages have in common, too: now, ms; behind, the entry id after the last of them; deliveries, what the names of their records
-- begin with, and recordSeconds, how long records are kept; lines, what the names of lines begin with; rejectedBodies and rejectedBytes,
-- how many bodies are kept and how long they may be; seen, for each store of natural keys that is needed what the names of its buckets of
-- this and the last generation begin with, of the next one too if a clock may be in it already, and how many seconds a bucket is kept.
-- Seconds are written in digits: Redis formats a number of Lua's slowly.
-- A message has an entry (its id in the stream), an id, texts, how many they are, and a record, a text; and what its outcome needs:
--   completed: events, each an id, a type and JSON, a text, and what filters go by: network, app, bundle, environment; natural, a natural
--     key's store, bucket and member, and with it a detail, a member too, and details, the name of its bucket; holds, when it is to be kept
--     as it is if the natural key was counted before; forgotten, where a claimed idempotency key may be, names of buckets and members;
--     keepsBody; keepsOriginal, of its first event; own, a record of the service's own, a key, a value and seconds; letter, what a dead
--     letter without a body says, and attempts
--   delayed: due, ms; attempts and history as they are then
--   dead: dead, what the letter says; attempts and history as they are then
--   unreadable: unreadable, what the letter says; final, when it can never be put back
--   waits: it is proved, and something of its order key that was accepted before is unfinished
-- and a line when it keeps its order, with the id that it stands there by. ordered: it is proved, and what becomes of it holds only if it is
-- its turn; otherwise it waits. suspected: it was counted when it was begun.
-- A message that is delayed, or waits, has a place in its line; one that is finished leaves its place, if it has one, to the one behind it.
-- Answers {0} when another owns the shard, or its stream has a message before these, or {1, an outcome for each message, how many
-- messages are in the stream then}.
-- Outcomes: 1 done; 0 done, and the natural key was counted before, so that there is no event; 2 it was counted before, and the message is
-- where it was; 3 it waits for its turn; -1 its lease is lost.
local all = cmsgpack.unpack(ARGV[1])
if all.owner and redis.call('GET', KEYS[1]) ~= all.owner then return {0} end
local ready, delayed, payloads, dead, events, index = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local messages = {}
local place = 2
while place <= #ARGV do
  local m = cmsgpack.unpack(ARGV[place])
  m.place = place
  messages[#messages + 1] = m
  place = place + 1 + m.texts
end
local function text(m, distance) return ARGV[m.place + distance] end
-- A replica that took over may still have messages that its primary had settled. They stand before these: to trim up to these would delete
-- them unsettled, and to settle these first would change the order.
local areFirst = all.owner and all.first
if areFirst and #redis.call('XRANGE', ready, '-', '(' .. messages[1].entry, 'COUNT', '1') > 0 then return {0} end

local function isHeld(m)
  if all.owner then return true end
  local lease = redis.pcall('XPENDING', ready, all.group, m.entry, m.entry, 1)[1]
  return lease and lease[2] == all.consumer and lease[4] == m.delivered
end

-- Most buckets of this generation are there already, and expire, and few are of the next one, which another's clock has to be ahead for:
-- asked for all at once.
local this, next = {}, {}
for _, m in ipairs(messages) do
  if m.natural then
    local seen = all.seen[m.natural.store]
    this[#this + 1] = seen.this .. m.natural.bucket
    if seen.next then next[#next + 1] = seen.next .. m.natural.bucket end
    if m.natural.detail then this[#this + 1] = m.natural.details end
  end
end
local areNew = #this > 0 and redis.call('EXISTS', unpack(this)) < #this
local areAhead = #next > 0 and redis.call('EXISTS', unpack(next)) > 0

-- Claims a natural key; false when it was counted before.
local function isFirst(natural)
  local seen = all.seen[natural.store]
  local bucket, member = natural.bucket, natural.member
  if redis.call('SISMEMBER', seen.last .. bucket, member) == 1 then return false end
  if areAhead and seen.next and redis.call('SISMEMBER', seen.next .. bucket, member) == 1 then return false end
  if redis.call('SADD', seen.this .. bucket, member) == 0 then return false end
  if natural.detail then redis.call('SADD', natural.details, natural.detail) end
  if areNew then
    redis.call('EXPIRE', seen.this .. bucket, seen.seconds, 'NX')
    if natural.detail then redis.call('EXPIRE', natural.details, seen.seconds, 'NX') end
  end
  return true
end

-- The fields of a message as the stream has them; none where a hand has taken it away: a script is not undone where it fails.
local function stored(m)
  local entry = redis.call('XRANGE', ready, m.entry, m.entry)[1]
  if not entry then return nil, {} end
  local field = {n = '0', h = '', k = '', b = '', a = ''}
  for word = 1, #entry[2], 2 do field[entry[2][word]] = entry[2][word + 1] end
  return field, entry[2]
end

local published, isPublished = {}, {}
local keepsOriginals

-- What the sender sent, and its content type, while a subscription asks for it: put together from the body and what is said beside it.
local function original(m)
  if keepsOriginals == nil then keepsOriginals = redis.call('EXISTS', KEYS[11]) == 1 end
  if not keepsOriginals then return nil end
  local field = stored(m)
  local isRead, envelope = pcall(cjson.decode, field and field.a or '')
  if not isRead or field.b == '' then return nil end
  local said = envelope.a or {}
  return said.bodyWhole or (said.bodyBefore or '') .. field.b .. (said.bodyAfter or ''), said.contentType or 'application/json'
end

local function publish(m)
  for place, event in ipairs(m.events) do
    -- A rejected delivery may be judged again, and rejected again: it stays one event. A natural key is new here.
    if m.natural or not isPublished[event.id] and redis.call('HEXISTS', index, event.id) == 0 then
      isPublished[event.id] = true
      published[#published + 1] = event.id
      local words = {
        '*', 'i', event.id, 't', event.type, 'e', text(m, event.json), 'n', event.network or '', 'p', event.app or '', 'b', event.bundle or '',
        'v', event.environment or '',
      }
      if m.keepsOriginal and place == 1 then
        local body, contentType = original(m)
        if body then
          for _, word in ipairs({'o', body, 'c', contentType}) do words[#words + 1] = word end
        end
      end
      published[#published + 1] = redis.call('XADD', events, unpack(words))
    end
  end
end

local function complete(m)
  local isNew = not m.natural or isFirst(m.natural)
  if not isNew and m.holds then return 2 end
  if isNew and m.events then publish(m) end
  if m.forgotten then
    for _, claim in ipairs(m.forgotten) do redis.call('SREM', claim.bucket, claim.member) end
    -- A bucket that it leaves empty is gone, and new when a later message needs it.
    areNew = true
  end
  if m.keepsBody and all.rejectedBodies > 0 then
    local field = stored(m)
    local body = field and field.b
    if body and #body <= all.rejectedBytes then redis.call('XADD', KEYS[8], 'MAXLEN', all.rejectedBodies, '*', 'i', m.id, 'b', body) end
  end
  if m.own then redis.call('SET', m.own.key, m.own.value, 'EX', m.own.seconds) end
  if m.letter then
    -- Without its body, and final: there is nothing to be worked again.
    local field = stored(m)
    if field then
      redis.call('XADD', dead, '*', 'i', m.id, 'k', field.k, 'b', '', 'a', field.a, 'n', m.attempts,
        'h', field.h .. all.now .. ' ' .. m.letter .. '\n', 'x', m.letter, 'd', all.now, 'f', 1)
    end
  end
  return isNew and 1 or 0
end

-- Answers whether it is delayed now.
local function delay(m, line, first)
  local field = stored(m)
  if not field then return false end
  if m.ordered and not first then redis.call('RPUSH', line, m.id) end
  redis.call('ZADD', delayed, m.due, m.id)
  redis.call('HSET', payloads, m.id, cmsgpack.pack({field.k, field.b, field.a, m.attempts, m.history, m.line or false, field.r}))
  return true
end

-- Puts a message behind those of its order key that are unfinished. Where none is any more, it is worked next: what comes later finds it
-- in its line.
local function wait(m, line)
  local field = stored(m)
  if not field then return finish(line, delayed, payloads, ready, m.id) end
  if not redis.call('LPOS', line, m.id) then redis.call('RPUSH', line, m.id) end
  local packed = cmsgpack.pack({field.k, field.b, field.a, tonumber(field.n) or 0, field.h, m.line})
  if redis.call('LINDEX', line, 0) == m.id then return append(ready, m.id, packed, m.line) end
  redis.call('ZADD', delayed, '+inf', m.id)
  redis.call('HSET', payloads, m.id, packed)
end

local function bury(m)
  local field = stored(m)
  if not field then return end
  local words = {'*', 'i', m.id, 'k', field.k, 'b', field.b, 'a', field.a, 'n', m.attempts, 'h', m.history, 'x', m.dead, 'd', all.now}
  if m.line then words[#words + 1], words[#words + 2] = 'o', m.line end
  if field.r then words[#words + 1], words[#words + 2] = 'r', field.r end
  redis.call('XADD', dead, unpack(words))
end

-- With every field that it has.
local function buryUnreadable(m)
  local field, fields = stored(m)
  if not field then return end
  local words, has = {'*'}, {}
  local function add(name, value)
    has[name] = true
    words[#words + 1], words[#words + 2] = name, value
  end
  add('i', m.id)
  add('x', m.unreadable)
  add('d', all.now)
  if m.final then add('f', 1) end
  -- More than one command may have.
  if #fields > 1000 then fields = {'fields', cmsgpack.pack(fields)} end
  for word = 1, #fields, 2 do
    local name, value = fields[word], fields[word + 1]
    if not (name == 'i' and value == m.id) then add((has[name] or name == 'f') and 'own ' .. name or name, value) end
  end
  -- One that is put back must have them.
  if not has.n then add('n', 0) end
  if not has.h then add('h', '') end
  redis.call('XADD', dead, unpack(words))
end

local outcomes, finished = {}, {}
for place, m in ipairs(messages) do
  local line, id = m.line and all.lines .. m.line, m.lineId or m.id
  -- Also of one that is not proved: it may have been put there when it was accepted.
  local first = line and redis.call('LINDEX', line, 0)
  local outcome, keepsPlace = 1, false
  if not isHeld(m) then
    outcome, keepsPlace = -1, true
  elseif m.waits or m.ordered and first and first ~= id then
    outcome, keepsPlace = 3, true
    wait(m, line)
  elseif m.due then
    keepsPlace = delay(m, line, first)
  elseif m.dead then
    bury(m)
  elseif m.unreadable then
    buryUnreadable(m)
  else
    outcome = complete(m)
    if outcome == 2 then
      keepsPlace = true
      if m.ordered and not first then redis.call('RPUSH', line, id) end
    end
  end
  outcomes[place] = outcome
  if first == id and not keepsPlace then finish(line, delayed, payloads, ready, id) end
  if outcome ~= 2 and outcome ~= -1 then
    finished[#finished + 1] = m.entry
    if m.unreadable then
      redis.call('SET', all.deliveries .. m.digest, text(m, m.record), 'XX', 'KEEPTTL')
    elseif m.record then
      redis.call('SET', all.deliveries .. m.digest, text(m, m.record), 'EX', all.recordSeconds)
    end
    if m.suspected then redis.call('HDEL', KEYS[9], m.entry) end
  end
end
if #published > 0 then redis.call('HSET', index, unpack(published)) end
if #finished > 0 then
  if all.group then redis.call('XACK', ready, all.group, unpack(finished)) end
  if areFirst and #finished == #messages then
    redis.call('XTRIM', ready, 'MINID', all.behind)
  else
    redis.call('XDEL', ready, unpack(finished))
  end
end
return {1, outcomes, redis.call('XLEN', ready)}
