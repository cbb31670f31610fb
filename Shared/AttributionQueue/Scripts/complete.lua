-- complete: for each of some leased messages of one shard, publishes its outcome, records the delivery's state and takes it off the
-- queue, in one step, if the worker still holds its lease.
-- KEYS 1 ready stream  2 events stream  3 events index  4 rejected bodies  5 dead letters
--      then for each message its delivery record, and after it
--      if it has a natural key: that key's bucket of this generation, of the last, of the next
--      if its idempotency key is to be forgotten: that key's three buckets
--      if it keeps its order: the line of its order key, delayed set, delayed payloads
--      if it leaves a record of the service's own: that record
-- ARGV 1 group  2 consumer  3 now, ms  4 record expiry, seconds  5 bodies kept of rejected messages  6 longest of them, bytes
--      then for each message
--      entry id, delivery count of the lease, natural member or empty, bucket expiry in seconds,
--      1 to hold the message when the natural key was seen before, member to forget or empty, state, reason or empty,
--      event id for the record or empty, 1 to keep the body, how often it was worked, its id if it keeps its order or empty,
--      the service's own record or empty, its expiry in seconds, what its dead letter says or empty,
--      how many events, and of each event its id, type and JSON
-- Answers for each message 1 when done, 0 when done and the natural key was seen before (no event), 2 when it was seen before and the
-- message is held, -1 when the lease is lost.
local answer = {}
local key, at = 6, 7
while at <= #ARGV do
  local entry, count, natural, expiry, holds, forget = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
  local state, reason, event, keeps, attempts = ARGV[at + 6], ARGV[at + 7], ARGV[at + 8], ARGV[at + 9], ARGV[at + 10]
  local ordered, own, ownExpiry, letter = ARGV[at + 11], ARGV[at + 12], ARGV[at + 13], ARGV[at + 14]
  local events = tonumber(ARGV[at + 15])
  at = at + 16
  local record = KEYS[key]
  local buckets = key + 1
  local forgotten = natural ~= '' and buckets + 3 or buckets
  local line = forget ~= '' and forgotten + 3 or forgotten
  local ownRecord = ordered ~= '' and line + 3 or line
  key = own ~= '' and ownRecord + 1 or ownRecord
  local pending = redis.call('XPENDING', KEYS[1], ARGV[1], entry, entry, 1)
  local outcome = 1
  if #pending == 0 or pending[1][2] ~= ARGV[2] or pending[1][4] ~= count then outcome = -1 end
  if outcome == 1 and natural ~= '' then
    for index = buckets, buckets + 2 do
      if redis.call('SISMEMBER', KEYS[index], natural) == 1 then outcome = holds == '1' and 2 or 0 end
    end
    if outcome == 1 then
      redis.call('SADD', KEYS[buckets], natural)
      redis.call('EXPIRE', KEYS[buckets], expiry, 'NX')
    end
  end
  if outcome == 1 then
    for index = at, at + 3 * events - 1, 3 do
      -- A rejected delivery may be judged again, and rejected again: it stays one event. A natural key is new here.
      if natural ~= '' or redis.call('HEXISTS', KEYS[3], ARGV[index]) == 0 then
        local id = redis.call('XADD', KEYS[2], '*', 'i', ARGV[index], 't', ARGV[index + 1], 'e', ARGV[index + 2])
        redis.call('HSET', KEYS[3], ARGV[index], id)
      end
    end
  end
  at = at + 3 * events
  if outcome == 1 or outcome == 0 then
    if keeps == '1' and tonumber(ARGV[5]) > 0 then
      local message = redis.call('XRANGE', KEYS[1], entry, entry)[1]
      local body = message and message[2][6]
      if body and #body <= tonumber(ARGV[6]) then
        redis.call('XADD', KEYS[4], 'MAXLEN', ARGV[5], '*', 'i', message[2][2], 'b', body)
      end
    end
    if letter ~= '' then
      -- Without its body, and final: there is nothing to be worked again.
      local message = redis.call('XRANGE', KEYS[1], entry, entry)[1]
      local field = {}
      for index = 1, message and #message[2] or 0, 2 do field[message[2][index]] = message[2][index + 1] end
      if message then
        redis.call('XADD', KEYS[5], '*', 'i', field['i'], 'k', field['k'], 'b', '', 'a', field['a'], 'n', attempts,
          'h', field['h'] .. ARGV[3] .. ' ' .. letter .. '\n', 'x', letter, 'd', ARGV[3], 'f', 1)
      end
    end
    if forget ~= '' then
      for index = forgotten, forgotten + 2 do redis.call('SREM', KEYS[index], forget) end
    end
    if own ~= '' then redis.call('SET', KEYS[ownRecord], own, 'EX', ownExpiry) end
    redis.call('HSET', record, 'state', state, 'completedAt', ARGV[3], 'reason', reason, 'eventId', event, 'attempts', attempts)
    redis.call('EXPIRE', record, ARGV[4])
    redis.call('XACK', KEYS[1], ARGV[1], entry)
    redis.call('XDEL', KEYS[1], entry)
    if ordered ~= '' then finish(KEYS[line], KEYS[line + 1], KEYS[line + 2], KEYS[1], ordered) end
  end
  answer[#answer + 1] = outcome
end
return answer
