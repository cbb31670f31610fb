-- complete: for each of some leased messages of one shard, publishes its outcome, writes the delivery's record and takes it off the
-- queue, in one step, if the worker still holds its lease.
-- KEYS 1 ready stream  2 events stream  3 events index  4 rejected bodies  5 dead letters
--      then for each message its delivery record, and after it
--      if it has a natural key: that key's bucket of the last generation
--      if its idempotency key is to be forgotten: that key's three buckets
--      if it keeps its order: the line of its order key, delayed set, delayed payloads
--      if it leaves a record of the service's own: that record
--      and after all messages, of those that have a natural key, one after the other: the buckets of this generation, those of the next
-- ARGV 1 group  2 consumer  3 now, ms  4 record expiry, seconds  5 bodies kept of rejected messages  6 longest of them, bytes
--      7 how many messages  8 how many of them have a natural key
--      then for each message entry id, delivery count of the lease, what it has (a sum), record, how many events, and
--      1 a natural key: its member, its bucket's expiry in seconds
--      2 to be held when the natural key was seen before
--      4 a key to be forgotten: its member
--      8 a body to be kept
--      16 a place in a line: its id
--      32 a record of the service's own: the record, its expiry in seconds
--      64 a dead letter: what it says, how often the message was worked
--      and of each event its id, type and JSON
-- Answers for each message 1 when done, 0 when done and the natural key was seen before (no event), 2 when it was seen before and the
-- message is held, -1 when the lease is lost.
local ready, events, index = KEYS[1], KEYS[2], KEYS[3]
local many = tonumber(ARGV[7])
local key, at = 6, 9

-- Most buckets of this generation are there already, and expire, and few are of the next one, which another's clock has to be ahead for:
-- asked for all at once.
local naturals = tonumber(ARGV[8])
local own = #KEYS - 2 * naturals
local areNew = naturals > 0 and redis.call('EXISTS', unpack(KEYS, own + 1, own + naturals)) < naturals
local areAhead = naturals > 0 and redis.call('EXISTS', unpack(KEYS, own + naturals + 1)) > 0

-- The leases of all of them, asked for at once where there are several: these lie between the first and the last.
local leases = {}
local function isHeld(entry, count)
  local lease = leases[entry] or redis.call('XPENDING', ready, ARGV[1], entry, entry, 1)[1]
  return lease and lease[2] == ARGV[2] and lease[4] == count
end
if many > 1 then
  for _, lease in ipairs(redis.call('XPENDING', ready, ARGV[1], ARGV[at], '+', many)) do leases[lease[1]] = lease end
end

local answer, finished, lines, published, isPublished = {}, {}, {}, {}, {}
for message = 1, many do
  local entry, count, has, record, publishes = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), ARGV[at + 3], tonumber(ARGV[at + 4])
  local recordKey = KEYS[key]
  at, key = at + 5, key + 1
  local outcome = isHeld(entry, count) and 1 or -1
  local natural = bit.band(has, 1) ~= 0
  if natural then
    own = own + 1
    if outcome == 1 then
      if redis.call('SISMEMBER', KEYS[key], ARGV[at]) == 1
        or areAhead and redis.call('SISMEMBER', KEYS[own + naturals], ARGV[at]) == 1
        or redis.call('SADD', KEYS[own], ARGV[at]) == 0 then
        outcome = bit.band(has, 2) ~= 0 and 2 or 0
      elseif areNew then
        redis.call('EXPIRE', KEYS[own], ARGV[at + 1], 'NX')
      end
    end
    at, key = at + 2, key + 1
  end
  local isDone = outcome == 1 or outcome == 0
  if has > 3 then
    if bit.band(has, 4) ~= 0 then
      if isDone then
        for bucket = key, key + 2 do redis.call('SREM', KEYS[bucket], ARGV[at]) end
        -- A bucket that it leaves empty is gone, and new when a later message needs it.
        areNew = true
      end
      at, key = at + 1, key + 3
    end
    if bit.band(has, 8) ~= 0 and isDone and tonumber(ARGV[5]) > 0 then
      local message = redis.call('XRANGE', ready, entry, entry)[1]
      local body = message and message[2][6]
      if body and #body <= tonumber(ARGV[6]) then
        redis.call('XADD', KEYS[4], 'MAXLEN', ARGV[5], '*', 'i', message[2][2], 'b', body)
      end
    end
    if bit.band(has, 16) ~= 0 then
      if isDone then lines[#lines + 1] = {key, ARGV[at]} end
      at, key = at + 1, key + 3
    end
    if bit.band(has, 32) ~= 0 then
      if isDone then redis.call('SET', KEYS[key], ARGV[at], 'EX', ARGV[at + 1]) end
      at, key = at + 2, key + 1
    end
    if bit.band(has, 64) ~= 0 then
      -- Without its body, and final: there is nothing to be worked again.
      local message = isDone and redis.call('XRANGE', ready, entry, entry)[1]
      if message then
        local field = {h = ''}
        for word = 1, #message[2], 2 do field[message[2][word]] = message[2][word + 1] end
        redis.call('XADD', KEYS[5], '*', 'i', field['i'], 'k', field['k'], 'b', '', 'a', field['a'], 'n', ARGV[at + 1],
          'h', field['h'] .. ARGV[3] .. ' ' .. ARGV[at] .. '\n', 'x', ARGV[at], 'd', ARGV[3], 'f', 1)
      end
      at = at + 2
    end
  end
  for event = at, at + 3 * publishes - 1, 3 do
    local id = ARGV[event]
    -- A rejected delivery may be judged again, and rejected again: it stays one event. A natural key is new here.
    if outcome == 1 and (natural or not isPublished[id] and redis.call('HEXISTS', index, id) == 0) then
      isPublished[id] = true
      published[#published + 1] = id
      published[#published + 1] = redis.call('XADD', events, '*', 'i', id, 't', ARGV[event + 1], 'e', ARGV[event + 2])
    end
  end
  at = at + 3 * publishes
  if isDone then
    redis.call('SET', recordKey, record, 'EX', ARGV[4])
    finished[#finished + 1] = entry
  end
  answer[message] = outcome
end
if #published > 0 then redis.call('HSET', index, unpack(published)) end
if #finished > 0 then
  redis.call('XACK', ready, ARGV[1], unpack(finished))
  redis.call('XDEL', ready, unpack(finished))
end
for _, line in ipairs(lines) do finish(KEYS[line[1]], KEYS[line[1] + 1], KEYS[line[1] + 2], ready, line[2]) end
return answer
